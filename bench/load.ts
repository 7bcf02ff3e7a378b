import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Target } from "./contenders.ts";
import { LOAD_CORE, withFolder } from "./machine.ts";
import { plantOf } from "./plant-names.ts";

export type Load = Readonly<{
  /** Creates with rising or random ids, or reads. */
  ids: "rising" | "random" | "read";
  /**
   * The first id, or the seed of random ones; for reads, the number of plants, from id 1 on. Loads that create in one
   * store need starts that are far apart.
   */
  start: number;
  /** Names and tags of creates: as people have them (the default), one tag for all, or also one name for all. */
  plants?: keyof typeof TAILS;
  seconds: number;
  connections?: number;
  /** The cores of wrk. */
  cores?: string;
  /** CPU time that the database server used so far, if there is one. */
  serverSeconds?: () => number;
  signal: AbortSignal;
}>;

type LoadReport = Readonly<{ requests: number; rate: number; p50Ms: number; p99Ms: number }>;

const SCRIPT = join(import.meta.dirname, "wrk.lua");

/** How many plants the creates take in turns. They have 6,700 names and 300 tags. */
const PLANTS = 10_000;

const SOME = Array.from({ length: PLANTS }, (_, at) => plantOf(at + 1));

/** What follows the id in the JSON of a create, one a line. */
const TAILS = {
  various: SOME.map(({ name, tag }) => tailOf({ name, tag })),
  "one tag": SOME.map(({ name }) => tailOf({ name, tag: "tropical" })),
  "one name and tag": [tailOf({ name: "Monstera deliciosa", tag: "tropical" })],
} as const;

function tailOf(plant: Readonly<{ name: string; tag: string | undefined }>): string {
  return `,${JSON.stringify(plant).slice(1)}\n`;
}

/** Sends requests as fast as responses come. Throws if any request failed: the figures would mean nothing. */
export async function runLoad({ program: { url }, token }: Target, load: Load): Promise<LoadReport> {
  const { ids, start, plants = "various", seconds, connections = 64, cores = LOAD_CORE, signal } = load;
  return withFolder(async (folder) => {
    const tails = join(folder, "tails");
    await writeFile(tails, TAILS[plants].join(""));
    const wrk = ["wrk", "-t1", `-c${connections}`, `-d${seconds}s`, "--latency", "-s", SCRIPT, url, "--", ids, String(start), tails];
    const env = { ...process.env, BENCH_TOKEN: token };
    const { stdout } = await promisify(execFile)("taskset", ["--cpu-list", cores, ...wrk], { env, signal });
    return parseReport(stdout);
  });
}

type RawReport = Readonly<{ requests: number; durationUs: number; p50Us: number; p99Us: number; errors: Record<string, number> }>;

/** Reads the line that `done` of the script prints. */
function parseReport(output: string): LoadReport {
  const line = output.split("\n").find((candidate) => candidate.startsWith("{"));
  if (line === undefined) throw new Error(`wrk printed no report:\n${output}`);
  const { requests, durationUs, p50Us, p99Us, errors } = JSON.parse(line) as RawReport;
  const isClean = requests > 0 && Object.values(errors).every((count) => count === 0);
  if (!isClean) throw new Error(`Requests failed, so the round is void: ${line}`);
  return { requests, rate: requests / (durationUs / 1e6), p50Ms: p50Us / 1000, p99Ms: p99Us / 1000 };
}

export const WARM_UP_SECONDS = 8;

/** More ids than any load uses. */
const LOAD_IDS_MAX = 1_000_000_000;

/** How many ids or seeds are reserved for a round. */
export const ROUND_IDS_MAX = 2 * LOAD_IDS_MAX;

/** Warms a program up, then measures it. */
export async function measure(target: Target, load: Load) {
  const { program } = target;
  const { ids, start } = load;
  await runLoad(target, { ...load, seconds: WARM_UP_SECONDS });
  const clocks = () => ({
    seconds: performance.now() / 1000,
    program: program.cpuSeconds(),
    server: load.serverSeconds?.() ?? 0,
    core: readCoreTicks(LOAD_CORE),
  });
  const before = clocks();
  const report = await runLoad(target, { ...load, start: ids === "read" ? start : start + LOAD_IDS_MAX });
  const after = clocks();
  return {
    ...report,
    /** Core-seconds a second that the program used. */
    programCores: (after.program - before.program) / (after.seconds - before.seconds),
    serverCores: (after.server - before.server) / (after.seconds - before.seconds),
    /** The share of time that wrk's core was busy, 0 to 1. Near 1, wrk is the limit, not the program. */
    loadCoreBusy: (after.core.busy - before.core.busy) / (after.core.all - before.core.all),
    /** At the end of the load, in megabytes. */
    residentMemory: program.memory().resident,
  };
}

/**
 * From proc_stat(5): user, nice, system, idle, iowait, irq, softirq, steal. User and nice already include the two guest
 * times after them.
 */
function readCoreTicks(core: string): { busy: number; all: number } {
  const [, line = ""] = new RegExp(`^cpu${core} (.*)$`, "m").exec(readFileSync("/proc/stat", "utf8")) ?? [];
  const ticks = line.split(" ").slice(0, 8).map(Number);
  const [, , , idle = 0, iowait = 0] = ticks;
  const all = ticks.reduce((sum, count) => sum + count, 0);
  return { busy: all - idle - iowait, all };
}
