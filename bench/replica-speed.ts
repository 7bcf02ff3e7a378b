import { startService } from "./contenders.ts";
import type { Target } from "./contenders.ts";
import { withFolder } from "./scratch.ts";
import { BOTH_CORES } from "./machine.ts";
import { measure, ROUND_IDS_MAX } from "./round.ts";
import { withDatabase, withServer } from "./plant-store.ts";
import type { Server } from "./plant-store.ts";
import type { Bench } from "./trade-offs.ts";
import { toSpread, toTable, toText } from "./text-table.ts";
import { CONNECTIONS } from "./wrk.ts";

const COUNTS = [1, 2, 3] as const;

/** Totals of all replicas, with the latency of the slowest. */
type Figures = Readonly<{ rate: number; p99Ms: number; programCores: number; serverCores: number }>;

/** The rate of several replicas of the service on one PostgreSQL. */
export async function replicas(bench: Bench): Promise<string> {
  return withServer(async (server) => {
    const rounds: Figures[][] = [];
    for (let number = 1; number <= bench.rounds; number += 1) {
      const round: Figures[] = [];
      for (const count of COUNTS) round.push(await run(count, { server, bench }));
      bench.note(`replicas: round ${number} of ${bench.rounds}: ${round.map(({ rate }) => toText(rate)).join(", ")} creates/s`);
      rounds.push(round);
    }
    return `Creates by replicas on one PostgreSQL, ${CONNECTIONS} connections in all, both cores for all: median [min-max] of ${rounds.length} rounds of ${bench.seconds} s
(${server.name})

${toReport(rounds)}`;
  });
}

/** Runs this many replicas, freshly started on an empty database. */
async function run(count: number, { server, bench }: { server: Server; bench: Bench }): Promise<Figures> {
  const { signal } = bench;
  return withDatabase(server, (database) =>
    withFolder(async (data) => {
      const targets: Target[] = [];
      try {
        // One folder, because all share the first token. One after the other, because only one may create it.
        while (targets.length < count) targets.push(await startService({ data, database, cores: BOTH_CORES, signal }));
        return await load(targets, { server, bench });
      } finally {
        await Promise.all(targets.map(({ program }) => program.stop()));
      }
    }),
  );
}

/** Each replica has its own wrk, with a share of the connections, and its own ids. */
async function load(targets: readonly Target[], { server, bench }: { server: Server; bench: Bench }): Promise<Figures> {
  const { seconds, signal } = bench;
  const all = await Promise.all(
    targets.map((target, at) => {
      const connections = Math.trunc((CONNECTIONS + at) / targets.length);
      return measure(target, { ids: "rising", start: at * ROUND_IDS_MAX + 1, seconds, connections, cores: BOTH_CORES, server, signal });
    }),
  );
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  return {
    rate: sum(all.map(({ rate }) => rate)),
    p99Ms: Math.max(...all.map(({ p99Ms }) => p99Ms)),
    programCores: sum(all.map(({ programCores }) => programCores)),
    // All replicas report the same server.
    serverCores: all[0]?.serverCores ?? Number.NaN,
  };
}

function toReport(rounds: readonly (readonly Figures[])[]): string {
  const rows = COUNTS.map((count, at) => {
    const of = (figure: (figures: Figures, one: Figures) => number): number[] => rounds.map((round) => figure(round[at]!, round[0]!));
    return [
      String(count),
      toSpread(of(({ rate }) => rate)),
      at === 0
        ? "1"
        : toSpread(
            of(({ rate }, one) => rate / one.rate),
            2,
          ),
      toSpread(
        of(({ p99Ms }) => p99Ms),
        2,
      ),
      toSpread(
        of(({ programCores }) => programCores),
        2,
      ),
      toSpread(
        of(({ serverCores }) => serverCores),
        2,
      ),
    ];
  });
  return toTable([
    ["replicas", "creates/s", "to one, within a round", "p99 ms of the slowest", "program cores", "PostgreSQL cores"],
    ...rows,
  ]);
}
