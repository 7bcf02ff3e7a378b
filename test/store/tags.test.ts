import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, describe, expect, it } from "bun:test";
import { asPlantId, PLANT_ID_MIN } from "../../src/domain/plant.ts";
import type { NewPlant, PlantId } from "../../src/domain/plant.ts";
import { wordsOfName } from "../../src/domain/terms.ts";
import { Writer } from "../../src/store/sqlite/engine/writer.ts";
import { NOTHING_INDEXED } from "../../src/store/sqlite/search/changes.ts";
import type { PlantRow } from "../../src/store/sqlite/log-row.ts";
import { removeWordIndex } from "../../src/store/sqlite/search/index-file.ts";
import { Indexer } from "../../src/store/sqlite/search/indexer.ts";
import { tokensOf } from "../../src/store/sqlite/search/plant-tokens.ts";
import { FIRST_TAG } from "../../src/store/sqlite/search/tag-count.ts";
import { below, openRandom, pick, seedOf } from "../support/random.ts";
import { openSqlite } from "../support/stores.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const newPath = () => join(temporaryFolder(), "plants.db");

const IDS = [PLANT_ID_MIN, -1n, 0n, 1n, 2n, 3n, 2n ** 53n + 1n].map(asPlantId);
const TAGS = ["", "tree", "ł", undefined];
const OPERATIONS = 400;

const plantOf = (id: PlantId, name: string, tag: string | undefined): NewPlant => (tag === undefined ? { id, name } : { id, name, tag });

it("lists and counts by tag tell what is stored after each write, before the index has followed it and after", async () => {
  const random = openRandom(seedOf("tags"));
  const { plants, close } = await openSqlite(newPath());
  const model = new Map<PlantId, NewPlant>();
  const kinds = new Map<string, number>();
  const some = () => plantOf(pick(random, IDS), `Acer ${below(random, 3)}`, pick(random, TAGS));

  async function importSome(isReplacing: boolean): Promise<string> {
    const all = Array.from({ length: 1 + below(random, 4) }, some);
    const outcomes = await plants.import(all, { isReplacing, isDryRun: false });
    all.forEach((plant, at) => {
      if (outcomes[at] === "created" || outcomes[at] === "replaced") model.set(plant.id, plant);
    });
    return isReplacing ? "replacing import" : "import";
  }

  /** Makes a write, and returns what it was. */
  async function write(): Promise<string> {
    const draw = below(random, 6);
    if (draw < 2) return importSome(draw === 1);
    const to = some();
    const from = model.get(to.id);
    if (!from) {
      await plants.create(to);
      model.set(to.id, to);
      return "create";
    }
    const isDeleted = draw === 2;
    expect(await plants.compareAndSwap({ from, to: isDeleted ? undefined : to })).toBe(true);
    if (isDeleted) model.delete(to.id);
    else model.set(to.id, to);
    return isDeleted ? "delete" : to.tag === undefined ? "swap to no tag" : to.tag === from.tag ? "swap" : "swap to another tag";
  }

  const ofTag = (tag: string | undefined) =>
    [...model.values()].filter((plant) => plant.tag === tag).toSorted((a, b) => (a.id < b.id ? -1 : 1));

  async function expectLists(after: string): Promise<void> {
    for (const tag of TAGS) {
      const query = { tag: tag ?? null, words: [], after: undefined, limit: 100, bytesMax: 10_000 };
      for (const descending of [false, true])
        expect([after, tag, descending, (await plants.list({ ...query, descending })).plants]).toEqual([
          after,
          tag,
          descending,
          descending ? ofTag(tag).toReversed() : ofTag(tag),
        ]);
    }
  }

  /** The index follows for these. */
  async function expectCounts(after: string): Promise<void> {
    for (const tag of TAGS)
      expect([after, tag, await plants.count({ tag: tag ?? null, words: [] })]).toEqual([
        after,
        tag,
        { plants: ofTag(tag).length, precision: "exact" },
      ]);
    const { tags } = await plants.countTags();
    const counted = TAGS.flatMap((tag) => (tag === undefined || ofTag(tag).length === 0 ? [] : [{ tag, plants: ofTag(tag).length }]));
    const inOrder = (all: typeof counted) => all.toSorted((left, right) => (left.tag < right.tag ? -1 : 1));
    expect([after, inOrder([...tags])]).toEqual([after, inOrder(counted)]);
  }

  await expectCounts("the start");
  for (let at = 0; at < OPERATIONS; at += 1) {
    const kind = await write();
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    await expectLists(kind);
    // Now and then the index has several changes to follow.
    if (below(random, 3) > 0) continue;
    await expectCounts(kind);
    await expectLists(`${kind}, followed`);
  }
  await close();
  for (const kind of ["create", "import", "replacing import", "delete", "swap to no tag", "swap to another tag"])
    expect([kind, (kinds.get(kind) ?? 0) >= 3]).toEqual([kind, true]);
});

it("a snapshot has each plant of a tag once, in both directions, however many others are between them", async () => {
  const { plants, close } = await openSqlite(newPath());
  const isOfTag = (at: number) => at % 9999 === 0 || (at > 30_000 && at < 30_010);
  const all = Array.from({ length: 45_000 }, (_, at) => plantOf(asPlantId(BigInt(at) * 7n), "Acer", isOfTag(at) ? "rare" : undefined));
  for (let at = 0; at < all.length; at += 5000) await plants.import(all.slice(at, at + 5000), { isReplacing: false, isDryRun: false });
  const expected = all.filter(({ tag }) => tag === "rare");
  for (const descending of [false, true]) {
    const snapshot = await plants.snapshot();
    const read: NewPlant[] = [];
    let pages = 0;
    for (let after: PlantId | undefined, isLast = false; !isLast; pages += 1) {
      const page = await snapshot.list({ descending, tag: "rare", words: [], after, limit: 6, bytesMax: 1000 });
      read.push(...page.plants);
      ({ isLast } = page);
      after = page.reached ?? page.plants.at(-1)?.id;
    }
    snapshot.close();
    expect(read).toEqual(descending ? expected.toReversed() : expected);
    expect(pages).toBeLessThan(55);
  }
  await close();
});

it("an older copy of the index, put back beside a stopped store, is made again", async () => {
  const path = newPath();
  const ids = [1n, 2n, 3n].map(asPlantId);
  const first = await openSqlite(path);
  await first.plants.import(
    ids.map((id) => plantOf(id, "Acer", "red")),
    { isReplacing: false, isDryRun: false },
  );
  await first.close();
  copyFileSync(`${path}.search`, `${path}.kept`);
  const second = await openSqlite(path);
  for (const id of ids) await second.plants.compareAndSwap({ from: plantOf(id, "Acer", "red"), to: plantOf(id, "Acer", "blue") });
  await second.close();
  copyFileSync(`${path}.kept`, `${path}.search`);
  const third = await openSqlite(path);
  const count = async (tag: string) => (await third.plants.count({ words: [], tag })).plants;
  expect([await count("red"), await count("blue")]).toEqual([0, 3]);
  await third.close();
});

const opened: { writer: Writer; index: Indexer }[] = [];
afterAll(() => {
  for (const { writer, index } of opened) {
    index.close();
    writer.close();
  }
});

/** A new store. What takes the place of a part of it is closed in the end. */
function open() {
  const path = newPath();
  const store = { path, writer: new Writer(path), index: new Indexer(path) };
  opened.push(store);
  follow(store.index);
  return store;
}

function follow(index: Indexer): void {
  while (index.step().did !== "nothing");
}

const NONE = { ids: new BigInt64Array(), names: [], tags: [] };
type Store = (typeof opened)[number] & { readonly path: string };
type Side = Readonly<{ name: string; tag?: string }> | undefined;

/** Changes these plants of one commit, the first of which has the id 0. */
function swap(writer: Writer, changes: ReadonlyArray<readonly [from: Side, to: Side]>): void {
  const sideOf = (side: Side, at: number) => side && { id: asPlantId(BigInt(at)), ...side };
  const swaps = changes.map(([from, to], at) => ({ from: sideOf(from, at), to: sideOf(to, at) }));
  expect(writer.commit(NONE, swaps, [], NOTHING_INDEXED).swapped).toEqual(swaps.map(() => true));
}

/** What the index has of each plant, and what it should have. */
function entriesOf(path: string): Readonly<{ held: readonly string[]; expected: readonly string[] }> {
  using index = new DatabaseSync(`${path}.search`, { readOnly: true });
  index.exec("CREATE VIRTUAL TABLE temp.tokens USING fts5vocab(main, names, instance)");
  const held = index.prepare("SELECT doc || ' ' || term AS entry FROM tokens").all();
  using plants = new DatabaseSync(path, { readOnly: true });
  const stored = plants.prepare("SELECT id, name, tag, added FROM plants");
  stored.setReadBigInts(true);
  const expected = (stored.all() as PlantRow[]).flatMap((row) =>
    Array.from(tokensOf(row, wordsOfName(row.name)), (token) => `${row.id} ${token}`),
  );
  return { held: held.map(({ entry }) => String(entry)).toSorted(), expected: expected.toSorted() };
}

const ACER = { name: "Acer palmatum", tag: "maple" };
const FICUS = { name: "Ficus", tag: "fig" };
const GINKGO = { name: "Ginkgo biloba" };
/** Twenty of them are more than the index takes in one step. */
const LONG = { name: Array.from({ length: 1100 }, (_, at) => String.fromCodePoint(0x4e00 + at)).join(""), tag: "long" };
/** Its end, which no search reads, is cut within a character of four bytes. */
const ODD = { name: `"x' \\ nul\0byte \u2028 ${"a".repeat(9)} ${"🌿松 ".repeat(900)}`, tag: 'ł"\0#t ' };
const CROWD = Array.from({ length: 60 }, () => LONG);

const ACTS = {
  follow: ({ index }: Store) => follow(index),
  step({ path, index }: Store) {
    const { held } = index.step();
    using plants = new DatabaseSync(path, { readOnly: true });
    expect(held).toBeGreaterThan(0);
    expect(held).toBeLessThan(Number(plants.prepare("SELECT max(seq) AS seq FROM changes").get()?.["seq"]));
  },
  build(store: Store) {
    store.index.close();
    removeWordIndex(`${store.path}.search`);
    store.index = new Indexer(store.path);
    expect(store.index.step().did).toBe("building");
  },
  keep(store: Store) {
    store.index.close();
    copyFileSync(`${store.path}.search`, `${store.path}.kept`);
    store.index = new Indexer(store.path);
  },
  lose(store: Store) {
    store.index.close();
    copyFileSync(`${store.path}.kept`, `${store.path}.search`);
    store.index = new Indexer(store.path);
  },
  /** No one closes what is killed. */
  kill(store: Store) {
    store.writer = new Writer(store.path);
    store.index = new Indexer(store.path);
  },
};

describe("the index holds nothing of what a plant was that", () => {
  for (const [how, ...stages] of [
    ["changed twice before it followed", [ACER], "follow", [FICUS], [GINKGO]],
    ["changed and changed back", [ACER], "follow", [FICUS], [ACER]],
    ["was created and deleted before it followed", [ACER], [undefined]],
    ["was deleted and created again", [ACER], "follow", [undefined], [FICUS]],
    ["was created and changed before it followed, and then deleted", [ACER], [FICUS], "follow", [undefined]],
    ["changed when it had followed a part of the commit that created it", CROWD, "step", [ACER, ...CROWD.slice(1, -1), undefined]],
    ["changed before it followed a part of the commit that created it", CROWD, CROWD.map((_, at) => (at < 10 ? ACER : LONG)), "step"],
    ["had a name that is longer than a search reads, of all kinds of characters", [ODD], "follow", [FICUS], [ODD], "follow", [undefined]],
    ["changed between two steps of a build", CROWD, "build", CROWD.map((_, at) => (at % 2 === 0 ? GINKGO : undefined))],
    [
      "changed after it had followed, which a power cut undid",
      [ACER, FICUS],
      "follow",
      "keep",
      [GINKGO, ACER],
      "follow",
      "lose",
      [FICUS, undefined],
    ],
    ["changed, when it was killed before it followed", [ACER, FICUS], "follow", [GINKGO, undefined], "kill", [undefined, ACER]],
  ] as const)
    it(how, () => {
      const store = open();
      let before: readonly Side[] = [];
      for (const stage of stages) {
        if (typeof stage === "string") ACTS[stage](store);
        else {
          swap(
            store.writer,
            Array.from(stage, (to: Side, at) => [before[at], to]),
          );
          before = stage;
        }
      }
      follow(store.index);
      const { held, expected } = entriesOf(store.path);
      expect(held).toEqual(expected);
    });
});

it("a tag that no plant has any more is in no count of the tags, and its row is forgotten", () => {
  const { path, writer, index } = open();
  const rows = () => {
    using db = new DatabaseSync(`${path}.search`, { readOnly: true });
    return db
      .prepare("SELECT tag FROM words WHERE tag IS NOT NULL ORDER BY tag")
      .all()
      .map(({ tag }) => tag);
  };
  const counts = () => {
    const counted = index.countTags(FIRST_TAG, NOTHING_INDEXED);
    return counted.kind === "tags" ? counted.counts.map(({ tag, plants }) => [tag, plants]) : counted.kind;
  };
  swap(writer, [
    [undefined, ACER],
    [undefined, FICUS],
  ]);
  follow(index);
  expect([counts(), rows()]).toEqual([
    expect.arrayContaining([
      ["maple", 1],
      ["fig", 1],
    ]),
    ["fig", "maple"],
  ]);
  swap(writer, [
    [ACER, FICUS],
    [FICUS, undefined],
  ]);
  follow(index);
  expect([counts(), rows()]).toEqual([[["fig", 1]], ["fig"]]);
  // It is listed again once a plant has it again.
  swap(writer, [[FICUS, ACER]]);
  follow(index);
  expect([counts(), rows()]).toEqual([[["maple", 1]], ["maple"]]);
});

it("plants that change their tag again and again leave an index about as large as one that is made again", () => {
  const store = open();
  const { path, writer, index } = store;
  const ids = BigInt64Array.from({ length: 12_000 }, (_, at) => BigInt(at));
  const names = Array.from(ids, (id) => `Rosa ${id % 300n}`);
  for (let round = 0; round < 12; round += 1) {
    const tags = names.map(() => `bed ${round % 3}`);
    writer.importPlants({ ids, names, tags }, { isReplacing: true, isDryRun: false }, NOTHING_INDEXED);
    follow(index);
  }
  const bytes = () => {
    using db = new DatabaseSync(`${path}.search`, { readOnly: true });
    return Number(db.prepare("SELECT sum(length(block)) AS bytes FROM names_data").get()!["bytes"]);
  };
  const changed = bytes();
  expect(entriesOf(path).held.length).toBe(entriesOf(path).expected.length);
  index.close();
  removeWordIndex(`${path}.search`);
  store.index = new Indexer(path);
  follow(store.index);
  expect(changed).toBeLessThan(1.5 * bytes());
});
