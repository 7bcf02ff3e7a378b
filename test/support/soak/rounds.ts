import type { Pulse, Subject } from "./subject.ts";

/**
 * How many pairs of turns there are, and how long a turn takes. Those before them, in which the new service warms up,
 * do not count.
 */
export type Turns = Readonly<{ warmUp: number; count: number; seconds: number }>;

/** The measurements of an old and a new service in two neighbouring turns. */
export type Pair = Readonly<{ old: Pulse; young: Pulse }>;

/** At the beginning of a turn all connections are opened and all tokens looked up: that is not compared. */
const LEAD_MS = 250;
/** The index of names follows the changes a quarter of a second later, which must not burden the next turn. */
const PAUSE_MS = 500;

/**
 * If the last third of an hour is slow, it may be the machine: its speed drifts by a third. So the old service and a
 * new one take turns, a few seconds each, and only the difference between two neighbouring turns counts.
 */
export async function takeTurns(
  { old, young }: Readonly<{ old: Subject; young: Subject }>,
  { warmUp, count, seconds, perSecond }: Turns & Readonly<{ perSecond: number }>,
): Promise<Pair[]> {
  async function turn({ start }: Subject): Promise<Pulse> {
    const load = start(perSecond);
    await Bun.sleep(LEAD_MS);
    load.takePulse();
    await Bun.sleep(seconds * 1000);
    await load.stop();
    const pulse = load.takePulse();
    await Bun.sleep(PAUSE_MS);
    return pulse;
  }

  const pairs: Pair[] = [];
  while (pairs.length < warmUp + count) {
    const isOldFirst = pairs.length % 2 === 0;
    const first = await turn(isOldFirst ? old : young);
    const second = await turn(isOldFirst ? young : old);
    pairs.push(isOldFirst ? { old: first, young: second } : { old: second, young: first });
  }
  return pairs.slice(warmUp);
}
