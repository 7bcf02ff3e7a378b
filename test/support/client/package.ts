import { spawnSync } from "node:child_process";
import { cpSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../temporary-folder.ts";
import { PROJECT } from "../process.ts";

/**
 * Builds the client as published, in a copy of the package, because another test run may build it too. Returns the
 * folder of the package.
 */
export function buildPackage(): string {
  const folder = temporaryFolder();
  for (const name of ["package.json", "tsconfig.json", "src/client"]) cpSync(join(PROJECT, name), join(folder, name), { recursive: true });
  symlinkSync(join(PROJECT, "node_modules"), join(folder, "node_modules"));
  const { status, stdout, stderr } = spawnSync(process.execPath, ["run", "--silent", "build:client"], { cwd: folder, encoding: "utf8" });
  if (status !== 0) throw new Error(`The client cannot be built:\n${stdout}${stderr}`);
  return folder;
}

/** The built module of a package, as text. */
export function readModule(folder: string): string {
  return readFileSync(join(folder, "dist/client/client.js"), "utf8");
}
