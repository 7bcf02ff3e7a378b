import { readFileSync, writeFileSync } from "node:fs";
import { gunzipSync, gzipSync } from "node:zlib";
import { createHash } from "node:crypto";
import { runInside } from "./command.ts";
import { flagsOf } from "./engines.ts";
import { runCommand } from "./process.ts";
import type { CommandOptions } from "./process.ts";

/** What a store holds, as a backup of it says: each token and each plant, but neither head nor end. */
export function contentsOf(file: string): string[] {
  return linesOf(file).slice(1, -1);
}

export function linesOf(file: string): string[] {
  return gunzipSync(readFileSync(file)).toString().trimEnd().split("\n");
}

/** Writes lines as a file of backup, as they are. */
export function writeLines(file: string, lines: readonly string[]): void {
  writeFileSync(file, gzipSync(lines.map((line) => `${line}\n`).join("")));
}

/** The end that fits these lines. */
export function endOf(lines: readonly string[]): string {
  const tokens = lines.filter((line) => line.startsWith('{"token"')).length;
  const sha256 = createHash("sha256")
    .update(lines.map((line) => `${line}\n`).join(""))
    .digest("hex");
  return JSON.stringify({ end: { tokens, plants: lines.length - tokens - 1, sha256 } });
}

/** Flags that name a store. */
export type Place = Readonly<Record<string, string>>;

/** Runs a command on a store: in this process, unless options say how to run one of its own. */
export function runOn(place: Place, words: readonly string[], options?: CommandOptions) {
  const all = [...words, ...flagsOf(place)];
  return options ? runCommand(all, options) : runInside(all);
}

/** A digest of what a store holds, as a backup of it says. Two are equal if the stores are, whatever their engine. */
export function digestOf(file: string): string {
  const text = gunzipSync(readFileSync(file)).toString();
  const contents = text.slice(text.indexOf("\n") + 1, text.lastIndexOf("\n", text.length - 2) + 1);
  return createHash("sha256").update(contents).digest("hex");
}
