import type { Pulse, Worked } from "./worked.ts";

/** In a new service the runtime has yet to compile what is often done. */
const WARM_UP_TURNS = 6;

type Turns = Readonly<{ old: Worked; young: Worked; perSecond: number; turns: Readonly<{ count: number; seconds: number }> }>;

/** What an old and a new service had in two turns side by side. */
export type Pair = Readonly<{ old: Pulse; young: Pulse }>;

/**
 * What is slow in the last third of an hour may be the machine: its speed drifts by a third. So the old service and a new one take turns, a
 * few seconds each, and only what differs between two turns side by side counts.
 */
export async function takeTurns({ old, young, perSecond, turns }: Turns): Promise<Pair[]> {
  async function turn({ start }: Worked): Promise<Pulse> {
    const load = start(perSecond);
    await Bun.sleep(turns.seconds * 1000);
    const pulse = load.takePulse();
    await load.stop();
    return pulse;
  }

  for (let count = 0; count < WARM_UP_TURNS; count += 1) await turn(young);
  const pairs: Pair[] = [];
  while (pairs.length < turns.count) {
    const isOldFirst = pairs.length % 2 === 0;
    const first = await turn(isOldFirst ? old : young);
    const second = await turn(isOldFirst ? young : old);
    pairs.push(isOldFirst ? { old: first, young: second } : { old: second, young: first });
  }
  return pairs;
}
