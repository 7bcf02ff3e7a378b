import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

export type BuildOptions = Readonly<{
  signal: AbortSignal;
  /** Reports progress. */
  note: (line: string) => void;
}>;

/** How to build each contender that is compiled, in its folder: the path of the executable comes before the sources. */
const BUILDS = {
  native: { packages: "gcc libsqlite3-dev", command: ["gcc", "-O2", "-Wall", "-Wextra", "-o"], sources: ["native.c", "-lsqlite3"] },
  // A Go that is too old for the module must not fetch another Go.
  go: { packages: "golang gcc", command: ["env", "GOTOOLCHAIN=local", "CGO_ENABLED=1", "go", "build", "-o"], sources: ["."] },
} as const satisfies Record<string, object>;

export type CompiledName = keyof typeof BUILDS;

/** The executable of a contender, once it is built. */
export function executableOf(name: CompiledName): string {
  return join(import.meta.dirname, name, "dist", "contender");
}

/** Builds a contender. When it cannot be built here, says why and returns false. */
export async function build(name: CompiledName, { signal, note }: BuildOptions): Promise<boolean> {
  const { packages, command, sources } = BUILDS[name];
  const [tool, ...words] = command;
  mkdirSync(dirname(executableOf(name)), { recursive: true });
  try {
    await promisify(execFile)(tool, [...words, executableOf(name), ...sources], { cwd: join(import.meta.dirname, name), signal });
    return true;
  } catch (reason) {
    if (signal.aborted) throw reason;
    const why = String(reason).trim().replaceAll(/\s+/g, " ");
    note(`${name}: left out, because it cannot be built. To have it: apt-get install ${packages}. ${why}`);
    return false;
  }
}
