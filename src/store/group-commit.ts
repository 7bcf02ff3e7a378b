import { PlantStoreError } from "../errors.ts";
import type { NewPlant } from "../plant.ts";
import { createFairShares } from "../fair-shares.ts";
import type { Owner } from "../fair-shares.ts";
import { SEARCHED_LENGTH_MAX } from "../tokenizer.ts";
import type { CommitMeter } from "./commit-meter.ts";
import type { Active } from "../tracing/request-trace.ts";
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
  /** A commit takes no more changes once its names have this many characters that are searched. */
  searchedMax: number;
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
    meter: CommitMeter;
  }>;

/** A commit takes no more changes once it has this many characters: handing them over blocks the event loop. */
const COMMIT_CHARACTERS = 1_000_000;

/**
 * A change takes one place in the queue, and one more for each of these many characters. This bounds the memory of the
 * queue.
 */
const PLACE_CHARACTERS = 32_768;

/** Who waits for the outcome of a change. */
type Waiter = Readonly<{
  /** Called when the commit has begun. */
  begin: (() => void) | undefined;
  /** What of a trace it is, if that is recorded. */
  traced: Active | undefined;
  end: (outcomes: Outcomes) => void;
  reject: (reason: unknown) => void;
}>;

/** Changes that one commit makes, and the state of their wait. */
type Batch = Readonly<{
  /** When the first change arrived. */
  since: number;
  /** Each frees the places of one change, when the wait ends: changes in a running commit keep nobody out. */
  releases: Array<() => void>;
  creates: NewPlant[];
  swaps: Swap[];
  tokens: TokenChange[];
  waiters: Waiter[];
}> & { characters: number; searched: number };

/** A change that joins a batch. */
type Joining<Result> = Readonly<{
  owner: Owner | undefined;
  characters: number;
  searched: number;
  whileWriting?: (() => void) | undefined;
  /** Adds the change, and returns how many of its kind there are then. */
  add: (batch: Batch) => number;
  /** The outcome of the change at this index of its kind. */
  read: (outcomes: Outcomes, at: number) => Result;
}>;

export function createGroupCommit({
  commit,
  inFlightMax,
  gatherTurns,
  enough,
  searchedMax,
  queueMax,
  waitMs,
  now,
  meter,
}: GroupCommitOptions): GroupCommit {
  const places = createFairShares(2 * queueMax);
  // Only the last batch takes more changes.
  const waiting: Batch[] = [];
  const running = new Map<Batch, Promise<void>>();
  let round: Promise<void> | undefined;
  let watch: ReturnType<typeof setTimeout> | undefined;
  let isClosed = false;
  const unwatch = meter.watch(() => ({
    changes: waiting.reduce((sum, batch) => sum + sizeOf(batch), 0),
    oldestMs: waiting[0] ? now() - waiting[0].since : 0,
  }));

  async function run(): Promise<void> {
    while (waiting.length > 0) {
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
    leave(batch);
    running.set(batch, commitBatch(batch));
  }

  function isLarge({ characters, searched }: Batch): boolean {
    return characters >= COMMIT_CHARACTERS || searched >= searchedMax;
  }

  function leave({ releases }: Batch): void {
    for (const release of releases) release();
  }

  function beginIfEnough(batch: Batch): void {
    if ((sizeOf(batch) >= enough || isLarge(batch)) && running.size < inFlightMax) beginNext();
  }

  async function commitBatch(batch: Batch): Promise<void> {
    const { waiters } = batch;
    const started = now();
    const endTrace = meter.tracer?.begin(waiters.map(({ traced }) => traced));
    try {
      const committed = commit(batch);
      for (const waiter of waiters) beginOne(waiter);
      const outcomes = await committed;
      meter.committed(sizeOf(batch), outcomes.creates ?? [], now() - started);
      endTrace?.();
      for (const { end } of waiters) end(outcomes);
    } catch (reason) {
      endTrace?.({ reason });
      for (const { reject } of waiters) reject(reason);
    }
    running.delete(batch);
  }

  function open(): Batch {
    const batch = { since: now(), releases: [], characters: 0, searched: 0, creates: [], swaps: [], tokens: [], waiters: [] };
    waiting.push(batch);
    return batch;
  }

  /** Rejects what has waited too long. A commit that is abandoned may still succeed: its outcome is unknown. */
  function expire(): void {
    watch = undefined;
    const oldest = now() - waitMs;
    for (const batch of running.keys()) if (batch.since < oldest) giveUp(batch, "store_unavailable");
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
    giveUp(batch, code);
  }

  function giveUp({ waiters }: Batch, code: "overloaded" | "draining" | "store_unavailable"): void {
    for (const waiter of waiters) waiter.reject(new PlantStoreError(code));
  }

  function isFull(owner: Owner = ""): boolean {
    return !places.hasRoom(owner);
  }

  /** The last waiting batch, with places reserved for a change of this size. */
  function join({ owner, characters, searched }: Pick<Joining<unknown>, "owner" | "characters" | "searched">): Batch {
    if (isClosed) throw new PlantStoreError("draining");
    // A change larger than the whole queue may wait alone.
    const release = places.take(owner ?? "", Math.min(1 + Math.floor(characters / PLACE_CHARACTERS), queueMax));
    if (!release) throw new PlantStoreError("overloaded");
    const last = waiting.at(-1);
    const batch = last && !isLarge(last) ? last : open();
    batch.releases.push(release);
    batch.characters += characters;
    batch.searched += searched;
    round ??= run();
    startWatch();
    return batch;
  }

  /** Adds a change to a batch, and resolves with its outcome. One promise for each change, because there are many. */
  function change<Result>(joining: Joining<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      const { whileWriting, add, read } = joining;
      const batch = join(joining);
      const at = add(batch) - 1;
      batch.waiters.push({
        begin: whileWriting,
        traced: meter.tracer?.active(),
        end(outcomes) {
          try {
            resolve(read(outcomes, at));
          } catch (reason) {
            reject(reason);
          }
        },
        reject,
      });
      beginIfEnough(batch);
    });
  }

  return {
    isFull,
    create: (plant, { owner, whileWriting } = {}) =>
      change({
        owner,
        characters: charactersOf(plant),
        searched: searchedOf(plant),
        whileWriting,
        add: ({ creates }) => creates.push(plant),
        read: ({ creates }, at) => settle(creates?.[at]),
      }),
    compareAndSwap: (swap, owner) =>
      change({
        owner,
        characters: charactersOf(swap.from) + charactersOf(swap.to),
        searched: searchedOf(swap.to),
        add: ({ swaps }) => swaps.push(swap),
        read: ({ swaps }, at) => swaps?.[at] ?? false,
      }),
    changeToken: (token, owner) =>
      change({ owner, characters: 0, searched: 0, add: ({ tokens }) => tokens.push(token), read: ({ tokens }, at) => tokens?.[at] }),
    async close() {
      isClosed = true;
      while (waiting.length > 0) refuse("draining");
      await round;
      await Promise.all(running.values());
      unwatch();
    },
  };
}

/** What one waiter does must not keep the others from their outcomes. */
function beginOne({ begin, reject }: Waiter): void {
  try {
    begin?.();
  } catch (reason) {
    reject(reason);
  }
}

function charactersOf(plant: NewPlant | undefined): number {
  return plant === undefined ? 0 : plant.name.length + (plant.tag?.length ?? 0);
}

function searchedOf(plant: NewPlant | undefined): number {
  return plant === undefined ? 0 : Math.min(plant.name.length, SEARCHED_LENGTH_MAX);
}

function sizeOf({ creates, swaps, tokens }: Changes): number {
  return creates.length + swaps.length + tokens.length;
}

function settle(outcome: Outcome | undefined): "created" | "same" {
  if (outcome === undefined) throw new Error("The store gave fewer outcomes than plants.");
  if (outcome === "in_use") throw new PlantStoreError("id_in_use");
  return outcome;
}
