import { execFile } from "node:child_process";
import { existsSync, statfsSync } from "node:fs";
import { cpus, release, tmpdir, totalmem } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

/** The core of the program under test. */
export const PROGRAM_CORE = "0";

/** The core of everything else: wrk, and the bench itself. */
export const LOAD_CORE = "1";

/** For parts that use both cores. */
export const BOTH_CORES = "0,1";

const TOOLS = ["wrk", "taskset"] as const;
const GIB = 2 ** 30;
const TMPFS = "tmpfs";

/** From statfs(2). */
const FILE_SYSTEMS: Readonly<Record<number, string>> = { 0xef53: "ext4", 0x58465342: "xfs", 0x9123683e: "btrfs", 0x01021994: TMPFS };

/** Throws, with one sentence for the user, if the figures could not be measured or would be wrong. */
export function checkMachine(): void {
  const missing = TOOLS.filter((tool) => !isInPath(tool));
  if (missing.length > 0) throw new Error(`The bench needs ${missing.join(" and ")}: apt-get install wrk util-linux`);
  if (cpus().length < 2) throw new Error("The bench needs two cores: one for the program, one for the load.");
  if (fileSystemOf(tmpdir()) !== TMPFS) return;
  throw new Error(`${tmpdir()} is in memory, where a durable commit costs nothing: set TMPDIR to a folder on a disk.`);
}

/** Lets this process, and everything it starts from now on, run on both cores. */
export async function takeBothCores(): Promise<void> {
  await pin(BOTH_CORES);
}

/** Moves this process, and everything it starts from now on, off the program's core. */
export async function leaveProgramCore(): Promise<void> {
  await pin(LOAD_CORE);
}

async function pin(cores: string): Promise<void> {
  await promisify(execFile)("taskset", ["--all-tasks", "--cpu-list", "--pid", cores, String(process.pid)]);
}

export function describeMachine(): string {
  const [{ model } = { model: "unknown processor" }] = cpus();
  const memory = `${Math.round(totalmem() / GIB)} GiB memory`;
  return [model.trim(), `${cpus().length} cores`, memory, `Linux ${release()}`, fileSystemOf(tmpdir()), `Bun ${process.versions.bun}`].join(
    ", ",
  );
}

function isInPath(tool: string): boolean {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.some((folder) => existsSync(join(folder, tool)));
}

function fileSystemOf(path: string): string {
  const { type } = statfsSync(path);
  return FILE_SYSTEMS[type] ?? `file system 0x${type.toString(16)}`;
}
