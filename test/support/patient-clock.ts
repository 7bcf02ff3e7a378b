import { PATIENCE } from "./patience.ts";

const TICK_MS = 10;

/**
 * Starts a clock that runs as fast as this process gets its turns: it counts the ticks of a timer, and a late tick
 * counts once. It goes as much slower as the limits of services are longer. So a busy machine makes nothing take longer.
 * `ms`: the milliseconds since the start.
 */
export function startPatientClock(): Readonly<{ ms(): number }> {
  let ticks = 0;
  setInterval(() => (ticks += 1), TICK_MS).unref();
  return { ms: () => (ticks * TICK_MS) / PATIENCE };
}

/** Polls until it is so. Resolves with false if it is not within so many milliseconds of a patient clock. */
export async function isWithin(ms: number, isSo: () => Promise<boolean>): Promise<boolean> {
  const clock = startPatientClock();
  while (!(await isSo())) {
    if (clock.ms() > ms) return false;
    await Bun.sleep(20);
  }
  return true;
}

/** Waits until this process had its turns for so long: what a service in it was asked before is under way. */
export async function sleepPatiently(ms: number): Promise<void> {
  for (let slept = 0; slept < ms; slept += TICK_MS) await Bun.sleep(TICK_MS);
}
