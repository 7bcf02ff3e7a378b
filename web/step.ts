/** How the address bar takes something new: as a step that the back button undoes, or in the place of the one before. */
export type Step = "push" | "replace";

/** How long to wait before a step that was refused is tried again. */
const AGAIN_MS = 1000;

let again: ReturnType<typeof setTimeout> | undefined;

/**
 * Takes a step. Safari and Firefox refuse it after a hundred or two in some seconds, as when a key is held down in the
 * search box: the page goes on, and the address follows.
 */
export function takeStep(step: Step, state: unknown, url: string): void {
  clearTimeout(again);
  try {
    history[`${step}State`](state, "", url);
  } catch {
    again = setTimeout(() => takeStep(step, state, url), AGAIN_MS);
  }
}
