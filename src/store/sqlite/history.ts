import { PlantStoreError } from "../../domain/errors.ts";
import type { PlantId } from "../../domain/plant.ts";
import { CHANGES_BYTES_MAX } from "../history.ts";
import { sizeOf } from "../page.ts";
import type { ChangePage, ChangeQuery, History, PastPage, PastQuery } from "../history.ts";
import { translated } from "./engine/failure.ts";
import type { Reader } from "./engine/reader.ts";
import type { Thread } from "./engine/thread.ts";
import { toCursor } from "./log-reads.ts";
import type { RowPlace } from "./log-reads.ts";
import type { OutcomeQuery, PastState, StateQuery, PlacedChange, Walk, WalkStep } from "./log-scan.ts";
import type { Indexer } from "./search/indexer.ts";
import type { Searcher } from "./search/searcher.ts";

type HistoryOptions = Readonly<{
  reader: Pick<Reader, "log" | "imports">;
  /** Only a store opened to serve has one. */
  searcher: Pick<Searcher, "whileHurried"> | undefined;
  /** Resolves when the main thread may read on. */
  pace: () => Promise<void>;
  /** See `Commits.watch`. */
  watch: History["watch"];
  now: () => number;
}>;

/** How many changes are looked at for one page. */
const PAGE_LOOKS = 10_000;

/** @limit reads: how long a page of the history of a plant is looked for on SQLite */
const WALK_MS_MAX = 5000;

/** @limit reads: how long the changes behind an import are looked through on SQLite */
const OUTCOMES_MS_MAX = 30_000;

/**
 * So few changes at the beginning of an import are examples of it: no page may follow. SQLite looks for each in a sixth of
 * the time that it takes to look at rows here.
 */
const EXAMPLES = 2;

/** Behind all changes of a row. */
const ROW_END = Infinity;

/** What is kept of changes. */
export function createHistory(options: HistoryOptions): History {
  const { reader, pace, watch } = options;
  const scans = createScans(options);

  async function read({ after, limit, tag }: ChangeQuery): Promise<ChangePage> {
    const changes = [];
    let [cursor, looks, bytes] = [after, 0, 0];
    for (;;) {
      await pace();
      const step = translated(() => reader.log.read({ after: cursor, limit: limit - changes.length, tag }));
      changes.push(...step.changes);
      cursor = step.cursor;
      looks += step.lookedAt;
      bytes += step.bytes;
      if (step.isEnd || changes.length >= limit || looks >= PAGE_LOOKS || bytes >= CHANGES_BYTES_MAX)
        return { changes, cursor, isEnd: step.isEnd };
    }
  }

  const placeOf = ({ before }: PastQuery) =>
    translated(() => (before === undefined ? reader.log.newest() : reader.log.expectPlace(before)));

  return {
    newest: async () => toCursor(translated(reader.log.newest)),
    read,
    watch,
    async ofPlant(id, query) {
      const before = placeOf(query);
      const step = await scans.walk({ wanted: { kind: "plant", id }, before, limit: query.limit });
      if (step.changes.length === 0) return toPage(step, []);
      // Each change before the newest of them led to what was there before the next.
      const last = await scans.findState(id, before);
      return toPage(step, [last, ...step.changes.map(({ from, isForgotten }) => ({ plant: from, isForgotten }))]);
    },
    async deleted(query) {
      const step = await scans.walk({ wanted: { kind: "deleted" }, before: placeOf(query), limit: query.limit });
      return toPage(
        step,
        step.changes.map(() => ({ plant: undefined, isForgotten: false })),
      );
    },
    imports: async (limit) => translated(() => reader.imports.list(limit)),
    async ofImport(id, query) {
      const found = translated(() => reader.imports.find(id));
      const place = placeOf(query);
      if (!found) return { changes: [], next: undefined };
      const before = place.seq > found.last ? { ...place, seq: found.last, index: ROW_END } : place;
      const step = await scans.walk({ wanted: { kind: "import", ...found }, before, limit: query.limit });
      if (query.before === undefined && step.changes.length <= EXAMPLES)
        return toPage(step, await Promise.all(step.changes.map(({ id: of, ...change }) => scans.findState(of, placeBehind(change)))));
      const outcomes = step.changes.map(({ id: of, seq, index }) => ({ id: of, seq, index }));
      return toPage(step, outcomes.length === 0 ? [] : await scans.findStates({ outcomes, ...found }));
    },
  };
}

function placeBehind({ seq, index, at }: RowPlace): RowPlace {
  return { seq, index: index + 1, at };
}

/** Looks through the log on the search thread, in steps, so that searches run between. */
function createScans({ searcher, now }: HistoryOptions) {
  function inThread<Result>(work: (thread: Thread<Indexer>) => Promise<Result>): Promise<Result> {
    return searcher ? searcher.whileHurried(work) : Promise.reject(new PlantStoreError("store_unavailable"));
  }

  return {
    /** Ends the page where it takes too long. */
    walk: (walk: Omit<Walk, "bytesMax">): Promise<WalkStep> =>
      inThread(async (thread) => {
        const end = now() + WALK_MS_MAX;
        const changes: PlacedChange[] = [];
        let bytes = 0;
        for (let before: RowPlace | undefined = walk.before; ;) {
          const step: WalkStep = await thread.call("walkLog", {
            ...walk,
            before,
            limit: walk.limit - changes.length,
            bytesMax: CHANGES_BYTES_MAX - bytes,
          });
          changes.push(...step.changes);
          for (const { from } of step.changes) bytes += from ? sizeOf(from) : 0;
          before = step.reached;
          if (!before || changes.length >= walk.limit || bytes >= CHANGES_BYTES_MAX || now() > end) return { changes, reached: before };
        }
      }),
    /** What a plant was at a place. */
    findState: (id: PlantId, place: RowPlace): Promise<PastState> =>
      inThread(async (thread) => {
        const end = now() + OUTCOMES_MS_MAX;
        for (let query: StateQuery = { id, place, from: place.seq }; ;) {
          const found: PastState | StateQuery = await thread.call("findState", query);
          if (!("from" in found)) return found;
          if (now() > end) throw new PlantStoreError("overloaded");
          query = found;
        }
      }),
    /** What plants were behind changes of an import: see `LogScanner.findStates`. */
    findStates: (query: OutcomeQuery): Promise<readonly PastState[]> =>
      inThread(async (thread) => {
        const end = now() + OUTCOMES_MS_MAX;
        for (;;) {
          const states = await thread.call("findStates", query);
          if (states) return states;
          if (now() > end) throw new PlantStoreError("overloaded");
        }
      }),
  };
}

/** A page of the changes whose outcomes have these states. */
function toPage({ changes: found, reached }: WalkStep, states: readonly PastState[]): PastPage {
  const changes = found.slice(0, states.length).map(({ seq: _seq, index: _index, ...change }, at) => {
    const { plant: to, isForgotten } = states[at]!;
    return { ...change, to, isForgotten: change.isForgotten || isForgotten };
  });
  const next = states.length < found.length ? found[states.length - 1] : reached;
  return { changes, next: next && toCursor(next) };
}
