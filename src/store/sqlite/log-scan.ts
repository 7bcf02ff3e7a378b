import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { NewPlant, PlantId } from "../../domain/plant.ts";
import { CHANGES_BYTES_MAX } from "../history.ts";
import type { PastChange } from "../history.ts";
import { sizeOf } from "../page.ts";
import { toEntries } from "./log-reads.ts";
import type { LogEntry, RowPlace } from "./log-reads.ts";
import { fromIds, fromWriters, toBytes } from "./log-row.ts";
import type { LogRow } from "./log-row.ts";
import { KeptNexts } from "./kept-nexts.ts";
import type { ChangePlace, LookedRow, NextChanges } from "./next-changes.ts";
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

/** A change of a plant, by its place. */
export type Outcome = ChangePlace & Readonly<{ id: PlantId }>;

/** What a plant was. Undefined is no plant, or one that was erased. */
export type PastState = Readonly<{ plant: NewPlant | undefined; isForgotten: boolean }>;

/** Asks what plants were behind changes of the import with this number, the newest first. `first`: its first row. */
export type OutcomeQuery = Readonly<{ outcomes: readonly Outcome[]; number: number; first: number }>;

/** Asks what a plant was at a place. All before the row `from` was looked at already. */
export type StateQuery = Readonly<{ id: PlantId; place: ChangePlace; from: number }>;

/** How many rows are looked at before the clock. */
const WINDOW_ROWS = 2000;

const SCAN_LIMITS = {
  /** How long a step may take, in milliseconds of this clock: searches run between. */
  stepMs: 5,
  now: () => performance.now(),
  /**
   * How many rows of an import are looked at together, at most, for the changes behind them, and how many for each row of a
   * page. Ten thousand rows with twenty changes each take 7 MB, and 6 MB of that are counted.
   */
  stretchRows: 10_000,
  stretchPages: 200,
  /** How much is kept of what was found out, and how long if no one asks for it. Requests for two pages at most run at a time. */
  keptBytes: 2 ** 24,
  keptMs: 30_000,
};

export type ScanLimits = Readonly<typeof SCAN_LIMITS>;

type Row = LogRow & { seq: number; at: number; importId: string | null };

const COLUMNS = "seq, at, ids, kinds, writers, before, (SELECT id FROM imports WHERE number = changes.import) AS importId";

/** Looks through the log, which has no index of plants, in short steps. Call it inside a transaction. */
export class LogScanner {
  readonly #db: DatabaseSync;
  #prepared: ReturnType<typeof prepare> | undefined;
  readonly #limits: ScanLimits;
  readonly #kept: KeptNexts;

  constructor(db: DatabaseSync, limits: Partial<ScanLimits> = {}) {
    this.#db = db;
    this.#limits = { ...SCAN_LIMITS, ...limits };
    this.#kept = new KeptNexts(this.#limits);
  }

  walk({ wanted, before, limit, bytesMax }: Walk): WalkStep {
    const end = this.#limits.now() + this.#limits.stepMs;
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
        // The row of `before` is no step forward.
        if (row.seq < before.seq && this.#limits.now() > end) return { changes, reached: { seq: row.seq, index: 0, at: row.at } };
      }
      if (this.#limits.now() > end && high - WINDOW_ROWS >= lowest) return { changes, reached: this.#placeAbove(high - WINDOW_ROWS) };
    }
    return { changes, reached: undefined };
  }

  /** What it was before its next change, or else what it is now. Or the same query, with the row to go on from. */
  findState({ id, place, from }: StateQuery): PastState | StateQuery {
    const end = this.#limits.now() + this.#limits.stepMs;
    const newest = this.#newest();
    // With it, the next change may be gone.
    if (!this.#sql().row.get(place.seq)) return toState(undefined);
    for (let low = from; low <= newest; low += WINDOW_ROWS) {
      if (low > from && this.#limits.now() > end) return { id, place, from: low };
      for (const row of this.#sql().laterOfPlant.iterate(low, low + WINDOW_ROWS - 1, toBytes(id)) as Iterable<Row>) {
        const next = fromIds(row.ids).indexOf(id, row.seq === place.seq ? place.index : 0);
        if (next >= 0) return toState(toEntries(row)[next]);
      }
    }
    return this.#presentState(id);
  }

  /**
   * What plants were: see `findState`. Of the first, as many as have room in a page. Undefined if it has to be called again.
   *
   * To look at all rows behind a page again for each page would take a time that grows with the square of them. So as many rows
   * of the import as are behind a page are looked at with it, up to a limit of memory, for the pages that follow.
   */
  findStates(query: OutcomeQuery): readonly PastState[] | undefined {
    const end = this.#limits.now() + this.#limits.stepMs;
    const newest = this.#newest();
    const nexts = this.#nextsOf(query, newest);
    nexts.isUnderWay = true;
    while (nexts.from <= newest && !query.outcomes.every((outcome) => nexts.nextOf(outcome))) {
      const high = Math.min(nexts.from + WINDOW_ROWS - 1, newest);
      for (const row of this.#sql().later.iterate(nexts.from, high) as Iterable<LookedRow>) {
        nexts.look(row);
        if (this.#limits.now() > end) return undefined;
      }
      nexts.from = high + 1;
    }
    nexts.isUnderWay = false;
    return this.#statesOf(query.outcomes, nexts);
  }

  #nextsOf({ outcomes, number, first }: OutcomeQuery, newest: number): NextChanges {
    const { stretchRows, stretchPages } = this.#limits;
    const [low, high] = [outcomes.at(-1)!.seq, outcomes[0]!.seq];
    const ahead = Math.min(newest - low, stretchRows, stretchPages * (high - low + 1));
    return this.#kept.find({ number, low, high }, Math.max(first, low - ahead));
  }

  #sql() {
    return (this.#prepared ??= prepare(this.#db));
  }

  #oldest(): number {
    return Number(this.#sql().oldest.get()!["seq"]);
  }

  #newest(): number {
    return Number(this.#sql().newest.get()!["seq"]);
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

  #statesOf(outcomes: readonly Outcome[], nexts: NextChanges): PastState[] {
    const states: PastState[] = [];
    // Those of one row follow each other.
    let [read, entries]: [number | undefined, readonly LogEntry[]] = [undefined, []];
    const entryOf = ({ seq, index }: ChangePlace) => {
      if (read !== seq) [read, entries] = [seq, this.#entriesOf(seq)];
      return entries[index];
    };
    let bytes = 0;
    for (const outcome of outcomes) {
      if (bytes >= CHANGES_BYTES_MAX) break;
      const next = nexts.nextOf(outcome);
      const state = next || !nexts.has(outcome.seq) ? toState(next && entryOf(next)) : this.#presentState(outcome.id);
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
    later: db.prepare("SELECT seq, import, ids FROM changes WHERE seq BETWEEN ? AND ? ORDER BY seq"),
    laterOfPlant: db.prepare("SELECT seq, ids, kinds, before FROM changes WHERE seq BETWEEN ? AND ? AND instr(ids, ?) > 0 ORDER BY seq"),
    ofPlant: matching("instr(ids, ?) > 0"),
    ofImport: matching("import = ?"),
    ofDeleted: matching("instr(kinds, 'd') > 0"),
  };
}
