import type { Bench } from "./bench.ts";
import { withContender } from "./contenders.ts";
import { withFolder } from "./machine.ts";
import { toSpread, toText } from "./rounds.ts";

const STARTS = 10;

/** The time from spawn until the service first responds that it is ready. */
export async function start({ note, signal }: Bench): Promise<string> {
  return withFolder(async (data) => {
    const startOnce = () => withContender("service", { data, signal }, async ({ program }) => program.startMs);
    // The first start creates the database; a restart is what people wait for.
    await startOnce();
    const times: number[] = [];
    for (let number = 1; number <= STARTS; number += 1) {
      times.push(await startOnce());
      note(`start: ${number} of ${STARTS}: ${toText(times.at(-1)!)} ms`);
    }
    return `Start of the service, spawn to ready: ${toSpread(times)} ms, ${STARTS} starts`;
  });
}
