/**
 * How long work blocks the event loop before it yields, in milliseconds: little compared with the 50 that no request
 * may take.
 */
const WORK_MS = 10;

/**
 * For long work to call after each small part of it. Returns a promise to await when it has blocked the event loop long
 * enough, otherwise undefined.
 */
export function openPauses(): () => Promise<void> | undefined {
  let since = performance.now();

  async function pause(): Promise<void> {
    await new Promise(setImmediate);
    since = performance.now();
  }

  return () => (performance.now() - since > WORK_MS ? pause() : undefined);
}

/**
 * How long pages or large bodies may be read before others have their turn, in milliseconds. What has begun is
 * finished.
 */
const TURN_MS = 5;

/**
 * Shares out the event loop: resolves when a page or a large body may be read. Reading at once all that many clients
 * request would keep everyone waiting for the last of it. Once a turn of the loop has used its time, the rest waits
 * for the next turn.
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

/**
 * For long work to call before each small part of it. Resolves when it may go on: at once while its turn lasts, unless
 * that `isOver`.
 */
export type Pauses = (isOver?: boolean) => Promise<void>;

/**
 * Opens the pauses of one piece of long work of many. Each turn of the event loop belongs to one of them, in order, so
 * that together they hold up others no longer than one does.
 */
export function createSharedPauses(now: () => number): () => Pauses {
  const line: Array<() => void> = [];
  let isServing = false;
  let owner: symbol | undefined;
  let since = 0;

  function serve(): void {
    const next = line.shift();
    isServing = next !== undefined;
    if (!next) return;
    setImmediate(serve);
    next();
  }

  async function wait(): Promise<void> {
    const turn = new Promise<void>((resolve) => line.push(resolve));
    if (!isServing) setImmediate(serve);
    isServing = true;
    return turn;
  }

  return () => {
    const me = Symbol("work");
    return async (isOver = false) => {
      if (!isOver && owner === me && now() - since < TURN_MS) return;
      await wait();
      owner = me;
      since = now();
    };
  };
}

export type TaskQueue = ReturnType<typeof createTaskQueue>;

/** Runs tasks later, in order. Yields between them, so that others have their turn. */
export function createTaskQueue() {
  const queue: Array<() => void> = [];
  let isRunning = false;

  async function run(): Promise<void> {
    await new Promise(setImmediate);
    const pause = openPauses();
    for (let task = queue.shift(); task; task = queue.shift()) {
      task();
      await pause();
    }
    isRunning = false;
  }

  return {
    add(task: () => void): void {
      queue.push(task);
      if (isRunning) return;
      isRunning = true;
      void run();
    },
    /** Whether a task waits. */
    isBusy: () => queue.length > 0,
  };
}
