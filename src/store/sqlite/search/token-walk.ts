import type { DatabaseSync, StatementSync } from "node:sqlite";
import { prepareBigInts } from "../engine/requirements.ts";

/** Tokens of the index from `start`, below `end`, behind `after`. `limit`: how many ids are wanted. On the way down there may be more. */
export type TokenWalk = Readonly<{ start: string; end: string; after: string | undefined; isUp: boolean; limit: number }>;

/** A token with its ids, ascending. `isCut`: these are the first of them only. */
export type TokenGroup = Readonly<{ token: string; ids: readonly bigint[]; isCut: boolean }>;

/** What FTS5 puts before a term in its own table. */
const TERM = "0";

/** How many rows a statement on the way down reads: each has its own price. */
const ROWS_MIN = 256;

/** With fewer ids than this, the next piece on the way down is twice as long: what was deleted leaves empty pages. */
const IDS_MIN = 50;

/**
 * Walks through tokens in both directions. They consist of "#", digits and small letters.
 *
 * FTS5 reads its tokens upwards only. On the way down, they are read from a place a little further down, again and again.
 * FTS5 keeps the first term of each page of a segment, or a shorter text that is between it and the one before. So
 * `names_idx` tells where to begin, but only the way up from there tells which tokens there are.
 */
export class TokenWalker {
  readonly #tokensFrom: StatementSync;
  readonly #pageBelow: StatementSync;

  constructor(db: DatabaseSync) {
    db.exec("CREATE VIRTUAL TABLE temp.tokens USING fts5vocab(main, names, instance)");
    // It reads the last token in any case, all of its plants, even if that is not wanted.
    this.#tokensFrom = prepareBigInts(db, "SELECT term AS token, doc AS id FROM tokens WHERE term >= ? AND term <= ? LIMIT ?");
    // So many pages further down, in the segment where that is nearest.
    this.#pageBelow = db.prepare(`
    WITH RECURSIVE segments (segid) AS (
      SELECT min(segid) FROM names_idx
      UNION ALL SELECT (SELECT min(segid) FROM names_idx WHERE segid > segments.segid) FROM segments WHERE segid IS NOT NULL
    )
    SELECT max((SELECT term FROM names_idx WHERE segid = segments.segid AND term < ? ORDER BY term DESC LIMIT 1 OFFSET ?)) AS term FROM segments`);
  }

  *walk({ start, end, after, isUp, limit }: TokenWalk): Generator<TokenGroup, void, void> {
    if (isUp) yield* this.#groupsUp(after === undefined ? start : behind(after), end, limit);
    else yield* this.#groupsDown(start, after ?? end, limit);
  }

  #groupsUp(from: string, end: string, rowsMax: number): TokenGroup[] {
    const rows = this.#tokensFrom.all(from, lastBelow(end), rowsMax) as { token: string; id: bigint }[];
    const last = rows.length < rowsMax ? undefined : rows.at(-1)?.token;
    return Array.from(
      Map.groupBy(rows, ({ token }) => token),
      ([token, group]) => ({ token, ids: group.map(({ id }) => id), isCut: token === last }),
    );
  }

  *#groupsDown(start: string, end: string, limit: number): Generator<TokenGroup, void, void> {
    let skipped = 0;
    for (let below = end; below > start;) {
      const begin = this.#beginBelow(below, skipped, start);
      const groups = this.#allGroups(begin, below, Math.max(limit, ROWS_MIN));
      yield* groups.toReversed();
      const ids = groups.reduce((sum, group) => sum + group.ids.length, 0);
      skipped = ids < IDS_MIN ? 2 * skipped + 1 : 0;
      below = begin;
    }
  }

  /** All tokens of a range, each with so many ids at most. */
  #allGroups(start: string, end: string, rowsMax: number): TokenGroup[] {
    const groups: TokenGroup[] = [];
    for (let from: string | undefined = start; from !== undefined;) {
      const some = this.#groupsUp(from, end, rowsMax);
      groups.push(...some);
      const last = some.at(-1);
      from = last?.isCut ? behind(last.token) : undefined;
    }
    return groups;
  }

  /** Where a page begins below a token, and not below `start`. */
  #beginBelow(token: string, skipped: number, start: string): string {
    const { term } = this.#pageBelow.get(Buffer.from(TERM + token), skipped) as { term: Uint8Array | null };
    const begin = term === null ? start : Buffer.from(term).toString("latin1").slice(TERM.length);
    return begin > start ? begin : start;
  }
}

/** The first token that may follow: its own plants, of which there may be many, are not visited again. */
function behind(token: string): string {
  return `${token}0`;
}

/** A text below this one, with no token in between. */
function lastBelow(token: string): string {
  return `${token.slice(0, -1)}${String.fromCharCode(token.charCodeAt(token.length - 1) - 1)}\x7f`;
}
