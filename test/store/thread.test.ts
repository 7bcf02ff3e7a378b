import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, describe, expect, it } from "bun:test";
import { asPlantId, PLANT_ID_MAX, PLANT_ID_MIN } from "../../src/domain/plant.ts";
import type { PlantId } from "../../src/domain/plant.ts";
import { expressionOf } from "../../src/store/sqlite/search/expression.ts";
import { PREFIX_LENGTHS } from "../../src/store/sqlite/search/prefixes.ts";
import { Indexer } from "../../src/store/sqlite/search/indexer.ts";
import { removeWordIndex } from "../../src/store/sqlite/search/index-file.ts";
import { WordIndex } from "../../src/store/sqlite/search/word-index.ts";
import { Writer } from "../../src/store/sqlite/engine/writer.ts";
import type { PlantColumns } from "../../src/store/sqlite/plant-statements.ts";
import { tokenize, wordsOfSearch } from "../../src/domain/terms.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const NOTHING_INDEXED = 0;
const IMPORT = { isReplacing: false, isDryRun: false };

const opened: { close: () => void }[] = [];
afterAll(() => opened.forEach((part) => part.close()));

function open(names: readonly string[], how: "create" | "import") {
  const path = join(temporaryFolder(), "plants.db");
  const writer = new Writer(path);
  const search = new Indexer(path);
  opened.push(writer, search);
  if (how === "import") writer.importPlants(columnsOf(names), IMPORT, NOTHING_INDEXED);
  else writer.commit(columnsOf(names), [], [], NOTHING_INDEXED);
  return { path, writer, search };
}

function columnsOf(names: readonly string[]): PlantColumns {
  return { ids: BigInt64Array.from(names, (_, at) => BigInt(at)), names, tags: names.map(() => null) };
}

/** How many calls it takes until the thread has indexed everything. */
function countSteps(search: Indexer): number {
  for (let steps = 0; ; steps += 1) if (search.step().did === "nothing") return steps;
}

function han(count: number, from = 0): string {
  return Array.from({ length: count }, (_, at) => String.fromCodePoint(0x4e00 + ((from + at) % 20_000))).join("");
}

describe("the search index", () => {
  function short(round: number): string[] {
    return Array.from({ length: 500 }, (_, at) => `Acer ${round}x${at} of ${at}`);
  }

  function long(round: number): string[] {
    return Array.from({ length: 5 }, (_, at) => Array.from({ length: 100 }, (__, word) => `${round}x${at}x${word}`).join(" "));
  }

  function wordsIn(path: string): string[] {
    const index = new DatabaseSync(`${path}.search`, { readOnly: true });
    const rows = index.prepare("SELECT word FROM words").all();
    index.close();
    return rows.map(({ word }) => word as string);
  }

  for (const [what, names] of [
    ["names", short],
    ["names of a hundred words", long],
  ] as const)
    it(`does not keep the words of ${what} that are no more: it stays as large as the plants need`, () => {
      const { path, writer, search } = open([], "create");
      for (let round = 0; round < 40; round += 1) {
        writer.importPlants(columnsOf(names(round)), { isReplacing: true, isDryRun: false }, NOTHING_INDEXED);
        countSteps(search);
      }
      const words = wordsIn(path);
      const used = new Set(names(39).flatMap(tokenize));
      expect(used.difference(new Set(words)).size).toBe(0);
      // 500 new ones in each round, of which 20,000 there have been.
      expect(words.length).toBeLessThan(4 * used.size);
    });

  it("does not keep the words of names that are deleted after a restart", () => {
    const path = join(temporaryFolder(), "plants.db");
    for (let round = 0; round < 5; round += 1) {
      const writer = new Writer(path);
      const search = new Indexer(path);
      const swaps = round === 0 ? [] : short(round - 1).map((name, at) => ({ from: { id: asPlantId(BigInt(at)), name }, to: undefined }));
      writer.commit(columnsOf([]), swaps, [], NOTHING_INDEXED);
      countSteps(search);
      writer.importPlants(columnsOf(short(round)), IMPORT, NOTHING_INDEXED);
      countSteps(search);
      search.close();
      writer.close();
    }
    expect(wordsIn(path).toSorted()).toEqual([...new Set(short(4).flatMap(tokenize))].toSorted());
  });
});

const hostile = Array.from({ length: 200 }, (_, at) => han(1000, at * 997));

describe("a call of the search thread", () => {
  for (const how of ["create", "import"] as const) {
    it(`indexes fewer names at a time if they are all words, though one commit made all of them: ${how}`, () => {
      const ordinary = hostile.map((_, at) => `Acer ${at}`);
      expect(countSteps(open(hostile, how).search)).toBeGreaterThanOrEqual(5);
      expect(countSteps(open(ordinary, how).search)).toBeLessThanOrEqual(2);
    });
  }

  it("indexes fewer such names at a time when the index is rebuilt, and all in the end", () => {
    const { path } = open(hostile, "import");
    removeWordIndex(path + ".search");
    const search = new Indexer(path);
    opened.push(search);
    expect(countSteps(search)).toBeGreaterThanOrEqual(10);
    for (const [id, name] of hostile.entries()) {
      const found = search.find({
        words: wordsOfSearch(Array.from(name).slice(0, 5).join(" ")),
        tag: undefined,
        from: BigInt(id),
        limit: 1,
      });
      expect(found).toMatchObject({ kind: "ids", ids: BigInt64Array.of(BigInt(id)) });
    }
  });

  it("lets others have their turn before it answers a search that must index many such creates first", () => {
    const { search, writer } = open([], "create");
    countSteps(search);
    writer.commit(columnsOf(hostile), [], [], NOTHING_INDEXED);
    const kinds: string[] = [];
    while (kinds.at(-1) !== "ids")
      kinds.push(search.find({ words: [{ anyOf: ["x"] }], tag: undefined, from: 0n, limit: 1 }, undefined, false).kind);
    expect(kinds.length).toBeGreaterThanOrEqual(5);
  });
});

for (const how of ["create", "import"] as const)
  it(`a commit keeps of the changes before it only what the index does not hold: ${how}`, () => {
    const { path, writer } = open([], "create");
    using db = new DatabaseSync(path, { readOnly: true });
    const kept = () =>
      db
        .prepare("SELECT seq FROM changes ORDER BY seq")
        .all()
        .map(({ seq }) => Number(seq));
    const put = (id: number, indexed: number) => {
      const columns = { ids: BigInt64Array.of(BigInt(id)), names: ["Acer"], tags: [null] };
      if (how === "create") writer.commit(columns, [], [], indexed);
      else writer.importPlants(columns, IMPORT, indexed);
    };
    for (const id of [1, 2, 3, 4]) put(id, 0);
    // The first is of no plant: a new store begins with it.
    expect(kept()).toEqual([1, 2, 3, 4, 5]);
    put(5, 3);
    // With the newest that it holds, whose mark says that it is of this store.
    expect(kept()).toEqual([3, 4, 5, 6]);
  });

it("an index that cannot follow at a stop lets go of the database, which is one file then", () => {
  const path = join(temporaryFolder(), "plants.db");
  const writer = new Writer(path);
  writer.commit(columnsOf(["Acer"]), [], [], NOTHING_INDEXED);
  const failing = Object.assign(new Indexer(path), {
    step: (): never => {
      throw new Error("The disk is full.");
    },
  });
  expect(() => failing.close()).toThrow("The disk is full.");
  writer.close();
  expect(existsSync(`${path}-wal`)).toBe(false);
});

describe("a step of the index", () => {
  it("leaves nothing behind when it fails: the same name is found by its beginning once it is indexed", () => {
    const index = new WordIndex(join(temporaryFolder(), "plants.db.search"));
    opened.push(index);
    const ginkgo = { id: 7n, name: "Ginkgo", tag: null, added: null };
    const broken = new Error("Broken.");
    expect(() =>
      index.transaction(() => {
        index.put(ginkgo);
        throw broken;
      }),
    ).toThrow(broken);
    const find = () => index.find({ words: [{ anyOf: ["gink"] }], tag: undefined, from: PLANT_ID_MIN, limit: 1 });
    expect(find()).toEqual(new BigInt64Array());
    index.transaction(() => index.put(ginkgo));
    expect(find()).toEqual(BigInt64Array.of(7n));
  });

  it("orders plants by any time that a store may hold: one that no token can say counts as the nearest that it can", () => {
    const { path, search } = open(["a", "b", "c", "d", "e"], "create");
    search.close();
    opened.pop();
    using db = new DatabaseSync(path);
    for (const [id, added] of [-(2n ** 63n), 0n, 1n, 2n ** 56n - 2n, 2n ** 63n - 1n].entries())
      db.prepare("UPDATE plants SET added = ? WHERE id = ?").run(added, id);
    removeWordIndex(`${path}.search`);
    const again = new Indexer(path);
    opened.push(again);
    countSteps(again);
    const query = { words: [], tag: undefined, order: "newest", after: undefined, limit: 10, sortedMax: 0 } as const;
    const found = again.order(query) as unknown as { places: readonly { id: bigint }[] };
    expect(found.places.map(({ id }) => Number(id))).toEqual([4, 3, 2, 1, 0]);
  });
});

describe("the index of words keeps no entry of what a plant was before", () => {
  for (const [how, some] of [
    ["in whatever order and however far apart the ids are", [PLANT_ID_MAX, 7n, 5n, 6n, 0n, PLANT_ID_MIN]],
    ["where one commit deletes at the beginning, in the middle and at the end of ids in a row that it renames", [1n, 2n, 3n, 4n, 5n]],
  ] as const)
    it(how, () => {
      const { search, writer } = open([], "create");
      countSteps(search);
      const ids = some.map(asPlantId);
      const find = (word: string) => search.find({ words: [{ anyOf: [word] }], tag: undefined, from: PLANT_ID_MIN, limit: 100 });
      const isKept = (at: number) => at % 2 === 1;
      const stages: ReadonlyArray<(at: number) => string | undefined> = [
        () => undefined,
        () => "first",
        (at) => (isKept(at) ? "second" : undefined),
        () => "third",
        () => undefined,
      ];
      for (const [stage, nameOf] of stages.slice(1).entries()) {
        const plantOf = (id: PlantId, name: string | undefined) => (name === undefined ? undefined : { id, name });
        const swaps = ids.map((id, at) => ({ from: plantOf(id, stages[stage]!(at)), to: plantOf(id, nameOf(at)) }));
        writer.commit(columnsOf([]), swaps, [], NOTHING_INDEXED);
        for (const word of ["first", "second", "third"])
          expect(find(word)).toMatchObject({ kind: "ids", ids: BigInt64Array.from(ids.filter((_, at) => nameOf(at) === word)).toSorted() });
      }
    });
});

describe("the expression of a search", () => {
  const letters = Array.from(han(120));

  it("has at most a hundred alternatives and one per word, all of which the index stores unchanged", () => {
    for (const count of [1, 2, 3, 8, 32]) {
      for (const length of [1, 2, 3, 4, 5, 6, 7, 20]) {
        const words = letters.slice(0, count).map((letter) => letter + "a".repeat(length - 1));
        const vocabulary = words.flatMap((word) => letters.map((letter) => `${word}${letter}aaaaaaaaaa`)).toSorted();
        const wordFrom = (text: string) => vocabulary.find((word) => word >= text);
        const expression = expressionOf({ words: words.map((word) => ({ anyOf: [word] })), token: undefined, wordFrom });
        const alternatives = Array.from(expression.matchAll(/"([^"]*)"/g), ([, term]) => term!);
        expect(alternatives.length, `${count} of ${length}`).toBeLessThanOrEqual(100 + count);
        const beginnings = alternatives.filter((term) => !vocabulary.includes(term)).map((term) => term.length);
        expect(PREFIX_LENGTHS, `${count} of ${length}`).toEqual(expect.arrayContaining(beginnings));
      }
    }
  });
});
