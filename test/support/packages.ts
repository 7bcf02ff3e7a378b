import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { PROJECT } from "./process.ts";

/** Packages that only the night needs. */
export const PACKAGES = join(PROJECT, "test/packages");

/** Installs what the package.json of a folder names, unless it is already there. */
export function installPackages(folder: string): void {
  const installed = join(folder, "node_modules");
  if (existsSync(installed)) return;
  // Elsewhere until it is whole: another file of tests may need it at the same time, or this one may be stopped.
  const making = mkdtempSync(join(PROJECT, "node_modules/.installing-"));
  try {
    for (const name of ["package.json", "package-lock.json"])
      if (existsSync(join(folder, name))) cpSync(join(folder, name), join(making, name));
    const words = ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", making];
    const { status, stderr } = spawnSync("npm", words, { encoding: "utf8" });
    if (status !== 0) throw new Error(`npm cannot install what ${folder} needs:\n${stderr}`);
    renameSync(join(making, "node_modules"), installed);
  } catch (reason) {
    if (!existsSync(installed)) throw reason;
  } finally {
    rmSync(making, { recursive: true });
  }
}
