import { openPauses } from "../../runtime/event-loop.ts";

/**
 * Rest for so many times as long as the writes of a turn took the processor; for longer where all else takes more than
 * this share of it, because requests come first.
 */
const REST = 1;
const BUSY_REST = 15;
const BUSY_SHARE = 0.15;

/** How long one round of writes may take, in milliseconds. */
const ROUND_MS = 150;

/** The writes of the feed, in pieces between which requests have their turn, and how long to rest from them. */
export class Work {
  #busyMs = 0;
  /** At the end of the last turn. */
  #since = { processorMs: 0, wallMs: 0 };

  /** Does it for each of them. Returns those for whom the time did not suffice. */
  async round<One>(all: readonly One[], write: (one: One) => void): Promise<readonly One[]> {
    const end = performance.now() + ROUND_MS;
    const pause = openPauses();
    let since = processorMs();
    let at = 0;
    while (at < all.length && (at === 0 || performance.now() < end)) {
      write(all[at]!);
      at += 1;
      const yielding = pause();
      if (!yielding) continue;
      this.#busyMs += processorMs() - since;
      await yielding;
      since = processorMs();
    }
    this.#busyMs += processorMs() - since;
    return all.slice(at);
  }

  /** After a turn, in milliseconds. */
  restMs(): number {
    const [before, now, busyMs] = [this.#since, { processorMs: processorMs(), wallMs: performance.now() }, this.#busyMs];
    this.#since = now;
    this.#busyMs = 0;
    const others = (now.processorMs - before.processorMs - busyMs) / (now.wallMs - before.wallMs);
    return busyMs * (others > BUSY_SHARE ? BUSY_REST : REST);
  }
}

/** Of this thread. Where other programs keep the processor, waiting for it is no work. */
function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** The first of each owner, then the second of each, and so on: one that has many waits for itself. */
export function inTurns<One>(all: Iterable<One>, ownerOf: (one: One) => string): readonly One[] {
  const counts = new Map<string, number>();
  const rounds: One[][] = [];
  for (const one of all) {
    const owner = ownerOf(one);
    const round = counts.get(owner) ?? 0;
    counts.set(owner, round + 1);
    (rounds[round] ??= []).push(one);
  }
  return rounds.flat();
}
