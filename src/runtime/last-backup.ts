import { randomBytes } from "node:crypto";
import { closeSync, fchownSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "./system-failure.ts";

/** Beside the store, so that the service can tell how old the last backup is: the command that makes it has ended by then. */
function fileIn(folder: string): string {
  return join(folder, "last-backup");
}

/**
 * Notes the moment of which a backup was made, as ISO 8601. The owner of the folder may be another user, and no friend:
 * a name that cannot be guessed, which must be new, leads nowhere else.
 */
export function noteBackup(folder: string, moment: string): void {
  const path = `${fileIn(folder)}.${randomBytes(9).toString("hex")}`;
  const file = openSync(path, "wx", 0o600);
  try {
    try {
      // Root backs up too, and the service must read it.
      const { uid, gid } = statSync(folder);
      if (process.getuid?.() === 0) fchownSync(file, uid, gid);
      writeFileSync(file, `${moment}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(path, fileIn(folder));
  } catch (reason) {
    rmSync(path, { force: true });
    throw reason;
  }
}

/** In milliseconds since 1970; undefined if no backup was noted, or the note is no moment. */
export function findLastBackup(folder: string): number | undefined {
  try {
    // A FIFO, which the owner of the folder could make, would wait for a writer.
    const text = statSync(fileIn(folder)).isFile() ? readFileSync(fileIn(folder), "utf8") : "";
    const moment = Date.parse(text.trim());
    return Number.isNaN(moment) ? undefined : moment;
  } catch (reason) {
    if (codeOf(reason) === "ENOENT") return undefined;
    throw reason;
  }
}
