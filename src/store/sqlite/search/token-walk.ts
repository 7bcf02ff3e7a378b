import type { DatabaseSync } from "node:sqlite";
import { prepareBigInts } from "../engine/bigint-statement.ts";

/** Tokens of the index from `start` on and below `end`, those behind `after`. `limit`: how many ids are wanted at most. */
export type TokenWalk = Readonly<{ start: string; end: string; after: string | undefined; isUp: boolean; limit: number }>;

/** A token with its ids, rising. `isCut`: these are the first of them only. */
export type TokenGroup = Readonly<{ token: string; ids: readonly bigint[]; isCut: boolean }>;

/** What FTS5 puts before a term in its own table. */
const TERM = "0";

/**
 * Walks through tokens in both directions. They have no character below "0" but "#", with which they begin.
 *
 * FTS5 reads its tokens upwards only. On the way down, they are read from a place a little further down, again and again.
 * FTS5 keeps the first term of each page of a segment, or a shorter text that is between it and the one before. So
 * `names_idx` tells where to begin, and which tokens there are, only the walk up from there.
 */
export function createTokenWalk(db: DatabaseSync): (walk: TokenWalk) => Generator<TokenGroup, void, void> {
  db.exec("CREATE VIRTUAL TABLE temp.tokens USING fts5vocab(main, names, instance)");
  const tokensFrom = prepareBigInts(db, "SELECT term AS token, doc AS id FROM tokens WHERE term >= ? AND term < ? LIMIT ?");
  // In whichever segment that is nearest.
  const pageBelow = db.prepare(`
    WITH RECURSIVE segments (segid) AS (
      SELECT min(segid) FROM names_idx
      UNION ALL SELECT (SELECT min(segid) FROM names_idx WHERE segid > segments.segid) FROM segments WHERE segid IS NOT NULL
    )
    SELECT max((SELECT max(term) FROM names_idx WHERE segid = segments.segid AND term < ?)) AS term FROM segments`);

  function groupsUp(from: string, end: string, limit: number): TokenGroup[] {
    const rows = tokensFrom.all(from, end, limit) as { token: string; id: bigint }[];
    const last = rows.length < limit ? undefined : rows.at(-1)?.token;
    return Array.from(
      Map.groupBy(rows, ({ token }) => token),
      ([token, group]) => ({ token, ids: group.map(({ id }) => id), isCut: token === last }),
    );
  }

  /** All tokens of a range, each with so many ids at most. */
  function allGroups(start: string, end: string, limit: number): TokenGroup[] {
    const groups: TokenGroup[] = [];
    for (let from: string | undefined = start; from !== undefined;) {
      const some = groupsUp(from, end, limit);
      groups.push(...some);
      const last = some.at(-1);
      from = last?.isCut ? behind(last.token) : undefined;
    }
    return groups;
  }

  /** Where the nearest page begins below a token, and not below `start`. */
  function beginBelow(token: string, start: string): string {
    const { term } = pageBelow.get(Buffer.from(TERM + token)) as { term: Uint8Array | null };
    const begin = term === null ? start : Buffer.from(term).toString("latin1").slice(TERM.length);
    return begin > start ? begin : start;
  }

  function* groupsDown(start: string, end: string, limit: number): Generator<TokenGroup, void, void> {
    for (let below = end; below > start;) {
      const begin = beginBelow(below, start);
      yield* allGroups(begin, below, limit).toReversed();
      below = begin;
    }
  }

  return function* walk({ start, end, after, isUp, limit }) {
    if (isUp) yield* groupsUp(after === undefined ? start : behind(after), end, limit);
    else yield* groupsDown(start, after ?? end, limit);
  };
}

/** The first token that may follow: its own plants, of which there may be many, are not visited again. */
function behind(token: string): string {
  return `${token}0`;
}
