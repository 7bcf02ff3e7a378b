import { PlantStoreError } from "../domain/errors.ts";
import type { Owner } from "../runtime/fair-shares.ts";
import type { Batch, Changes, Outcome, Outcomes } from "./batch.ts";
import type { CommitMeter } from "./commit-meter.ts";
import { charactersOf, searchedOf } from "./commit-size.ts";
import type { Size } from "./commit-size.ts";
import type { PlantStore } from "./plants.ts";
import type { TokenChange, TokenOutcome } from "./tokens.ts";
import { createWaitingLine } from "./waiting-line.ts";
import type { LineLimits, WaitingLine } from "./waiting-line.ts";

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

/** Group commit: changes that arrive while commits run go into the next one. One fsync serves many; each response follows its own. */
export class GroupCommit {
  readonly #options: GroupCommitOptions;
  readonly #waiting: WaitingLine;
  readonly #running = new Map<Batch, Promise<void>>();
  readonly #unwatch: () => void;
  #round: Promise<void> | undefined;
  #watch: ReturnType<typeof setTimeout> | undefined;
  #closed: PlantStoreError | undefined;

  constructor(options: GroupCommitOptions) {
    const { now, meter } = options;
    const waiting = createWaitingLine(options);
    this.#options = options;
    this.#waiting = waiting;
    this.#unwatch = meter.watch(() => {
      const first = waiting.first();
      return { changes: waiting.changes(), oldestMs: first ? now() - first.since : 0 };
    });
  }

  // These keep the promises of the stores. Past the limits they reject with `overloaded` or `store_unavailable`.

  readonly create: PlantStore["create"] = async (plant, { owner = "", whileWriting } = {}) => {
    const batch = this.#join(owner, { characters: charactersOf(plant), searched: searchedOf(plant) });
    const at = batch.creates.push(plant) - 1;
    batch.creators.push(owner);
    if (whileWriting) batch.onBegin.push(whileWriting);
    const { creates } = await this.#awaitOutcomes(batch);
    return settle(orThrow(creates?.[at]));
  };

  readonly compareAndSwap: PlantStore["compareAndSwap"] = async (swap, owner = "") => {
    const size = { characters: charactersOf(swap.from) + charactersOf(swap.to), searched: searchedOf(swap.to) };
    const batch = this.#join(owner, size);
    const at = batch.swaps.push(swap) - 1;
    batch.swappers.push(owner);
    const { swaps } = await this.#awaitOutcomes(batch);
    return orThrow(swaps?.[at]) ?? false;
  };

  readonly changeToken = async (token: TokenChange, owner: Owner = ""): Promise<TokenOutcome> => {
    const batch = this.#join(owner, NO_TEXT);
    const at = batch.tokens.push(token) - 1;
    const { tokens } = await this.#awaitOutcomes(batch);
    return tokens?.[at];
  };

  /** Whether a change of this owner would be refused now, because too many wait. */
  readonly isFull = (owner: Owner = ""): boolean => this.#waiting.isFull(owner);

  /** Resolves once the changes that gather now, if any do, have begun: what must not overtake them waits for it. */
  readonly gathered = async (): Promise<void> => {
    const first = this.#waiting.first();
    // Behind a commit that runs, others find the changes that wait begun in their turn.
    if (first && this.#running.size === 0) await new Promise<void>((resolve) => first.onLeave.push(resolve));
  };

  /** Refuses waiting changes, by default with `draining`. Resolves once the running commits have ended. */
  async close(why = new PlantStoreError("draining")): Promise<void> {
    this.#closed = why;
    while (this.#waiting.first()) this.#refuse(why);
    await this.#round;
    await Promise.all(this.#running.values());
    this.#unwatch();
  }

  /** A waiting batch, with room for a change of this size. */
  #join(owner: Owner, size: Size): Batch {
    if (this.#closed) throw this.#closed;
    const batch = this.#waiting.join(owner, size);
    this.#round ??= this.#run();
    this.#startWatch();
    return batch;
  }

  /** To be called when a change has been added to its batch. One promise for all of them: there are many. */
  #awaitOutcomes(batch: Batch): Promise<Outcomes> {
    const { meter, inFlightMax } = this.#options;
    if (meter.tracer) batch.traced.push(meter.tracer.active());
    if (this.#running.size < inFlightMax && this.#waiting.isEnough(batch)) this.#beginNext();
    return batch.outcomes.promise;
  }

  async #run(): Promise<void> {
    while (this.#waiting.first()) {
      for (let turn = 0; turn < this.#options.gatherTurns; turn += 1) await new Promise(setImmediate);
      await this.#waitForSlot();
      this.#beginNext();
      await this.#waitForSlot();
    }
    this.#round = undefined;
  }

  async #waitForSlot(): Promise<void> {
    while (this.#running.size >= this.#options.inFlightMax) await Promise.race(this.#running.values());
  }

  #beginNext(): void {
    const batch = this.#waiting.shift();
    if (!batch) return;
    const ended = this.#commit(batch).then(() => void this.#running.delete(batch));
    this.#running.set(batch, ended);
  }

  async #commit(batch: Batch): Promise<void> {
    const { commit, meter, now } = this.#options;
    const started = now();
    const endTrace = meter.tracer?.begin(batch.traced);
    try {
      const committed = commit(batch);
      batch.begin();
      const outcomes = await committed;
      meter.committed(batch.count(), outcomes.creates ?? [], now() - started);
      endTrace?.();
      batch.outcomes.resolve(outcomes);
    } catch (reason) {
      endTrace?.({ reason });
      batch.outcomes.reject(reason);
    }
  }

  /** Rejects what has waited too long. A commit that is abandoned may still succeed: its outcome is unknown. */
  #expire(): void {
    const { now, waitMs } = this.#options;
    const waiting = this.#waiting;
    const oldest = now() - waitMs;
    this.#watch = undefined;
    for (const batch of this.#running.keys()) if (batch.since < oldest) batch.outcomes.reject(new PlantStoreError("store_unavailable"));
    for (let first = waiting.first(); first && first.since < oldest; first = waiting.first())
      this.#refuse(new PlantStoreError("overloaded"));
    if (this.#round || this.#running.size > 0) this.#startWatch();
  }

  #startWatch(): void {
    if (!this.#watch) this.#watch = setTimeout(() => this.#expire(), this.#options.waitMs / 4).unref();
  }

  /** Refuses the batch that has waited longest. */
  #refuse(why: PlantStoreError): void {
    this.#waiting.shift()?.outcomes.reject(why);
  }
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
