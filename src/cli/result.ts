import type { Command } from "commander";
import { toJson } from "../domain/json.ts";
import { escapeControls } from "../runtime/terminal-text.ts";

/** Lets the caller of a command choose JSON. `lines`: which lines it has. */
export function addJson(command: Command, lines = "on one line"): Command {
  return command.option("--json", `print the result as JSON, ${lines}`);
}

/** What a command found or did, for programs and for people. */
export type Result = Readonly<{ json: object; words: string }>;

/** Prints a result on standard output, on lines of its own. What is said meanwhile belongs on standard error. */
export function printResult(command: Command, { json, words }: Result): void {
  // JSON keeps its value: an escape is what it means.
  process.stdout.write(`${isJson(command) ? escapeControls(toJson(json)) : words}\n`);
}

export function isJson(command: Command): boolean {
  return command.opts<{ json?: true }>().json ?? false;
}
