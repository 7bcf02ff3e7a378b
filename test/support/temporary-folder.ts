import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const made: string[] = [];

/**
 * A new empty folder outside the project. `setup.ts` removes it after the last test: bun test ends without an exit
 * event.
 */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "plant-store-test-"));
  made.push(folder);
  return folder;
}

export function removeTemporaryFolders(): void {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
}
