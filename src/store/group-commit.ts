import { PlantStoreError } from "../errors.ts";
import { createFairShares } from "../fair-shares.ts";
import type { Owner } from "../fair-shares.ts";
import { begin, charactersOf, countOf, freePlaces, openBatch, placesOf, rejectAll, searchedOf } from "./batch.ts";
import type { Batch, Changes, Outcome, Outcomes } from "./batch.ts";
import type { CommitMeter } from "./commit-meter.ts";
import type { PlantStore } from "./plants.ts";
import type { TokenChange, TokenOutcome } from "./tokens.ts";

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
    changes: waiting.reduce((sum, batch) => sum + countOf(batch), 0),
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
    freePlaces(batch);
    running.set(batch, commitBatch(batch));
  }

  function isLarge({ characters, searched }: Batch): boolean {
    return characters >= COMMIT_CHARACTERS || searched >= searchedMax;
  }

  function beginIfEnough(batch: Batch): void {
    if ((countOf(batch) >= enough || isLarge(batch)) && running.size < inFlightMax) beginNext();
  }

  async function commitBatch(batch: Batch): Promise<void> {
    const { waiters } = batch;
    const started = now();
    const endTrace = meter.tracer?.begin(waiters.map(({ traced }) => traced));
    try {
      const committed = commit(batch);
      for (const waiter of waiters) begin(waiter);
      const outcomes = await committed;
      meter.committed(countOf(batch), outcomes.creates ?? [], now() - started);
      endTrace?.();
      for (const { end } of waiters) end(outcomes);
    } catch (reason) {
      endTrace?.({ reason });
      for (const { reject } of waiters) reject(reason);
    }
    running.delete(batch);
  }

  function open(): Batch {
    const batch = openBatch(now());
    waiting.push(batch);
    return batch;
  }

  /** Rejects what has waited too long. A commit that is abandoned may still succeed: its outcome is unknown. */
  function expire(): void {
    watch = undefined;
    const oldest = now() - waitMs;
    for (const batch of running.keys()) if (batch.since < oldest) rejectAll(batch, "store_unavailable");
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
    freePlaces(batch);
    rejectAll(batch, code);
  }

  function isFull(owner: Owner = ""): boolean {
    return !places.hasRoom(owner);
  }

  /** The last waiting batch, with places reserved for a change of this size. */
  function join({ owner, characters, searched }: Pick<Joining<unknown>, "owner" | "characters" | "searched">): Batch {
    if (isClosed) throw new PlantStoreError("draining");
    // A change larger than the whole queue may wait alone.
    const release = places.take(owner ?? "", Math.min(placesOf(characters), queueMax));
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
    async gathered() {
      const [first] = waiting;
      // Behind a commit that runs, others find the changes that wait begun in their turn.
      if (first && running.size === 0) await new Promise<void>((resolve) => first.releases.push(resolve));
    },
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

function settle(outcome: Outcome | undefined): "created" | "same" {
  if (outcome === undefined) throw new Error("The store gave fewer outcomes than plants.");
  if (outcome === "in_use") throw new PlantStoreError("id_in_use");
  return outcome;
}
