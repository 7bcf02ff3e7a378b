import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "bun:test";
import { markVersion, takeAlone } from "../../src/store/sqlite/engine/files.ts";
import { holdLock } from "../../src/store/sqlite/engine/folder-lock.ts";
import { countFrames } from "../../src/store/sqlite/engine/wal.ts";
import { Writer } from "../../src/store/sqlite/engine/writer.ts";
import { repairSqliteStore } from "../../src/store/sqlite/repair.ts";
import { contentsOf, copyStore, faultsOf, fill, makeStore, openServed, runCheck, statesOf } from "../support/checked.ts";
import { mayMount, mountDisk, unmountDisks } from "../support/disk.ts";
import { needsOtherUser, OTHER, startProcess } from "../support/process.ts";
import { startFlood } from "../support/flood.ts";
import { readToken } from "../support/service.ts";
import { rejectionOf } from "../support/rejection.ts";
import { WITHOUT_LOG } from "../support/stores.ts";
import { below, openRandom, pick, seedOf } from "../support/random.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

const seed = seedOf("check");
const random = openRandom(seed);
const PAGE = 4096;
const INDEX_LEAF = 0x0a;
const TABLE_LEAF = 0x0d;
/** Where the header of a database has the number of its pages that nothing uses. */
const FREE_PAGES_AT = 36;

const whole = await makeStore();
const contents = contentsOf(whole);

/** A copy of the store, or of this one, with something done to its database. */
function damaged(sql: string, file = "plants.db", folder = copyStore(whole)): string {
  using db = new DatabaseSync(join(folder, file));
  for (const statement of sql.split(";")) db.exec(statement);
  return folder;
}

/** A copy with the bytes of a file changed. */
function overwrite(name: string, change: (bytes: Buffer) => Buffer | void, folder = copyStore(whole)): string {
  const path = join(folder, name);
  const bytes = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
  writeFileSync(path, change(bytes) ?? bytes);
  return folder;
}

/** A copy in which the first page of the database that is such a one was edited. */
function withPage(isIt: (page: Buffer) => boolean, edit: (page: Buffer) => unknown, folder?: string): string {
  const change = (bytes: Buffer) => {
    const pages = Array.from({ length: bytes.length / PAGE }, (_, page) => bytes.subarray(page * PAGE, (page + 1) * PAGE));
    edit(pages.find(isIt)!);
  };
  return overwrite("plants.db", change, folder);
}

/** The value of the first entry behind a head of so many bytes. */
const firstValue = (leaf: Buffer, head: number) => leaf.subarray(leaf.readUInt16BE(8) + head);
const isOfHashes = (page: Buffer) => page[0] === INDEX_LEAF && firstValue(page, 5).toString("latin1", 0, 8) === "00000000";
const isOfTags = (page: Buffer) => page[0] === INDEX_LEAF && firstValue(page, 4).toString("latin1", 0, 8) === "Monstera";
const isOfPlants = (page: Buffer) => page[0] === TABLE_LEAF && page.includes(" sort ");

/** A copy in which an entry of the index of the hashes of tokens has another hash. */
const withOtherHash = (folder?: string) => withPage(isOfHashes, (leaf) => firstValue(leaf, 5).write("/"), folder);

/** A copy in which the leaves of tables are those of a copy with something done to it: a write of them was lost. */
function withOlderLeaf(sql: string): string {
  const older = readFileSync(join(damaged(sql), "plants.db"));
  return overwrite("plants.db", (bytes) => {
    for (let page = 0; page < bytes.length; page += PAGE)
      if (older[page] === TABLE_LEAF && bytes[page] === TABLE_LEAF) older.copy(bytes, page, page, page + PAGE);
  });
}

/** The name and content of each file. */
const bytesOf = (folder: string) => readdirSync(folder).map((name) => [name, readFileSync(join(folder, name)).toString("base64")]);

/** What another user may do. */
function allowOthers(folder: string): void {
  for (const path of [join(folder, ".."), folder]) chmodSync(path, 0o755);
  for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o644);
}

function check(folder: string, ...words: string[]) {
  return runCheck(["--data", folder, ...words]);
}

const LATER = "(SELECT max(at) + 1 FROM changes)";

describe("plant-store check of a sound store", () => {
  it("finds nothing wrong after a stop, and changes no byte and makes no file", async () => {
    const folder = copyStore(whole);
    const before = bytesOf(folder);
    const { status, stdout, stderr } = await check(folder);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    const parts = stdout.split("\n").map((line) => line.slice(0, 16).trim());
    expect(parts).toEqual([...["files", "tables", "pages", "tokens", "changes", "plants", "search"].map((part) => `ok      ${part}`), ""]);
    expect(bytesOf(folder)).toEqual(before);
  });

  it("finds nothing wrong after a kill, with all of it in the WAL, and while its index is behind or not there yet", async () => {
    const killed = await makeKilled();
    expect(statesOf(killed)).toEqual([]);
    expect(readdirSync(killed)).toContain("plants.db-wal");
    const db = new DatabaseSync(join(killed, "plants.db"));
    // It knows this plant, by the words that it had.
    const { id } = db.prepare("SELECT max(id) AS id FROM plants").get() as { id: number };
    const known = Buffer.from(BigInt64Array.of(BigInt(id)).buffer).toString("hex");
    db.exec(`UPDATE plants SET name = 'Yucca' WHERE id = ${id}; INSERT INTO changes (ids, total, at) VALUES (x'${known}', 500, ${LATER})`);
    expect(statesOf(killed)).toEqual([]);
    const ids = Buffer.from(BigInt64Array.of(123_456n).buffer).toString("hex");
    db.exec(
      `INSERT INTO plants (id, name) VALUES (123456, 'Aloe vera'); INSERT INTO changes (ids, total, at) VALUES (x'${ids}', 501, ${LATER})`,
    );
    db.close();
    expect(statesOf(killed)).toEqual([]);
    rmSync(join(killed, "plants.db.search"));
    expect(statesOf(killed)).toEqual(["search note"]);
  });

  it("finds nothing wrong while a service fills it as fast as it can, and imports", async () => {
    const data = temporaryFolder();
    const service = await startProcess({ data });
    const flood = startFlood({ url: service.url, token: await readToken(data), firstId: 1n, clients: 4 });
    const found: unknown[] = [];
    for (let round = 0; round < 3 || flood.count() <= 100; round += 1) {
      const { status, stdout, stderr } = await check(data);
      if (status !== 0 || !stdout.includes("ok      search")) found.push({ stdout, stderr });
    }
    const { answered } = await flood.stop();
    expect(found).toEqual([]);
    expect(answered.length).toBeGreaterThan(100);
    expect((await check(data, "--repair")).status).toBe(0);
    await service.end("SIGTERM");
    expect(statesOf(data)).toEqual([]);
  });

  mayMount("tmpfs").it("finds nothing wrong on a read-only disk", async () => {
    const { folder } = mountDisk("tmpfs");
    const small = await makeStore(50);
    for (const name of readdirSync(small)) copyFileSync(join(small, name), join(folder, name));
    Bun.spawnSync(["mount", "-o", "remount,ro", folder]);
    expect(await check(folder)).toMatchObject({ status: 0, stderr: "" });
  });
  afterAll(unmountDisks);

  needsOtherUser().it("finds nothing wrong for another user who may read it, and refuses one who may not, with a message", async () => {
    const folder = copyStore(whole);
    allowOthers(folder);
    chmodSync(folder, 0o700);
    const refused = await runCheck(["--data", folder], { user: OTHER });
    expect(refused).toMatchObject({ status: 1, stdout: "", stderr: expect.stringContaining(`${folder} belongs to root`) });
    allowOthers(folder);
    expect((await runCheck(["--data", folder], { user: OTHER })).status).toBe(0);
  });
});

/** A copy of a store that was killed with all of it in the WAL. */
async function makeKilled(): Promise<string> {
  const folder = temporaryFolder();
  const store = await openServed(folder);
  await fill(store, 0, 500);
  const killed = copyStore(folder);
  await store.close();
  return killed;
}

it("keeps no service from its start by a look at the lock", async () => {
  const path = join(temporaryFolder(), "plants.db.lock");
  holdLock(path)();
  const looking = `const db = new (require("node:sqlite").DatabaseSync)(${JSON.stringify(path)});
    db.exec("BEGIN; SELECT * FROM sqlite_schema"); console.log("looking"); setTimeout(() => db.close(), 80);`;
  const other = Bun.spawn([process.execPath, "-e", looking], { stdout: "pipe" });
  await other.stdout.getReader().read();
  holdLock(path)();
  expect(await other.exited).toBe(0);
});

describe("plant-store check calls nothing damaged because of", () => {
  needsOtherUser().it("a folder in which SQLite may not make the file that it needs beside a WAL", async () => {
    const folder = await makeKilled();
    rmSync(join(folder, "plants.db-shm"));
    allowOthers(folder);
    const checked = await runCheck(["--data", folder], { user: OTHER });
    expect(checked).toMatchObject({ status: 1, stdout: expect.not.stringContaining("damaged") });
    expect(checked.stderr).toContain("may write in its folder");
  });

  it("a number of pages that its header does not vouch for, as an older SQLite leaves it", () => {
    const folder = overwrite("plants.db", (bytes) => {
      bytes.writeUInt32BE(bytes.readUInt32BE(28) + 1, 28);
      bytes.writeUInt32BE(bytes.readUInt32BE(92) - 1, 92);
    });
    expect(statesOf(folder)).toEqual([]);
  });

  it("tables of a version before this one, which the next start brings up to date", () => {
    const later = "ALTER TABLE changes DROP COLUMN before; CREATE INDEX plants_by_tag ON plants (tag) WHERE tag IS NOT NULL";
    const total = "ALTER TABLE changes DROP COLUMN total; CREATE TABLE bulk_changes (seq INTEGER PRIMARY KEY, ids BLOB NOT NULL) STRICT";
    expect(statesOf(damaged(`${WITHOUT_LOG}; ${later}; ${total}; ALTER TABLE plants DROP COLUMN added; PRAGMA user_version = 3`))).toEqual([
      "tables note",
    ]);
  });

  it("a WAL that has begun again, and still holds some of what it had before", () => {
    const path = join(temporaryFolder(), "plants.db");
    const writer = new Writer(path);
    const put = (from: number, count: number) => {
      const ids = BigInt64Array.from({ length: count }, (_, at) => BigInt(from + at));
      const names = Array.from(ids, (id) => `Acer ${id}`);
      writer.commit({ ids, names, tags: names.map(() => null) }, [], [], 0);
    };
    put(0, 1000);
    expect(writer.checkpoint()).toBe(true);
    put(1000, 1);
    const { readable, written } = countFrames(`${path}-wal`, PAGE);
    expect([readable > 0, written - readable]).toEqual([true, 0]);
    expect(framesIn(readFileSync(`${path}-wal`))).toBeGreaterThan(written);
    writer.close();
  });

  it("the lock of another program", async () => {
    const folder = copyStore(whole);
    const db = new DatabaseSync(join(folder, "plants.db"));
    db.exec("BEGIN EXCLUSIVE");
    const checked = await check(folder);
    db.close();
    expect(checked).toMatchObject({ status: 1, stdout: expect.not.stringContaining("damaged") });
    expect(checked.stderr).toContain("cannot be checked now (database is locked)");
  });
});

const SEARCH = "plants.db.search";

/** Removes a plant from the search index: FTS5 must be told what was there. */
const FORGET = `CREATE VIRTUAL TABLE temp.tokens USING fts5vocab(main, names, instance);
  INSERT INTO names (names, rowid, words) SELECT 'delete', 1, group_concat(term, ' ') FROM temp.tokens WHERE doc = 1`;

/** Its index knows the newest by its time. */
const NEWEST_BUT_ONE = "WHERE seq = (SELECT max(seq) - 1 FROM changes WHERE kinds IS NOT NULL)";

type Damage = readonly [what: string, make: () => string, ...found: string[]];

/** What is found, by what was done. The index and what follows from the plants can be rebuilt. */
const FAULTS: readonly Damage[] = [
  ["an index has another hash than its table", withOtherHash, "pages wrong"],
  [
    "the pages that nothing uses are counted wrong",
    () => {
      const folder = damaged("CREATE TABLE one (a); CREATE TABLE two (a); DROP TABLE one; DROP TABLE two");
      return overwrite("plants.db", (bytes) => void bytes.writeUInt32BE(bytes.readUInt32BE(FREE_PAGES_AT) - 1, FREE_PAGES_AT), folder);
    },
    "pages wrong",
  ],
  ["an index is gone", () => damaged("DROP INDEX tokens_by_parent"), "tables wrong"],
  ["the number of plants is too small", () => damaged("UPDATE changes SET total = total - 1"), "count wrong"],
  ["the ids of a change are cut", () => damaged("UPDATE changes SET ids = x'0102'"), "changes wrong", "search note"],
  [
    "the time of a change is earlier than that of the one before",
    () => damaged(`UPDATE changes SET at = 1 ${NEWEST_BUT_ONE}`),
    "changes wrong",
  ],
  ["a change has no time, and the one before has one", () => damaged(`UPDATE changes SET at = NULL ${NEWEST_BUT_ONE}`), "changes wrong"],
  ["a change has one kind too many", () => damaged(`UPDATE changes SET kinds = kinds || 'c' ${NEWEST_BUT_ONE}`), "changes wrong"],
  ["what was there before a change is no JSON", () => damaged(`UPDATE changes SET before = '[' ${NEWEST_BUT_ONE}`), "changes wrong"],
  ["a name was changed by hand", () => damaged("UPDATE plants SET name = 'Ficus sort 1' WHERE id = 1"), "search wrong"],
  ["a tag was", () => damaged("UPDATE plants SET tag = 'other' WHERE id = 1000"), "search wrong"],
  ["the time of a create was", () => damaged("UPDATE plants SET added = added + 1 WHERE id = 1"), "search wrong"],
  [
    "the search index has a plant with other words",
    () => damaged(`${FORGET}; INSERT INTO names (rowid, words) VALUES (1, 'ficus')`, SEARCH),
    "search wrong",
  ],
  ["it lacks a plant", () => damaged(FORGET, SEARCH), "search wrong"],
  ["it has one that is gone", () => damaged("INSERT INTO names (rowid, words) VALUES (90001, 'ficus')", SEARCH), "search wrong"],
  ["it lacks a table", () => damaged("DROP TABLE words", SEARCH), "search wrong"],
  ["it lacks a word", () => damaged("DELETE FROM words WHERE word = 'ginkgo'", SEARCH), "search wrong"],
  [
    "both an index and the search index are wrong",
    () => damaged(FORGET, SEARCH, damaged("DROP INDEX tokens_by_parent")),
    "tables wrong",
    "search wrong",
  ],
  ["it is of another store", () => damaged("UPDATE state SET mark = 'x'", SEARCH), "search note"],
  ["it is no database", () => overwrite(SEARCH, () => Buffer.alloc(20_000, "x")), "search wrong"],
  ["it is cut", () => overwrite(SEARCH, (bytes) => bytes.subarray(0, bytes.length / 2)), "search wrong"],
];

const OLD_TOKENS = "DELETE FROM tokens WHERE id = 'token1'";
const token = (change: string) => () => damaged(`UPDATE tokens SET ${change} WHERE id = 'token1'`);

/** What only a backup has. */
const LOSSES: readonly Damage[] = [
  ["a page of plants that is empty", () => withPage(isOfPlants, (leaf) => leaf.fill(0)), "pages damaged"],
  ["one that counts its free bytes wrong", () => withPage(isOfPlants, (leaf) => leaf.writeUInt8(5, 7)), "pages damaged"],
  ["more plants counted than there", () => damaged("UPDATE changes SET total = total + 1"), "count damaged"],
  ["an older page, without a plant", () => withOlderLeaf("DELETE FROM plants WHERE id = 1300"), "count damaged", "search wrong"],
  ["a page of tokens that is older", () => withOlderLeaf(OLD_TOKENS), "pages damaged"],
  ["that, and an index with another hash than its table", () => withOtherHash(withOlderLeaf(OLD_TOKENS)), "pages damaged"],
  [
    "that, and an index of another program with more faults than SQLite tells at once",
    () =>
      withPage(
        isOfTags,
        (leaf) => leaf.fill(0xff, 8, 1000),
        damaged("CREATE INDEX by_tag ON plants (tag)", "plants.db", withOlderLeaf(OLD_TOKENS)),
      ),
    "pages damaged",
  ],
  ["a token of another one that is not there", token("parent = 'absent'"), "tokens damaged"],
  ["a token with what is no hash", token("hash = 'x'"), "tokens damaged"],
  ["a time before all tokens", token("created = -1"), "tokens damaged"],
  ["a right that no token could have", token("scopes = 'plants:read all'"), "tokens damaged"],
  ["a time that no token could have", token("created = 1 << 60"), "tokens damaged"],
  ["no table of tokens", () => damaged("DROP TABLE tokens"), "tables damaged"],
  ["the number of another version", () => damaged("PRAGMA user_version = 4"), "tables damaged"],
];

const REFUSED: readonly Damage[] = [
  [
    "tables of another program",
    () => damaged("CREATE TABLE notes (a)", "plants.db", temporaryFolder()),
    "of another program: name another folder",
  ],
  ["the number of a newer version", () => damaged("PRAGMA user_version = 200"), "newer Plant Store: use that"],
  ["the mark of another program", () => damaged("PRAGMA application_id = 1"), "of another program: name another folder"],
  ["half of its pages", () => overwrite("plants.db", (bytes) => bytes.subarray(0, bytes.length / 2)), "was copied in part"],
  ["fifty of its bytes", () => overwrite("plants.db", (bytes) => bytes.subarray(0, 50)), "is not a database"],
  ["a foreign WAL", () => overwrite("plants.db-wal", () => Buffer.alloc(9000, "x")), "does not belong to the plants.db beside it"],
];

describe("plant-store check finds that", () => {
  for (const [what, make, ...states] of FAULTS) {
    it(`${what}, and what a repair leaves has all plants and nothing wrong`, async () => {
      const folder = make();
      const path = join(folder, "plants.db");
      const faults = faultsOf(folder);
      expect(faults.map(({ part, state }) => `${part} ${state}`)).toEqual(states);
      const before = contentsOf(folder);
      await repairSqliteStore(
        path,
        faults.filter(({ state }) => state === "wrong"),
      );
      expect(contentsOf(folder)).toBe(before);
      // Only what is wrong is built again.
      expect(existsSync(`${path}.damaged`)).toBe(states.some((state) => !state.startsWith("search ")));
      // The next start builds it.
      expect(statesOf(folder)).toEqual(["search note"]);
    });
  }

  it("something is wrong, says what to do, and does it", async () => {
    const folder = withOtherHash();
    const found = await check(folder);
    expect([found.status, found.stdout, found.stderr]).toEqual([
      1,
      expect.stringMatching(/^wrong   pages   plants\.db: row /m),
      `plant-store: Something is wrong that can be rebuilt from the plants: stop the service, and run plant-store check --repair --data ${folder}.\n`,
    ]);
    const repaired = await check(folder, "--repair");
    expect([repaired.status, repaired.stdout]).toEqual([0, expect.stringContaining("Repaired. Checking again:\nok ")]);
    const left = readFileSync(join(folder, "plants.db.damaged"));
    const again = damaged("DROP INDEX tokens_by_parent", "plants.db", folder);
    expect(await check(again, "--repair")).toMatchObject({ status: 1, stderr: expect.stringContaining("move it away first") });
    expect(readFileSync(join(folder, "plants.db.damaged")).equals(left)).toBe(true);
    rmSync(join(folder, "plants.db.damaged"));
    expect((await check(folder, "--repair")).status).toBe(0);
    const store = await openServed(folder);
    await until("The index is built", () => faultsOf(folder).length === 0);
    expect(await check(folder, "--repair")).toMatchObject({ status: 0 });
    await store.close();
  });

  it("something is wrong in a store that was killed, and repairs it together with its WAL, unless someone still reads it", async () => {
    const folder = await makeKilled();
    const path = join(folder, "plants.db");
    const db = new DatabaseSync(path);
    db.exec("UPDATE changes SET total = total - 1 WHERE seq = (SELECT max(seq) FROM changes)");
    const wrong = faultsOf(folder);
    expect(wrong).toMatchObject([{ part: "count", state: "wrong" }]);
    const before = contentsOf(folder);
    db.exec("BEGIN; SELECT * FROM plants");
    const left = readdirSync(folder);
    expect(left).toContain("plants.db-wal");
    expect(String(await rejectionOf(repairSqliteStore(path, wrong)))).toContain(`Another program uses ${path}: end it.`);
    expect(readdirSync(folder)).toEqual(left);
    db.close();
    await repairSqliteStore(path, wrong);
    expect([contentsOf(folder), existsSync(`${path}-wal`), statesOf(folder)]).toEqual([before, false, ["search note"]]);
  });

  it("something is wrong in a database that is a link, which leads to the repaired one then", async () => {
    const folder = damaged("UPDATE changes SET total = total - 1");
    const path = join(folder, "plants.db");
    const elsewhere = join(temporaryFolder(), "plants.db");
    renameSync(path, elsewhere);
    symlinkSync(elsewhere, path);
    await repairSqliteStore(path, faultsOf(folder));
    expect([lstatSync(path).isSymbolicLink(), statesOf(folder), existsSync(`${elsewhere}.damaged`)]).toEqual([true, ["search note"], true]);
  });

  it("something is wrong while a service uses the store, and repairs nothing then", async () => {
    const folder = damaged("UPDATE changes SET total = total - 1");
    const store = await openServed(folder);
    const stderr = expect.stringContaining("Another Plant Store is using this data folder: stop it");
    expect(await check(folder, "--repair")).toMatchObject({ status: 1, stderr });
    await store.close();
    expect(statesOf(folder)).toEqual(["count wrong"]);
  });

  for (const [what, make, ...states] of LOSSES) it(`a store has ${what}`, () => expect(statesOf(make())).toEqual(states));

  for (const [what, make, says] of REFUSED)
    it(`a store has ${what}, as a start does`, async () => {
      const folder = make();
      expect(await check(folder)).toMatchObject({ status: 1, stderr: expect.stringContaining(says!) });
      expect(String(await rejectionOf(openServed(folder)))).toContain(says!);
    });

  it("something is damaged besides, and repairs nothing then", async () => {
    const folder = damaged("UPDATE tokens SET scopes = 'all' WHERE id = 'token1'; DROP INDEX tokens_by_parent");
    const before = readFileSync(join(folder, "plants.db"));
    expect(await check(folder, "--repair")).toMatchObject({ status: 1, stderr: expect.stringContaining("only a backup has") });
    expect(readFileSync(join(folder, "plants.db")).equals(before)).toBe(true);
    expect(statesOf(folder)).toEqual(["tables wrong", "tokens damaged"]);
  });

  it("the first token is one of another store", async () => {
    const folder = copyStore(whole);
    writeFileSync(join(folder, "first-token"), `plant_${"0".repeat(43)}\n`);
    expect(statesOf(folder)).toEqual(["tokens note"]);
    expect((await check(folder)).stdout).toMatch(/^note +tokens/m);
  });
});

describe("random damage", () => {
  function flip(bytes: Buffer, length = bytes.length) {
    const at = below(random, length);
    bytes[at]! ^= 1 << below(random, 8);
    return at;
  }
  function zero(bytes: Buffer) {
    const page = below(random, bytes.length / PAGE) * PAGE;
    bytes.fill(0, page, page + PAGE);
  }
  function scramble(bytes: Buffer) {
    const from = below(random, bytes.length - 64);
    for (let at = from; at < from + 64; at += 1) bytes[at] = below(random, 256);
  }
  const damage = (bytes: Buffer) => void pick(random, [flip, flip, zero, scramble])(bytes);

  it("is found in the database, or has changed nothing that can be known", () => {
    for (let round = 0; round < 40; round += 1) {
      const folder = overwrite("plants.db", damage);
      if (statesOf(folder).length === 0) expect({ seed, round, contents: contentsOf(folder) }).toEqual({ seed, round, contents });
    }
  });

  it("is never taken for damage of the plants when it is in the search index", () => {
    for (let round = 0; round < 20; round += 1) {
      const faults = faultsOf(overwrite(SEARCH, damage));
      expect(faults.every(({ part, state }) => part === "search" && state !== "damaged")).toBe(true);
    }
  });

  it("is found in the WAL of a killed store, or has lost at most the last commit", async () => {
    const folder = temporaryFolder();
    const store = await openServed(folder);
    for (let commit = 0; commit < 10; commit += 1) await fill(store, commit * 100, 100);
    const killed = copyStore(folder);
    await store.close();
    const path = join(killed, "plants.db-wal");
    const wal = readFileSync(path);
    expect(countFrames(path, PAGE)).toEqual({ readable: framesIn(wal), written: framesIn(wal) });
    for (let round = 0; round < 30; round += 1) {
      const flipped = Buffer.from(wal);
      const at = flip(flipped, wal.length - PAGE - 24);
      writeFileSync(path, flipped);
      rmSync(join(killed, "plants.db-shm"), { force: true });
      const { readable, written } = countFrames(path, PAGE);
      const isFound = readable < written || statesOf(killed).length > 0;
      expect({ seed, at, isFound }).toEqual({ seed, at, isFound: true });
    }
    // The page size, a sum, and a bit of the second salt.
    for (const [at, to] of [[8, 0x7fff_ffff], [8, 0xffff_fff0], [24, 0], [20]] as const) {
      const scrambled = Buffer.from(wal);
      scrambled.writeUInt32BE(to ?? (scrambled.readUInt32BE(at) ^ 1) >>> 0, at);
      writeFileSync(path, scrambled);
      expect({ at, to, ...countFrames(path, PAGE) }).toEqual({ at, to, readable: 0, written: framesIn(wal) });
    }
    const { status, stdout, stderr } = await check(killed);
    expect([status, stdout + stderr]).toEqual([1, expect.stringMatching(/plants\.db-wal (cannot be read to its end|does not belong)/)]);
  });
});

function framesIn(wal: Buffer): number {
  return (wal.length - 32) / (PAGE + 24);
}

describe("plant-store check --without-wal", () => {
  it("accepts no database that is damaged besides, and leaves one without the mark of its WAL", () => {
    const broken = withPage(isOfPlants, (leaf) => leaf.fill(0));
    expect(() => takeAlone(join(broken, "plants.db"))).toThrow("is damaged without its WAL: restore a backup");
    const path = join(copyStore(whole), "plants.db");
    using db = new DatabaseSync(path);
    const version = () => Number(db.prepare("PRAGMA user_version").get()?.["user_version"]);
    const unmarked = version();
    db.exec(`PRAGMA user_version = ${markVersion(unmarked, 7)}`);
    expect(version()).not.toBe(unmarked);
    takeAlone(path);
    expect(version()).toBe(unmarked);
  });
});
