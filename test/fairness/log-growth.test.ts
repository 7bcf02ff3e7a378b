import { join } from "node:path";
import { describe, expect, it } from "bun:test";
import { asPlantId } from "../../src/domain/plant.ts";
import type { LogCursor, PastChange, PastPage, PastQuery } from "../../src/store/history.ts";
import { openCountedLog } from "../support/counted-log.ts";
import type { CountedLog } from "../support/counted-log.ts";
import { tell } from "../support/run-form.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const OFTEN = asPlantId(7n);
const FEW = 10_000;
const PAGE = 200;

/** Twice the changes may take this many times the rows. Linear work takes 2, quadratic work 4. */
const TIMES_MAX = 2.5;

/** Reads page after page. `onPage` may change the store between. Returns how many changes there were. */
async function readPages(ask: (query: PastQuery) => Promise<PastPage>, onPage: (changes: readonly PastChange[]) => void = () => {}) {
  let count = 0;
  for (let before: LogCursor | undefined, isFirst = true; isFirst || before !== undefined; isFirst = false) {
    const { changes, next } = await ask({ before, limit: PAGE });
    onPage(changes);
    count += changes.length;
    before = next;
  }
  return count;
}

const readImport = (log: CountedLog, id: string) => readPages((query) => log.history.ofImport(id, query));

const takeBack = (log: CountedLog, id: string) =>
  readPages(
    (query) => log.history.ofImport(id, query),
    (changes) => log.swap(changes.map(({ from, to }) => ({ from: to, to: from }))),
  );

async function follow({ history }: CountedLog, tag?: string) {
  let count = 0;
  for (let after: LogCursor | undefined; ;) {
    const { changes, cursor, isEnd } = await history.read({ after, limit: PAGE, tag });
    count += changes.length;
    if (isEnd) return count;
    after = cursor;
  }
}

/** This plant has all names in turn, and is gone at the end. */
function changeOften(log: CountedLog, times: number): void {
  const states = [undefined, ...Array.from({ length: times - 1 }, (_, at) => ({ id: OFTEN, name: `Cycas ${at}` })), undefined];
  log.swap(Array.from({ length: times }, (_, at) => ({ from: states[at], to: states[at + 1] })));
}

/** In turn, on one store. Each returns how many changes it has read, for so many plants. */
const READINGS: ReadonlyArray<readonly [what: string, reads: (plants: number) => number, read: (log: CountedLog) => Promise<number>]> = [
  ["an import that created plants, which others have replaced since", (plants) => plants, (log) => readImport(log, "first")],
  ["an import that replaced plants", (plants) => plants, (log) => readImport(log, "second")],
  ["an import that replaced plants, while it is taken back", (plants) => plants, (log) => takeBack(log, "second")],
  ["an import that was taken back", (plants) => plants, (log) => readImport(log, "second")],
  ["an import that created plants, while it is taken back", (plants) => plants, (log) => takeBack(log, "first")],
  ["an import whose plants were deleted", (plants) => plants, (log) => readImport(log, "first")],
  ["deleted plants", (plants) => plants, (log) => readPages(log.history.deleted)],
  ["all changes", (plants) => 4 * plants, (log) => follow(log)],
  ["changes of a tag that none has", () => 0, (log) => follow(log, "none")],
  ["a plant that changed often", (plants) => 4 + plants, (log) => readPages((query) => log.history.ofPlant(OFTEN, query))],
];

/** The rows that each takes. */
async function rowsOf(plants: number): Promise<number[]> {
  const log = openCountedLog(join(temporaryFolder(), "plants.db"));
  log.importPlants("first", "Acer", plants);
  log.importPlants("second", "Betula", plants);
  const rows: number[] = [];
  for (const [what, reads, read] of READINGS) {
    if (what === "a plant that changed often") changeOften(log, plants);
    const before = log.rows();
    expect(await read(log), what).toBe(reads(plants));
    rows.push(log.rows() - before);
  }
  log.close();
  return rows;
}

const [few, many] = [await rowsOf(FEW), await rowsOf(2 * FEW)];

describe("twice as many changes of the log on SQLite take about twice as many rows to be read page by page, for", () => {
  for (const [at, [what]] of READINGS.entries())
    it(what, () => {
      tell(`rows for ${what}`, { few: few[at], many: many[at] });
      expect(many[at]! / few[at]!).toBeLessThan(TIMES_MAX);
    });
});

it("an import that is too large to be looked at together takes a look at the rows behind it for each of its parts, not for each page", async () => {
  const [plants, stretchRows] = [20_000, 100];
  const log = openCountedLog(join(temporaryFolder(), "plants.db"), { stretchRows });
  log.importPlants("first", "Acer", plants);
  const before = log.rows();
  expect(await readImport(log, "first")).toBe(plants);
  // Each plant is read as it is now. A row of the log has 20 changes.
  const [looked, rows] = [log.rows() - before - plants, plants / 20];
  tell("looks at each row", { looks: looked / rows });
  expect(looked / rows).toBeWithin(rows / stretchRows / 2, rows / stretchRows);
  log.close();
});
