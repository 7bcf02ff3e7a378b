/** How long work keeps the event loop before others have their turn, in milliseconds: small beside the 50 that no request may take. */
const TURN_MS = 10;

/** Asked by long work after each small part of it: a promise to wait for when it has kept the event loop long enough, otherwise undefined. */
export function openPauses(): () => Promise<void> | undefined {
  let since = performance.now();

  async function pause(): Promise<void> {
    await new Promise(setImmediate);
    since = performance.now();
  }

  return () => (performance.now() - since > TURN_MS ? pause() : undefined);
}
