import { execFile } from "node:child_process";
import { existsSync, statfsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
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
const TMPFS = "tmpfs";

/** From statfs(2). */
const FILE_SYSTEMS: Readonly<Record<number, string>> = { 0xef53: "ext4", 0x58465342: "xfs", 0x9123683e: "btrfs", 0x01021994: TMPFS };

/** Throws, with one sentence for the user, if the figures could not be measured or would be wrong. */
export function checkMachine(): void {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const missing = TOOLS.filter((tool) => !folders.some((folder) => existsSync(join(folder, tool))));
  if (missing.length > 0) throw new Error(`The bench needs ${missing.join(" and ")}: apt-get install wrk util-linux`);
  if (cpus().length < 2) throw new Error("The bench needs two cores: one for the program, one for the load.");
  if (fileSystem() !== TMPFS) return;
  throw new Error(`${tmpdir()} is in memory, where a durable commit costs nothing: set TMPDIR to a folder on a disk.`);
}

/** Keeps this process, and everything it starts from now on, on these cores. */
export async function pin(cores: string): Promise<void> {
  await promisify(execFile)("taskset", ["--all-tasks", "--cpu-list", "--pid", cores, String(process.pid)]);
}

export function describeMachine(): string {
  const [{ model } = { model: "unknown processor" }] = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB memory`;
  return [model.trim(), `${cpus().length} cores`, memory, `Linux ${release()}`, fileSystem(), `Bun ${process.versions.bun}`].join(", ");
}

function fileSystem(): string {
  const { type } = statfsSync(tmpdir());
  return FILE_SYSTEMS[type] ?? `file system 0x${type.toString(16)}`;
}

/** Runs `work` with a new empty folder, which is removed at the end, even after a failure. */
export async function withFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), "plant-store-bench-"));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
