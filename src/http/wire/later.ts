import { openPauses } from "../../pause.ts";

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
