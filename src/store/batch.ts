import { PlantStoreError } from "../errors.ts";
import type { NewPlant } from "../plant.ts";
import { createShares } from "../shares.ts";
import type { Shares } from "../shares.ts";
import type { Owner, PlantStore, Swap } from "./store.ts";

/** What became of one create: stored now, there already as this very plant, or refused because the id names another. */
export type Outcome = "created" | "same" | "in_use";

/** What is committed together. As nobody has been answered yet, the creates may come before the swaps. */
export type Changes = Readonly<{ creates: readonly NewPlant[]; swaps: readonly Swap[] }>;

/** One outcome a change, in the same order; of a swap, whether it was made. */
export type Outcomes = Readonly<{ creates: readonly Outcome[]; swaps: readonly boolean[] }>;

/**
 * Group commit: what arrives while commits run goes into the next, so that one fsync serves many requests, and every
 * request still gets its answer after its own commit.
 */
export type GroupCommit = Readonly<{
  /** Both as PlantStore promises. They reject with `overloaded` or `store_unavailable` past the limits. */
  create: PlantStore["create"];
  swap: PlantStore["swap"];
  /** Whether a change of this owner would be refused now, as so many wait. */
  isFull(owner?: Owner): boolean;
  /** Refuses what waits with `draining`, and resolves once the running commits have ended. */
  close(): Promise<void>;
}>;

type GroupCommitOptions = Readonly<{
  /** Commits all changes. When it rejects, nobody knows which were made. */
  commit: (changes: Changes) => Promise<Outcomes>;
  /** How many commits may run at a time. */
  inFlightMax: number;
  /**
   * How often the event loop turns before a commit begins. What the clients send on getting the answers of the last commit is then
   * part of this one: fewer commits, each larger, which costs less of the processor than it adds waiting.
   */
  gatherTurns: number;
  /** So many changes wait for no more, if another commit may run. */
  enough: number;
  /** How many changes of one owner may wait for a running commit; of all owners together, twice as many. */
  queueMax: number;
  /** Longest time from a change to its answer, in milliseconds, give or take a quarter. */
  waitMs: number;
  /** A clock that never goes back, in milliseconds. */
  now: () => number;
}>;

/** Changes that are committed together. */
type Batch = Readonly<{
  /** When the first of them came. */
  since: number;
  /** Of the places in it. They end with the wait: what is being committed keeps nobody out. */
  places: Shares;
  creates: NewPlant[];
  swaps: Swap[];
  /** Resolves when their commit has begun; rejects when they are refused before it. */
  begun: PromiseWithResolvers<void>;
  /** All of them wait for this one promise. */
  outcomes: PromiseWithResolvers<Outcomes>;
}>;

export function createGroupCommit({ commit, inFlightMax, gatherTurns, enough, queueMax, waitMs, now }: GroupCommitOptions): GroupCommit {
  let waiting: Batch | undefined;
  const running = new Map<Batch, Promise<void>>();
  let round: Promise<void> | undefined;
  let watch: ReturnType<typeof setTimeout> | undefined;
  let isClosed = false;

  async function run(): Promise<void> {
    while (waiting) {
      for (let turn = 0; turn < gatherTurns; turn += 1) await new Promise(setImmediate);
      await waitForRoom();
      begin();
      await waitForRoom();
    }
    round = undefined;
  }

  async function waitForRoom(): Promise<void> {
    while (running.size >= inFlightMax) await Promise.race(running.values());
  }

  function begin(): void {
    const batch = waiting;
    waiting = undefined;
    if (batch) running.set(batch, commitBatch(batch));
  }

  function beginIfEnough(batch: Batch): void {
    if (sizeOf(batch) >= enough && running.size < inFlightMax) begin();
  }

  async function commitBatch(batch: Batch): Promise<void> {
    const { begun, outcomes } = batch;
    const settled = commit(batch).then(outcomes.resolve, outcomes.reject);
    begun.resolve();
    await settled;
    running.delete(batch);
  }

  function open(): Batch {
    const outcomes = Promise.withResolvers<Outcomes>();
    // A batch that was given up may fail later, when nobody looks at it any more.
    outcomes.promise.catch(() => {});
    return { since: now(), places: createShares(2 * queueMax), creates: [], swaps: [], begun: Promise.withResolvers<void>(), outcomes };
  }

  /** Ends what has waited too long. A commit that is given up may still succeed: its outcome is unknown. */
  function expire(): void {
    watch = undefined;
    const oldest = now() - waitMs;
    for (const batch of running.keys()) if (batch.since < oldest) batch.outcomes.reject(new PlantStoreError("store_unavailable"));
    if (waiting && waiting.since < oldest) refuse("overloaded");
    if (round || running.size > 0) startWatch();
  }

  function startWatch(): void {
    watch ??= setTimeout(expire, waitMs / 4).unref();
  }

  function refuse(code: "overloaded" | "draining"): void {
    waiting?.begun.reject(new PlantStoreError(code));
    waiting = undefined;
  }

  function isFull(owner: Owner = ""): boolean {
    return waiting !== undefined && !waiting.places.hasRoom(owner);
  }

  /** The batch that the next commit takes, with a place for one more. */
  function join(owner: Owner = ""): Batch {
    if (isClosed) throw new PlantStoreError("draining");
    const batch = (waiting ??= open());
    if (!batch.places.take(owner)) throw new PlantStoreError("overloaded");
    round ??= run();
    startWatch();
    return batch;
  }

  return {
    isFull,
    async create(plant, { owner, whileWriting } = {}) {
      const batch = join(owner);
      const at = batch.creates.push(plant) - 1;
      beginIfEnough(batch);
      await batch.begun.promise;
      whileWriting?.();
      return settle((await batch.outcomes.promise).creates[at]);
    },
    async swap(swap, owner) {
      const batch = join(owner);
      const at = batch.swaps.push(swap) - 1;
      beginIfEnough(batch);
      await batch.begun.promise;
      return (await batch.outcomes.promise).swaps[at] ?? false;
    },
    async close() {
      isClosed = true;
      refuse("draining");
      await round;
      await Promise.all(running.values());
    },
  };
}

function sizeOf({ creates, swaps }: Changes): number {
  return creates.length + swaps.length;
}

function settle(outcome: Outcome | undefined): "created" | "same" {
  if (outcome === undefined) throw new Error("The store gave fewer outcomes than plants.");
  if (outcome === "in_use") throw new PlantStoreError("id_in_use");
  return outcome;
}
