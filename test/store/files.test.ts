import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { describe, expect, it } from "bun:test";
import { asPlantId } from "../../src/domain/plant.ts";
import { markVersion, UNMARKED, walMark } from "../../src/store/sqlite/engine/files.ts";
import { migrate, schemaVersion } from "../../src/store/sqlite/engine/schema.ts";
import { Writer } from "../../src/store/sqlite/engine/writer.ts";
import type { Store } from "../../src/store/store.ts";
import { openSqlite, WITHOUT_LOG } from "../support/stores.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { cleanEnvironment, PROJECT, runCommand, startProcess } from "../support/process.ts";
import { until } from "../support/until.ts";
import { rejectionOf } from "../support/rejection.ts";

const logged: string[] = [];
const open = (folder: string) => openSqlite(join(folder, "plants.db"), {}, (line) => logged.push(line));

async function add(store: Store, from: number, count: number, nameLength = 200): Promise<void> {
  const plants = Array.from({ length: count }, (_, at) => ({
    id: asPlantId(BigInt(from + at)),
    name: `plant ${from + at} ${"x".repeat(nameLength)}`,
  }));
  await Promise.all(plants.map((plant) => store.plants.create(plant)));
}

/** The number of plants of a store in a folder, once a service has opened and closed it. */
async function countIn(folder: string): Promise<unknown> {
  await (await open(folder)).close();
  const db = new DatabaseSync(join(folder, "plants.db"), { readOnly: true });
  const { count } = { ...db.prepare("SELECT count(*) AS count FROM plants").get() };
  db.close();
  return count;
}

/** A copy of some files of a store in their current state, in a new folder. */
function copy(folder: string, names: readonly string[]): string {
  const target = temporaryFolder();
  for (const name of names) copyFileSync(join(folder, name), join(target, name));
  return target;
}

const BOTH = ["plants.db", "plants.db-wal"];
const ALONE = "was copied without plants.db-wal";
const FOREIGN = "does not belong to the plants.db beside it";

/** A store with so many plants, from what a folder holds. */
async function grow(folder: string, plants: number): Promise<Store> {
  const store = await open(folder);
  await add(store, 0, plants);
  return store;
}

/** The files of a store with ten plants that was killed: all of them are in its WAL. */
async function makeKilled(target = temporaryFolder()): Promise<string> {
  const folder = temporaryFolder();
  const store = await grow(folder, 10);
  for (const name of BOTH) copyFileSync(join(folder, name), join(target, name));
  await store.close();
  return target;
}

/** A copy of the database by SQLite. */
function vacuum(folder: string): string {
  const target = temporaryFolder();
  using shell = new DatabaseSync(join(folder, "plants.db"), { readOnly: true });
  shell.exec(`VACUUM INTO '${join(target, "plants.db")}'`);
  return target;
}

async function expectRefused(folder: string, why: string): Promise<void> {
  expect(await rejectionOf(open(folder))).toHaveProperty("message", expect.stringContaining(why));
}

/** A running store in each state of its life, and how many plants it has. */
const RUNNING: Readonly<Record<string, readonly [plants: number, run: (folder: string) => Promise<Store>]>> = {
  "has just started for the first time": [0, open],
  "has some plants in its WAL": [10, (folder) => grow(folder, 10)],
  "has copied its WAL many times": [
    1010,
    async (folder) => {
      const store = await open(folder);
      for (let round = 0; round < 4; round += 1) await add(store, round * 250, 250, 100_000);
      await Bun.sleep(700);
      await add(store, 500_000, 10);
      return store;
    },
  ],
  "was started again": [
    20,
    async (folder) => {
      await (await grow(folder, 10)).close();
      const store = await open(folder);
      await add(store, 10, 10);
      return store;
    },
  ],
  "was started on what a killed one left": [
    20,
    async (folder) => {
      const store = await open(await makeKilled(folder));
      await add(store, 10, 10);
      return store;
    },
  ],
};

describe("the database of a store that", () => {
  for (const [what, [plants, run]] of Object.entries(RUNNING)) {
    it(`${what}: a copy without the WAL is refused; with the WAL, by VACUUM INTO, or after a stop it has all plants`, async () => {
      const folder = temporaryFolder();
      const store = await run(folder);
      const alone = copy(folder, ["plants.db"]);
      const emptyWal = copy(folder, ["plants.db"]);
      writeFileSync(join(emptyWal, "plants.db-wal"), "");
      const both = copy(folder, BOTH);
      const vacuumed = vacuum(folder);
      await store.close();

      for (const refused of [alone, emptyWal]) await expectRefused(refused, ALONE);
      // The refusal created or changed nothing.
      expect(readdirSync(alone)).toEqual(["plants.db"]);
      expect(await countIn(both)).toBe(plants);
      expect(await countIn(vacuumed)).toBe(plants);
      expect(existsSync(join(folder, "plants.db-wal"))).toBe(false);
      expect(await countIn(copy(folder, ["plants.db"]))).toBe(plants);
    });
  }

  it("lost its WAL in place is opened, and that start alone says so", async () => {
    const folder = temporaryFolder();
    const store = await open(folder);
    const alone = copy(folder, ["plants.db", "plants.db.lock"]);
    await store.close();
    const events = () => logged.filter((line) => line.includes(alone)).map((line) => (JSON.parse(line) as { event: string }).event);
    expect(await countIn(alone)).toBe(0);
    expect(events()).toEqual(["wal_missing"]);
    expect(await countIn(alone)).toBe(0);
    expect(events()).toEqual(["wal_missing"]);
  });

  it("was killed: a reader that opens it with SQLite leaves a complete database", async () => {
    const killed = await makeKilled();
    const shell = new DatabaseSync(join(killed, "plants.db"));
    shell.prepare("SELECT count(*) FROM plants").get();
    shell.close();
    expect(readdirSync(killed)).toEqual(["plants.db"]);
    expect(await countIn(killed)).toBe(10);
  });

  it("was stopped while a reader had it open: the reader leaves a complete database", async () => {
    const folder = temporaryFolder();
    const store = await grow(folder, 10);
    const shell = new DatabaseSync(join(folder, "plants.db"));
    shell.exec("BEGIN; SELECT count(*) FROM plants");
    await add(store, 10, 10);
    await store.close();
    expect(existsSync(join(folder, "plants.db-wal"))).toBe(true);
    shell.exec("COMMIT");
    shell.close();
    expect(await countIn(copy(folder, ["plants.db"]))).toBe(20);
  });
});

/** What a process leaves that is killed in a checkpoint: a commit with its mark, and none that clears it. A shell has it open. */
async function leaveInCheckpoint() {
  const folder = await makeKilled();
  const path = join(folder, "plants.db");
  const shell = new DatabaseSync(path);
  const mark = walMark(path);
  shell.exec(`PRAGMA user_version = ${markVersion(schemaVersion(shell), mark)}`);
  return { folder, path, shell, mark };
}

/** A store that a writer has just begun to write. */
async function openProbed() {
  const folder = temporaryFolder();
  await (await grow(folder, 10)).close();
  const path = join(folder, "plants.db");
  const writer = new Writer(path);
  writer.probe();
  return { folder, path, writer, other: new DatabaseSync(path) };
}

/** Another program copies all of the WAL, and its next commit begins it again. */
function beginAgain(shell: DatabaseSync, times: number): void {
  for (let time = 0; time < times; time += 1) shell.exec("PRAGMA wal_checkpoint(FULL); UPDATE plants SET name = name || '!'");
}

/** The files of a store as they are now, once what has them open is closed. */
function kill(folder: string, ...opened: ReadonlyArray<{ close(): void }>): string {
  const killed = copy(folder, BOTH);
  for (const one of opened) one.close();
  return killed;
}

/** States in which a WAL seems to be that of another database, of a store with ten plants that is killed then. */
const OWN: Readonly<Record<string, () => Promise<string>>> = {
  async "another program copied all of it before a checkpoint, whose own mark begins it again"() {
    const { folder, path, writer, other } = await openProbed();
    other.exec("PRAGMA wal_checkpoint(FULL)");
    const before = walMark(path);
    writer.checkpoint();
    expect(walMark(path)).toBe(before + 2);
    return kill(folder, writer);
  },
  async "a version before this one named a WAL that its mark began again, and was killed"() {
    const { folder, path, writer, other } = await openProbed();
    other.exec("PRAGMA wal_checkpoint(FULL)");
    const named = walMark(path);
    for (const [mark, how] of [
      [named, "FULL"],
      [UNMARKED, "NOOP"],
    ] as const)
      other.exec(`PRAGMA user_version = ${markVersion(schemaVersion(other), mark)}; PRAGMA wal_checkpoint(${how})`);
    expect(walMark(path)).toBe(named + 2);
    return kill(folder, other, writer);
  },
  async "another program has begun it again, and reads while a service starts on what a killed one left"() {
    const { folder, path, shell } = await leaveInCheckpoint();
    beginAgain(shell, 4);
    const reader = new DatabaseSync(path);
    reader.exec("BEGIN; SELECT count(*) FROM plants; PRAGMA user_version");
    await expectRefused(folder, "Another process is using the database");
    return kill(folder, reader, shell);
  },
  async "a command closed what a process left that was killed in a checkpoint, and the next start is killed too"() {
    const { folder, path, shell } = await leaveInCheckpoint();
    shell.exec("PRAGMA journal_mode = DELETE");
    shell.close();
    return kill(folder, new Writer(path));
  },
  async "another program has begun it again, and a newer version was killed when it had migrated the tables"() {
    const { folder, shell, mark } = await leaveInCheckpoint();
    shell.exec(`${WITHOUT_LOG}; PRAGMA user_version = ${markVersion(schemaVersion(shell) - 1, mark)}`);
    beginAgain(shell, 2);
    shell.exec("PRAGMA wal_checkpoint(FULL)");
    migrate(shell);
    return kill(folder, shell);
  },
  async "another program has begun it again, however often, on what a process left that was killed in a checkpoint"() {
    const { folder, path, shell, mark } = await leaveInCheckpoint();
    beginAgain(shell, 4);
    expect(walMark(path)).toBe(mark + 4);
    return kill(folder, shell);
  },
};

describe("a WAL of another database", () => {
  it("is refused beside the backup of a stopped store, a copy by VACUUM INTO, and the database of another store", async () => {
    const folder = temporaryFolder();
    const store = await grow(folder, 10);
    const before = copy(folder, BOTH);
    await store.close();
    const backup = copy(folder, ["plants.db"]);
    const again = await open(folder);
    await add(again, 10, 10);
    const killed = copy(folder, BOTH);
    const vacuumed = vacuum(folder);
    await again.close();
    for (const [database, wal] of [
      [backup, killed],
      [vacuumed, killed],
      [before, killed],
      [killed, before],
    ] as const) {
      const mixed = copy(database, ["plants.db"]);
      copyFileSync(join(wal, "plants.db-wal"), join(mixed, "plants.db-wal"));
      await expectRefused(mixed, FOREIGN);
      // As where it has been served before.
      writeFileSync(join(mixed, "plants.db.lock"), "");
      await expectRefused(mixed, FOREIGN);
    }
    const garbage = copy(killed, ["plants.db"]);
    writeFileSync(join(garbage, "plants.db-wal"), "garbage ".repeat(1000));
    await expectRefused(garbage, FOREIGN);
  });

  it("is refused beside an older copy of its own one, as a start would lose what was written between the two", async () => {
    const folder = temporaryFolder();
    const store = await grow(folder, 10);
    const older = copy(folder, ["plants.db"]);
    const from = walMark(join(folder, "plants.db"));
    let plants = 10;
    // It begins again after each checkpoint.
    for (; walMark(join(folder, "plants.db")) < from + 2; plants += 500) await add(store, plants, 500, 10_000);
    const killed = copy(folder, BOTH);
    await store.close();
    copyFileSync(join(killed, "plants.db-wal"), join(older, "plants.db-wal"));
    await expectRefused(older, FOREIGN);
    expect(await countIn(killed)).toBe(plants);
  });

  for (const [when, run] of Object.entries(OWN)) it(`is none where ${when}`, async () => expect(await countIn(await run())).toBe(10));
});

describe("a database that is empty or missing", () => {
  for (const beside of ["plants.db.search", "first-token", "last-backup", "plants.db-wal"]) {
    it(`is refused beside ${beside}, and becomes a new store without it`, async () => {
      const folder = temporaryFolder();
      writeFileSync(join(folder, beside), "x");
      const message = `beside it there is ${beside} of a store`;
      await expectRefused(folder, message);
      writeFileSync(join(folder, "plants.db"), "");
      await expectRefused(folder, message);
      rmSync(join(folder, beside));
      expect(await countIn(folder)).toBe(0);
    });
  }
});

describe("plant-store", () => {
  it("import and serve create a store in a new folder and say so, and only then", async () => {
    const data = join(temporaryFolder(), "new");
    const file = join(import.meta.dir, "../../examples/plants.csv");
    // A slow machine also sees progress.
    expect((await runCommand(["import", file, "--data", data])).stderr).toStartWith(`Created a new store in ${data}.\n`);
    expect((await runCommand(["import", file, "--data", data])).stderr).not.toContain("Created");
    const other = temporaryFolder();
    // As a copy into a full disk leaves it.
    writeFileSync(join(other, "plants.db"), "");
    for (const expected of [true, false]) {
      const service = await startProcess({ data: other });
      await service.end("SIGTERM");
      expect(service.lines.some((line) => line.includes('"event":"store_made"'))).toBe(expected);
    }
  });

  it("check --without-wal accepts a database whose WAL is lost, after a start was refused, and nothing else", async () => {
    const folder = temporaryFolder();
    await (await grow(folder, 10)).close();
    const again = await open(folder);
    await add(again, 10, 10);
    const alone = copy(folder, ["plants.db"]);
    await again.close();
    const refused = await runCommand(["serve", "--port", "0", "--data", alone]);
    expect([refused.status, refused.stdout]).toEqual([1, ""]);
    expect(refused.stderr).toContain(ALONE);
    expect(refused.stderr).toContain("`plant-store check --without-wal`");
    const repaired = await runCommand(["check", "--without-wal", "--data", alone]);
    expect(repaired.status).toBe(0);
    expect(repaired.stdout).toStartWith(`The store in ${alone} was accepted as it is. Changes that were only in its WAL are lost.\nok `);
    expect(await countIn(alone)).toBe(10);
    const twice = await runCommand(["check", "--without-wal", "--data", alone]);
    expect(twice).toMatchObject({ status: 1, stderr: `plant-store: The WAL of the database in ${alone} is not missing.\n` });
  });
});

it("a store whose files SQLite cannot open is refused with its name, and what to check", async () => {
  const folder = temporaryFolder();
  await (await open(folder)).close();
  // SQLite's shared memory for the WAL needs room on the disk.
  mkdirSync(join(folder, "plants.db-shm"));
  const reason = await rejectionOf(open(folder));
  expect(String(reason)).toMatch(/plants\.db cannot be used \(.+\): check whether its disk is full, read-only or failing\.$/);
});

describe("a store whose files lose their names while it is open", () => {
  /** Ways to lose them, and what takes their place. */
  const LOSSES: Readonly<Record<string, (folder: string, elsewhere: string) => void>> = {
    "the folder is moved": (folder, elsewhere) => renameSync(folder, join(elsewhere, "moved")),
    "the database is moved": (folder, elsewhere) => renameSync(join(folder, "plants.db"), join(elsewhere, "plants.db")),
    "the WAL is removed": (folder) => rmSync(join(folder, "plants.db-wal")),
    "another store takes the place of it"(folder, elsewhere) {
      for (const name of BOTH) copyFileSync(join(folder, name), join(elsewhere, name));
      for (const name of BOTH) renameSync(join(elsewhere, name), join(folder, name));
    },
  };

  for (const [what, lose] of Object.entries(LOSSES)) {
    it(`takes no more changes after half a second when ${what}, exports nothing, and reads what it has`, async () => {
      const folder = temporaryFolder();
      const store = await grow(folder, 10);
      lose(folder, temporaryFolder());
      const create = () => store.plants.create({ id: asPlantId(11n), name: "late" });
      await until("a create is refused", () => create().then(() => false, Boolean));
      expect(() => store.check()).toThrow("The store is not available");
      expect(await rejectionOf(create())).toMatchObject({
        code: "store_unavailable",
        cause: { message: expect.stringContaining("were moved, removed or replaced") },
      });
      expect(await rejectionOf(store.plants.snapshot())).toMatchObject({ code: "store_unavailable" });
      expect(await store.plants.find(asPlantId(3n))).toMatchObject({ id: 3n });
      await seesLoss();
      await store.close();
    });
  }

  /** Waits until the log says it, once. */
  async function seesLoss(): Promise<void> {
    await until("the log says it", () => logged.some((line) => line.includes("were moved, removed or replaced")));
    logged.length = 0;
  }

  it("goes on when they are put back, and has everything", async () => {
    const [folder, elsewhere] = [temporaryFolder(), temporaryFolder()];
    const store = await grow(folder, 10);
    for (const name of BOTH) renameSync(join(folder, name), join(elsewhere, name));
    await seesLoss();
    for (const name of BOTH) renameSync(join(elsewhere, name), join(folder, name));
    await until("a create succeeds", () => store.plants.create({ id: asPlantId(10n), name: "x" }).then(Boolean, () => false));
    await store.close();
    expect(await countIn(folder)).toBe(11);
  });

  it("does not keep a command from its end", async () => {
    const [folder, elsewhere] = [temporaryFolder(), temporaryFolder()];
    await (await grow(folder, 5_000)).close();
    const child = spawn(process.execPath, [`${PROJECT}/src/main.ts`, "export", "--data", folder], { env: cleanEnvironment() });
    const ended = once(child, "close");
    let exported = "";
    child.stdout.on("data", (chunk) => (exported += String(chunk)));
    await once(child.stdout, "data");
    // It waits for its reader, as a pipe does not hold all of it.
    child.stdout.pause();
    renameSync(folder, join(elsewhere, "moved"));
    child.stdout.resume();
    expect(await ended).toEqual([0, null]);
    expect(exported.match(/\n/g)).toHaveLength(5_000);
  });

  for (const when of ["when it is closed", "when it is closed before it sees that"])
    it(`leaves the store alone that took its place, ${when}`, async () => {
      const [folder, other] = [temporaryFolder(), temporaryFolder()];
      const [store, running] = [await grow(folder, 10), await grow(other, 20)];
      for (const name of BOTH) copyFileSync(join(other, name), join(other, `${name}.copy`));
      for (const name of BOTH) renameSync(join(other, `${name}.copy`), join(folder, name));
      if (when === "when it is closed") await seesLoss();
      await store.close();
      await running.close();
      expect(await countIn(folder)).toBe(20);
    });
});
