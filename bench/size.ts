import { join } from "node:path";
import type { Bench } from "./bench.ts";
import { withContender } from "./contenders.ts";
import { measure, ROUND_IDS_MAX } from "./load.ts";
import { withFolder } from "./machine.ts";
import { inTurns, toFigureTable, toRatioTable, toText } from "./rounds.ts";
import { fillStore } from "./stock.ts";

const NAMES = ["empty store, rising ids", "large store, rising ids", "empty store, random ids", "large store, random ids"] as const;
const [EMPTY_RISING, LARGE_RISING, EMPTY_RANDOM, LARGE_RANDOM] = NAMES;

/** The part takes long, and its ratios vary little. */
const ROUNDS_MAX = 3;

/** Random ids have up to 18 digits: see wrk.lua. */
const RANDOM_ID_MAX = 10n ** 18n;

/** Whether creates get slower as the store grows. */
export async function size(bench: Bench): Promise<string> {
  const { plants, seconds, signal } = bench;
  const rounds = Math.min(bench.rounds, ROUNDS_MAX);
  return withFolder(async (folder) => {
    const large = { rising: join(folder, "rising"), random: join(folder, "random") };
    await fillStore(large.rising, { plants, step: 1n, bench });
    // Random ids must fall between existing plants, or they would all land behind them.
    await fillStore(large.random, { plants, step: RANDOM_ID_MAX / BigInt(plants), bench });
    const figures = await inTurns({ ...bench, rounds }, { part: "size", names: NAMES }, (name, number) => {
      const ids = name.includes("rising") ? "rising" : "random";
      const start = (number - 1) * ROUND_IDS_MAX + 1 + (name === LARGE_RISING ? plants : 0);
      const run = (data: string) =>
        withContender("service", { data, signal }, (target) => measure(target, { ids, start, seconds, signal }));
      return name.startsWith("large") ? run(large[ids]) : withFolder(run);
    });
    return `Size of the store, large: ${toText(plants)} plants: median [min-max] of ${rounds} rounds of ${seconds} s

${toFigureTable(figures, { "requests/s": [({ rate }) => rate, 0] })}

${toRatioTable(figures, [
  [LARGE_RISING, EMPTY_RISING],
  [LARGE_RANDOM, EMPTY_RANDOM],
  [EMPTY_RANDOM, EMPTY_RISING],
  [LARGE_RANDOM, EMPTY_RISING],
])}`;
  });
}
