import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "./temporary-folder.ts";
import { PROJECT } from "./process.ts";

/** One edit that breaks a promise: `from` must be in `file` exactly once. */
export type PlantedBug = Readonly<{ file: string; from: string; to: string }>;

/**
 * A copy of the service with bugs planted in it, so that a test of a promise can show that it would notice. The service
 * itself has no switch that could break it. Returns the folder of the copy.
 */
export function plantBugs(bugs: readonly PlantedBug[]): string {
  const root = temporaryFolder();
  for (const name of ["src", "contract", "package.json", "tsconfig.json"])
    cpSync(join(PROJECT, name), join(root, name), { recursive: true });
  symlinkSync(join(PROJECT, "node_modules"), join(root, "node_modules"));
  for (const { file, from, to } of bugs) {
    const path = join(root, file);
    const parts = readFileSync(path, "utf8").split(from);
    if (parts.length !== 2) throw new Error(`The bug cannot be planted: "${from}" is ${parts.length - 1} times in ${file}.`);
    writeFileSync(path, parts.join(to));
  }
  return root;
}

/** No bug: the WAL is copied into the database after only a few creates, so that a test covers that too. */
export const CHECKPOINT_OFTEN: readonly PlantedBug[] = [
  { file: "src/store/sqlite/engine/wal.ts", from: "const WAL_PAGES_MAX = 4000;", to: "const WAL_PAGES_MAX = 20;" },
  { file: "src/store/sqlite/engine/writer.ts", from: "const COMMITS_A_LOOK = 16;", to: "const COMMITS_A_LOOK = 1;" },
];
