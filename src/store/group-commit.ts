import { PlantStoreError } from "../domain/errors.ts";
import type { Owner } from "../runtime/fair-shares.ts";
import { countOf, tellBegun } from "./batch.ts";
import type { Batch, Changes, Outcome, Outcomes } from "./batch.ts";
import type { CommitMeter } from "./commit-meter.ts";
import { charactersOf, searchedOf } from "./commit-size.ts";
import type { Size } from "./commit-size.ts";
import type { PlantStore } from "./plants.ts";
import type { TokenChange, TokenOutcome } from "./tokens.ts";
import { createWaitingLine } from "./waiting-line.ts";
import type { LineLimits } from "./waiting-line.ts";

/**
 * Group commit: changes that arrive while commits run go into the next one. One fsync serves many requests, and each
 * response still follows its own commit.
 */
export type GroupCommit = Readonly<{
  /** They keep the promises of the stores. Past the limits they reject with `overloaded` or `store_unavailable`. */
  create: PlantStore["create"];
  compareAndSwap: PlantStore["compareAndSwap"];
  changeToken(change: TokenChange, owner?: Owner): Promise<TokenOutcome>;
  /** Resolves once the changes that gather now, if any do, have begun: what must not overtake them waits for it. */
  gathered(): Promise<void>;
  /** Whether a change of this owner would be refused now, because too many wait. */
  isFull(owner?: Owner): boolean;
  /** Refuses waiting changes, by default with `draining`. Resolves once the running commits have ended. */
  close(why?: PlantStoreError): Promise<void>;
}>;

/** What bounds the wait of a change. */
export type QueueLimits = LineLimits &
  Readonly<{
    /**
     * Turns of the event loop before a commit begins. What clients send when they get the responses of the last commit
     * then joins this one. Fewer, larger commits save more processor time than the turns add to the wait.
     */
    gatherTurns: number;
    /** Longest time from a change to its outcome, in milliseconds, give or take a quarter. */
    waitMs: number;
  }>;

type GroupCommitOptions = QueueLimits &
  Readonly<{
    /** Commits all changes. When it rejects, their outcome is unknown. */
    commit: (changes: Changes) => Promise<Outcomes>;
    /** How many commits may run at a time. */
    inFlightMax: number;
    meter: CommitMeter;
  }>;

const NO_TEXT: Size = { characters: 0, searched: 0 };

export function createGroupCommit({ commit, inFlightMax, gatherTurns, waitMs, meter, ...limits }: GroupCommitOptions): GroupCommit {
  const { now } = limits;
  const waiting = createWaitingLine(limits);
  const running = new Map<Batch, Promise<void>>();
  let round: Promise<void> | undefined;
  let watch: ReturnType<typeof setTimeout> | undefined;
  let closed: PlantStoreError | undefined;
  const unwatch = meter.watch(() => {
    const first = waiting.first();
    return { changes: waiting.changes(), oldestMs: first ? now() - first.since : 0 };
  });

  async function run(): Promise<void> {
    while (waiting.first()) {
      for (let turn = 0; turn < gatherTurns; turn += 1) await new Promise(setImmediate);
      await waitForSlot();
      beginNext();
      await waitForSlot();
    }
    round = undefined;
  }

  async function waitForSlot(): Promise<void> {
    while (running.size >= inFlightMax) await Promise.race(running.values());
  }

  function beginNext(): void {
    const batch = waiting.shift();
    if (!batch) return;
    running.set(
      batch,
      commitBatch(batch).then(() => void running.delete(batch)),
    );
  }

  async function commitBatch(batch: Batch): Promise<void> {
    const started = now();
    const endTrace = meter.tracer?.begin(batch.traced);
    try {
      const committed = commit(batch);
      tellBegun(batch);
      const outcomes = await committed;
      meter.committed(countOf(batch), outcomes.creates ?? [], now() - started);
      endTrace?.();
      batch.outcomes.resolve(outcomes);
    } catch (reason) {
      endTrace?.({ reason });
      batch.outcomes.reject(reason);
    }
  }

  /** Rejects what has waited too long. A commit that is abandoned may still succeed: its outcome is unknown. */
  function expire(): void {
    watch = undefined;
    const oldest = now() - waitMs;
    for (const batch of running.keys()) if (batch.since < oldest) batch.outcomes.reject(new PlantStoreError("store_unavailable"));
    for (let first = waiting.first(); first && first.since < oldest; first = waiting.first()) refuse(new PlantStoreError("overloaded"));
    if (round || running.size > 0) startWatch();
  }

  function startWatch(): void {
    watch ??= setTimeout(expire, waitMs / 4).unref();
  }

  /** Refuses the batch that has waited longest. */
  function refuse(why: PlantStoreError): void {
    waiting.shift()?.outcomes.reject(why);
  }

  /** A waiting batch, with room for a change of this size. */
  function join(owner: Owner, size: Size): Batch {
    if (closed) throw closed;
    const batch = waiting.join(owner, size);
    round ??= run();
    startWatch();
    return batch;
  }

  /** To be called when a change has been added to its batch. One promise for all of them: there are many. */
  function awaitOutcomes(batch: Batch): Promise<Outcomes> {
    if (meter.tracer) batch.traced.push(meter.tracer.active());
    if (running.size < inFlightMax && waiting.isEnough(batch)) beginNext();
    return batch.outcomes.promise;
  }

  return {
    isFull: (owner = "") => waiting.isFull(owner),
    async gathered() {
      const first = waiting.first();
      // Behind a commit that runs, others find the changes that wait begun in their turn.
      if (first && running.size === 0) await new Promise<void>((resolve) => first.onLeave.push(resolve));
    },
    async create(plant, { owner = "", whileWriting } = {}) {
      const batch = join(owner, { characters: charactersOf(plant), searched: searchedOf(plant) });
      const at = batch.creates.push(plant) - 1;
      if (whileWriting) batch.onBegin.push(whileWriting);
      const { creates } = await awaitOutcomes(batch);
      return settle(orThrow(creates?.[at]));
    },
    async compareAndSwap(swap, owner = "") {
      const batch = join(owner, { characters: charactersOf(swap.from) + charactersOf(swap.to), searched: searchedOf(swap.to) });
      const at = batch.swaps.push(swap) - 1;
      const { swaps } = await awaitOutcomes(batch);
      return orThrow(swaps?.[at]) ?? false;
    },
    async changeToken(token, owner = "") {
      const batch = join(owner, NO_TEXT);
      const at = batch.tokens.push(token) - 1;
      const { tokens } = await awaitOutcomes(batch);
      return tokens?.[at];
    },
    async close(why = new PlantStoreError("draining")) {
      closed = why;
      while (waiting.first()) refuse(why);
      await round;
      await Promise.all(running.values());
      unwatch();
    },
  };
}

function orThrow<Made>(outcome: Made | Error): Made {
  if (outcome instanceof Error) throw outcome;
  return outcome;
}

function settle(outcome: Outcome | undefined): "created" | "same" {
  if (outcome === undefined) throw new Error("The store gave fewer outcomes than plants.");
  if (outcome === "in_use") throw new PlantStoreError("id_in_use");
  return outcome;
}
