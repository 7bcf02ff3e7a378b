import { randomBytes } from "node:crypto";
import { constants, existsSync, linkSync, lstatSync, openSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import type { Stats } from "node:fs";
import { basename, dirname, join } from "node:path";
import { syncFolder } from "../runtime/data-folder.ts";
import { codeOf, describeFailure } from "../runtime/system-failure.ts";
import { onInterruption } from "./interruption.ts";

/** Where a command writes its output. A device may also be a pipe, or anything else that is not a regular file. */
export type Target = Readonly<{ kind: "device"; path: string }> | Readonly<{ kind: "file"; path: string; isForced: boolean }>;

/**
 * The files of a store, what a repair or restore left, and those that SQLite puts beside them: overwriting one destroys it, even while a service uses
 * it.
 */
const STORE_FILE =
  /^(?:plants\.db(?:\.(?:search|damaged|repairing|restoring))?(?:-wal|-shm|-journal)?|plants\.db\.lock|first-token|last-backup)$/;

/**
 * Checks a path before anything is written. Throws if it is a folder, if its folder is missing, if it has the name of a
 * store's file, or if it exists and may not be overwritten.
 */
export function toTarget(path: string, { isForced }: { isForced: boolean }): Target {
  if (path === "") throw new Error("The file name is empty: name a file.");
  if (STORE_FILE.test(basename(path))) throw new Error(`${path} has the name of a file of a store: choose another name.`);
  const folder = dirname(path);
  if (!existsSync(folder) || !statSync(folder).isDirectory())
    throw new Error(`There is no folder ${folder}: create it, or name another file.`);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory()) throw new Error(`${path} is a folder: name a file in it.`);
  if (stats && !stats.isFile()) {
    if (isOfOthers(path)) throw new Error(`${path} is a pipe or link of another user: name another file.`);
    return { kind: "device", path };
  }
  // A dangling link counts too: its owner chose where it leads.
  if (!isForced && lstatSync(path, { throwIfNoEntry: false })) throw isThere(path);
  return { kind: "file", path, isForced };
}

/** Whether it belongs to someone other than this user and root, who owns /dev. */
function isOfOthers(path: string): boolean {
  const { uid } = lstatSync(path);
  return uid !== 0 && uid !== process.getuid?.();
}

/** Opens a target for writing piece by piece. Never follows a link that may have appeared meanwhile. */
export function openTarget(target: Target): number {
  if (target.kind === "device") return openSync(target.path, "w");
  const { O_WRONLY, O_CREAT, O_TRUNC, O_EXCL, O_NOFOLLOW } = constants;
  return openSync(target.path, O_WRONLY | O_CREAT | (target.isForced ? O_TRUNC | O_NOFOLLOW : O_EXCL), 0o666);
}

export type PartialFile = Readonly<{ path: string; fd: number }>;

/** Gives a file its name only once it is complete, so that half of it never passes for a backup. */
export async function writeWhole<Result>(
  target: Target & { kind: "file" },
  write: (part: PartialFile) => Promise<Result>,
): Promise<Result> {
  const part = openPartFile(target);
  try {
    const result = await write(part);
    part.keep();
    return result;
  } finally {
    part.close();
  }
}

/**
 * Creates a file beside its final place. Its name cannot be guessed, and an existing file is never opened. It is
 * removed if the command ends early; after a kill -9, by the next command.
 */
export function openPartFile({ path, isForced }: Target & { kind: "file" }) {
  removeLeftParts(dirname(path), (name) => name === basename(path));
  const part = `${path}.${process.pid}-${randomBytes(9).toString("hex")}.part`;
  const fd = openPart(part, path);
  let isKept = false;
  function remove(): void {
    if (!isKept) rmSync(part, { force: true });
  }
  const forget = onInterruption(remove);
  return {
    path: part,
    fd,
    /** Gives it its final name, durably. Throws if that name was taken meanwhile. */
    keep(): void {
      if (isForced) renameSync(part, path);
      else giveName(part, path);
      isKept = true;
      syncName(dirname(path));
    },
    /** Removes it unless it was kept. */
    close(): void {
      forget();
      remove();
    },
  };
}

function openPart(part: string, path: string): number {
  try {
    return openSync(part, "wx", 0o666);
  } catch (cause) {
    throw new Error(`${path} cannot be written (${describeFailure(cause)}): name another file.`, { cause });
  }
}

/** How long ago a part was written last that was left, if no one sees whether its process runs: it may be of another container. */
const LEFT_MS = 12 * 60 * 60 * 1000;

export function isOld({ mtimeMs }: Stats): boolean {
  return Date.now() - mtimeMs > LEFT_MS;
}

/** Removes what commands of this user left of files that are chosen by their names, unless they still run. */
export function removeLeftParts(folder: string, isChosen: (name: string, part: Stats) => boolean): void {
  for (const left of readdirSync(folder)) {
    const [, name, pid] = /^(.+)\.(\d+)-[0-9a-f]{18}\.part$/s.exec(left) ?? [];
    if (name === undefined) continue;
    const part = lstatSync(join(folder, left), { throwIfNoEntry: false });
    if (!part || part.uid !== process.getuid?.() || !isChosen(name, part)) continue;
    // In a container each command has the same number.
    const isLeft = Number(pid) === process.pid ? isOld(part) : !isRunning(Number(pid));
    if (isLeft) rmSync(join(folder, left), { force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (reason) {
    return codeOf(reason) !== "ESRCH";
  }
}

/** Like a rename, but never replaces a file that appeared meanwhile, as far as the file system has hard links. */
function giveName(part: string, path: string): void {
  try {
    linkSync(part, path);
  } catch (reason) {
    if (codeOf(reason) === "EEXIST") throw isThere(path);
    // A file system without links says so in many ways. Where more is wrong, this fails as well.
    renameSync(part, path);
    return;
  }
  rmSync(part);
}

/** A file is safe without its name, which some file systems of networks and of virtual machines cannot sync. */
function syncName(folder: string): void {
  try {
    syncFolder(folder);
  } catch (reason) {
    if (!(reason instanceof Error && codeOf(reason.cause) === "EINVAL")) throw reason;
  }
}

function isThere(path: string): Error {
  return new Error(`${path} already exists: name another file, or overwrite it with --force.`);
}
