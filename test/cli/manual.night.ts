import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it } from "bun:test";
import type { Command } from "commander";
import { makeManual } from "../../deploy/manual.ts";
import { createCommandLine } from "../../src/cli/command-line.ts";
import { SETTINGS } from "../../src/app/settings.ts";
import { PROJECT } from "../support/process.ts";
import { findProgram, needs } from "../support/program.ts";

const manual = await makeManual(new Date("2026-11-23"));

function mandoc(words: readonly string[], page = manual): string {
  const { stdout, stderr } = spawnSync(findProgram("mandoc"), words, { input: page, encoding: "utf8" });
  return stdout + stderr;
}

function leavesOf(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
}

needs("mandoc").describe("the manual page", () => {
  /** The page as it is read, without line ends. */
  let read: string;
  beforeAll(() => {
    read = mandoc(["-T", "utf8"]).replaceAll(/.[\b]/g, "").replaceAll(/\s+/g, " ");
  });

  it("has no fault that mandoc knows, not even of style", () => {
    expect(mandoc(["-T", "lint", "-W", "all"])).toBe("");
    expect(mandoc(["-T", "lint", "-W", "all"], manual.replace(".El\n", ""))).not.toBe("");
  });

  it("has every command with all of its flags, and every variable", async () => {
    for (const command of leavesOf(await createCommandLine())) {
      const usage = command.createHelp().commandUsage(command).replace(" [options]", "");
      const [, section = ""] = read.split(`${usage} `);
      for (const { long } of command.options) expect(section, command.name()).toContain(long!);
    }
    for (const { variable } of Object.values(SETTINGS)) expect(read).toContain(`${variable} The same as`);
  });

  it("has what the reference says, and nothing of Markdown", () => {
    const reference = readFileSync(join(PROJECT, "docs/reference/commands.md"), "utf8");
    const titles = Array.from(reference.matchAll(/^## (.*)$/gm), ([, title]) => title!);
    expect(titles.length).toBeGreaterThan(3);
    for (const title of titles) expect(read).toContain(title.replaceAll("`", "").toUpperCase());
    expect(read).toContain("1: it failed, or was called in a way that it does not know");
    expect(read).not.toMatch(/`|\*\*|\]\(/);
  });
});

it("the manual page is the same again for the same day", async () => {
  expect(await makeManual(new Date("2026-11-23"))).toBe(manual);
});
