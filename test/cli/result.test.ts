import { openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import { describe, expect, it } from "bun:test";
import type { Command } from "commander";
import manifest from "../../package.json" with { type: "json" };
import { createCommandLine } from "../../src/cli/command-line.ts";
import { runInside } from "../support/command.ts";
import { cleanEnvironment, PROJECT } from "../support/process.ts";
import { startTestService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const at = (name: string) => join(folder, name);
const data = at("data");

/** What no terminal and no parser of JSON should stumble over. */
const NAME = 'a "name"\n\u001b[31m\u202e\u2028\u{1f33f}';

const reference = readFileSync(join(PROJECT, "docs/reference/commands.md"), "utf8").split("\n## JSON\n")[1]!.split("\n## ")[0]!;

/** The members that the reference lists for a command; of a token, also those that not every token has. */
function listed(command: string): string[] {
  const [, text = ""] = new RegExp(`^- \\*\\*${command}\\*\\*: (.*?)(?=\\n- |\\n\\n)`, "ms").exec(reference) ?? [];
  return Array.from(text.matchAll(/`(\w+)`/g), ([, name]) => name!);
}

/** Runs a command with --json, and parses what it prints. */
async function run(words: readonly string[], environment: Record<string, string> = {}) {
  const { status, stdout, stderr } = await runInside([...words, "--json"], environment);
  // Nothing that a terminal would obey, and one value on each line.
  expect(stdout.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/u);
  const values = stdout
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { status, stderr, values, value: values[0]! };
}

function leavesOf(command: Command, path = ""): Array<readonly [string, Command]> {
  return command.commands.flatMap((one) =>
    one.commands.length === 0 ? [[path + one.name(), one] as const] : leavesOf(one, `${one.name()} `),
  );
}

writeFileSync(at("plants.csv"), "id,name,Height\n9223372036854775807,Rose,x\n-9223372036854775808,Aloe,y\n1.5,Fern,z\n");

describe("--json", () => {
  it("is there for every command whose result is for people", async () => {
    const without = leavesOf(await createCommandLine()).filter(([, { options }]) => !options.some(({ long }) => long === "--json"));
    expect(without.map(([name]) => name)).toEqual(["serve", "export", "completion"]);
  });

  it("prints the version and the settings as values, without secrets", async () => {
    expect((await run(["version"])).value).toEqual({ version: manifest.version });
    const { values } = await run(["config", "--port", "1"], { PLANT_STORE_DATABASE: "postgres://me:secret@db/plants" });
    const settings = values[0] as unknown as ReadonlyArray<Record<string, string>>;
    expect(Object.keys(settings[0]!)).toEqual(listed("config"));
    expect(settings).toContainEqual({ name: "PLANT_STORE_PORT", value: "1", origin: "flag" });
    expect(settings).toContainEqual({ name: "PLANT_STORE_DATABASE", value: "postgres://me:***@db/plants", origin: "environment" });
  });

  it("prints a line for each file of an import, and the notes go to standard error", async () => {
    const { status, values, stderr } = await run(["import", at("plants.csv"), at("plants.csv"), "--dry-run", "--data", data]);
    expect(values).toEqual([]);
    expect({ status, stderr }).toMatchObject({ status: 1, stderr: expect.stringContaining("There is no store in") });
    const { values: done, ...imported } = await run(["import", at("plants.csv"), at("plants.csv"), "--data", data]);
    expect(done.map(({ created, unchanged, refused }) => [created, unchanged, refused])).toEqual([
      [2, 0, 1],
      [0, 2, 1],
    ]);
    expect(done[0]).toMatchObject({ file: at("plants.csv"), dryRun: false, unusedColumns: ["Height"], problems: [{ line: 4 }] });
    for (const name of Object.keys(done[0]!)) expect(listed("import")).toContain(name);
    expect(imported.status).toBe(1);
    expect(imported.stderr).toContain("Created a new store");
    expect(imported.stderr).toContain("not imported: the column Height");
  });

  it("prints the same for an import into a service", async () => {
    const service = await startTestService();
    const environment = { PLANT_STORE_URL: service.url, PLANT_STORE_TOKEN: service.token };
    const { value } = await run(["import", at("plants.csv"), "--dry-run"], environment);
    await service.stop();
    expect(value).toMatchObject({ file: at("plants.csv"), dryRun: true, read: 3, created: 2, outcomes: ["created", "created", "refused"] });
    for (const name of Object.keys(value)) expect(listed("import")).toContain(name);
  });

  it("prints each token as the service shows it, and its secret only when it is new", async () => {
    const made = await run(["token", "create", "--name", NAME, "--days", "1", "--data", data]);
    expect(made.value).toMatchObject({
      name: NAME,
      scopes: ["plants:read", "plants:write"],
      token: expect.stringMatching(/^plant_\w{38}$/),
    });
    const { token: _, ...token } = made.value;
    expect(Date.parse(String(token["expires"])) - Date.parse(String(token["created"]))).toBe(24 * 60 * 60 * 1000);
    expect((await run(["token", "list", "--data", data])).value as unknown).toEqual([token]);
    const id = String(token["id"]);
    expect((await run(["token", "revoke", id, "--data", data])).value).toEqual({ revoked: [id] });
    const [revoked] = (await run(["token", "list", "--data", data])).value as unknown as Array<Record<string, unknown>>;
    for (const name of Object.keys(revoked!)) expect(listed("token list")).toContain(name);
    expect(revoked).toHaveProperty("revoked");
    const absent = await run(["token", "revoke", "absent", "--data", data]);
    expect(absent).toMatchObject({ status: 1, values: [], stderr: expect.stringContaining("no token with the id absent") });
  });

  it("prints a line for each part that check looks at", async () => {
    const { status, values, stderr } = await run(["check", "--data", data]);
    expect([status, stderr]).toEqual([0, ""]);
    expect(values.length).toBeGreaterThan(3);
    for (const value of values) expect(Object.keys(value)).toEqual(listed("check").slice(0, 3));
  });

  it("prints what is in the file of a backup or a restore", async () => {
    const backup = await run(["backup", at("all.gz"), "--data", data]);
    expect(Object.keys(backup.value)).toEqual(listed("backup"));
    expect(backup.value).toMatchObject({ file: at("all.gz"), version: manifest.version, plants: 2, tokens: 1, removed: [] });
    const { bytes, store, at: moment } = backup.value;
    const dry = await run(["restore", at("all.gz"), "--dry-run", "--data", at("new")]);
    const [tokens] = (await run(["token", "list", "--data", data])).values;
    expect(dry.value).toMatchObject({ bytes, store, at: moment, plants: 2, tokens: 1, tokenList: tokens!, restored: false });
    const restored = await run(["restore", at("all.gz"), "--data", at("new")]);
    expect(Object.keys(restored.value).toSorted()).toEqual(listed("restore").toSorted());
    expect(restored.value).toMatchObject({ ...dry.value, restored: true });
    expect(restored.stderr).toContain("No valid token has all scopes");
  });
});

describe("standard output", () => {
  const main = join(PROJECT, "src/main.ts");

  for (const words of [["version"], ["config", "--json"], ["completion", "bash"]]) {
    it(`makes ${words[0]} fail with a message when it is full`, () => {
      const { exitCode, stderr } = Bun.spawnSync([process.execPath, main, ...words], {
        stdout: openSync("/dev/full", "w"),
        env: cleanEnvironment(),
      });
      expect(exitCode).toBe(1);
      expect(stderr.toString()).toBe(
        "plant-store: The output cannot be written (the disk is full): what the command did is done, so look before you repeat it.\n",
      );
    });
  }

  it("ends a command quietly when no one reads it any more", () => {
    const pipe = `"$0" "$1" completion zsh 2>&1 >&3 3>&- | cat >&2; exit "\${PIPESTATUS[0]}"`;
    const script = `exec 3> >(exec 0<&-; sleep 0); wait $!; ${pipe}`;
    const { exitCode, stderr } = Bun.spawnSync(["bash", "-c", script, process.execPath, main], { env: cleanEnvironment() });
    expect([exitCode, stderr.toString()]).toEqual([1, ""]);
  });
});

describe("arguments", () => {
  it("are no flags after --", async () => {
    const { stderr } = await runInside(["import", "--data", data, "--", "-plants.csv"]);
    expect(stderr).toBe("plant-store: There is no file -plants.csv: check its name.\n");
    expect((await runInside(["import", "--data", data, "-plants.csv"])).stderr).toContain("-plants.csv is not a known setting");
  });

  for (const [flag, value, says] of [
    ["--name", "", "must have 1 or more characters"],
    ["--name", "x".repeat(101), "must have at most 100 characters"],
    ["--scopes", "admin,admin", "has a value twice"],
    ["--scopes", "plants:eat", "plants:read,plants:write,admin"],
    ["--days", "0", "Use a number of days"],
    ["--days", "0x10", "Use a number of days"],
    ["--days", "1e3", "Use a number of days"],
    ["--expires", "tomorrow", "is not an instant"],
    ["--expires", "2020-01-01T00:00:00Z", "must be in the future"],
  ] as const) {
    it(`are refused by token create if the service would refuse them: ${flag} ${value.slice(0, 20)}`, async () => {
      const { status, stdout, stderr } = await runInside(["token", "create", flag, value, "--data", data]);
      expect([status, stdout]).toEqual([1, ""]);
      expect(stderr).toContain(says);
    });
  }
});

/** What is told without a terminal after a second in which so much of 2 MB was read. */
function toldAfter(bytes: number): string {
  const code = `
    import { showProgress } from "./src/cli/progress.ts";
    const progress = showProgress("plants.csv", 2e6);
    progress.count(${bytes});
    setTimeout(() => progress.stop(), 1200);`;
  return spawnSync(process.execPath, ["-e", code], { cwd: PROJECT, encoding: "utf8" }).stderr;
}

describe("the progress of a command", () => {
  it("tells no time that it cannot know yet", () => {
    expect(toldAfter(1e6)).toMatch(/^plants\.csv {2}1\.0 MB of 2\.0 MB, [\d.]+ [kM]B a second\n/);
  });

  it("tells the time of work that it cannot tell in bytes", () => {
    expect(toldAfter(0)).toMatch(/^plants\.csv {2}[1-9]\d* s\n/);
  });

  it("says that it is finishing once all is read, and not that no second is left", () => {
    expect(toldAfter(2e6)).toMatch(/^plants\.csv {2}2\.0 MB of 2\.0 MB, [\d.]+ MB a second, finishing\n/);
  });
});
