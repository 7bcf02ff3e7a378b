import { PlantStoreError } from "../errors.ts";
import type { NewPlant } from "../plant.ts";
import { createFairShares } from "../fair-shares.ts";
import type { Owner } from "../fair-shares.ts";
import type { PlantStore, Swap } from "./plants.ts";
import type { TokenChange, TokenOutcome } from "./tokens.ts";

/** What became of one create: stored now, there already as this very plant, or refused because the id names another. */
export type Outcome = "created" | "same" | "in_use";

/** What is committed together. As nobody has been answered yet, the kinds may come one after the other. */
export type Changes = Readonly<{ creates: readonly NewPlant[]; swaps: readonly Swap[]; tokens: readonly TokenChange[] }>;

/** One outcome a change, in the same order; of a swap, whether it was made. Those of a kind that an engine commits elsewhere are left out. */
export type Outcomes = Readonly<{ creates?: readonly Outcome[]; swaps?: readonly boolean[]; tokens?: readonly TokenOutcome[] }>;

/**
 * Group commit: what arrives while commits run goes into the next, so that one fsync serves many requests, and every
 * request still gets its answer after its own commit.
 */
export type GroupCommit = Readonly<{
  /** All as the stores promise. They reject with `overloaded` or `store_unavailable` past the limits. */
  create: PlantStore["create"];
  compareAndSwap: PlantStore["compareAndSwap"];
  changeToken(change: TokenChange, owner?: Owner): Promise<TokenOutcome>;
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
  /**
   * How many changes of one owner may wait for a running commit; of all owners together, twice as many. One of much text counts as several.
   */
  queueMax: number;
  /** Longest time from a change to its answer, in milliseconds, give or take a quarter. */
  waitMs: number;
  /** A clock that never goes back, in milliseconds. */
  now: () => number;
}>;

/** A commit takes no more once it has so many characters: to hand them over keeps the event loop. */
const COMMIT_CHARACTERS = 1_000_000;

/** A change takes a place for each that it begins of so many characters: what waits is so bounded in memory too. */
const PLACE_CHARACTERS = 32_768;

/** Changes that are committed together. */
type Batch = Readonly<{
  /** When the first of them came. */
  since: number;
  /** Each gives back the places of a change. They end with the wait: what is being committed keeps nobody out. */
  releases: Array<() => void>;
  creates: NewPlant[];
  swaps: Swap[];
  tokens: TokenChange[];
  /** Resolves when their commit has begun; rejects when they are refused before it. */
  begun: PromiseWithResolvers<void>;
  /** All of them wait for this one promise. */
  outcomes: PromiseWithResolvers<Outcomes>;
}> & { characters: number };

export function createGroupCommit({ commit, inFlightMax, gatherTurns, enough, queueMax, waitMs, now }: GroupCommitOptions): GroupCommit {
  const places = createFairShares(2 * queueMax);
  // The last of them may take more.
  const waiting: Batch[] = [];
  const running = new Map<Batch, Promise<void>>();
  let round: Promise<void> | undefined;
  let watch: ReturnType<typeof setTimeout> | undefined;
  let isClosed = false;

  async function run(): Promise<void> {
    while (waiting.length > 0) {
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
    const batch = waiting.shift();
    if (!batch) return;
    leave(batch);
    running.set(batch, commitBatch(batch));
  }

  function leave({ releases }: Batch): void {
    for (const release of releases) release();
  }

  function beginIfEnough(batch: Batch): void {
    if ((sizeOf(batch) >= enough || isWhole(batch)) && running.size < inFlightMax) begin();
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
    const begun = Promise.withResolvers<void>();
    const batch = { since: now(), releases: [], characters: 0, creates: [], swaps: [], tokens: [], begun, outcomes };
    waiting.push(batch);
    return batch;
  }

  /** Ends what has waited too long. A commit that is given up may still succeed: its outcome is unknown. */
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

  /** Refuses what has waited longest. */
  function refuse(code: "overloaded" | "draining"): void {
    const batch = waiting.shift();
    if (!batch) return;
    leave(batch);
    batch.begun.reject(new PlantStoreError(code));
  }

  function isFull(owner: Owner = ""): boolean {
    return !places.hasRoom(owner);
  }

  /** The last batch that waits, with places for one more change of so many characters. */
  function join(owner: Owner | undefined, characters: number): Batch {
    if (isClosed) throw new PlantStoreError("draining");
    // However long, it may wait alone.
    const release = places.take(owner ?? "", Math.min(1 + Math.floor(characters / PLACE_CHARACTERS), queueMax));
    if (!release) throw new PlantStoreError("overloaded");
    const last = waiting.at(-1);
    const batch = last && !isWhole(last) ? last : open();
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

function isWhole({ characters }: Batch): boolean {
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
