import { PlantStoreError } from "../../domain/errors.ts";
import type { ChangeKind } from "../../domain/change.ts";
import { asPlantId } from "../../domain/plant.ts";
import { CHANGES_BYTES_MAX, concerns } from "../history.ts";
import type { Change, ChangePage, ChangeQuery, History, LogCursor } from "../history.ts";
import type { ChangeLog } from "./change-log.ts";
import { cursorOf, HOW, isAt, toPlace } from "./change-places.ts";
import type { LogSeen } from "../log-cursor.ts";
import { NEWEST_BELOW, READ_CHANGES } from "./change-statements.ts";
import type { Execute } from "./engine/retry.ts";
import { fromColumn } from "./engine/text.ts";
import { pastHistory } from "./past-changes.ts";
import { toPlant } from "./plant-columns.ts";

export type HistoryOptions = Readonly<{ log: ChangeLog; changesDays: number; execute: Execute }>;

/** How many changes are looked at for one page of those that concern a tag. */
const LOOKS = 1000;

type ChangeRow = [
  xid: bigint,
  place: bigint,
  at: bigint,
  kind: ChangeKind,
  id: bigint | null,
  wasNamed: string,
  tagBefore: string | null,
  name: string | null,
  tag: string | null,
  isThere: string,
  read: bigint,
  seenXid: bigint,
  seenAt: bigint,
  isSeenThere: string,
];

/** What is kept of changes, where a log is kept. */
export function createHistory({ log, changesDays, execute }: HistoryOptions): History {
  const isKept = () => changesDays > 0 && log.isKept();

  function check(): void {
    if (!isKept()) throw new PlantStoreError(changesDays === 0 ? "changes_off" : "changes_unsupported");
  }

  async function newest(): Promise<LogCursor | undefined> {
    const mark = await log.markAboveAll();
    const [row] = await execute<[xid: bigint, changed: bigint, at: bigint]>(NEWEST_BELOW, [mark], HOW);
    return row && cursorOf(row);
  }

  async function read({ after, limit, tag }: ChangeQuery): Promise<ChangePage | undefined> {
    const place = after === undefined ? undefined : toPlace(after);
    const mark = await (place ? log.mark() : log.markAboveAll());
    const { major, minor, at, seen } = place ?? { major: 0n, minor: 0n, at: 0n, seen: { major: 0n, at: 0n } };
    // Who gave us the place knew a mark above it.
    const upper = place && major >= mark ? major + 1n : mark;
    // The first one is that of the place, and one may be a mark.
    const count = 2 + (tag === undefined ? limit : Math.max(limit, LOOKS));
    const rows = await execute<ChangeRow>(READ_CHANGES, [major, at, minor, upper, count, CHANGES_BYTES_MAX, seen.major, seen.at], HOW);
    const [first] = rows;
    const isWhole = rows.length < count && rows.length === Number(rows[0]?.[10] ?? 0);
    if (place && !(isAt(rows[0], place) && rows.shift()![13] === "t")) throw new PlantStoreError("changes_gone");
    const last = rows.at(-1);
    const all = rows.filter(([, , , , id]) => id !== null).map(toChange);
    const found = tag === undefined ? all : all.filter((change) => concerns(change, tag));
    if (found.length > limit) return { changes: found.slice(0, limit), cursor: found[limit - 1]!.cursor, isEnd: false };
    const cursor = first ? cursorOf(last ?? first, seenBy(first)) : after;
    return cursor === undefined ? undefined : { changes: found, cursor, isEnd: isWhole };
  }

  const checked =
    <Values extends unknown[], Result>(ask: (...values: Values) => Promise<Result>) =>
    async (...values: Values): Promise<Result> => {
      check();
      return ask(...values);
    };
  const { ofPlant, deleted, imports, ofImport } = pastHistory(execute);
  return {
    newest: checked(() => askTwice(newest)),
    read: checked((query) => askTwice(() => read(query))),
    watch: (onMore) => (isKept() ? log.watch(onMore) : () => {}),
    ofPlant: checked(ofPlant),
    deleted: checked(deleted),
    imports: checked(imports),
    ofImport: checked(ofImport),
  };
}

/**
 * Rows that were below the mark when it was taken may be gone when they are read, all of them if all are old. The newest
 * row stays, and is below the next mark, unless what is under way holds that back.
 */
async function askTwice<Result>(ask: () => Promise<Result | undefined>): Promise<Result> {
  const result = (await ask()) ?? (await ask());
  if (result === undefined) throw new PlantStoreError("overloaded");
  return result;
}

function seenBy([, , , , , , , , , , , major, at]: ChangeRow): LogSeen {
  return { major, at };
}

function toChange(row: ChangeRow): Change {
  const [, , at, kind, id, wasNamed, tagBefore, name, tag, isThere] = row;
  const isForgotten = kind !== "created" && wasNamed !== "t";
  return {
    id: asPlantId(id!),
    kind,
    at: Number(at),
    plant: isThere === "t" ? toPlant([id!, name!, tag]) : undefined,
    tagBefore: kind === "created" || isForgotten ? undefined : tagBefore === null ? null : fromColumn(tagBefore),
    isForgotten,
    cursor: cursorOf(row, seenBy(row)),
  };
}
