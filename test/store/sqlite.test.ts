import { DatabaseSync } from "node:sqlite";
import { globSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "bun:test";
import { asPlantId } from "../../src/domain/plant.ts";
import type { Place } from "../../src/store/page.ts";
import { holdLock } from "../../src/store/sqlite/engine/folder-lock.ts";
import { NOTHING_INDEXED } from "../../src/store/sqlite/search/changes.ts";
import { Writer } from "../../src/store/sqlite/engine/writer.ts";
import { runOn } from "../support/backups.ts";
import { startTestService } from "../support/service.ts";
import { askUntil, until } from "../support/until.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import { runCommand } from "../support/process.ts";
import { plantOf } from "../support/plant.ts";
import { execute, read } from "../support/sqlite-file.ts";
import { openSqlite, WITHOUT_LOG } from "../support/stores.ts";
import { rejectionOf } from "../support/rejection.ts";

const PAGE_BYTES = 4096;

const IN_ORDER = { words: [], tag: undefined, order: "name", after: undefined, limit: 10, bytesMax: 1000 } as const;

const newPath = () => join(temporaryFolder(), "plants.db");

describe("the SQLite store", () => {
  it("stores the plants of a commit in which a token has the secret of another one", async () => {
    const store = await openSqlite(newPath());
    const token = { name: "x", scopes: ["admin"] as const, created: 0 };
    expect(await store.tokens.create({ ...token, id: "one" }, "hash")).toBe("created");
    // Called in one turn, so they share a commit.
    const both = [store.plants.create(plantOf(1)), store.tokens.create({ ...token, id: "two" }, "hash")];
    expect(await Promise.all(both)).toEqual(["created", "taken"]);
    await store.close();
  });

  it("finds every plant at once when it is created, even in a turn of the event loop that has read before", async () => {
    const store = await openSqlite(newPath());
    let isReading = true;
    function readInEachTurn(): void {
      if (!isReading) return;
      void store.plants.find(asPlantId(-1n));
      setImmediate(readInEachTurn);
    }
    readInEachTurn();
    const missed: bigint[] = [];
    for (let id = asPlantId(1n); id <= 100n; id = asPlantId(id + 1n)) {
      await store.plants.create({ id, name: "x" });
      if (!(await store.plants.find(id))) missed.push(id);
    }
    isReading = false;
    expect(missed).toEqual([]);
    await store.close();
  });

  it("refuses to read a plant on a damaged page of the disk, and goes on with all others", async () => {
    const path = newPath();
    const before = await openSqlite(path);
    // Each fills a page.
    for (const letter of "abcde") await before.plants.create({ id: asPlantId(BigInt(letter.charCodeAt(0))), name: letter.repeat(3000) });
    await before.close();
    const file = readFileSync(path);
    // An earlier copy is what the root left behind when it grew.
    const page = Math.floor(file.lastIndexOf("a".repeat(3000)) / PAGE_BYTES) * PAGE_BYTES;
    writeFileSync(path, file.fill(0xff, page, page + PAGE_BYTES));

    const store = await openSqlite(path, { isServing: false });
    const find = async (id: bigint) => store.plants.find(asPlantId(id));
    expect(await rejectionOf(find(97n))).toMatchObject({ code: "store_unavailable" });
    // The transaction of the read ends.
    await new Promise(setImmediate);
    expect((await find(101n))?.name).toBe("e".repeat(3000));
    expect(await store.plants.create({ id: asPlantId(102n), name: "f" })).toBe("created");
    await store.close();
  });

  it("lists plants of a file from before they had a time behind all others, by id, also when the index is made again", async () => {
    const path = newPath();
    const ids = [2n, 5n, 3n, 9n, 7n].map(asPlantId);
    const store = await openSqlite(path);
    for (const id of ids.slice(0, 3)) await store.plants.create({ id, name: "x" });
    await store.close();
    execute(path, "UPDATE plants SET added = NULL");
    const again = await openSqlite(path);
    for (const id of ids.slice(3)) await again.plants.create({ id, name: "x" });
    await again.close();
    for (const suffix of ["", "-wal", "-shm"]) rmSync(`${path}.search${suffix}`, { force: true });
    const last = await openSqlite(path);
    const page = { order: "newest", limit: 2, bytesMax: 1000, tag: undefined, words: [] } as const;
    const met: bigint[] = [];
    for (let after: Place | undefined, isFirst = true; isFirst || after; isFirst = false) {
      const listed = await askUntil(
        () => last.plants.listOrdered({ ...page, after }).catch(() => undefined),
        (answer) => answer !== undefined,
      );
      met.push(...listed!.plants.map(({ id }) => id));
      after = listed!.next;
    }
    expect(met).toEqual([7n, 9n, 5n, 3n, 2n].map(asPlantId));
    await last.close();
  });

  it("does not migrate the tables for a command while a service uses them, which may be older", async () => {
    const path = newPath();
    await (await openSqlite(path)).close();
    const versionOf = () => read(path, "PRAGMA user_version")[0];
    // As the version before left it.
    execute(path, `${WITHOUT_LOG}; PRAGMA user_version = 6`);
    const unlock = holdLock(`${path}.lock`);
    const refused = rejectionOf(openSqlite(path, { isServing: false }));
    expect(await refused).toHaveProperty("message", expect.stringContaining("A service of an older version is using this store"));
    expect(versionOf()).toEqual({ user_version: 6 });
    unlock();
    await (await openSqlite(path, { isServing: false })).close();
    expect(versionOf()).toEqual({ user_version: 7 });
  });

  it("leaves tables as they are that it cannot migrate, because they are not those of their version, and says what to do", async () => {
    const path = newPath();
    // As development of a day before the first release left it: version 2 got one more table later.
    execute(
      path,
      `
      CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT;
      CREATE TABLE tokens (
        id TEXT PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL UNIQUE, scopes TEXT NOT NULL,
        created INTEGER NOT NULL, expires INTEGER, revoked INTEGER
      ) STRICT;
      CREATE INDEX plants_by_tag ON plants (tag) WHERE tag IS NOT NULL;
      CREATE TABLE changes (seq INTEGER PRIMARY KEY, ids BLOB NOT NULL) STRICT;
      PRAGMA application_id = 0x706c6e74; PRAGMA user_version = 2`,
    );
    const states = () => [...read(path, "PRAGMA user_version"), ...read(path, "SELECT sql FROM sqlite_schema")];
    const before = states();
    expect(await rejectionOf(openSqlite(path))).toHaveProperty(
      "message",
      "The tables are not those of version 2, so nothing was changed: export with the Plant Store that made them, and import into a new folder.",
    );
    expect(states()).toEqual(before);
  });

  it("answers store_unavailable while another process holds the write lock, and heals by itself", async () => {
    const path = newPath();
    const store = await openSqlite(path, { queueWaitMs: 5000 });
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    expect(await rejectionOf(store.plants.create(plantOf(1)))).toMatchObject({ code: "store_unavailable" });
    expect(() => store.check()).toThrow("The store is not available");
    expect(await store.plants.find(asPlantId(1n))).toBeUndefined();
    other.exec("ROLLBACK");
    other.close();
    await until("It has healed", () => store.plants.create(plantOf(1)).then(Boolean, () => false));
    store.check();
    await store.close();
  });
});

describe("a start is refused if", () => {
  for (const [why, from, to, message] of [
    ["synchronous is not FULL", 'db.exec("PRAGMA synchronous = FULL")', 'db.exec("PRAGMA synchronous = NORMAL")', "PRAGMA synchronous"],
    ["WAL mode is not available", "journal_mode = WAL", "journal_mode = DELETE", "journal_mode"],
    ["SQLite is too old", '"3.51.3"', '"99.0.0"', "can corrupt a database"],
  ] as const)
    it(why, async () => {
      const root = plantBugs([{ file: "src/store/sqlite/engine/requirements.ts", from, to }]);
      const ended = await runCommand(["serve", "--port", "0", "--data", temporaryFolder()], { root });
      expect(ended).toMatchObject({ status: 1, stderr: expect.stringContaining(message) });
    });
});

const MEGABYTE = 1_000_000;

it("a WAL that grew while an export kept it from starting again gives its room back to the disk, without a restart", () => {
  const path = newPath();
  const writer = new Writer(path);
  const walBytes = () => statSync(`${path}-wal`).size;
  let id = 0n;
  /** Each has a megabyte. */
  function commit(): void {
    id += 1n;
    writer.importPlants(
      { ids: BigInt64Array.of(id), names: ["A".repeat(MEGABYTE)], tags: [null] },
      { isReplacing: false, isDryRun: false },
      NOTHING_INDEXED,
    );
  }
  commit();
  const exporting = new DatabaseSync(path, { readOnly: true });
  exporting.exec("BEGIN; SELECT count(*) FROM plants");
  while (walBytes() < 100 * MEGABYTE) commit();
  expect(writer.checkpoint()).toBe(false);
  exporting.close();
  expect(writer.checkpoint()).toBe(true);
  commit();
  expect(walBytes()).toBeLessThan(70 * MEGABYTE);
  writer.close();
});

it.each(["has", "has not"])(
  "a stopped store that keeps no changes has nothing of what a plant was, when the index %s followed before",
  async (has) => {
    const path = newPath();
    const before = () => read(path, "SELECT before FROM changes WHERE before IS NOT NULL");
    const store = await openSqlite(path, { changesDays: 0 });
    const [acer, quercus] = [plantOf(1, "Acer"), plantOf(2, "Quercus")];
    const names = async () => (await store.plants.listOrdered(IN_ORDER)).plants.map(({ name }) => name);
    for (const plant of [acer, quercus]) await store.plants.create(plant);
    await until("The index is built", () => names().then(Boolean, () => false));
    await store.plants.compareAndSwap({ from: acer, to: plantOf(1, "Betula") });
    await store.plants.compareAndSwap({ from: quercus, to: undefined });
    expect(before()).toEqual([{ before: expect.stringContaining("Acer") }, { before: expect.stringContaining("Quercus") }]);
    if (has === "has") expect(await names()).toEqual(["Betula"]);
    await store.close();
    expect(before()).toEqual([]);
  },
);

it("a VACUUM of a stopped store that keeps no changes, without its search index, leaves nothing of what was deleted, neither its room nor its name and tag", async () => {
  const data = temporaryFolder();
  const names = () => readdirSync(data).filter((name) => /quercus|fagaceae/i.test(readFileSync(join(data, name), "latin1")));
  const bytes = () => statSync(join(data, "plants.db")).size;
  async function serve(requests: (service: Awaited<ReturnType<typeof startTestService>>) => Promise<unknown>): Promise<void> {
    const service = await startTestService({ data, changesDays: "0" });
    await requests(service);
    await service.stop();
  }
  await serve(async ({ post }) => {
    await post('{"id":1,"name":"Acer"}');
    for (let id = 2; id < 20; id += 1) await post(`{"id":${id},"name":"Quercus ${"robur ".repeat(2000)}","tag":"Fagaceae"}`);
  });
  const full = bytes();
  await serve(async ({ request }) => {
    for (let id = 2; id < 20; id += 1) await request(`/plants/${id}`, { method: "DELETE" });
    expect(await (await request("/plants?q=quercus")).json()).toEqual([]);
  });
  // The search index may have written over its own free room by now, or not yet.
  expect(names()).toContain("plants.db");
  expect(bytes()).toBe(full);

  execute(join(data, "plants.db"), "VACUUM");
  for (const file of globSync(join(data, "plants.db.search*"))) rmSync(file);
  await serve(async ({ request }) => expect(await (await request("/plants")).json()).toEqual([{ id: 1, name: "Acer" }]));
  expect(names()).toEqual([]);
  expect(bytes()).toBeLessThan(full / 4);
  expect((await runOn({ data }, ["check"])).status).toBe(0);
});
