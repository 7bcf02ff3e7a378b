import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "bun:test";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { isOpenToOthers, OTHER, runCommand } from "../support/process.ts";
import { needsThat } from "../support/program.ts";
import { startTestService } from "../support/service.ts";

// As the program does.
process.umask(0o077);

/** A folder with a store, made by the user who runs the tests. */
async function makeData(): Promise<string> {
  const data = join(temporaryFolder(), "data");
  await (await startTestService({ data })).stop();
  return data;
}

/** What a start says of a folder in the one event with this name. */
async function toldOf(data: string, event: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  const service = await startTestService({ data });
  await service.stop();
  const told = service.logged.filter((line) => line.includes(`"event":"${event}"`));
  expect(told.length).toBeLessThanOrEqual(1);
  return told[0] === undefined ? undefined : (JSON.parse(told[0]) as Record<string, unknown>);
}

async function exposedIn(data: string): Promise<readonly string[] | undefined> {
  return (await toldOf(data, "data_exposed"))?.["paths"] as string[] | undefined;
}

describe("a data folder that others may read or write", () => {
  it("is reported at start, in one line with each of its files, but not while only its owner can access it", async () => {
    const data = await makeData();
    expect(await exposedIn(data)).toBeUndefined();
    chmodSync(data, 0o755);
    expect(await exposedIn(data)).toEqual([data]);
    chmodSync(join(data, "plants.db"), 0o640);
    chmodSync(join(data, "first-token"), 0o604);
    expect(await exposedIn(data)).toEqual([
      data,
      // The last two get the mode of the database.
      ...["first-token", "plants.db", "plants.db-shm", "plants.db-wal"].map((name) => join(data, name)),
    ]);
    chmodSync(data, 0o700);
    expect(await exposedIn(data)).toBeUndefined();
  });

  it("is so no more after the command that the line names, as it is written there", async () => {
    const data = await makeData();
    chmodSync(data, 0o755);
    const { paths, todo } = (await toldOf(data, "data_exposed")) as { paths: string[]; todo: string };
    const { status } = spawnSync("sh", ["-c", `${/`(.*)`/.exec(todo)?.[1]} "$@"`, "sh", ...paths]);
    expect([status, await exposedIn(data)]).toEqual([0, undefined]);
  });
});

describe("a data folder", () => {
  const MEMORY = "/dev/shm";
  const isMemoryThere = existsSync(MEMORY) && statfsSync(MEMORY).type === 0x01021994;

  needsThat("a file system in memory at /dev/shm", isMemoryThere).it(
    "is reported at start if it is in memory, with what to do",
    async () => {
      const data = mkdtempSync(join(MEMORY, "plant-store-test-"));
      try {
        expect(await toldOf(data, "data_at_risk")).toMatchObject({
          level: "warn",
          path: data,
          fileSystem: "tmpfs",
          todo: expect.stringContaining("choose a folder on a disk with --data"),
        });
      } finally {
        rmSync(data, { recursive: true });
      }
    },
  );

  /** ext4, XFS and Btrfs. */
  const isDisk = [0xef53, 0x58465342, 0x9123683e].includes(statfsSync(temporaryFolder()).type >>> 0);

  needsThat("temporary files on ext4, XFS or Btrfs", isDisk).it("is not reported at start if it is on a disk", async () => {
    expect(await toldOf(join(temporaryFolder(), "data"), "data_at_risk")).toBeUndefined();
  });
});

/** Runs a command as another user. */
function runAsOther(words: readonly string[]) {
  return runCommand(words, { user: OTHER, cwd: "/", environment: { HOME: "/" } });
}

/** Only root can become another user; any other user who runs the tests removes their own permissions instead. */
const isRoot = process.getuid?.() === 0;

needsThat("a program that other users may run", !isRoot || isOpenToOthers()).describe("a data folder of another user", () => {
  it("is refused with its owner, the current user, and what to do: the folder, or one file in it", async () => {
    const data = await makeData();
    chmodSync(join(data, ".."), 0o755);
    async function refusal(): Promise<string> {
      const words = ["serve", "--port", "0", "--data", data];
      const { status, stderr } = await (isRoot ? runAsOther(words) : runCommand(words));
      expect(status).toBe(1);
      expect(stderr.split("\n")).toHaveLength(2);
      return stderr;
    }
    if (!isRoot) chmodSync(data, 0o500);
    const [owner, asking] = isRoot ? ["root", `user ${OTHER}`] : [`user ${process.getuid!()}`, `user ${process.getuid!()}`];
    const advice = "may not read and write it: start as its owner, or change the owner with `chown -R`.";
    const mode = isRoot ? "0700" : "0500";
    expect(await refusal()).toBe(`plant-store: ${data} belongs to ${owner}, with the mode ${mode}, and ${asking} ${advice}\n`);

    if (isRoot) chownSync(data, OTHER, OTHER);
    else chmodSync(data, 0o700);
    if (!isRoot) chmodSync(join(data, "plants.db"), 0o400);
    expect(await refusal()).toContain(join(data, isRoot ? "first-token" : "plants.db"));
    expect(await refusal()).toContain(advice);
  });

  it("is refused like this by every command that opens a store in it, even if a folder above it cannot be entered", async () => {
    const data = await makeData();
    const parent = join(data, "..");
    chmodSync(parent, 0o755);
    if (!isRoot) chmodSync(data, 0o000);
    const run = (words: readonly string[]) => (isRoot ? runAsOther : runCommand)([...words, "--data", data]);
    for (const words of [["token", "list"], ["export"], ["check"]]) {
      const { status, stderr } = await run(words);
      expect([status, stderr.includes(`plant-store: ${data} belongs to `), stderr.includes("chown -R")]).toEqual([1, true, true]);
    }
    chmodSync(parent, 0o600);
    expect((await run(["token", "list"])).stderr).toStartWith(`plant-store: ${data} cannot be opened by `);
    chmodSync(parent, 0o700);
    chmodSync(data, 0o700);
  });

  it("is refused if it cannot even be made", async () => {
    const parent = join(temporaryFolder(), "parent");
    mkdirSync(parent, { mode: isRoot ? 0o700 : 0o500 });
    chmodSync(join(parent, ".."), 0o755);
    const words = ["serve", "--port", "0", "--data", join(parent, "data")];
    const { status, stderr } = await (isRoot ? runAsOther(words) : runCommand(words));
    expect(status).toBe(1);
    expect(stderr).toContain(`${join(parent, "data")} cannot be created or entered by user`);
  });
});
