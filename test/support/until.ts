/** Ends a wait for something that never comes, in milliseconds. It does not say how fast something must come. */
const WAIT_MS_MAX = 60_000;
const PAUSE_MS = 10;

/** Polls until it is so. Rejects with what was awaited if it never is. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  if (!(await askUntil(isSo, (is) => is))) throw new Error(`Not within ${WAIT_MS_MAX} ms: ${what}.`);
}

/** Polls until the result is the awaited one, and returns the last, for `expect` to show the difference. */
export async function askUntil<Answer>(ask: () => Answer | Promise<Answer>, isIt: (answer: Answer) => boolean): Promise<Answer> {
  const deadline = performance.now() + WAIT_MS_MAX;
  for (;;) {
    const answer = await ask();
    if (isIt(answer) || performance.now() > deadline) return answer;
    await Bun.sleep(PAUSE_MS);
  }
}
