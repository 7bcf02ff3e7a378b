import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { PROJECT } from "./process.ts";

/** Packages that only the night needs. */
export const PACKAGES = join(PROJECT, "test/packages");

/** Installs them, unless they are already there. */
export function installPackages(): void {
  const installed = join(PACKAGES, "node_modules");
  if (existsSync(installed)) return;
  // Elsewhere until it is whole: another file of tests may need it at the same time, or this one may be stopped.
  const making = mkdtempSync(join(PROJECT, "node_modules/.installing-"));
  try {
    cpSync(join(PACKAGES, "package.json"), join(making, "package.json"));
    const words = ["install", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", making];
    const { status, stderr } = spawnSync("npm", words, { encoding: "utf8" });
    if (status !== 0) throw new Error(`npm cannot install what ${PACKAGES} needs:\n${stderr}`);
    renameSync(join(making, "node_modules"), installed);
  } catch (reason) {
    if (!existsSync(installed)) throw reason;
  } finally {
    rmSync(making, { recursive: true });
  }
}
