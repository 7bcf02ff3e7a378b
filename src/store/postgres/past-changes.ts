import type { ChangeKind } from "../../domain/change.ts";
import { PlantStoreError } from "../../domain/errors.ts";
import { asPlantId } from "../../domain/plant.ts";
import type { NewPlant } from "../../domain/plant.ts";
import type { History, LogCursor, PastChange, PastPage, PastQuery } from "../history.ts";
import type { LogPlace } from "../log-cursor.ts";
import { cursorOf, HOW, NUMBER_MAX, toPlace } from "./change-places.ts";
import type { Statement } from "./engine/pool.ts";
import type { Execute } from "./engine/retry.ts";
import { fromColumn } from "./engine/text.ts";
import { CHANGES_OF_IMPORT, CHANGES_OF_PLANT, DELETIONS, FIND_PLACE, LIST_IMPORTS } from "./past-statements.ts";
import { toPlant } from "./plant-columns.ts";

type Entry = [
  xid: bigint,
  place: bigint,
  at: bigint,
  kind: ChangeKind,
  by: string,
  id: string | null,
  plant: bigint,
  name: string | null,
  tag: string | null,
  isThere: string,
  nameNow: string | null,
  tagNow: string | null,
  laterKind: ChangeKind | null,
  laterName: string | null,
  laterTag: string | null,
  bytesBefore: bigint | null,
  found: bigint,
];

/** Behind all that is there. */
const LAST: LogPlace = { major: NUMBER_MAX, minor: NUMBER_MAX, at: NUMBER_MAX };

/** How many deletions are looked at for one page: what was made again is left out. */
const LOOKS = 1000;

/** A plant at some time. Its text may have been erased. */
type State = NewPlant | undefined | "forgotten";

/** What people see of changes. */
export function pastHistory(execute: Execute): Pick<History, "ofPlant" | "deleted" | "imports" | "ofImport"> {
  /**
   * Entries from a place back, which is behind the first of them. One more than the limit, or than may be read at once, if
   * there is one: there the next page begins.
   */
  async function readBack(statement: Statement, { before, limit }: PastQuery, ...values: unknown[]): Promise<Entry[]> {
    const { major, minor, at } = before === undefined ? LAST : await findPlace(before);
    return execute<Entry>(statement, [at, major, minor, limit + 1, ...values], HOW);
  }

  async function findPlace(cursor: LogCursor): Promise<LogPlace> {
    const place = toPlace(cursor);
    const [row] = await execute<[changed: bigint]>(FIND_PLACE, [place.major, place.at], HOW);
    if (!row || place.minor > row[0]) throw new PlantStoreError("changes_gone");
    return place;
  }

  async function readPage(statement: Statement, query: PastQuery, id: unknown): Promise<PastPage> {
    const rows = await readBack(statement, query, id);
    return toPage(rows, endOf(rows, query.limit));
  }

  return {
    ofPlant: (id, query) => readPage(CHANGES_OF_PLANT, query, id),
    ofImport: (id, query) => readPage(CHANGES_OF_IMPORT, query, id),
    async deleted({ before, limit }) {
      const looks = Math.max(limit, LOOKS);
      const rows = await readBack(DELETIONS, { before, limit: looks });
      const looked = endOf(rows, looks);
      const last = rows[looked];
      const gone = rows.slice(0, looked).filter(([, , , , , , , , , isThere]) => isThere !== "t");
      return toPage(gone.length <= limit && last ? [...gone, last] : gone, Math.min(limit, gone.length));
    },
    async imports(limit) {
      const rows = await execute<[id: string, by: string, ...numbers: bigint[]]>(LIST_IMPORTS, [limit], HOW);
      return rows.map(([id, by, ...numbers]) => {
        const [began, ended, created, replaced] = numbers.map(Number) as [number, number, number, number];
        return { id, by, began, ended, created, replaced };
      });
    },
  };
}

/** A page of the first of these entries. */
function toPage(rows: readonly Entry[], end: number): PastPage {
  const next = rows[end];
  return { changes: rows.slice(0, end).map(toPast), next: next && cursorOf(next) };
}

/** How many entries are of a page: the last one that was read is not, if the others were too large to read more. */
function endOf(rows: readonly Entry[], limit: number): number {
  const isCut = rows.length < Number(rows[0]?.[16] ?? 0);
  return isCut ? Math.min(limit, rows.length - 1) : limit;
}

function toPast([, , at, kind, by, id, plant, name, tag, isThere, nameNow, tagNow, laterKind, laterName, laterTag]: Entry): PastChange {
  const from = stateBefore(kind, [plant, name, tag]);
  const now = isThere === "t" ? toPlant([plant, nameNow!, tagNow]) : undefined;
  const became = laterKind === null ? now : stateBefore(laterKind, [plant, laterName, laterTag]);
  const to = kind === "deleted" ? undefined : became;
  return {
    id: asPlantId(plant),
    kind,
    at: Number(at),
    by: fromColumn(by),
    import: id ?? undefined,
    from: from === "forgotten" ? undefined : from,
    to: to === "forgotten" ? undefined : to,
    isForgotten: from === "forgotten" || to === "forgotten",
  };
}

/** What a plant was before a change. */
function stateBefore(kind: ChangeKind, [id, name, tag]: readonly [bigint, string | null, string | null]): State {
  if (kind === "created") return undefined;
  return name === null ? "forgotten" : toPlant([id, name, tag]);
}
