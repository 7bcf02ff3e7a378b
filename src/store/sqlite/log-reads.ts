import type { DatabaseSync } from "node:sqlite";
import { PlantStoreError } from "../../domain/errors.ts";
import { asPlantId } from "../../domain/plant.ts";
import type { ChangeKind } from "../../domain/change.ts";
import type { NewPlant, PlantId } from "../../domain/plant.ts";
import { concerns } from "../history.ts";
import type { Change, LogCursor } from "../history.ts";
import { parseLogCursor, toLogCursor } from "../log-cursor.ts";
import type { LogSeen } from "../log-cursor.ts";
import { sizeOf } from "../page.ts";
import { fromBefore, fromIds, kindAt } from "./log-row.ts";
import type { LogRow } from "./log-row.ts";
import { readPlants, toPlant } from "./plant-statements.ts";

/** Behind so many changes of a row, which has this time. */
export type RowPlace = Readonly<{ seq: number; index: number; at: number }>;

/** Reads what follows a place, by default the oldest that is kept: some changes, so that others have their turn. */
type StepQuery = Readonly<{ after: LogCursor | undefined; limit: number; tag: string | null | undefined }>;

/** `lookedAt`: how many changes. `bytes`: of the text that was read. */
type LogStep = Readonly<{ changes: readonly Change[]; cursor: LogCursor; isEnd: boolean; lookedAt: number; bytes: number }>;

/** How many changes one step looks at, and the bytes of text with which it ends: two milliseconds. */
const STEP_CHANGES = 300;
const STEP_BYTES = 200_000;

const INT64_END = 2n ** 63n;

type PlaceRow = { seq: number; at: number; changes: number };
type Row = Pick<LogRow, "ids" | "kinds" | "before"> & { seq: number; at: number };

/** Reads the log, for those who follow the store. */
export function prepareLogReads(db: DatabaseSync) {
  const begin = db.prepare("BEGIN");
  const commit = db.prepare("COMMIT");
  const newest = db.prepare("SELECT seq, at, length(ids) / 8 AS changes FROM changes ORDER BY seq DESC LIMIT 1");
  const oldest = db.prepare("SELECT seq, at FROM changes WHERE at IS NOT NULL ORDER BY seq LIMIT 1");
  const placeOf = db.prepare("SELECT seq, at, length(ids) / 8 AS changes FROM changes WHERE seq = ?");
  const from = db.prepare("SELECT seq, at, ids, kinds, before FROM changes WHERE seq >= ? AND at IS NOT NULL ORDER BY seq");
  const plantOf = readPlants(db, "WHERE id = ?");

  function findPlant(id: bigint): NewPlant | undefined {
    const row = plantOf.get(id) as Parameters<typeof toPlant>[0] | undefined;
    return row && toPlant(row);
  }

  function findRow({ major, at }: LogSeen): PlaceRow | undefined {
    // A larger one is no integer of SQLite.
    const row = major < INT64_END ? (placeOf.get(major) as PlaceRow | undefined) : undefined;
    return row && BigInt(row.at ?? 0) === at ? row : undefined;
  }

  /** Throws `changes_gone` unless the row is there, with this time, and the newest one that was seen. */
  function expectPlace(cursor: LogCursor): RowPlace {
    const place = parseLogCursor(cursor);
    const row = place && findRow(place);
    if (!row || row.changes < place.minor || (place.seen && !findRow(place.seen))) throw new PlantStoreError("changes_gone");
    return { seq: row.seq, index: Number(place.minor), at: row.at };
  }

  function step({ after, limit, tag }: StepQuery): LogStep {
    const start = after === undefined ? { seq: 0, index: 0, at: 0 } : expectPlace(after);
    const seen = newest.get() as PlaceRow;
    const changes: Change[] = [];
    let place: RowPlace = start;
    let lookedAt = 0;
    let bytes = 0;
    // A step goes on by one change at least, however long its texts are: who asked would ask the same again.
    const isFull = () => changes.length >= limit || lookedAt >= STEP_CHANGES || (lookedAt > 0 && bytes >= STEP_BYTES);
    const result = (isEnd: boolean) => ({ changes, cursor: toCursor(place, seen), isEnd, lookedAt, bytes });

    for (const row of from.iterate(start.seq) as Iterable<Row>) {
      const entries = toEntries(row);
      for (let index = row.seq === start.seq ? start.index : 0; index < entries.length; index += 1) {
        if (isFull()) return result(false);
        const { before, ...entry } = entries[index]!;
        const plant = findPlant(entry.id);
        place = { seq: row.seq, index: index + 1, at: row.at };
        lookedAt += 1;
        bytes += plant ? sizeOf(plant) : 0;
        const change = { ...entry, at: row.at, plant, tagBefore: before && (before.tag ?? null), cursor: toCursor(place, seen) };
        if (tag === undefined || concerns(change, tag)) changes.push(change);
      }
      place = { seq: row.seq, index: entries.length, at: row.at };
      bytes += row.before?.length ?? 0;
    }
    return result(true);
  }

  return {
    newest(): RowPlace {
      const { seq, at, changes } = newest.get() as PlaceRow;
      return { seq, index: changes, at };
    },
    expectPlace,
    /** Some of what follows, as the plants are at the moment of the call. */
    read(query: StepQuery): LogStep {
      begin.run();
      try {
        return step(query);
      } finally {
        commit.run();
      }
    },
    /** How many rows are kept, and the time of the oldest, in microseconds. */
    kept() {
      const { seq, at } = oldest.get() as Pick<PlaceRow, "seq" | "at">;
      return { rows: (newest.get() as PlaceRow).seq - seq + 1, since: at };
    },
  };
}

/** `seen`: the newest row when the plants were read that lead there. */
export function toCursor({ seq, index, at }: RowPlace, seen?: Pick<RowPlace, "seq" | "at">): LogCursor {
  const place = { major: BigInt(seq), minor: BigInt(index), at: BigInt(at) };
  return toLogCursor(place, seen && { major: BigInt(seen.seq), at: BigInt(seen.at) });
}

/** A change of a row. `isForgotten`: what was there before is erased. */
export type LogEntry = Readonly<{ id: PlantId; kind: ChangeKind; before: NewPlant | undefined; isForgotten: boolean }>;

export function toEntries(row: Pick<LogRow, "ids" | "kinds" | "before">): LogEntry[] {
  const befores = fromBefore(row).values();
  return Array.from(fromIds(row.ids), (id, index) => {
    const kind = kindAt(row.kinds, index);
    const before = kind === "created" ? undefined : befores.next().value;
    return { id: asPlantId(id), kind, before: before && toPlant(before), isForgotten: kind !== "created" && !before };
  });
}
