import { spawnSync } from "node:child_process";
import { cpSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { HOST } from "../../../deploy/release/platforms.ts";
import { PROJECT } from "../process.ts";
import { temporaryFolder } from "../temporary-folder.ts";

/** What a release is made of. */
const FILES = ["CHANGELOG.md", "LICENSE", "SECURITY.md", "package-lock.json", "package.json", "tsconfig.json"];
const FOLDERS = ["contract", "deploy", "docs", "packages", "src", "web"];

const EPOCH = "1795000000";

/** A copy of the project in a folder with this name. */
export function copyProject(name: string): string {
  const copy = join(temporaryFolder(), name);
  const isMade = (path: string) => path.endsWith("/packages/client/dist");
  for (const entry of [...FILES, ...FOLDERS])
    cpSync(join(PROJECT, entry), join(copy, entry), { recursive: true, filter: (path) => !isMade(path) });
  symlinkSync(join(PROJECT, "node_modules"), join(copy, "node_modules"));
  return copy;
}

/** Makes the release for this platform in a copy of the project, with the habits of another machine, and returns its folder. */
export function makeReleaseIn(copy: string, { umask = "022", zone = "UTC", key = "" } = {}): string {
  const signing = key === "" ? {} : { RELEASE_KEY_FILE: key };
  run(copy, umask, { TZ: zone, SOURCE_DATE_EPOCH: EPOCH, ...signing }, [process.execPath, "deploy/release/main.ts", HOST!]);
  return join(copy, "dist/release");
}

/** Makes the executable alone, and returns its path. */
export function makeExecutableIn(copy: string, { umask = "022", zone = "UTC" } = {}): string {
  run(copy, umask, { TZ: zone }, [process.execPath, "deploy/executable.ts"]);
  return join(copy, "dist/plant-store");
}

function run(cwd: string, umask: string, environment: Readonly<Record<string, string>>, words: readonly string[]): void {
  const { RELEASE_KEY_FILE: _key, ...inherited } = process.env;
  const script = ["-c", 'umask "$0" && exec "$@"', umask, ...words];
  const { status, stdout, stderr } = spawnSync("sh", script, { cwd, encoding: "utf8", env: { ...inherited, ...environment } });
  if (status !== 0) throw new Error(`${words.join(" ")} ended with ${status}:\n${stdout}${stderr}`);
}
