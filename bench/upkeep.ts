import { plantBugs } from "../test/support/plant-bugs.ts";
import { startService } from "./contenders.ts";
import { WITHOUT } from "./leave-one-out.ts";
import { withFolder } from "./scratch.ts";
import { BOTH_CORES } from "./machine.ts";
import { measure } from "./round.ts";
import type { Bench } from "./trade-offs.ts";
import { toSpread, toTable, toText } from "./text-table.ts";

/** What search and tags cost the creates, with both cores for everything. */
export async function upkeep(bench: Bench): Promise<string> {
  const without = plantBugs([...WITHOUT.search, ...WITHOUT["index of tags"]]);
  const rounds: { with: number; without: number }[] = [];
  for (let number = 1; number <= bench.rounds; number += 1) {
    const round = { with: await run(undefined, bench), without: await run(without, bench) };
    bench.note(`upkeep: round ${number} of ${bench.rounds}: ${toText(round.with)} with, ${toText(round.without)} without`);
    rounds.push(round);
  }
  return `Creates with and without search and tags, both cores free: median [min-max] of ${rounds.length} rounds of ${bench.seconds} s

${toTable([
  ["creates", "requests/s"],
  ["with", toSpread(rounds.map((round) => round.with))],
  ["without", toSpread(rounds.map((round) => round.without))],
])}

with / without within a round ${toSpread(
    rounds.map((round) => round.with / round.without),
    2,
  )}`;
}

async function run(root: string | undefined, { seconds, signal }: Bench): Promise<number> {
  return withFolder(async (data) => {
    const target = await startService({ data, cores: BOTH_CORES, ...(root ? { root } : {}), signal });
    try {
      return (await measure(target, { ids: "rising", start: 1, seconds, cores: BOTH_CORES, signal })).rate;
    } finally {
      await target.program.stop();
    }
  });
}
