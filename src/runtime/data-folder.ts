import { accessSync, closeSync, constants, fsyncSync, mkdirSync, openSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { codeOf, describeFailure } from "./system-failure.ts";

/** What the names of the files of ours start with. */
const BEGINNINGS = ["plants.db", "first-token"];

/** The path of the file with the first token. */
export function firstTokenFile(folder: string): string {
  return join(folder, "first-token");
}

/** Creates a folder that only its owner can enter, with its missing parents, so that they survive a power cut. */
export function makeFolder(path: string): void {
  const first = mkdir(path);
  if (first === undefined) return;
  // A new name is safe once the folder that holds it is synced: from the lowest up to the parent of the first new one.
  for (let folder = path; ; folder = dirname(folder)) {
    syncFolder(folder);
    if (folder === dirname(first)) return;
  }
}

/** Makes the names of the files in a folder survive a power cut. Throws, with what to do, if it cannot. */
export function syncFolder(path: string): void {
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } catch (cause) {
    throw new Error(`${path} cannot be synced (${describeFailure(cause)}): check its disk.`, { cause });
  } finally {
    closeSync(folder);
  }
}

function mkdir(path: string): string | undefined {
  try {
    return mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (cause) {
    if (isNotFolder(cause)) {
      // It may be a folder that a failing disk cannot show: that is what this throws then.
      isThere(path);
      throw notFolder(path, cause);
    }
    if (!isDenied(cause))
      throw new Error(`${path} cannot be created (${describeFailure(cause)}): name another folder with --data.`, { cause });
    throw new Error(`${path} cannot be created or entered by ${self()}: create it as its owner, or name another folder with --data.`, {
      cause,
    });
  }
}

/**
 * Throws, with the owner and what to do, when this user may not read and write a folder and the files of ours in it, or
 * may not even read them. Ignores a missing folder.
 */
export function expectAccess(folder: string, { isReading = false }: { isReading?: boolean } = {}): void {
  const { R_OK, W_OK, X_OK } = constants;
  const mode = isReading ? R_OK : R_OK | W_OK;
  if (!isThere(folder)) return;
  expectMode(folder, mode | X_OK);
  for (const path of filesIn(folder)) expectMode(path, mode);
}

/**
 * The folder, and those files of ours in it, that others than its owner may read or write. Files are out of reach in a
 * folder that others cannot enter.
 */
export function findExposed(folder: string): string[] {
  const modeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  const files = (modeOf(folder) & 0o011) === 0 ? [] : filesIn(folder);
  return [folder, ...files].filter((path) => (modeOf(path) & 0o077) !== 0);
}

function isThere(folder: string): boolean {
  try {
    const stats = statSync(folder, { throwIfNoEntry: false });
    if (stats && !stats.isDirectory()) throw notFolder(folder);
    return stats !== undefined;
  } catch (cause) {
    if (isNotFolder(cause)) throw notFolder(folder, cause);
    if (!isDenied(cause)) throw cause;
    throw new Error(`${folder} cannot be opened by ${self()}: start as its owner, or name another folder with --data.`, { cause });
  }
}

function filesIn(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => BEGINNINGS.some((beginning) => name.startsWith(beginning)));
  return names.toSorted().map((name) => join(folder, name));
}

function expectMode(path: string, mode: number): void {
  try {
    accessSync(path, mode);
  } catch (cause) {
    if (!isDenied(cause)) return;
    if (codeOf(cause) === "EROFS")
      throw new Error(
        `${path} is on a read-only file system: mount it for writing, name it in ReadWritePaths if a unit of systemd keeps it so, or name another folder with --data.`,
        { cause },
      );
    const { uid, mode: bits } = statSync(path);
    const owner = `${userName(uid)}, with the mode ${(bits & 0o777).toString(8).padStart(4, "0")}`;
    const todo =
      uid === process.getuid?.() ? "change its mode with `chmod u+rwX`" : "start as its owner, or change the owner with `chown -R`";
    throw new Error(`${path} belongs to ${owner}, and ${self()} may not read and write it: ${todo}.`, { cause });
  }
}

function isDenied(reason: unknown): boolean {
  return ["EACCES", "EPERM", "EROFS"].includes(codeOf(reason) ?? "");
}

function notFolder(path: string, cause?: unknown): Error {
  return new Error(`${path} is not a folder: name one with --data.`, { cause });
}

/** Whether a file has the name of the folder or of one above it. */
function isNotFolder(reason: unknown): boolean {
  return ["EEXIST", "ENOTDIR"].includes(codeOf(reason) ?? "");
}

function self(): string {
  return userName(process.getuid?.() ?? 0);
}

function userName(uid: number): string {
  return uid === 0 ? "root" : `user ${uid}`;
}
