import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { NewPlant, PlantId } from "../../domain/plant.ts";
import { CHANGES_BYTES_MAX } from "../history.ts";
import type { PastChange } from "../history.ts";
import { sizeOf } from "../page.ts";
import { toEntries } from "./log-reads.ts";
import type { LogEntry, RowPlace } from "./log-reads.ts";
import { fromIds, fromWriters, toBytes } from "./log-row.ts";
import type { LogRow } from "./log-row.ts";
import { readPlants, toPlant } from "./plant-statements.ts";

/** What is looked for. `first` and `last`: rows of the import with this number. */
export type Wanted =
  | Readonly<{ kind: "plant"; id: PlantId }>
  | Readonly<{ kind: "deleted" }>
  | Readonly<{ kind: "import"; number: number; first: number; last: number }>;

/** Looks at what is before a place, the newest first. */
export type Walk = Readonly<{ wanted: Wanted; before: RowPlace; limit: number; bytesMax: number }>;

/** A change with its place: the index of it in its row. */
export type PlacedChange = Omit<PastChange, "to"> & RowPlace;

/** `reached`: what is before it was not looked at. Undefined at the end. */
export type WalkStep = Readonly<{ changes: readonly PlacedChange[]; reached: RowPlace | undefined }>;

/** A plant behind a change, whose place is that of the change. `later`: the next change of that plant, once it is found. */
export type Outcome = Pick<RowPlace, "seq" | "index"> & { readonly id: PlantId; later?: Pick<RowPlace, "seq" | "index"> };

/** What a plant was. Undefined is no plant, or one that was erased. */
export type PastState = Readonly<{ plant: NewPlant | undefined; isForgotten: boolean }>;

/**
 * A search for outcomes, the newest first, which goes on with the row `from`. `states`: at its end, those of the first, as
 * many as have room in a page.
 */
export type OutcomeSearch = Readonly<{ outcomes: readonly Outcome[]; from: number; states?: readonly PastState[] }>;

/** How long a step may take, in milliseconds: searches run between. How many rows it looks at before it looks at the clock. */
const STEP_MS = 5;
const WINDOW_ROWS = 2000;

/** The same where what is looked for is many: to say that takes as long as to look at some thousand rows. */
const SEARCHED_ROWS = 10_000;

type Row = LogRow & { seq: number; at: number; importId: string | null };

const COLUMNS = "seq, at, ids, kinds, writers, before, (SELECT id FROM imports WHERE number = changes.import) AS importId";

/** Looks through the log, which has no index of plants, in short steps. Call it inside a transaction. */
export class LogScanner {
  readonly #db: DatabaseSync;
  #prepared: ReturnType<typeof prepare> | undefined;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  walk({ wanted, before, limit, bytesMax }: Walk): WalkStep {
    const end = performance.now() + STEP_MS;
    const changes: PlacedChange[] = [];
    const lowest = Math.max(this.#oldest(), wanted.kind === "import" ? wanted.first : 0);
    let bytes = 0;
    for (let high = before.seq; high >= lowest; high -= WINDOW_ROWS) {
      for (const row of this.#rows(wanted, high, Math.max(lowest, high - WINDOW_ROWS + 1))) {
        for (const change of this.#changesOf(row, wanted).toReversed()) {
          if (change.seq === before.seq && change.index >= before.index) continue;
          changes.push(change);
          bytes += change.from ? sizeOf(change.from) : 0;
          if (changes.length >= limit || bytes >= bytesMax) return { changes, reached: { seq: row.seq, index: change.index, at: row.at } };
        }
        if (performance.now() > end) return { changes, reached: { seq: row.seq, index: 0, at: row.at } };
      }
      if (performance.now() > end && high - WINDOW_ROWS >= lowest) return { changes, reached: this.#placeAbove(high - WINDOW_ROWS) };
    }
    return { changes, reached: undefined };
  }

  /** Looks for the next change of each plant. Then it was, behind the change before, what it was before that one; else what it is now. */
  findOutcomes({ outcomes, from }: OutcomeSearch): OutcomeSearch {
    const end = performance.now() + STEP_MS;
    const found = outcomes.map((outcome) => ({ ...outcome }));
    const pending = Map.groupBy(
      found.filter(({ later }) => !later),
      ({ id }) => id as bigint,
    );
    const newest = Number(this.#sql().newest.get()!["seq"]);
    // Most rows of one change need not be read for that.
    const sieve = makeSieve(pending.keys());
    const hexes = JSON.stringify(Array.from(pending.keys(), toHex));
    for (let seq = from; pending.size > 0 && seq <= newest; seq += SEARCHED_ROWS) {
      if (performance.now() > end) return { outcomes: found, from: seq };
      const rows = this.#sql().later.iterate(seq, seq + SEARCHED_ROWS - 1, hexes);
      for (const row of rows as Iterable<Pick<Row, "seq" | "ids">>) {
        noteLater(row, pending, sieve);
        if (performance.now() > end) return { outcomes: found, from: row.seq + 1 };
      }
    }
    return { outcomes: found, from: newest + 1, states: this.#statesOf(found) };
  }

  #sql() {
    return (this.#prepared ??= prepare(this.#db));
  }

  #oldest(): number {
    return Number(this.#sql().oldest.get()!["seq"]);
  }

  #placeAbove(seq: number): RowPlace {
    return { ...(this.#sql().above.get(seq) as { seq: number; at: number }), index: 0 };
  }

  /** The rows from one down to another in which something may match. */
  #rows(wanted: Wanted, high: number, low: number): Iterable<Row> {
    const { ofPlant, ofImport, ofDeleted } = this.#sql();
    if (wanted.kind === "plant") return ofPlant.iterate(high, low, toBytes(wanted.id)) as Iterable<Row>;
    return (wanted.kind === "import" ? ofImport.iterate(high, low, wanted.number) : ofDeleted.iterate(high, low)) as Iterable<Row>;
  }

  #changesOf(row: Row, wanted: Wanted): PlacedChange[] {
    const { seq, at } = row;
    const byAt = fromWriters(row.writers);
    const isWanted = ({ id, kind }: LogEntry) => {
      if (wanted.kind === "plant") return id === wanted.id;
      return wanted.kind === "import" || (kind === "deleted" && !this.#sql().isThere.get(id));
    };
    return toEntries(row).flatMap((entry, index) => {
      const { id, kind, before: from, isForgotten } = entry;
      if (!isWanted(entry)) return [];
      return { id, kind, at, by: byAt(index), import: row.importId ?? undefined, from, isForgotten, seq, index };
    });
  }

  #statesOf(outcomes: readonly Outcome[]): PastState[] {
    const states: PastState[] = [];
    // Those of one row follow each other.
    let [read, entries]: [number | undefined, readonly LogEntry[]] = [undefined, []];
    const entryOf = ({ seq, index }: Pick<RowPlace, "seq" | "index">) => {
      if (read !== seq) [read, entries] = [seq, this.#entriesOf(seq)];
      return entries[index];
    };
    let bytes = 0;
    for (const outcome of outcomes) {
      if (bytes >= CHANGES_BYTES_MAX) break;
      const state = outcome.later ? toState(entryOf(outcome.later)) : this.#presentState(outcome.id);
      bytes += state.plant ? sizeOf(state.plant) : 0;
      states.push(state);
    }
    return states;
  }

  #entriesOf(seq: number): readonly LogEntry[] {
    const row = this.#sql().row.get(seq) as Row | undefined;
    return row ? toEntries(row) : [];
  }

  #presentState(id: PlantId): PastState {
    const row = this.#sql().plant.get(id) as Parameters<typeof toPlant>[0] | undefined;
    return { plant: row && toPlant(row), isForgotten: false };
  }
}

/** What a plant was before a change. */
function toState(entry: LogEntry | undefined): PastState {
  return { plant: entry?.before, isForgotten: entry?.isForgotten ?? true };
}

function prepare(db: DatabaseSync) {
  const matching = (condition: string): StatementSync =>
    db.prepare(`SELECT ${COLUMNS} FROM changes WHERE seq <= ? AND seq >= ? AND ${condition} ORDER BY seq DESC`);
  return {
    plant: readPlants(db, "WHERE id = ?"),
    isThere: db.prepare("SELECT 1 FROM plants WHERE id = ?"),
    oldest: db.prepare("SELECT seq FROM changes WHERE at IS NOT NULL ORDER BY seq LIMIT 1"),
    newest: db.prepare("SELECT max(seq) AS seq FROM changes"),
    above: db.prepare("SELECT seq, at FROM changes WHERE seq > ? ORDER BY seq LIMIT 1"),
    row: db.prepare("SELECT ids, kinds, before FROM changes WHERE seq = ?"),
    later: db.prepare(
      `SELECT seq, ids FROM changes WHERE seq BETWEEN ? AND ?
         AND (length(ids) > 8 OR hex(ids) IN (SELECT value FROM json_each(?))) ORDER BY seq`,
    ),
    ofPlant: matching("instr(ids, ?) > 0"),
    ofImport: matching("import = ?"),
    ofDeleted: matching("instr(kinds, 'd') > 0"),
  };
}

/** Those of each plant, the oldest last. */
type Pending = Map<bigint, Outcome[]>;

/** Notes what is later than changes that wait for that. Call it for row after row, the oldest first. */
function noteLater({ seq, ids }: Pick<Row, "seq" | "ids">, pending: Pending, sieve: Uint8Array): void {
  const wholes = fromIds(ids);
  const halves = new Int32Array(wholes.buffer);
  for (let index = 0; index < wholes.length; index += 1) {
    if (sieve[holeOf(halves[2 * index]!, halves[2 * index + 1]!)] === 0) continue;
    const id = wholes[index]!;
    const waiting = pending.get(id);
    for (let last = waiting?.at(-1); last && isBefore(last, { seq, index }); last = waiting!.at(-1)) {
      last.later = { seq, index };
      waiting!.pop();
    }
    if (waiting?.length === 0) pending.delete(id);
  }
}

function isBefore(one: Pick<RowPlace, "seq" | "index">, other: Pick<RowPlace, "seq" | "index">): boolean {
  return one.seq < other.seq || (one.seq === other.seq && one.index < other.index);
}

const HOLES_BITS = 16;

/** Lets through all of these ids, and few others: numbers are ten times as fast as bigints. */
function makeSieve(ids: Iterable<bigint>): Uint8Array {
  const sieve = new Uint8Array(2 ** HOLES_BITS);
  const halves = new Int32Array(BigInt64Array.from(ids).buffer);
  for (let at = 0; at < halves.length; at += 2) sieve[holeOf(halves[at]!, halves[at + 1]!)] = 1;
  return sieve;
}

/** Where the halves of an id fall. */
function holeOf(first: number, second: number): number {
  return (Math.imul(first, 0x9e_37_79_b1) ^ Math.imul(second, 0x85_eb_ca_77)) >>> (32 - HOLES_BITS);
}

function toHex(id: bigint): string {
  return Buffer.from(toBytes(id)).toString("hex").toUpperCase();
}
