import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { PATIENCE } from "./patience.ts";
import { needsThat } from "./program.ts";

/** The runtime of this test, for the processes that it starts. */
const RUNTIME = process.execPath;

export const PROJECT = fileURLToPath(new URL("../..", import.meta.url));

/** The user with the fewest rights on most systems. */
export const OTHER = 65_534;

/** Where `npm test` puts the executable that all of its files share, made of the source. */
const EXECUTABLE = process.env["PLANT_STORE_TEST_EXECUTABLE"];

/**
 * What runs the program of a folder that holds src/: the executable of this run for the project itself, as it starts in
 * half the time; the runtime and the source where there is none, for a copy with a planted bug, and on a busy machine.
 */
function programOf(root: string, user?: number): readonly string[] {
  // Another user may not enter the folder of the project.
  if (PATIENCE > 1 && (user === undefined || EXECUTABLE === undefined))
    return [RUNTIME, "--preload", join(import.meta.dir, "stretched.ts"), `${root}/src/main.ts`];
  return EXECUTABLE !== undefined && root === PROJECT ? [EXECUTABLE] : [RUNTIME, `${root}/src/main.ts`];
}

/** The service as a separate process. */
export type ServiceProcess = Readonly<{
  pid: number;
  url: string;
  /** The event that the service wrote once it was ready. */
  started: Readonly<Record<string, string>>;
  /** Everything that it wrote, line by line. */
  lines: readonly string[];
  /** The pipe that it writes into. */
  output: Readable;
  /** Sends a signal and resolves with the exit status; null if the signal ended it. */
  end(signal: NodeJS.Signals): Promise<number | null>;
  exited: Promise<number | null>;
}>;

type ProcessOptions = Readonly<{
  data: string;
  /** The folder that holds src/: the project, or a copy with a planted bug. */
  root?: string | undefined;
  /** What to run instead of the project's own program, and the folder to run it in. */
  program?: string;
  cwd?: string;
  flags?: readonly string[];
  /** A program and its arguments under which the service is started. */
  under?: readonly string[];
  environment?: Readonly<Record<string, string>>;
  /** Called with each line that the service writes, even before it is ready. */
  onLine?: ((line: string) => void) | undefined;
}>;

/**
 * Starts `plant-store serve` on a free port and resolves once it is ready. Rejects with all of its output if it ends
 * before that.
 */
export async function startProcess(options: ProcessOptions): Promise<ServiceProcess> {
  const { started, ...spawned } = spawnProcess(options);
  const event = await started;
  return { ...spawned, url: event["address"]!, started: event };
}

/** A service that may not be ready yet: `started` rejects if it ends before it is. */
export type SpawnedProcess = Omit<ServiceProcess, "url" | "started"> & Readonly<{ started: Promise<Record<string, string>> }>;

/** Starts `plant-store serve` on a free port, and does not wait for it. */
export function spawnProcess(options: ProcessOptions): SpawnedProcess {
  const { data, root = PROJECT, program, cwd, flags = [], under = [], environment = {}, onLine } = options;
  const words = program === undefined ? programOf(root) : [program];
  const command = [...under, ...words, "serve", "--port", "0", "--data", data, ...flags];
  // A test may send any number of wrong tokens, unless it is about them.
  const env = { ...cleanEnvironment(), PLANT_STORE_REFUSED_REQUESTS_PER_MINUTE: "0", ...environment };
  const child = spawn(command[0]!, command.slice(1), { stdio: ["ignore", "pipe", "pipe"], env, cwd });
  const exited = once(child, "exit").then(([code]) => code as number | null);
  const lines: string[] = [];
  let complaints = "";
  child.stderr.on("data", (chunk) => {
    complaints += String(chunk);
    process.stderr.write(chunk as Buffer);
  });
  const closed = once(child, "close");
  const started = new Promise<Record<string, string>>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      lines.push(line);
      onLine?.(line);
      if (line.includes('"event":"started"')) resolve(JSON.parse(line) as Record<string, string>);
    });
    void Promise.all([exited, closed]).then(([code]) =>
      reject(new Error(`The service ended with ${code} before it was ready:\n${[...lines, complaints].join("\n")}`)),
    );
  });
  // A caller that ends it before it is ready may ignore this.
  started.catch(() => {});
  return {
    pid: child.pid!,
    started,
    lines,
    output: child.stdout,
    exited,
    end(signal) {
      child.kill(signal);
      return exited;
    },
  };
}

export type CommandOptions = Readonly<{
  root?: string;
  environment?: Record<string, string>;
  /** Another user to run it as, which needs root. */
  user?: number;
  cwd?: string;
  /** A program and its arguments under which the command is run. */
  under?: readonly string[];
}>;

/** What a command writes about its progress once it takes longer than a second, and the empty line behind it. */
const PROGRESS = /(?:^.* {2}(?:\d+ s|[\d.]+ [kM]B.*)\n)+(?:[ \t]*\n)?/gm;

export function withoutProgress(stderr: string): string {
  return stderr.replaceAll(PROGRESS, "");
}

/** Tests that run the program as another user. */
export function needsOtherUser() {
  return needsThat("root, and a program that other users may run", process.getuid?.() === 0 && isOpenToOthers());
}

/** A project in the folder of root, which others may not enter, has its program elsewhere only in a run of several files. */
export function isOpenToOthers(): boolean {
  return EXECUTABLE !== undefined || spawnSync(RUNTIME, ["--version"], { uid: OTHER, gid: OTHER }).status === 0;
}

/** At its start, so nothing was changed. */
const LATE_DATABASE = /cannot be used \(The database did not answer within/;
const TRIES = PATIENCE > 1 ? 20 : 1;

/**
 * Runs a command of plant-store to its end. Progress, which only a slow machine sees, is left out; and where other
 * programs keep the machine so busy that a command gives up the database, it is run again.
 */
export async function runCommand(words: readonly string[], options: CommandOptions = {}) {
  for (let tries = 1; ; tries += 1) {
    const { ms: _, ...ended } = await startCommand(words, options).ended;
    if (tries === TRIES || !LATE_DATABASE.test(ended.stderr)) return ended;
  }
}

/** Starts a command that may be killed -9. Resolves with its status, how long it ran, and what it wrote. */
export function startCommand(words: readonly string[], { root = PROJECT, environment = {}, user, cwd, under = [] }: CommandOptions = {}) {
  const began = performance.now();
  const [program, ...rest] = [...under, ...programOf(root, user), ...words];
  const child = spawn(program!, rest, {
    env: { ...cleanEnvironment(), ...environment },
    ...(user === undefined ? {} : { uid: user, gid: user }),
    ...(cwd === undefined ? {} : { cwd }),
  });
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk) => (output.stdout += String(chunk)));
  child.stderr.on("data", (chunk) => (output.stderr += String(chunk)));
  const ended = once(child, "close").then(([status]) => ({
    status: status as number | null,
    stdout: output.stdout,
    stderr: withoutProgress(output.stderr),
    ms: performance.now() - began,
  }));
  return {
    ended,
    async killAfter(ms: number) {
      await Bun.sleep(ms);
      child.kill("SIGKILL");
      return ended;
    },
  };
}

/** The environment without settings of the service from the shell that runs the tests. */
export function cleanEnvironment(): Record<string, string> {
  const entries = Object.entries(process.env).filter(([name]) => !name.startsWith("PLANT_STORE_"));
  return Object.fromEntries(entries) as Record<string, string>;
}
