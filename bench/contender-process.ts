import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { cpuSecondsByThread, cpuSecondsOf } from "./cputime.ts";
import { PROGRAM_CORE } from "./machine.ts";

/** A program under test, on a core of its own. */
export type Program = Readonly<{
  url: string;
  /** Time from spawn to the first 200 of GET /readyz, in milliseconds. */
  startMs: number;
  /** CPU time used so far by all its threads. */
  cpuSeconds(): number;
  /** The same by the name of the thread, for threads that are alive. The main thread is "main". */
  cpuSecondsByThread(): Readonly<Record<string, number>>;
  /** Resident memory now, and its peak. */
  memory(): Readonly<{ residentBytes: number; peakBytes: number }>;
  /** Sends SIGTERM and resolves when the program has ended. */
  stop(): Promise<void>;
}>;

type ProgramOptions = Readonly<{
  /** Makes the command line for a port. */
  command: (port: number) => readonly string[];
  variables?: Readonly<Record<string, string>>;
  /** The cores that it may use; one by default. */
  cores?: string;
  signal: AbortSignal;
}>;

const POLL_MS = 2;
const READY_MS_MAX = 30_000;
const STOP_MS_MAX = 15_000;

/** Starts a program and waits until it is ready. Its output, if any, goes to stderr. */
export async function startProgram({ command, variables, cores = PROGRAM_CORE, signal }: ProgramOptions): Promise<Program> {
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const started = performance.now();
  // taskset becomes the program, so the pid is the program's own.
  const child = spawn("taskset", ["--cpu-list", cores, ...command(port)], {
    stdio: ["ignore", 2, 2],
    env: { ...withoutSettings(process.env), ...variables },
  });
  try {
    await waitUntilReady(url, { child, signal });
  } catch (reason) {
    await stop(child);
    throw reason;
  }
  return {
    url,
    startMs: performance.now() - started,
    cpuSeconds: () => cpuSecondsOf(child.pid!),
    cpuSecondsByThread: () => cpuSecondsByThread(child.pid!),
    memory: () => ({ residentBytes: readStatusBytes(child, "VmRSS"), peakBytes: readStatusBytes(child, "VmHWM") }),
    stop: () => stop(child),
  };
}

/** Leaves out the settings of the user's own service. */
function withoutSettings(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith("PLANT_STORE_")));
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

async function waitUntilReady(url: string, { child, signal }: { child: ChildProcess; signal: AbortSignal }): Promise<void> {
  const deadline = performance.now() + READY_MS_MAX;
  while (!(await isReady(url))) {
    if (hasEnded(child)) throw new Error(`A program ended before it was ready: ${child.spawnargs.join(" ")}`);
    if (performance.now() > deadline) throw new Error(`A program was not ready within ${READY_MS_MAX} ms: ${child.spawnargs.join(" ")}`);
    await sleep(POLL_MS, undefined, { signal });
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    const { status } = await fetch(`${url}/readyz`, { headers: { connection: "close" }, signal: AbortSignal.timeout(1000) });
    return status === 200;
  } catch {
    // Nothing is listening yet.
    return false;
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS_MAX);
  await ended;
  clearTimeout(timer);
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

function readStatusBytes({ pid }: ChildProcess, name: "VmRSS" | "VmHWM"): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const line = status.split("\n").find((candidate) => candidate.startsWith(`${name}:`));
  return Number(line?.match(/\d+/)?.[0]) * 1024;
}
