import { availableParallelism, loadavg } from "node:os";

const WAIT_MS_MAX = 60_000;
const PAUSE_MS = 10;

/**
 * Ends a wait for something that never comes, in milliseconds. It does not say how fast something must come: where other
 * programs keep the machine busy, it is so many times as long.
 */
export function waitMsMax(): number {
  return WAIT_MS_MAX * Math.max(1, loadavg()[0]! / availableParallelism());
}

/** Polls until it is so. Rejects with what was awaited if it never is. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  if (!(await askUntil(isSo, (is) => is))) throw new Error(`It did not come: ${what}.`);
}

/** Polls until the result is the awaited one, and returns the last, for `expect` to show the difference. */
export async function askUntil<Answer>(ask: () => Answer | Promise<Answer>, isIt: (answer: Answer) => boolean): Promise<Answer> {
  const began = performance.now();
  for (;;) {
    const answer = await ask();
    if (isIt(answer) || performance.now() - began > waitMsMax()) return answer;
    await Bun.sleep(PAUSE_MS);
  }
}
