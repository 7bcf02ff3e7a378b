import { join } from "node:path";
import { startService } from "./contenders.ts";
import { withFolder } from "./scratch.ts";
import { BOTH_CORES } from "./machine.ts";
import { compareSizes } from "./each-operation.ts";
import type { Bench } from "./trade-offs.ts";
import { makeLargeStore, sizesOf } from "./stock.ts";

/** Whether reads get slower as the store grows. */
export async function cost(bench: Bench): Promise<string> {
  return withFolder(async (folder) => {
    const sizes = sizesOf(bench);
    const dataOf = (plants: number) => join(folder, String(plants));
    for (const plants of sizes) await makeLargeStore(dataOf(plants), { plants, step: 1n, bench });
    return compareSizes(sizes, (plants) => startService({ data: dataOf(plants), cores: BOTH_CORES, signal: bench.signal }), bench);
  });
}
