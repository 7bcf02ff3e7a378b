/** How long work keeps the event loop before others have their turn, in milliseconds: small beside the 50 that no request may take. */
const WORK_MS = 10;

/** Asked by long work after each small part of it: a promise to wait for when it has kept the event loop long enough, otherwise undefined. */
export function openPauses(): () => Promise<void> | undefined {
  let since = performance.now();

  async function pause(): Promise<void> {
    await new Promise(setImmediate);
    since = performance.now();
  }

  return () => (performance.now() - since > WORK_MS ? pause() : undefined);
}

/** How long pages, or large bodies, may be read before others have their turn, in milliseconds; what has begun is finished. */
const TURN_MS = 5;

/**
 * Shares the event loop out: resolves when a page, or a large body, may be read. What many clients ask for at the same moment would otherwise be read in one go, and
 * all others wait for the last of it; so once a turn of the loop has taken its time, the rest waits for the next one.
 */
export function createPace(now: () => number): () => Promise<void> {
  let since: number | undefined;

  function begin(): number {
    setImmediate(() => (since = undefined));
    return now();
  }

  return async () => {
    while (now() - (since ??= begin()) >= TURN_MS) await new Promise(setImmediate);
  };
}

/** Does work later, in the order in which it was given, and as little at a time as leaves others their turn. */
export type Later = Readonly<{
  do(work: () => void): void;
  /** Whether anything waits. */
  isBusy(): boolean;
}>;

export function createLater(): Later {
  const queue: Array<() => void> = [];
  let isRunning = false;

  async function run(): Promise<void> {
    await new Promise(setImmediate);
    const pause = openPauses();
    for (let work = queue.shift(); work; work = queue.shift()) {
      work();
      await pause();
    }
    isRunning = false;
  }

  return {
    do(work) {
      queue.push(work);
      if (isRunning) return;
      isRunning = true;
      void run();
    },
    isBusy: () => queue.length > 0,
  };
}
