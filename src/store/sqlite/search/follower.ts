import type { Log } from "../../../runtime/log.ts";
import { withTimeLimit } from "../../../runtime/time-limit.ts";
import { endIfSyncFailed } from "../engine/failure.ts";
import type { ThreadPriority } from "../../../runtime/thread-priority.ts";
import type { Thread } from "../engine/thread.ts";
import { NOTHING_INDEXED } from "./changes.ts";
import type { Built, Indexer } from "./indexer.ts";

export type FollowerOptions = Readonly<{
  thread: Thread<Indexer>;
  priority: Pick<ThreadPriority, "set">;
  log: Log;
  /** A sync failed: end the process at once. */
  onFatal: (reason: Error) => void;
  /** A monotonic clock, in milliseconds. */
  now: () => number;
}>;

/** How long changes collect before they are indexed, in milliseconds: many at once cost less than one by one. */
const GATHER_MS = 250;

/** @limit files: wait of an import on SQLite for the index, after each commit */
const REACH_MS_MAX = 10_000;

/** How far the index may be behind before it goes on as fast as others do, in milliseconds. */
const LOW_PRIORITY_MS_MAX = 1000;

/** How often the log tells how far a build is, in milliseconds. */
const BUILD_LOG_MS = 5000;

/** Pause before a failed step is tried again, in milliseconds. */
const RETRY_MS = 1000;

/** Has the index follow the commits, on the search thread. */
export class Follower {
  readonly #options: FollowerOptions;
  #indexed: number = NOTHING_INDEXED;
  /** The newest change that the index is known to hold. */
  #held = 0;
  /** What waits for the index. */
  readonly #reaching = new Set<Readonly<{ change: number; end: () => void }>>();
  /** How many reads wait for an answer of the index. */
  #hurried = 0;
  #isFollowing = false;
  #isChanged = false;
  #isClosed = false;
  /** When the oldest commit that is not indexed was made. */
  #behindSince: number | undefined;
  /** When the build began that is not done. */
  #buildingSince: number | undefined;
  /** When the log last said how far a build is. */
  #lastLoggedAt = -Infinity;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Indexes what an earlier process left behind. */
  constructor(options: FollowerOptions) {
    this.#options = options;
    void this.#catchUp();
  }

  /** Reports that a commit changed plants. */
  follow(): void {
    this.#isChanged = true;
    this.#behindSince ??= this.#options.now();
    this.#setPriority();
    if (!this.#isFollowing && !this.#isClosed) this.#timer ??= setTimeout(() => void this.#catchUp(), GATHER_MS).unref();
  }

  /** Has the index follow up to this change now. Resolves when the index holds it, is being built, has failed a step, or takes too long. */
  async reach(change: number): Promise<void> {
    if (this.#isClosed || change <= this.#held) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = { change, end: resolve };
    this.#reaching.add(waiting);
    this.#setPriority();
    if (!this.#isFollowing) {
      clearTimeout(this.#timer);
      void this.#catchUp();
    }
    await withTimeLimit(REACH_MS_MAX, promise, () => {});
    this.#reaching.delete(waiting);
  }

  /** A read waits for an answer of the index, until it calls what this returns. */
  hurry(): () => void {
    this.#hurried += 1;
    this.#setPriority();
    return () => {
      this.#hurried -= 1;
      this.#setPriority();
    };
  }

  /** What the index holds durably, even after a crash. */
  indexed(): number {
    return this.#indexed;
  }

  /** Brings what the index holds to the disk now. Resolves with the newest change of that. */
  async sync(): Promise<number> {
    this.#indexed = await this.#options.thread.call("sync");
    return this.#indexed;
  }

  /** For how long the index has been behind the commits, in milliseconds. */
  lagMs(): number {
    return this.#behindSince === undefined ? 0 : this.#options.now() - this.#behindSince;
  }

  /** For how long the index has been built, in milliseconds; 0 if it is not. */
  buildingMs(): number {
    return this.#buildingSince === undefined ? 0 : this.#options.now() - this.#buildingSince;
  }

  close(): void {
    this.#isClosed = true;
    // It follows once more.
    this.#options.priority.set(false);
    clearTimeout(this.#timer);
    this.#endReaching(Infinity);
  }

  /** Ends the waits for changes up to this one. */
  #endReaching(upTo: number): void {
    for (const { change, end } of this.#reaching) if (change <= upTo) end();
  }

  /** To index more at once costs less, and creates are faster meanwhile: so others go first until someone waits. */
  #setPriority(): void {
    if (this.#isClosed) return;
    const isWaitedFor = this.#hurried > 0 || this.#reaching.size > 0;
    this.#options.priority.set(!isWaitedFor && this.lagMs() < LOW_PRIORITY_MS_MAX);
  }

  async #catchUp(): Promise<void> {
    this.#timer = undefined;
    this.#isFollowing = true;
    let pauseMs = GATHER_MS;
    try {
      while (!this.#isClosed && (await this.#step()));
    } catch (reason) {
      endIfSyncFailed(reason, this.#options.onFatal);
      this.#options.log.warn("search_behind", { reason });
      this.#endReaching(Infinity);
      this.#isChanged = true;
      pauseMs = RETRY_MS;
    }
    this.#isFollowing = false;
    if (!this.#isChanged || this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#catchUp(), this.#reaching.size > 0 ? 0 : pauseMs).unref();
  }

  /** Resolves with whether there may be more to do. */
  async #step(): Promise<boolean> {
    const { thread, now } = this.#options;
    this.#isChanged = false;
    this.#setPriority();
    const started = now();
    const { did, held, indexed, built } = await thread.call("step");
    this.#indexed = indexed;
    this.#held = held;
    this.#endReaching(did === "building" ? Infinity : this.#held);
    this.#logBuild(built, started);
    if (did === "building" || did === "indexed") this.#behindSince ??= started;
    // What was committed meanwhile may be missing.
    else this.#behindSince = this.#isChanged ? started : undefined;
    return did !== "nothing";
  }

  /** Reports a build that takes more than a step, and how far it is: no one can search meanwhile. */
  #logBuild(built: Built | undefined, started: number): void {
    const { log, now } = this.#options;
    if (built) {
      this.#buildingSince ??= started;
      if (now() < this.#lastLoggedAt + BUILD_LOG_MS) return;
      this.#lastLoggedAt = now();
      log.info("search_building", built);
    } else if (this.#buildingSince !== undefined) {
      log.info("search_built", { ms: Math.round(now() - this.#buildingSince) });
      this.#buildingSince = undefined;
    }
  }
}
