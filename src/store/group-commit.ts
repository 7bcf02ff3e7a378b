import { PlantStoreError } from "../errors.ts";
import type { NewPlant } from "../plant.ts";
import { createFairShares } from "../fair-shares.ts";
import type { Owner } from "../fair-shares.ts";
import type { PlantStore, Swap } from "./plants.ts";
import type { TokenChange, TokenOutcome } from "./tokens.ts";

/**
 * The outcome of a create: stored now, already stored as this very plant, or refused because the id names another one.
 */
export type Outcome = "created" | "same" | "in_use";

/**
 * Changes that are committed together. No response has been sent yet, so the kinds may be applied one after the other.
 */
export type Changes = Readonly<{ creates: readonly NewPlant[]; swaps: readonly Swap[]; tokens: readonly TokenChange[] }>;

/**
 * One outcome for each change, in the same order; for a swap, whether it was made. Kinds that an engine commits
 * elsewhere are left out.
 */
export type Outcomes = Readonly<{ creates?: readonly Outcome[]; swaps?: readonly boolean[]; tokens?: readonly TokenOutcome[] }>;

/**
 * Group commit: changes that arrive while commits run go into the next one. One fsync serves many requests, and each
 * response still follows its own commit.
 */
export type GroupCommit = Readonly<{
  /** They keep the promises of the stores. Past the limits they reject with `overloaded` or `store_unavailable`. */
  create: PlantStore["create"];
  compareAndSwap: PlantStore["compareAndSwap"];
  changeToken(change: TokenChange, owner?: Owner): Promise<TokenOutcome>;
  /** Whether a change of this owner would be refused now, because too many wait. */
  isFull(owner?: Owner): boolean;
  /** Refuses waiting changes with `draining`. Resolves once the running commits have ended. */
  close(): Promise<void>;
}>;

/** What bounds the wait of a change. */
export type QueueLimits = Readonly<{
  /**
   * Turns of the event loop before a commit begins. What clients send when they get the responses of the last commit
   * then joins this one. Fewer, larger commits save more processor time than the turns add to the wait.
   */
  gatherTurns: number;
  /** This many changes do not wait for more, if another commit may run. */
  enough: number;
  /**
   * How many changes of one owner may wait for a running commit; twice as many in all. A change with much text counts
   * as several.
   */
  queueMax: number;
  /** Longest time from a change to its outcome, in milliseconds, give or take a quarter. */
  waitMs: number;
  /** A monotonic clock, in milliseconds. */
  now: () => number;
}>;

type GroupCommitOptions = QueueLimits &
  Readonly<{
    /** Commits all changes. When it rejects, their outcome is unknown. */
    commit: (changes: Changes) => Promise<Outcomes>;
    /** How many commits may run at a time. */
    inFlightMax: number;
  }>;

/** A commit takes no more changes once it has this many characters: handing them over blocks the event loop. */
const COMMIT_CHARACTERS = 1_000_000;

/**
 * A change takes one place in the queue, and one more for each of these many characters. This bounds the memory of the
 * queue.
 */
const PLACE_CHARACTERS = 32_768;

/** Changes that one commit makes, and the state of their wait. */
type Batch = Readonly<{
  /** When the first change arrived. */
  since: number;
  /** Each frees the places of one change, when the wait ends: changes in a running commit keep nobody out. */
  releases: Array<() => void>;
  creates: NewPlant[];
  swaps: Swap[];
  tokens: TokenChange[];
  /** Resolves when the commit has begun. Rejects when the batch is refused before that. */
  begun: PromiseWithResolvers<void>;
  /** All changes of the batch await this one promise. */
  outcomes: PromiseWithResolvers<Outcomes>;
}> & { characters: number };

export function createGroupCommit({ commit, inFlightMax, gatherTurns, enough, queueMax, waitMs, now }: GroupCommitOptions): GroupCommit {
  const places = createFairShares(2 * queueMax);
  // Only the last batch takes more changes.
  const waiting: Batch[] = [];
  const running = new Map<Batch, Promise<void>>();
  let round: Promise<void> | undefined;
  let watch: ReturnType<typeof setTimeout> | undefined;
  let isClosed = false;

  async function run(): Promise<void> {
    while (waiting.length > 0) {
      for (let turn = 0; turn < gatherTurns; turn += 1) await new Promise(setImmediate);
      await waitForSlot();
      begin();
      await waitForSlot();
    }
    round = undefined;
  }

  async function waitForSlot(): Promise<void> {
    while (running.size >= inFlightMax) await Promise.race(running.values());
  }

  function begin(): void {
    const batch = waiting.shift();
    if (!batch) return;
    leave(batch);
    running.set(batch, commitBatch(batch));
  }

  function leave({ releases }: Batch): void {
    for (const release of releases) release();
  }

  function beginIfEnough(batch: Batch): void {
    if ((sizeOf(batch) >= enough || isLarge(batch)) && running.size < inFlightMax) begin();
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
    // An abandoned batch may reject later, when nobody awaits it.
    outcomes.promise.catch(() => {});
    const begun = Promise.withResolvers<void>();
    const batch = { since: now(), releases: [], characters: 0, creates: [], swaps: [], tokens: [], begun, outcomes };
    waiting.push(batch);
    return batch;
  }

  /** Rejects what has waited too long. A commit that is abandoned may still succeed: its outcome is unknown. */
  function expire(): void {
    watch = undefined;
    const oldest = now() - waitMs;
    for (const batch of running.keys()) if (batch.since < oldest) batch.outcomes.reject(new PlantStoreError("store_unavailable"));
    while (waiting[0] && waiting[0].since < oldest) refuse("overloaded");
    if (round || running.size > 0) startWatch();
  }

  function startWatch(): void {
    watch ??= setTimeout(expire, waitMs / 4).unref();
  }

  /** Refuses the batch that has waited longest. */
  function refuse(code: "overloaded" | "draining"): void {
    const batch = waiting.shift();
    if (!batch) return;
    leave(batch);
    batch.begun.reject(new PlantStoreError(code));
  }

  function isFull(owner: Owner = ""): boolean {
    return !places.hasRoom(owner);
  }

  /** The last waiting batch, with places reserved for a change of this many characters. */
  function join(owner: Owner | undefined, characters: number): Batch {
    if (isClosed) throw new PlantStoreError("draining");
    // A change larger than the whole queue may wait alone.
    const release = places.take(owner ?? "", Math.min(1 + Math.floor(characters / PLACE_CHARACTERS), queueMax));
    if (!release) throw new PlantStoreError("overloaded");
    const last = waiting.at(-1);
    const batch = last && !isLarge(last) ? last : open();
    batch.releases.push(release);
    batch.characters += characters;
    round ??= run();
    startWatch();
    return batch;
  }

  return {
    isFull,
    async create(plant, { owner, whileWriting } = {}) {
      const batch = join(owner, charactersOf(plant));
      const at = batch.creates.push(plant) - 1;
      beginIfEnough(batch);
      await batch.begun.promise;
      whileWriting?.();
      return settle((await batch.outcomes.promise).creates?.[at]);
    },
    async compareAndSwap(swap, owner) {
      const batch = join(owner, charactersOf(swap.from) + charactersOf(swap.to));
      const at = batch.swaps.push(swap) - 1;
      beginIfEnough(batch);
      await batch.begun.promise;
      return (await batch.outcomes.promise).swaps?.[at] ?? false;
    },
    async changeToken(change, owner) {
      const batch = join(owner, 0);
      const at = batch.tokens.push(change) - 1;
      beginIfEnough(batch);
      await batch.begun.promise;
      return (await batch.outcomes.promise).tokens?.[at];
    },
    async close() {
      isClosed = true;
      while (waiting.length > 0) refuse("draining");
      await round;
      await Promise.all(running.values());
    },
  };
}

function isLarge({ characters }: Batch): boolean {
  return characters >= COMMIT_CHARACTERS;
}

function charactersOf(plant: NewPlant | undefined): number {
  return plant === undefined ? 0 : plant.name.length + (plant.tag?.length ?? 0);
}

function sizeOf({ creates, swaps, tokens }: Changes): number {
  return creates.length + swaps.length + tokens.length;
}

function settle(outcome: Outcome | undefined): "created" | "same" {
  if (outcome === undefined) throw new Error("The store gave fewer outcomes than plants.");
  if (outcome === "in_use") throw new PlantStoreError("id_in_use");
  return outcome;
}
