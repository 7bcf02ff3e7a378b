// Folders and archives whose bytes follow from their content alone: no time, user, umask or order of this machine.
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

/** Runs `work` with a new folder, which is removed at the end. */
export async function withFolder<Result>(work: (folder: string) => Promise<Result> | Result): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), "plant-store-release-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What is in a file, or which file to copy; everyone may read it unless its mode says otherwise. */
type TreeFile = Readonly<{ mode?: number }> & (Readonly<{ content: string | Uint8Array }> | Readonly<{ copyOf: string }>);

/** Files by their paths. */
export type Tree = Readonly<Record<string, TreeFile>>;

/** Writes files into a folder, with their folders, all dated `epoch`, in seconds. */
export function writeTree(folder: string, tree: Tree, epoch: number): void {
  for (const [name, file] of Object.entries(tree)) {
    const path = join(folder, name);
    makeFolders(folder, dirname(name));
    if ("content" in file) writeFileSync(path, file.content);
    else copyFileSync(file.copyOf, path);
    chmodSync(path, file.mode ?? 0o644);
    utimesSync(path, epoch, epoch);
  }
}

function makeFolders(top: string, name: string): void {
  const path = join(top, name);
  mkdirSync(path, { recursive: true });
  // Whatever the umask is.
  chmodSync(path, 0o755);
  if (name !== ".") makeFolders(top, dirname(name));
}

type TarOptions = Readonly<{ folder: string; names: readonly string[]; epoch: number; owner?: number }>;

/** Appends what is in a folder to a tar, which it makes if it is not there. Root owns it unless said otherwise. */
export function appendToTar(path: string, { folder, names, epoch, owner = 0 }: TarOptions): void {
  const same = ["--sort=name", `--mtime=@${epoch}`, `--owner=${owner}`, `--group=${owner}`, "--numeric-owner", "--format=ustar"];
  run("tar", ["-rf", path, ...same, "-C", folder, ...names]);
}

/** The level above these take twice as long for half a percent. */
const LEVEL = 6;

export async function compress(bytes: Uint8Array): Promise<Buffer> {
  return promisify(gzip)(bytes, { level: LEVEL });
}

/** Runs a program to its end, and returns what it prints. Throws all of that when it fails. */
export function run(program: string, words: readonly string[], environment: Readonly<Record<string, string>> = {}): string {
  const options = { encoding: "utf8", env: { ...process.env, ...environment }, maxBuffer: 2 ** 26 } as const;
  const { status, stdout, stderr, error } = spawnSync(program, words, options);
  if (error) throw error;
  if (status !== 0) throw new Error(`${program} ${words[0]} ended with ${status}:\n${stdout}${stderr}`);
  return stdout;
}
