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
