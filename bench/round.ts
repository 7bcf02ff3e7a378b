import { readFileSync } from "node:fs";
import type { Target } from "./contenders.ts";
import { LOAD_CORE } from "./machine.ts";
import { runLoad } from "./wrk.ts";
import type { Load, LoadReport } from "./wrk.ts";

export type Figures = LoadReport &
  Readonly<{
    /** Core-seconds a second that the program used. */
    programCores: number;
    /** The same for the database server, if there is one. */
    serverCores: number | undefined;
    /** The share of time that wrk's core was busy, 0 to 1. Near 1, wrk is the limit, not the program. */
    loadCoreBusy: number;
    /** Resident memory at the end of the load. */
    memoryBytes: number;
  }>;

type RoundOptions = Readonly<Pick<Load, "ids" | "start" | "seconds" | "connections" | "cores" | "signal">> &
  Readonly<{
    /** The database server that the program uses. */
    server?: Readonly<{ cpuSeconds(): number }>;
  }>;

export const WARM_UP_SECONDS = 8;

/** More ids than any load uses. */
const LOAD_IDS_MAX = 1_000_000_000;

/** How many ids or seeds are reserved for a round. */
export const ROUND_IDS_MAX = 2 * LOAD_IDS_MAX;

/** Warms a program up, then measures it. */
export async function measure(
  { program, token }: Target,
  { ids, start, seconds, connections, cores = LOAD_CORE, server, signal }: RoundOptions,
): Promise<Figures> {
  const load = { url: program.url, token, ids, ...(connections ? { connections } : {}), cores, signal };
  await runLoad({ ...load, start, seconds: WARM_UP_SECONDS });
  const clocks = () => ({
    seconds: performance.now() / 1000,
    program: program.cpuSeconds(),
    server: server?.cpuSeconds() ?? 0,
    core: readCoreTicks(LOAD_CORE),
  });
  const before = clocks();
  const report = await runLoad({ ...load, start: ids === "read" ? start : start + LOAD_IDS_MAX, seconds });
  const after = clocks();
  return {
    ...report,
    programCores: (after.program - before.program) / (after.seconds - before.seconds),
    serverCores: server && (after.server - before.server) / (after.seconds - before.seconds),
    loadCoreBusy: (after.core.busy - before.core.busy) / (after.core.all - before.core.all),
    memoryBytes: program.memory().residentBytes,
  };
}

/**
 * From proc_stat(5): user, nice, system, idle, iowait, irq, softirq, steal. User and nice already include the two guest
 * times after them.
 */
function readCoreTicks(core: string): { busy: number; all: number } {
  const line = readFileSync("/proc/stat", "utf8")
    .split("\n")
    .find((candidate) => candidate.startsWith(`cpu${core} `));
  const ticks = line?.split(" ").slice(1, 9).map(Number) ?? [];
  const [, , , idle = 0, iowait = 0] = ticks;
  const all = ticks.reduce((sum, count) => sum + count, 0);
  return { busy: all - idle - iowait, all };
}
