import { createMetrics } from "../../src/runtime/metrics.ts";
import { DatabaseSync } from "node:sqlite";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "bun:test";
import { createLog } from "../../src/runtime/log.ts";
import { asPlantId } from "../../src/domain/plant.ts";
import { WAL_PAGES_MAX } from "../../src/store/sqlite/engine/requirements.ts";
import type { Place } from "../../src/store/page.ts";
import { createHealth } from "../../src/store/sqlite/engine/health.ts";
import { startThread } from "../../src/store/sqlite/engine/thread.ts";
import { holdLock } from "../../src/store/sqlite/engine/folder-lock.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { askUntil, until } from "../support/until.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import { runCommand } from "../support/process.ts";
import { testStore } from "../support/store-suite.ts";
import { rejectionOf } from "../support/rejection.ts";

const PAGE_BYTES = 4096;

function open(path: string, limits: { isServing?: boolean; queueMax?: number; queueWaitMs?: number } = {}): Promise<Store> {
  return openSqliteStore({
    metrics: createMetrics(),
    path,
    isServing: true,
    queueMax: 1024,
    queueWaitMs: 1000,
    ...limits,
    log: createLog({ level: "error", isTerminal: false, write: () => {}, now: Date.now }),
    onFatal(reason) {
      throw reason;
    },
  });
}

const suitePath = join(temporaryFolder(), "plants.db");
testStore("SQLite", { open: () => open(suitePath) });

describe("the SQLite store", () => {
  it("is a WAL database with our application id and the expected schema", async () => {
    const path = join(temporaryFolder(), "plants.db");
    const store = await open(path);
    const db = new DatabaseSync(path, { readOnly: true });
    expect({ ...db.prepare("PRAGMA journal_mode").get() }).toEqual({ journal_mode: "wal" });
    expect({ ...db.prepare("PRAGMA integrity_check").get() }).toEqual({ integrity_check: "ok" });
    expect({ ...db.prepare("PRAGMA application_id").get() }).toEqual({ application_id: 0x706c6e74 });
    const columns = db.prepare("SELECT name FROM pragma_table_info('plants')").all() as { name: string }[];
    expect(columns.map(({ name }) => name)).toEqual(["id", "name", "tag", "added"]);
    db.close();
    await store.close();
  });

  it("stores the plants of a commit in which a token has the secret of another one", async () => {
    const store = await open(join(temporaryFolder(), "plants.db"));
    const token = { name: "x", scopes: ["admin"] as const, created: 0 };
    expect(await store.tokens.create({ ...token, id: "one" }, "hash")).toBe("created");
    // Called in one turn, so they share a commit.
    const both = [store.plants.create({ id: asPlantId(1n), name: "x" }), store.tokens.create({ ...token, id: "two" }, "hash")];
    expect(await Promise.all(both)).toEqual(["created", "taken"]);
    await store.close();
  });

  it("finds every plant at once when it is created, even in a turn of the event loop that has read before", async () => {
    const store = await open(join(temporaryFolder(), "plants.db"));
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
    const path = join(temporaryFolder(), "plants.db");
    const before = await open(path);
    // Each fills a page.
    for (const letter of "abcde") await before.plants.create({ id: asPlantId(BigInt(letter.charCodeAt(0))), name: letter.repeat(3000) });
    await before.close();
    const file = readFileSync(path);
    // An earlier copy is what the root left behind when it grew.
    const page = Math.floor(file.lastIndexOf("a".repeat(3000)) / PAGE_BYTES) * PAGE_BYTES;
    writeFileSync(path, file.fill(0xff, page, page + PAGE_BYTES));

    const store = await open(path, { isServing: false });
    const find = async (id: bigint) => store.plants.find(asPlantId(id));
    expect(await rejectionOf(find(97n))).toMatchObject({ code: "store_unavailable" });
    // The transaction of the read ends.
    await new Promise(setImmediate);
    expect((await find(101n))?.name).toBe("e".repeat(3000));
    expect(await store.plants.create({ id: asPlantId(102n), name: "f" })).toBe("created");
    await store.close();
  });

  it("refuses a second service on the same file, and accepts it once the first has ended", async () => {
    const path = join(temporaryFolder(), "plants.db");
    const first = await open(path);
    expect(await rejectionOf(open(path))).toHaveProperty(
      "message",
      expect.stringContaining("Another Plant Store is using this data folder"),
    );
    await first.close();
    await (await open(path)).close();
  });

  it("refuses another program's file, and leaves it as it is", async () => {
    const path = join(temporaryFolder(), "plants.db");
    const other = new DatabaseSync(path);
    other.exec("CREATE TABLE notes (text TEXT)");
    other.close();
    expect(await rejectionOf(open(path))).toHaveProperty("message", expect.stringContaining("database of another program"));
    const after = new DatabaseSync(path);
    expect(after.prepare("SELECT name FROM sqlite_schema").all()).toHaveLength(1);
    after.close();
  });

  it("counts the plants of a file from before it kept their number, once, and then follows all changes", async () => {
    const path = join(temporaryFolder(), "plants.db");
    const store = await open(path);
    const plants = [1n, 2n, 3n].map((id) => ({ id: asPlantId(id), name: "x" }));
    for (const plant of plants.slice(1)) await store.plants.create(plant);
    await store.plants.import([plants[0]!], { isReplacing: false, isDryRun: false });
    await store.close();
    const db = new DatabaseSync(path);
    // As the version before left it.
    db.exec(
      "ALTER TABLE changes DROP COLUMN total; ALTER TABLE bulk_changes DROP COLUMN total; ALTER TABLE plants DROP COLUMN added; PRAGMA user_version = 3",
    );
    db.close();
    for (const expected of [3, 2]) {
      const again = await open(path);
      expect(await again.plants.count({ tag: undefined, words: [] })).toEqual({ plants: expected, precision: "exact" });
      await again.plants.compareAndSwap({ from: plants[0], to: undefined });
      await again.close();
    }
  });

  it.each(["changes", "bulk_changes"])("counts the plants again behind %s of the version before, which still ran", async (table) => {
    const path = join(temporaryFolder(), "plants.db");
    const store = await open(path);
    const plants = Array.from({ length: 9 }, (_, id) => ({ id: asPlantId(BigInt(id)), name: "x" }));
    const count = async () => (await store.plants.count({ tag: undefined, words: [] })).plants;
    await store.plants.create(plants[0]!);
    await store.plants.import(plants.slice(1, 3), { isReplacing: false, isDryRun: false });
    const other = new DatabaseSync(path);
    other.exec(
      `INSERT INTO plants (id, name) VALUES (100, 'x'), (101, 'x'); INSERT INTO ${table} (ids) VALUES (x'64000000000000006500000000000000')`,
    );
    other.close();
    expect(await count()).toBe(5);
    await store.plants.create(plants[3]!);
    expect(await count()).toBe(6);
    await store.plants.import(plants.slice(3, 6), { isReplacing: false, isDryRun: false });
    expect(await count()).toBe(8);
    await store.plants.compareAndSwap({ from: plants[0], to: undefined });
    expect(await count()).toBe(7);
    await store.close();
  });

  it("lists plants of a file from before they had a time behind all others, by id, also when the index is made anew", async () => {
    const path = join(temporaryFolder(), "plants.db");
    const ids = [2n, 5n, 3n, 9n, 7n].map(asPlantId);
    const store = await open(path);
    for (const id of ids.slice(0, 3)) await store.plants.create({ id, name: "x" });
    await store.close();
    const db = new DatabaseSync(path);
    db.exec("UPDATE plants SET added = NULL");
    db.close();
    const again = await open(path);
    for (const id of ids.slice(3)) await again.plants.create({ id, name: "x" });
    await again.close();
    for (const suffix of ["", "-wal", "-shm"]) rmSync(`${path}.search${suffix}`, { force: true });
    const last = await open(path);
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
    const path = join(temporaryFolder(), "plants.db");
    await (await open(path)).close();
    const versionOf = () => {
      const db = new DatabaseSync(path);
      const version = db.prepare("PRAGMA user_version").get();
      db.close();
      return version;
    };
    const db = new DatabaseSync(path);
    // As the version before left it.
    db.exec("ALTER TABLE plants DROP COLUMN added; PRAGMA user_version = 4");
    db.close();
    const unlock = holdLock(`${path}.lock`);
    const refused = rejectionOf(open(path, { isServing: false }));
    expect(await refused).toHaveProperty("message", expect.stringContaining("A service of an older version is using this store"));
    expect(versionOf()).toEqual({ user_version: 4 });
    unlock();
    await (await open(path, { isServing: false })).close();
    expect(versionOf()).toEqual({ user_version: 5 });
  });

  it("leaves tables as they are that it cannot migrate, because they are not those of their version, and says what to do", async () => {
    const path = join(temporaryFolder(), "plants.db");
    const db = new DatabaseSync(path);
    // As development of a day before the first release left it: version 2 got one more table later.
    db.exec(`
      CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT;
      CREATE TABLE tokens (
        id TEXT PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL UNIQUE, scopes TEXT NOT NULL,
        created INTEGER NOT NULL, expires INTEGER, revoked INTEGER
      ) STRICT;
      CREATE INDEX plants_by_tag ON plants (tag) WHERE tag IS NOT NULL;
      CREATE TABLE changes (seq INTEGER PRIMARY KEY, ids BLOB NOT NULL) STRICT;
      PRAGMA application_id = 0x706c6e74; PRAGMA user_version = 2`);
    db.close();
    const states = () => {
      using there = new DatabaseSync(path, { readOnly: true });
      return [there.prepare("PRAGMA user_version").get(), ...there.prepare("SELECT sql FROM sqlite_schema").all()];
    };
    const before = states();
    expect(await rejectionOf(open(path))).toHaveProperty(
      "message",
      "The tables are not those of version 2, so nothing was changed: export with the Plant Store that made them, and import into a new folder.",
    );
    expect(states()).toEqual(before);
  });

  it("refuses a file made by a newer version", async () => {
    const path = join(temporaryFolder(), "plants.db");
    await (await open(path)).close();
    const db = new DatabaseSync(path);
    const version = Number(db.prepare("PRAGMA user_version").get()?.["user_version"]);
    db.exec(`PRAGMA user_version = ${version + 1}`);
    db.close();
    expect(await rejectionOf(open(path))).toHaveProperty("message", expect.stringContaining("made by a newer Plant Store"));
  });

  it("answers store_unavailable while another process holds the write lock, and heals by itself", async () => {
    const path = join(temporaryFolder(), "plants.db");
    const store = await open(path, { queueWaitMs: 5000 });
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    expect(await rejectionOf(store.plants.create({ id: asPlantId(1n), name: "x" }))).toMatchObject({ code: "store_unavailable" });
    expect(() => store.check()).toThrow("The store is not available");
    expect(await store.plants.find(asPlantId(1n))).toBeUndefined();
    other.exec("ROLLBACK");
    other.close();
    await until("It has healed", () => {
      try {
        store.check();
        return true;
      } catch {
        return false;
      }
    });
    expect(await store.plants.create({ id: asPlantId(1n), name: "x" })).toBe("created");
    await store.close();
  });

  it("accepts changes from several connections and survives their checkpoints", async () => {
    const path = join(temporaryFolder(), "plants.db");
    const store = await open(path);
    const names = Array.from({ length: 20_000 }, (_, at) => `plant ${at}`);
    for (let at = 0; at < names.length; at += 500) {
      await Promise.all(
        names.slice(at, at + 500).map((name, offset) => store.plants.create({ id: asPlantId(BigInt(at + offset) * 7919n), name })),
      );
      if (at % 5000 === 0) {
        const other = new DatabaseSync(path);
        other.exec("PRAGMA wal_checkpoint(PASSIVE)");
        other.close();
      }
    }
    await store.close();
    const db = new DatabaseSync(path, { readOnly: true });
    expect({ ...db.prepare("PRAGMA integrity_check").get() }).toEqual({ integrity_check: "ok" });
    expect({ ...db.prepare("SELECT count(*) AS plants FROM plants").get() }).toEqual({ plants: 20_000 });
    db.close();
  });

  it("makes one checkpoint at a time, and another one after it", async () => {
    const onFatal = (reason: Error) => {
      throw reason;
    };
    const thread = await startThread("writer", { path: join(temporaryFolder(), "plants.db"), onDeath: onFatal }).open();
    const outcomes: string[] = [];
    const health = createHealth({
      thread,
      log: createLog({ level: "error", isTerminal: false, write: () => {}, now: Date.now }),
      checkpoints: (outcome) => ({ observe: () => void outcomes.push(outcome) }),
      areFilesThere: () => true,
      onFatal,
    });
    health.checkpoint();
    health.checkpoint();
    await until("The first one is made", () => outcomes.length > 0);
    // The thread does one thing after the other: a second one would be before this.
    await health.call("probe");
    expect(outcomes).toEqual(["done"]);
    health.checkpoint();
    await until("Another one is made", () => outcomes.length > 1);
    await health.close();
  });

  it("leaves checkpoints to the service when a command changes tokens", async () => {
    const path = join(temporaryFolder(), "plants.db");
    await (await open(path)).close();
    const service = new DatabaseSync(path);
    service.exec(
      "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; INSERT INTO plants (id, name) VALUES (1, hex(zeroblob(9000000)))",
    );
    const command = await open(path, { isServing: false });
    await command.tokens.revoke("Zk3vQ9aB", 0, { isKeepingChildren: false });
    await command.close();
    const { log, checkpointed } = service.prepare("PRAGMA wal_checkpoint(NOOP)").get() as Record<string, number>;
    service.close();
    expect(log).toBeGreaterThan(WAL_PAGES_MAX);
    expect(checkpointed).toBe(0);
  });
});

describe("a start", () => {
  for (const { why, from, to, message } of [
    {
      why: "synchronous is not FULL",
      from: 'db.exec("PRAGMA synchronous = FULL")',
      to: 'db.exec("PRAGMA synchronous = NORMAL")',
      message: "PRAGMA synchronous",
    },
    { why: "WAL mode is not available", from: "journal_mode = WAL", to: "journal_mode = DELETE", message: "journal_mode" },
    { why: "SQLite is too old", from: '"3.51.3"', to: '"99.0.0"', message: "can corrupt a database" },
  ]) {
    it(`is refused if ${why}`, async () => {
      const root = plantBugs([{ file: "src/store/sqlite/engine/requirements.ts", from, to }]);
      const { status, stderr } = await runCommand(["serve", "--port", "0", "--data", temporaryFolder()], { root });
      expect(status).toBe(1);
      expect(stderr).toContain(message);
    });
  }
});
