import { join } from "node:path";
import { CONTENDERS } from "./contenders.ts";
import type { Target } from "./contenders.ts";
import { withFolder } from "./scratch.ts";
import { measure } from "./round.ts";
import type { Figures } from "./round.ts";
import type { Bench } from "./trade-offs.ts";
import { makeLargeStore } from "./stock.ts";
import { toSpread, toTable, toText } from "./text-table.ts";

const PLANTS = 1_000_000;

/** Reads by id on one core, beside the upper bound. */
export async function reads(bench: Bench): Promise<string> {
  return withFolder(async (folder) => {
    const data = join(folder, "store");
    await makeLargeStore(data, { plants: PLANTS, step: 1n, bench });
    const rounds: { service: Figures; ceiling: Figures }[] = [];
    for (let number = 1; number <= bench.rounds; number += 1) {
      const service = await run(await CONTENDERS.service({ data, signal: bench.signal }), bench);
      const ceiling = await run(await CONTENDERS.ceiling({ data, signal: bench.signal }), bench);
      bench.note(`reads: round ${number} of ${bench.rounds}: ${toText(service.rate)} of ${toText(ceiling.rate)} requests/s`);
      rounds.push({ service, ceiling });
    }
    const toRow = (name: "service" | "ceiling") => [
      name,
      toSpread(rounds.map((round) => round[name].rate)),
      toSpread(
        rounds.map((round) => round[name].p99Ms),
        2,
      ),
    ];
    return `Reads by id, ${toText(PLANTS)} plants: median [min-max] of ${rounds.length} rounds of ${bench.seconds} s

${toTable([["contender", "requests/s", "p99 ms"], toRow("service"), toRow("ceiling")])}

service / ceiling within a round ${toSpread(
      rounds.map(({ service, ceiling }) => service.rate / ceiling.rate),
      2,
    )}`;
  });
}

async function run(target: Target, { seconds, signal }: Bench): Promise<Figures> {
  try {
    return await measure(target, { ids: "read", start: PLANTS, seconds, signal });
  } finally {
    await target.program.stop();
  }
}
