// The platforms that an executable is built for, and where the runtime of each comes from.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import lockfile from "../../package-lock.json" with { type: "json" };
import { run } from "./archive.ts";

type Platform = Readonly<{
  target: Bun.Build.CompileTarget;
  /** The package of npm that has its runtime, and where in it. */
  runtime: string;
  path: string;
  /** What Debian and registries of containers call its processor. Without it, neither is made. */
  architecture?: Architecture;
}>;

export type Architecture = "amd64" | "arm64";

export const PLATFORMS = {
  "linux-x64": { target: "bun-linux-x64", runtime: "@oven/bun-linux-x64", path: "bin/bun", architecture: "amd64" },
  "linux-arm64": { target: "bun-linux-arm64", runtime: "@oven/bun-linux-aarch64", path: "bin/bun", architecture: "arm64" },
  "macos-x64": { target: "bun-darwin-x64", runtime: "@oven/bun-darwin-x64", path: "bin/bun" },
  "macos-arm64": { target: "bun-darwin-arm64", runtime: "@oven/bun-darwin-aarch64", path: "bin/bun" },
  "windows-x64": { target: "bun-windows-x64", runtime: "@oven/bun-windows-x64", path: "bin/bun.exe" },
} as const satisfies Record<string, Platform>;

export type PlatformName = keyof typeof PLATFORMS;

export const PLATFORM_NAMES = Object.keys(PLATFORMS) as PlatformName[];

/** The platform that this runs on. */
export const HOST = PLATFORM_NAMES.find((name) => name === `${process.platform}-${process.arch}`);

/**
 * Puts the runtime of a platform into a folder, and returns its path. Throws unless it is the very one of the lockfile.
 * Not even that of this platform is the one that runs this, which no one has checked. `npm ci` left it in npm's cache.
 */
export function fetchRuntime(name: PlatformName, folder: string): string {
  const { runtime, path } = PLATFORMS[name];
  const { version, integrity } = lockfile.packages[`node_modules/${runtime}`];
  const printed = run("npm", ["pack", "--silent", "--prefer-offline", "--pack-destination", folder, `${runtime}@${version}`]);
  const tarball = join(folder, printed.trim().split("\n").at(-1)!);
  const found = `sha512-${createHash("sha512").update(readFileSync(tarball)).digest("base64")}`;
  if (found !== integrity) throw new Error(`${runtime}@${version} is not the one of the lockfile: it is ${found}.`);
  run("tar", ["-xzf", tarball, "-C", folder, `package/${path}`]);
  return join(folder, "package", path);
}
