import { join } from "node:path";
import { startService } from "./contenders.ts";
import { withFolder } from "./scratch.ts";
import { measure, ROUND_IDS_MAX } from "./round.ts";
import type { Bench } from "./trade-offs.ts";
import { makeLargeStore } from "./stock.ts";
import { toSpread, toTable, toText } from "./text-table.ts";
import type { Load } from "./wrk.ts";

type Case = "emptyRising" | "largeRising" | "emptyRandom" | "largeRandom";
type Rates = Readonly<Record<Case, number>>;

/** The part takes long, and its ratios vary little. */
const ROUNDS_MAX = 3;

/** Random ids have up to 18 digits: see wrk.lua. */
const RANDOM_ID_MAX = 10n ** 18n;

/** Whether creates get slower as the store grows. */
export async function size(bench: Bench): Promise<string> {
  return withFolder(async (folder) => {
    const rising = join(folder, "rising");
    const random = join(folder, "random");
    await makeLargeStore(rising, { plants: bench.plants, step: 1n, bench });
    // Random ids must fall between existing plants, or they would all land behind them.
    await makeLargeStore(random, { plants: bench.plants, step: RANDOM_ID_MAX / BigInt(bench.plants), bench });

    const rounds: Rates[] = [];
    for (let number = 0; number < Math.min(bench.rounds, ROUNDS_MAX); number += 1) {
      const start = number * ROUND_IDS_MAX + 1;
      rounds.push({
        emptyRising: await withFolder((data) => run("empty store, rising ids", { data, ids: "rising", start, bench })),
        largeRising: await run("large store, rising ids", { data: rising, ids: "rising", start: bench.plants + start, bench }),
        emptyRandom: await withFolder((data) => run("empty store, random ids", { data, ids: "random", start, bench })),
        largeRandom: await run("large store, random ids", { data: random, ids: "random", start, bench }),
      });
    }
    return toReport(rounds, bench);
  });
}

type RunOptions = Readonly<{ data: string; bench: Bench }> & Pick<Load, "ids" | "start">;

async function run(name: string, { data, ids, start, bench }: RunOptions): Promise<number> {
  const { seconds, signal, note } = bench;
  const target = await startService({ data, signal });
  try {
    const { rate } = await measure(target, { ids, start, seconds, signal });
    note(`size: ${name}: ${toText(rate)} requests/s`);
    return rate;
  } finally {
    await target.program.stop();
  }
}

function toReport(rounds: readonly Rates[], { plants, seconds }: Bench): string {
  const large = `${toText(plants)} plants`;
  const rows = [
    toRow("empty store, rising ids", { rounds, of: "emptyRising", to: "emptyRising" }),
    toRow(`${large}, rising ids`, { rounds, of: "largeRising", to: "emptyRising" }),
    toRow("empty store, random ids", { rounds, of: "emptyRandom", to: "emptyRandom" }),
    toRow(`${large}, random ids`, { rounds, of: "largeRandom", to: "emptyRandom" }),
  ];
  return `Size of the store: median [min-max] of ${rounds.length} rounds of ${seconds} s
(ratios within a round)

${toTable([["store", "requests/s", "to empty, such ids", "to empty, rising ids"], ...rows])}`;
}

/** The rates of a case, and its ratios to the empty store with ids of the same kind and with rising ones. */
function toRow(name: string, { rounds, of, to }: { rounds: readonly Rates[]; of: Case; to: Case }): string[] {
  function toRatio(base: Case): string {
    if (of === base) return "1";
    const ratios = rounds.map((rates) => rates[of] / rates[base]);
    return toSpread(ratios, 2);
  }
  const rates = rounds.map((round) => round[of]);
  return [name, toSpread(rates), toRatio(to), toRatio("emptyRising")];
}
