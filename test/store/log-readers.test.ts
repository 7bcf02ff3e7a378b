import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "bun:test";
import { asPlantId } from "../../src/domain/plant.ts";
import type { LogCursor } from "../../src/store/history.ts";
import { prepareImportReads } from "../../src/store/sqlite/imports.ts";
import { LogScanner } from "../../src/store/sqlite/log-scan.ts";
import type { ScanLimits } from "../../src/store/sqlite/log-scan.ts";
import { NextChanges } from "../../src/store/sqlite/next-changes.ts";
import { openCountedLog } from "../support/counted-log.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const PLANTS = 8000;
/** Rows of the log: each has 20 plants. */
const ROWS = PLANTS / 20;

/** Has an import, and another after it. */
function openImports(limits: Partial<ScanLimits>) {
  const log = openCountedLog(join(temporaryFolder(), "plants.db"), limits);
  for (const id of ["first", "second"]) log.importPlants(id, id, PLANTS);
  const read = (id: string, limit: number, before?: LogCursor) => log.history.ofImport(id, { before, limit });
  return {
    ...log,
    read,
    /** How many rows it takes. */
    async rowsOf(id: string, limit: number, before?: LogCursor): Promise<number> {
      const rows = log.rows();
      await read(id, limit, before);
      return log.rows() - rows;
    },
  };
}

for (const readers of [2, 3, 4])
  it(`${readers} readers far apart in one import all get their pages, a step each in turn, however little is kept`, async () => {
    const { read, close } = openImports({ stepMs: 0, stretchRows: 5, keptBytes: 0 });
    const places: Array<LogCursor | undefined> = [undefined];
    while (places.length < readers) places.push((await read("first", 1000, places.at(-1))).next);
    const readAll = (before: LogCursor | undefined) => read("first", 10, before);
    const alone = [];
    for (const place of places) alone.push(await readAll(place));
    // What was found out so far goes.
    await read("second", 10);
    expect(await Promise.all(places.map(readAll))).toEqual(alone);
    expect(new Set(alone.flatMap(({ changes }) => changes.map(({ to }) => to?.name))).size).toBe(10 * readers);
    close();
  });

it("one who reads an import page by page loses nothing to another who looks at the newest changes of many", async () => {
  const { importPlants, read, rowsOf, close } = openImports({});
  for (let at = 0; at < 20; at += 1) importPlants(`small ${at}`, `small ${at}`, 20);
  const { next } = await read("first", 100);
  for (let at = 0; at < 20; at += 1) await read(`small ${at}`, 3);
  expect(await rowsOf("first", 100, next)).toBeLessThan(ROWS);
  close();
});

for (const { name, limits, wait } of [
  { name: "there is no memory for it while others read", limits: { keptBytes: 0 }, wait: 0 },
  { name: "no one has asked for a while", limits: { keptMs: 1 }, wait: 100 },
])
  it(`what was found out for a page of an import is let go when ${name}`, async () => {
    const { read, rowsOf, close } = openImports(limits);
    const { next } = await read("first", 100);
    expect(await rowsOf("first", 100, next)).toBeLessThan(ROWS);
    await Bun.sleep(wait);
    if (wait === 0) await read("second", 100);
    expect(await rowsOf("first", 100, next)).toBeGreaterThan(ROWS);
    close();
  });

it("the newest two changes of an import are found without a look at each row behind them", async () => {
  const { swap, read, rowsOf, close } = openImports({});
  const names = async () => (await read("first", 2)).changes.map(({ to }) => to?.name);
  expect(await rowsOf("first", 2)).toBeLessThan(20);
  expect(await names()).toEqual(["first 7999", "first 7998"]);
  const { changes } = await read("second", 2);
  swap(changes.map(({ to }) => ({ from: to, to: undefined })));
  expect(await names()).toEqual(["first 7999", "first 7998"]);
  expect((await read("second", 2)).changes.map(({ from, to }) => [from?.name, to?.name])).toEqual([
    ["first 7999", "second 7999"],
    ["first 7998", "second 7998"],
  ]);
  close();
});

it("ids that fall into one place for many ways to spread them take no more than some times as long to be looked through as others", () => {
  const count = 40_000;
  function timeOf(toId: (at: number) => bigint): number {
    const [began, nexts] = [performance.now(), new NextChanges({ number: 1, low: 1, high: count })];
    const ids = BigInt64Array.from({ length: count }, (_, at) => toId(at));
    for (let seq = 1; seq <= count / 20; seq += 1)
      nexts.look({ seq, import: 1, ids: new Uint8Array(ids.slice(20 * (seq - 1), 20 * seq).buffer) });
    return performance.now() - began;
  }
  const fastest = (toId: (at: number) => bigint) => Math.min(...Array.from({ length: 3 }, () => timeOf(toId)));
  const usual = fastest((at) => BigInt(at) << 7n);
  // The halves of each have the same sum.
  const chosen = fastest((at) => (BigInt(at) << 32n) + BigInt(count - at));
  expect(chosen / usual).toBeLessThan(10);
});

it("what a plant was is not guessed once the row of its change is gone", () => {
  const path = join(temporaryFolder(), "plants.db");
  const log = openCountedLog(path);
  for (const id of ["first", "second"]) log.importPlants(id, id, 20);
  log.close();
  const db = new DatabaseSync(path);
  const [first, second] = ["first", "second"].map((id) => prepareImportReads(db).find(id)!.last);
  const find = () => new LogScanner(db).findState({ id: asPlantId(0n), place: { seq: first!, index: 1 }, from: first! });
  expect(find()).toMatchObject({ plant: { name: "first 0" }, isForgotten: false });
  db.exec(`DELETE FROM changes WHERE seq <= ${second}`);
  expect(find()).toEqual({ plant: undefined, isForgotten: true });
  db.close();
});
