import { createReadStream, lstatSync, readdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describeFailure } from "../runtime/system-failure.ts";
import { readBackup } from "../files/backup-file.ts";
import { BackupError } from "../files/backup-lines.ts";
import { isOld, removeLeftParts } from "./output-file.ts";

/** By the time in UTC, so that the order of names is that of time, in characters that every file system takes. */
const NAME = /^plant-store-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.gz$/;

export function datedName(folder: string, time: Date): string {
  return join(folder, `plant-store-${time.toISOString().slice(0, 19).replaceAll(":", "-")}Z.gz`);
}

/** Removes what backups left that were killed, of which each had another name. */
export function removeLeftBackups(folder: string): void {
  removeLeftParts(folder, (name, part) => NAME.test(name) && isOld(part));
}

type KeepOptions = Readonly<{ keep: number; store: string }>;

/**
 * Removes the oldest backups of a store beside a new one, which stays, whatever the clock says. Those that are named after
 * a time to come are from when a clock was wrong, and go first: they would never be removed, and push out the good ones. Files
 * with other names, links, and backups of other stores are left alone. Returns the paths of those removed. Throws if there
 * is one that cannot be read, such as one that root has made, but removes the others first: a disk must not fill up because of it.
 */
export async function removeOldBackups(newest: string, { keep, store }: KeepOptions): Promise<string[]> {
  const folder = dirname(newest);
  const names = readdirSync(folder)
    .filter((name) => NAME.test(name) && name !== basename(newest))
    .toSorted();
  // Not those later than the new one: another backup may have begun, and ended, while it was written.
  const now = basename(datedName(folder, new Date()));
  const inTurn = [...names.filter((name) => name > now), ...names.filter((name) => name <= now)];
  const ours: string[] = [];
  const unread: Error[] = [];
  for (const path of inTurn.map((name) => join(folder, name))) {
    try {
      if (await isBackupOf(path, store)) ours.push(path);
    } catch (cause) {
      unread.push(new Error(`${path}: ${describeFailure(cause)}`, { cause }));
    }
  }
  const old = ours.slice(0, Math.max(0, ours.length + 1 - keep));
  for (const path of old) rmSync(path);
  if (unread[0]) throw unread[0];
  return old;
}

async function isBackupOf(path: string, store: string): Promise<boolean> {
  if (!lstatSync(path).isFile()) return false;
  try {
    for await (const { head } of readBackup(createReadStream(path))) return head.store === store;
  } catch (reason) {
    if (!(reason instanceof BackupError)) throw reason;
  }
  return false;
}
