import { startService } from "./contenders.ts";
import { withFolder } from "./scratch.ts";
import type { Bench } from "./trade-offs.ts";
import { toSpread, toText } from "./text-table.ts";

const STARTS = 10;

/** The time from spawn until the service first responds that it is ready. */
export async function start(bench: Bench): Promise<string> {
  return withFolder(async (data) => {
    // The first start creates the database; a restart is what people wait for.
    await startOnce(data, bench);
    const times: number[] = [];
    for (let number = 1; number <= STARTS; number += 1) {
      const time = await startOnce(data, bench);
      bench.note(`start: ${number} of ${STARTS}: ${toText(time)} ms`);
      times.push(time);
    }
    return `Start of the service, spawn to ready: ${toSpread(times)} ms, ${STARTS} starts`;
  });
}

async function startOnce(data: string, { signal }: Bench): Promise<number> {
  const { program } = await startService({ data, signal });
  await program.stop();
  return program.startMs;
}
