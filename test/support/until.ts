/** Ends a wait for what never comes, in milliseconds. How fast something must come, it does not say. */
const WAIT_MS_MAX = 60_000;
const PAUSE_MS = 10;

/** Asks until it is so. Rejects with what was awaited when it never is. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  if (!(await askUntil(isSo, (is) => is))) throw new Error(`Not within ${WAIT_MS_MAX} ms: ${what}.`);
}

/** Asks until the answer is the one that is awaited, and returns the last, for `expect` to show in what it differs. */
export async function askUntil<Answer>(ask: () => Answer | Promise<Answer>, isIt: (answer: Answer) => boolean): Promise<Answer> {
  const deadline = performance.now() + WAIT_MS_MAX;
  for (;;) {
    const answer = await ask();
    if (isIt(answer) || performance.now() > deadline) return answer;
    await Bun.sleep(PAUSE_MS);
  }
}
