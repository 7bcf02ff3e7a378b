import { closeSync, fsyncSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";

/** Makes a folder that only its owner can enter, and those above it that are missing, so that they outlast a power cut. */
export function makeFolder(path: string): void {
  const first = mkdirSync(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  // A new name is safe once the folder that holds it is synced, from the lowest to the one above the first that was made.
  for (let folder = path; ; folder = dirname(folder)) {
    syncFolder(folder);
    if (folder === dirname(first)) return;
  }
}

/** Makes the names of the files in a folder outlast a power cut. */
export function syncFolder(path: string): void {
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
