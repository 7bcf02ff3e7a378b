import { hash } from "node:crypto";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, setSystemTime } from "bun:test";
import type { NewPlant } from "../../src/domain/plant.ts";
import { openReader } from "../../src/store/sqlite/engine/reader.ts";
import { Writer } from "../../src/store/sqlite/engine/writer.ts";
import { toCursor } from "../../src/store/sqlite/log-reads.ts";
import { restoreSqliteStore } from "../../src/store/sqlite/restore.ts";
import { Indexer } from "../../src/store/sqlite/search/indexer.ts";
import type { ImportOptions } from "../../src/store/plants.ts";
import { pagesOf, readOn } from "../support/history-pages.ts";
import { plantOf } from "../support/plant.ts";
import { rejectionOf } from "../support/rejection.ts";
import { execute, read } from "../support/sqlite-file.ts";
import { openSqlite, search, WITHOUT_LOG } from "../support/stores.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const NOW = Date.now();

afterEach(() => void setSystemTime());

const newPath = () => join(temporaryFolder(), "plants.db");

const plantsOf = (count: number, firstId: number, name: (id: number) => string) =>
  Array.from({ length: count }, (_, at) => plantOf(firstId + at, name(firstId + at)));

function toColumns(plants: readonly NewPlant[]) {
  const ids = BigInt64Array.from(plants, ({ id }) => id);
  return { ids, names: plants.map(({ name }) => name), tags: plants.map(() => null) };
}

/** A writer of this thread, on which each call commits one change. */
function openWriter(path = newPath()) {
  const writer = new Writer(path);
  writer.keepChanges(30);
  return {
    path,
    writer,
    create: (id: number, name: string, indexed = 0) => writer.commit(toColumns([plantOf(id, name)]), [], [], indexed),
    swap: (from: NewPlant, to: NewPlant | undefined) => writer.commit(toColumns([]), [{ from, to }], [], 0),
    importAll: (plants: readonly NewPlant[], options: Partial<ImportOptions> = {}) =>
      writer.importPlants(toColumns(plants), { isReplacing: false, isDryRun: false, ...options }, 0),
    seqs: () => read(path, "SELECT seq FROM changes ORDER BY seq").map(({ seq }) => seq),
    before: () => read(path, "SELECT seq FROM changes WHERE before IS NOT NULL ORDER BY seq").map(({ seq }) => seq),
  };
}

describe("the times of the log", () => {
  it("rise from row to row while the clock stands still, is set back, and was set back at a restart", () => {
    const { path, writer, create, importAll } = openWriter();
    setSystemTime(NOW);
    for (const id of [1, 2]) create(id, "Acer");
    setSystemTime(NOW - 40 * DAY_MS);
    create(3, "Acer");
    importAll(plantsOf(50, 10, () => "Aloe"));
    writer.close();
    const again = openWriter(path);
    again.create(4, "Acer");
    setSystemTime(NOW + DAY_MS);
    again.create(5, "Acer");
    again.writer.close();
    const times = read(path, "SELECT at FROM changes ORDER BY seq").map(({ at }) => Number(at));
    expect(times.length).toBe(9);
    expect(times.filter((at, index) => index > 0 && at <= times[index - 1]!)).toEqual([]);
    expect(times.at(-1)! / 1000).toBeWithin(NOW + DAY_MS, NOW + DAY_MS + 1);
  });

  for (const { clock, days } of [
    { clock: "ahead of it", days: 1 },
    { clock: "behind it", days: -1 },
  ])
    it(`tell copies of one store from each other, however early each goes on, with the clock ${clock}`, () => {
      const { path, writer, create } = openWriter();
      setSystemTime(NOW);
      create(1, "Acer");
      writer.close();
      const cursors = [1, 2, 3].map((copy) => {
        copyFileSync(path, `${path}.${copy}`);
        setSystemTime(NOW + days * DAY_MS);
        const one = openWriter(`${path}.${copy}`);
        for (const id of [2, 3]) one.create(id, "Aloe");
        one.writer.close();
        const reader = openReader(`${path}.${copy}`);
        const cursor = toCursor(reader.log.newest());
        reader.close();
        return cursor;
      });
      // The processes have different microseconds. In one of a million runs three have the same.
      expect(new Set(cursors).size).toBeGreaterThan(1);
    });
});

describe("what is no longer kept", () => {
  it("goes by age with later commits, but for its last row, which keeps nothing of what was there", () => {
    const { path, writer, create, swap, seqs, before } = openWriter();
    setSystemTime(NOW);
    create(1, "Acer");
    const ofAcer = openReader(path);
    const early = toCursor(ofAcer.log.newest());
    swap(plantOf(1, "Acer"), plantOf(1, "Aloe"));
    swap(plantOf(1, "Aloe"), plantOf(1, "Abies"));
    const cursor = toCursor(ofAcer.log.newest());
    setSystemTime(NOW + 20 * DAY_MS);
    create(2, "Betula", 4);
    expect([seqs(), before()]).toEqual([
      [1, 2, 3, 4, 5],
      [3, 4],
    ]);
    // One who is up to date misses nothing, though all that it has read is too old.
    setSystemTime(NOW + 31 * DAY_MS);
    create(3, "Carex", 5);
    expect([seqs(), before()]).toEqual([[4, 5, 6], []]);
    const { changes } = ofAcer.log.read({ after: cursor, limit: 10, tag: undefined });
    expect(changes.map(({ plant }) => plant?.name)).toEqual(["Betula", "Carex"]);
    expect(() => ofAcer.log.read({ after: early, limit: 10, tag: undefined })).toThrow("not kept any more");
    const [oldest] = ofAcer.log.read({ after: undefined, limit: 1, tag: undefined }).changes;
    expect(oldest).toMatchObject({ kind: "replaced", isForgotten: true });
    ofAcer.close();
    writer.close();
  });

  it("stays as long as the index needs it, however old it is", () => {
    const { writer, create, swap, seqs, before } = openWriter();
    setSystemTime(NOW);
    create(1, "Acer");
    swap(plantOf(1, "Acer"), plantOf(1, "Aloe"));
    swap(plantOf(1, "Aloe"), undefined);
    setSystemTime(NOW + 50 * DAY_MS);
    create(2, "Betula", 0);
    expect([seqs(), before()]).toEqual([
      [1, 2, 3, 4, 5],
      [3, 4],
    ]);
    create(3, "Carex", 3);
    // The index knows its own store by the newest that it has.
    expect([seqs(), before()]).toEqual([[3, 4, 5, 6], [4]]);
    writer.close();
  });

  it("goes some rows at a time, more than a commit can add, and imports with their last row", () => {
    const { path, writer, create, importAll } = openWriter();
    const rows = () => Number(read(path, "SELECT count(*) AS rows FROM changes")[0]!["rows"]);
    setSystemTime(NOW);
    for (let part = 0; part < 4; part += 1)
      importAll(
        plantsOf(2000, part * 2000, () => "Acer"),
        { import: "file" },
      );
    expect(rows()).toBe(401);
    setSystemTime(NOW + 31 * DAY_MS);
    create(10_000, "Aloe", 401);
    expect(rows()).toBeWithin(201, 400);
    expect(read(path, "SELECT id FROM imports")).toEqual([{ id: "file" }]);
    while (writer.forgetChanges(402).isMore);
    expect(rows()).toBe(2);
    setSystemTime(NOW + 62 * DAY_MS);
    create(10_001, "Aloe", 402);
    create(10_002, "Aloe", 403);
    expect([rows(), read(path, "SELECT id FROM imports")]).toEqual([3, []]);
    writer.close();
  });

  it("goes by number where the clock was far ahead, so that it cannot grow without limit", () => {
    const { path, writer, create, seqs } = openWriter();
    setSystemTime(NOW + 4000 * DAY_MS);
    create(1, "Acer");
    execute(
      path,
      `WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 100050)
         INSERT INTO changes (seq, ids, total, at) SELECT value + 2, x'', 1, (SELECT max(at) FROM changes) + value FROM n`,
    );
    setSystemTime(NOW + 31 * DAY_MS);
    create(2, "Aloe", 100_052);
    while (writer.forgetChanges(100_053).isMore);
    expect(seqs().length).toBe(100_001);
    writer.close();
  });

  it("goes while no one writes, also after a start", async () => {
    const path = newPath();
    const store = await openSqlite(path);
    await store.plants.create(plantOf(1, "Acer"));
    await store.plants.compareAndSwap({ from: plantOf(1, "Acer"), to: plantOf(1, "Aloe") });
    await store.close();
    expect(read(path, "SELECT before FROM changes WHERE before IS NOT NULL").length).toBe(1);
    execute(path, `UPDATE changes SET at = at - ${31 * DAY_MS * 1000}`);
    const again = await openSqlite(path);
    await until("It is gone", () => read(path, "SELECT 1 FROM changes").length === 1);
    expect(read(path, "SELECT before FROM changes")).toEqual([{ before: null }]);
    await again.close();
  });
});

describe("another history", () => {
  it("begins with a restore, without changes, and knows no place of the one before", async () => {
    const [from, to] = [newPath(), newPath()];
    const store = await openSqlite(from);
    for (const id of [1, 2, 3]) await store.plants.create(plantOf(id, "Acer"));
    const places = [await store.history.newest(), ...(await readOn(store)).changes.map(({ cursor }) => cursor)];
    const contents = await store.contents();
    await restoreSqliteStore(to, contents.read());
    contents.close();
    await store.close();
    const restored = await openSqlite(to);
    for (const after of places) expect(await rejectionOf(readOn(restored, { after }))).toMatchObject({ code: "changes_gone" });
    const { changes, cursor } = await readOn(restored);
    expect(changes).toEqual([]);
    expect(await restored.plants.count({ words: [], tag: undefined })).toMatchObject({ plants: 3 });
    await restored.plants.create(plantOf(4, "Aloe"));
    expect((await readOn(restored, { after: cursor })).changes.map(({ id }) => Number(id))).toEqual([4]);
    await restored.close();
  });

  it("is told from one that began like it: the index of a restored store is not taken for that of another", async () => {
    const [source, ...paths] = [newPath(), newPath(), newPath()];
    const restored = paths.map(async (path, at) => {
      const store = await openSqlite(`${source}.${at}`);
      await store.plants.create(plantOf(at, ["Acer", "Betula"][at]));
      const contents = await store.contents();
      await restoreSqliteStore(path, contents.read());
      contents.close();
      await store.close();
      const again = await openSqlite(path);
      await search(again, "acer");
      await again.close();
      return path;
    });
    const [one, other] = await Promise.all(restored);
    copyFileSync(`${one!}.search`, `${other!}.search`);
    const store = await openSqlite(other!);
    expect([await search(store, "acer"), await search(store, "betula")]).toEqual([[], ["Betula"]]);
    await store.close();
  });

  it("has no change from before an upgrade, which the index that is behind still follows", async () => {
    const path = newPath();
    const { writer, create } = openWriter(path);
    create(1, "Acer");
    create(2, "Betula");
    const index = new Indexer(path);
    index.close();
    writer.close();
    // As the version before left it: it had the start of a name, and an index that is two changes behind.
    const [{ seq, ids } = {}] = read(path, "SELECT seq, ids FROM changes ORDER BY seq DESC LIMIT 1");
    execute(
      path,
      `${WITHOUT_LOG}; PRAGMA user_version = 6;
       UPDATE plants SET name = 'Aloe' WHERE id = 1; DELETE FROM plants WHERE id = 2;
       INSERT INTO changes (ids, total, before) VALUES
         (x'0100000000000000', 2, '[["1","Acer",null,' || (SELECT '"' || added || '"' FROM plants WHERE id = 1) || ']]'),
         (x'0200000000000000', 1, '[["2","Betula",null,null]]');
       INSERT INTO plants (id, name) VALUES (3, 'Unnoted');`,
    );
    execute(`${path}.search`, `UPDATE state SET changes = ${String(seq)}, mark = '${hash("sha256", ids as Uint8Array)}'`);
    const store = await openSqlite(path);
    expect([await search(store, "acer"), await search(store, "aloe")]).toEqual([[], ["Aloe"]]);
    // One that was built again would have it.
    expect(await search(store, "unnoted")).toEqual([]);
    expect((await readOn(store)).changes).toEqual([]);
    expect(await store.history.ofPlant(plantOf(1).id, { before: undefined, limit: 1000 })).toMatchObject({ changes: [] });
    await store.close();
  });
});

it("an import that replaces long names keeps each of them, in commits that are no larger than others", async () => {
  const { path, writer, importAll } = openWriter();
  const [long, short] = [(id: number) => `${id} ${"x".repeat(10_000)}`, String].map((name) => plantsOf(300, 0, name));
  const options = { isReplacing: true, isDryRun: false, import: "file" };
  importAll(long!, options);
  expect(importAll(short!, { ...options, isDryRun: true }).outcomes.length).toBe(300);
  expect(importAll(short!, options).outcomes.length).toBeWithin(100, 105);
  importAll(long!, options);
  writer.close();
  const store = await openSqlite(path);
  expect(await store.plants.import(short!, { ...options, import: "again" })).toEqual(Array(300).fill("replaced"));
  const pages = await Array.fromAsync(pagesOf((before) => store.history.ofImport("again", { before, limit: 1000 })));
  expect(pages.flatMap((changes) => changes.map(({ from }) => from)).toReversed()).toEqual(long!);
  await store.close();
});
