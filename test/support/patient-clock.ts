const TICK_MS = 10;

/**
 * Starts a clock that goes as fast as this process gets its turns: it counts the ticks of a timer, and a tick that is late counts once. So a
 * machine that is busy with others makes nothing take longer. `ms`: the milliseconds since.
 */
export function startPatientClock(): Readonly<{ ms(): number }> {
  let ticks = 0;
  setInterval(() => (ticks += 1), TICK_MS).unref();
  return { ms: () => ticks * TICK_MS };
}
