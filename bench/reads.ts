import { join } from "node:path";
import type { Bench } from "./bench.ts";
import { withContender } from "./contenders.ts";
import { measure } from "./load.ts";
import { withFolder } from "./machine.ts";
import { inTurns, toFigureTable, toRatioTable, toText } from "./rounds.ts";
import { fillStore } from "./stock.ts";

const PLANTS = 1_000_000;

/** Reads by id on one core, beside the upper bound. */
export async function reads(bench: Bench): Promise<string> {
  const { seconds, signal } = bench;
  return withFolder(async (folder) => {
    const data = join(folder, "store");
    await fillStore(data, { plants: PLANTS, step: 1n, bench });
    const rounds = await inTurns(bench, { part: "reads", names: ["service", "ceiling"] }, (name) =>
      withContender(name, { data, signal }, (target) => measure(target, { ids: "read", start: PLANTS, seconds, signal })),
    );
    return `Reads by id, ${toText(PLANTS)} plants: median [min-max] of ${bench.rounds} rounds of ${seconds} s

${toFigureTable(rounds, { "requests/s": [({ rate }) => rate, 0], "p99 ms": [({ p99Ms }) => p99Ms, 2] })}

${toRatioTable(rounds, [["service", "ceiling"]])}`;
  });
}
