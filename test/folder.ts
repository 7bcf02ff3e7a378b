import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A new empty folder outside the project, removed when the test process ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "plant-store-test-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
