import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../temporary-folder.ts";
import { PROJECT } from "../process.ts";

/** What `npm pack ./packages/client` needs of the project. */
const NEEDED = ["package.json", "tsconfig.json", "src/client", "packages/client"];

/**
 * Packs the client as it is published, in a copy of the project, because another test run may pack it too. Returns the
 * path of the tarball.
 */
export function packClient(): string {
  const folder = temporaryFolder();
  for (const name of NEEDED)
    cpSync(join(PROJECT, name), join(folder, name), { recursive: true, filter: (path) => !path.endsWith("/dist") });
  symlinkSync(join(PROJECT, "node_modules"), join(folder, "node_modules"));
  const printed = run("npm", folder, "pack", "./packages/client");
  return join(folder, printed.trim().split("\n").at(-1)!);
}

/** Returns the folder of an empty project that has only the packed client. */
export function installClient(tarball: string = packClient(), installer: "bun" | "npm" = "npm"): string {
  const folder = join(temporaryFolder(), "project");
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  if (installer === "bun") run(process.execPath, folder, "add", tarball);
  else run("npm", folder, "install", tarball, ...OFFLINE);
  return folder;
}

/** Without a registry: the client has no dependency. */
const OFFLINE = ["--offline", "--no-audit", "--no-fund"];

/** Runs an installer, and returns what it prints. */
function run(program: string, cwd: string, ...words: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, words, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${words[0]} ended with ${status}:\n${stdout}${stderr}`);
  return stdout;
}
