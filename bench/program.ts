import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { findFreePort } from "../test/support/port.ts";
import { cleanEnvironment } from "../test/support/process.ts";
import { cpuSecondsByThread, cpuSecondsOf } from "./cputime.ts";
import { PROGRAM_CORE } from "./machine.ts";

/** A program under test, on a core of its own. */
export type Program = Awaited<ReturnType<typeof startProgram>>;

type ProgramOptions = Readonly<{
  /** Makes the command line for a port. */
  command: (port: string) => readonly string[];
  variables: Readonly<Record<string, string>>;
  /** The cores that it may use; one by default. */
  cores?: string | undefined;
  signal: AbortSignal;
}>;

const POLL_MS = 2;
const READY_MS_MAX = 30_000;
const STOP_MS_MAX = 15_000;

/** Starts a program and waits until it is ready. Its output, if any, goes to stderr. */
export async function startProgram({ command, variables, cores = PROGRAM_CORE, signal }: ProgramOptions) {
  const port = String(await findFreePort());
  const url = `http://127.0.0.1:${port}`;
  const started = performance.now();
  // taskset becomes the program, so the pid is the program's own.
  const child = spawn("taskset", ["--cpu-list", cores, ...command(port)], {
    stdio: ["ignore", 2, 2],
    // Without the settings of the user's own service.
    env: { ...cleanEnvironment(), ...variables },
  });
  try {
    await waitUntilReady(url, child, signal);
  } catch (reason) {
    await stop(child);
    throw reason;
  }
  return {
    url,
    /** Time from spawn to the first 200 of GET /readyz, in milliseconds. */
    startMs: performance.now() - started,
    /** CPU time used so far by all its threads. */
    cpuSeconds: () => cpuSecondsOf(child.pid!),
    /** The same by the name of the thread, for threads that are alive. The main thread is "main". */
    cpuSecondsByThread: () => cpuSecondsByThread(child.pid!),
    /** Resident memory now, and its peak, in megabytes. */
    memory: () => ({ resident: readMegabytes(child, "VmRSS"), peak: readMegabytes(child, "VmHWM") }),
    /** Sends SIGTERM and resolves when the program has ended. */
    stop: () => stop(child),
  };
}

async function waitUntilReady(url: string, child: ChildProcess, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + READY_MS_MAX;
  while (!(await isReady(url))) {
    const command = child.spawnargs.join(" ");
    if (hasEnded(child)) throw new Error(`A program ended before it was ready: ${command}`);
    if (performance.now() > deadline) throw new Error(`A program was not ready within ${READY_MS_MAX} ms: ${command}`);
    await sleep(POLL_MS, undefined, { signal });
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/readyz`, { headers: { connection: "close" }, signal: AbortSignal.timeout(1000) })).status === 200;
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

function readMegabytes({ pid }: ChildProcess, name: "VmRSS" | "VmHWM"): number {
  const [, kilobytes] = new RegExp(`^${name}:\\s*(\\d+)`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return (Number(kilobytes) * 1024) / 1e6;
}
