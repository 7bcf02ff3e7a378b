import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { LOAD_CORE } from "./machine.ts";

export type Load = Readonly<{
  url: string;
  token: string;
  /** Creates with rising or random ids, or reads. */
  ids: "rising" | "random" | "read";
  /**
   * The first id, or the seed of random ones; for reads, the number of plants, from id 1 on. Loads that create in one
   * store need starts that are far apart.
   */
  start: number;
  seconds: number;
  /** Default: CONNECTIONS. */
  connections?: number;
  /** The cores of wrk. */
  cores?: string;
  signal: AbortSignal;
}>;

export type LoadReport = Readonly<{ requests: number; rate: number; p50Ms: number; p99Ms: number }>;

const CONNECTIONS = 64;
const SCRIPT = join(import.meta.dirname, "wrk.lua");

/** Sends requests as fast as responses come. Throws if any request failed: the figures would mean nothing. */
export async function runLoad({
  url,
  token,
  ids,
  start,
  seconds,
  connections = CONNECTIONS,
  cores = LOAD_CORE,
  signal,
}: Load): Promise<LoadReport> {
  const wrk = ["wrk", "-t1", `-c${connections}`, `-d${seconds}s`, "--latency", "-s", SCRIPT, url, "--", ids, String(start)];
  const { stdout } = await promisify(execFile)("taskset", ["--cpu-list", cores, ...wrk], {
    env: { ...process.env, BENCH_TOKEN: token },
    signal,
  });
  return parseReport(stdout);
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
