import { setTimeout as sleep } from "node:timers/promises";
import { endIfSyncFailed } from "./engine/failure.ts";
import type { Commits } from "./commits.ts";
import type { Follower } from "./search/follower.ts";

type RetentionOptions = Readonly<{
  commits: Pick<Commits, "forgetChanges">;
  index: Pick<Follower, "sync">;
  /** A sync failed: end the process at once. */
  onFatal: (reason: Error) => void;
}>;

/** How often changes that are no longer kept are deleted while no one writes, in milliseconds. */
const EVERY_MS = 60 * 60_000;

/** Between two commits that delete some, in milliseconds: those of others go between. */
const PAUSE_MS = 20;

/** Deletes changes that are no longer kept, also while no one writes. Returns what ends that. */
export function startRetention({ commits, index, onFatal }: RetentionOptions): () => void {
  let isRunning = false;
  let isEnded = false;

  async function run(): Promise<void> {
    if (isRunning) return;
    isRunning = true;
    try {
      const indexed = await index.sync();
      while (!isEnded && (await commits.forgetChanges(indexed))) await sleep(PAUSE_MS, undefined, { ref: false });
    } catch (reason) {
      endIfSyncFailed(reason, onFatal);
      // The writer reports its trouble, and the next time is in an hour.
    } finally {
      isRunning = false;
    }
  }

  const timer = setInterval(() => void run(), EVERY_MS).unref();
  void run();
  return () => {
    isEnded = true;
    clearInterval(timer);
  };
}
