import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import fc from "fast-check";
import { asPlantId } from "../../src/domain/plant.ts";
import { isFound, tokenize, wordsOfSearch } from "../../src/domain/terms.ts";
import { expectConform } from "../support/conform.ts";
import { seedOf } from "../support/random.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { askUntil } from "../support/until.ts";

const LIST = { method: "get", path: "/plants" };

const service = await startTestService();
afterAll(() => service.stop());

type Wanted = Readonly<{ tag?: string; on?: TestService }>;

/** The ids of the plants that a search finds. */
async function search(q: string, { tag, on = service }: Wanted = {}): Promise<number[]> {
  const wanted = tag === undefined ? "" : `&tag=${encodeURIComponent(tag)}`;
  const response = await on.request(`/plants?limit=1000&q=${encodeURIComponent(q)}${wanted}`);
  expect(response.status).toBe(200);
  return ((await expectConform(LIST, response)) as { id: number }[]).map(({ id }) => id);
}

/** Resolves once a search finds these plants of an import. */
async function expectFoundSoon(q: string, ids: readonly number[], wanted: Wanted = {}): Promise<void> {
  const found = await askUntil(
    () => search(q, wanted),
    (some) => Bun.deepEquals(some, ids),
  );
  expect(found, q).toEqual([...ids]);
}

const NAMES = [
  "Monstera deliciosa",
  "Monstera Délicioùs Ångström",
  "Weißdorn",
  "WEISSDORN GROẞ",
  "Σίσυφος",
  "ΣΊΣΥΦΟΣ ΦΥΤΌΝ",
  "Берёза повислая",
  "銀杏 (いちょう)",
  "ginkgo銀",
  "Rosa 'Souvenir 1843' No 7",
  `${"x".repeat(99)}yz tail`,
  'AND OR NOT NEAR name "quoted" star* (round) #hash ^up a:b c-d',
  "은행나무",
  "",
  "🌿 🌹",
  "Aloe\0vera",
  "Platanus × hispanica",
  "Platanus ×orientalis",
  "Platanus x acerifolia",
  "×Cuprocyparis leylandii",
];

describe("q of GET /plants", () => {
  beforeAll(async () => {
    const body = NAMES.map((name, id) => JSON.stringify({ id, name })).join("\n");
    const response = await service.request("/plants/import", { method: "POST", body });
    expect(await response.json()).toMatchObject({ created: NAMES.length });
    await expectFoundSoon("vera", [15]);
  });

  // What is a word: tokenizer.test.ts.
  for (const { q, ids, why } of [
    { q: "deli monst", ids: [0, 1], why: "beginnings of words in any order" },
    { q: "DELICIOUS angstrom", ids: [1], why: "capitals, and no accents where the name has them" },
    { q: "elic", ids: [], why: "nothing by the middle of a word" },
    { q: "monstera aloe", ids: [], why: "only names that have all words" },
    { q: "杏", ids: [7], why: "a Chinese character inside a word" },
    { q: `${"x".repeat(99)}yqqq tai`, ids: [10], why: "a longer one by its first 100" },
    { q: `${"x".repeat(99)}z`, ids: [], why: "no word whose 100th character differs" },
    { q: "Platanus x hispanica", ids: [16], why: "a hybrid whose sign is typed as x" },
    { q: "Platanus × acerifolia", ids: [18], why: "a hybrid that is stored with an x" },
    { q: "platanus X", ids: [16, 17, 18], why: "all hybrids of a genus, whose x may also begin a word" },
    { q: "x Cupro", ids: [19], why: "a hybrid genus" },
    { q: "x", ids: [10, 18], why: "a single x as the beginning of a word" },
    { q: "aloe\0vera", ids: [15], why: "words that have U+0000 between them" },
    { q: '"quoted"', ids: [11], why: "quotes as plain text" },
    { q: '"deliciosa monstera"', ids: [0], why: "words in quotes in any order: they make no phrase" },
    { q: "deli*", ids: [0, 1], why: "* as plain text after a beginning" },
    { q: "monstera OR ginkgo", ids: [], why: "nothing, as OR is plain text" },
    { q: "NEAR(monstera deliciosa, 2)", ids: [], why: "nothing, as NEAR is plain text" },
    { q: "near AND or Not", ids: [11], why: "operators that are words of the name" },
    { q: "a:b c-d -up", ids: [11], why: "signs as plain text" },
    { q: "{monstera} + 'deliciosa' \\", ids: [0], why: "all other signs as plain text" },
    { q: "%", ids: NAMES.map((_, id) => id), why: "every plant if there is no word" },
  ]) {
    it(`${JSON.stringify(q.slice(0, 40))} finds ${why}`, async () => {
      expect(await search(q)).toEqual(ids);
    });
  }

  it("accepts 32 words and refuses 33, naming the parameter", async () => {
    expect(await search("m ".repeat(32))).toEqual([0, 1]);
    const response = await service.request(`/plants?q=${"m+".repeat(33)}`);
    expect(await expectConform(LIST, response)).toEqual({
      error: 40006,
      message: "The query parameter `q` has more than 32 words: leave some out.",
    });
  });

  it("accepts 1,000 characters and refuses 1,001, naming the parameter", async () => {
    expect(await search(`monstera${" ".repeat(992)}`)).toEqual([0, 1]);
    expect(await search(`${"🌿".repeat(992)}monstera`)).toEqual([0, 1]);
    const response = await service.request(`/plants?q=${"m".repeat(1001)}`);
    expect(await expectConform(LIST, response)).toEqual({
      error: 40006,
      message: "The query parameter `q` must be text of at most 1000 characters: send a shorter one.",
    });
  });
});

describe("a search", () => {
  it("does not mistake a word for a tag, or a tag for a word", async () => {
    await service.post('{"id":5002,"name":"Cornus mas","tag":"mas"}');
    expect(await search("cornus")).toEqual([5002]);
    expect(await search("cornus", { tag: "cornus" })).toEqual([]);
    expect(await search("mas", { tag: "mas" })).toEqual([5002]);
  });

  it("finds plants at both ends of int64, page by page", async () => {
    const ids = ["-9223372036854775808", "-9223372036854775807", "9223372036854775806", "9223372036854775807"];
    await Promise.all(ids.map((id) => service.post(`{"id":${id},"name":"Zea mays"}`)));
    const text = await (await service.request("/plants?q=zea")).text();
    expect(text).toBe(`[${ids.map((id) => `{"id":${id},"name":"Zea mays"}`).join(",")}]`);
    const page = await service.request("/plants?q=zea&limit=1&after=-9223372036854775808");
    expect(page.headers.get("link")).toBe('<?limit=1&after=-9223372036854775807&q=zea>; rel="next"');
    expect(await page.text()).toBe('[{"id":-9223372036854775807,"name":"Zea mays"}]');
    expect(await (await service.request("/plants?q=zea&after=9223372036854775807")).text()).toBe("[]");
  });
});

const seed = seedOf("search");

/** Words that share beginnings of many lengths, in several scripts. */
const word = fc.oneof(
  { weight: 6, arbitrary: fc.string({ unit: fc.constantFrom("a", "b", "é"), minLength: 1, maxLength: 9 }) },
  { weight: 2, arbitrary: fc.string({ unit: fc.constantFrom("ß", "S", "ς", "Σ", "ё", "Е", "7"), minLength: 1, maxLength: 8 }) },
  { weight: 1, arbitrary: fc.string({ unit: fc.constantFrom("銀", "杏", "ガ", "い", "은", "𞤀", "𝕽"), minLength: 1, maxLength: 4 }) },
  { weight: 1, arbitrary: fc.integer({ min: 96, max: 104 }).map((length) => "ab".repeat(60).slice(0, length)) },
  { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 3 }) },
  { weight: 1, arbitrary: fc.constantFrom("AND", "NEAR(", '"', "*", "#a", "^b", "a:b", "-a", "\0", "") },
);
const text = fc
  .array(fc.tuple(word, fc.constantFrom(" ", " ", "-", ", ", '"')), { minLength: 1, maxLength: 6 })
  .map((parts) => parts.flat().join(""));
const tag = fc.constantFrom(undefined, undefined, "", "a", "ab", "#a", "\0");

it("400 searches for random beginnings of words find what a scan of 400 plants finds", async () => {
  const own = await startTestService();
  const contents = fc.sample(fc.record({ name: text, tag }), { numRuns: 400, seed });
  const lines = contents.map((content, id) => JSON.stringify({ id, ...content }));
  const imported = await own.request("/plants/import", { method: "POST", body: [...lines, '{"id":400,"name":"zlast"}'].join("\n") });
  expect(await imported.json()).toMatchObject({ created: 401, refused: 0 });
  await expectFoundSoon("zlast", [400], { on: own });

  // Beginnings of the words of one plant, so that most searches find something.
  const cut = (words: readonly string[]) =>
    fc.array(fc.tuple(fc.constantFrom(...words), fc.integer({ min: 1, max: 8 })), { minLength: 1, maxLength: 8 });
  const beginnings = fc
    .constantFrom(...contents.map(({ name }) => tokenize(name)).filter((words) => words.length > 0))
    .chain(cut)
    .map((parts) => parts.map(([whole, length]) => Array.from(whole).slice(0, length).join("")).join(" "));
  const q = fc.oneof({ weight: 3, arbitrary: beginnings }, { weight: 1, arbitrary: text }).filter((some) => tokenize(some).length <= 32);
  const plants = contents.map(({ name, tag: its }, id) => ({
    id: asPlantId(BigInt(id)),
    name,
    ...(its === undefined ? {} : { tag: its }),
  }));
  let hits = 0;
  for (const wanted of fc.sample(fc.record({ q, tag }), { numRuns: 400, seed })) {
    const words = wordsOfSearch(wanted.q);
    const expected = plants.filter((plant) => isFound(plant, { words, tag: wanted.tag })).map(({ id }) => Number(id));
    if (words.length > 0 && expected.length > 0) hits += 1;
    // The last plant is found only by a search that finds every plant.
    const found = await search(wanted.q, { on: own, ...(wanted.tag === undefined ? {} : { tag: wanted.tag }) });
    expect(
      found.filter((id) => id < 400),
      JSON.stringify({ ...wanted, seed }),
    ).toEqual(expected);
  }
  expect(hits).toBeGreaterThan(100);
  await own.stop();
});
