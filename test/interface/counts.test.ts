import { afterAll, describe, expect, it } from "bun:test";
import { createRepresent } from "../../src/http/representation.ts";
import { tagHandlers } from "../../src/http/tags.ts";
import { keepCounts } from "../../src/store/tags.ts";
import { expectConform } from "../support/conform.ts";
import { PATIENCE } from "../support/patience.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { askUntil } from "../support/until.ts";

const COUNT = { method: "get", path: "/plants/count" };
const TAGS = { method: "get", path: "/tags" };

const service = await startTestService();

describe("counts", () => {
  afterAll(() => service.stop());

  async function count(query = ""): Promise<unknown> {
    return expectConform(COUNT, await service.request(`/plants/count${query}`));
  }

  async function countTags(query: string): Promise<unknown> {
    const response = await service.request(`/tags${query}`);
    expect(response.headers.get("age")).toBe("0");
    return expectConform(TAGS, response);
  }

  async function importLines(lines: readonly object[], query = ""): Promise<void> {
    const body = lines.map((line) => JSON.stringify(line)).join("\n");
    expect((await service.request(`/plants/import${query}`, { method: "POST", body })).status).toBe(200);
  }

  const exactly = (plants: number) => ({ plants, precision: "exact" });

  it("stop at 10,000 and say that there may be more", async () => {
    const tags = ["moss", "fern"];
    await importLines(Array.from({ length: 10_000 }, (_, at) => ({ id: 1000 + at, name: `Myriad ${at}`, tag: tags[at % 2] })));
    for (const query of ["?q=myri", "?q=myri&tag=moss"]) {
      const plants = query.includes("tag") ? 5000 : 10_000;
      expect(
        await askUntil(
          () => count(query),
          (found) => Bun.deepEquals(found, exactly(plants)),
        ),
      ).toEqual(exactly(plants));
    }
    expect(await countTags("?q=myri")).toEqual([
      { tag: "fern", plants: 5000 },
      { tag: "moss", plants: 5000 },
    ]);
    expect(await count()).toEqual(exactly(10_000));
    await service.post('{"id":99999,"name":"Myriad more","tag":"moss"}');
    expect(await count("?q=myri")).toEqual({ plants: 10_000, precision: "atLeast" });
    const found = (await countTags("?q=myri")) as { plants: number; precision: string }[];
    expect(found.map(({ precision }) => precision)).toEqual(["atLeast", "atLeast"]);
    // PostgreSQL may count one more than it says.
    expect(found.reduce((sum, { plants }) => sum + plants, 0)).toBeWithin(10_000, 10_002);
  });

  it("list the most frequent tags first, and end with the one that reaches a million bytes", async () => {
    const tags = Array.from({ length: 40 }, (_, at) => String(at).padStart(2, "0") + "é".repeat(31_000));
    const last = "a".repeat(60_000);
    await importLines([...tags, last, last].map((tag, at) => ({ id: 200_000 + at, name: "Giant", tag })));
    const fitting = [{ tag: last, plants: 2 }, ...tags.slice(0, 16).map((tag) => ({ tag, plants: 1 }))];
    const found = () => countTags("?q=giant");
    expect(await askUntil(found, (counted) => Bun.deepEquals(counted, fitting))).toEqual(fitting);
    await Promise.all(Array.from({ length: 40 }, (_, at) => service.request(`/plants/${200_000 + at}`, { method: "DELETE" })));
    // All tags: of the others, each has one plant more.
    await importLines([...tags, ...tags, ...tags].map((tag, at) => ({ id: 300_000 + at, name: "x", tag })));
    const all = async () => (await (await service.request("/tags")).json()) as { tag: string }[];
    const large = (counted: readonly { tag: string }[]) => counted.filter(({ tag }) => tag.length > 1000).map(({ tag }) => tag.slice(0, 2));
    const expected = tags.slice(0, 17).map((tag) => tag.slice(0, 2));
    expect(large(await askUntil(all, (counted) => Bun.deepEquals(large(counted), expected)))).toEqual(expected);
  });

  it("sort tags of equal counts by code point, among all plants and among those that are found", async () => {
    const own = await startTestService();
    // In UTF-16 the emoji and 𠮟 come before the letters from U+E000 on, of which a short list then has others.
    const tags = ["", "A", "é", "桜", "桜Ａ", "桜🌸", "﨑", "Ａ", "🌸", "𠮟"];
    await Promise.all(tags.toReversed().map((tag, id) => own.post(JSON.stringify({ id, name: "Prunus", tag }))));
    for (const query of ["", "q=prunus"]) {
      const counted = async () => (await (await own.request(`/tags?${query}`)).json()) as { tag: string }[];
      expect((await askUntil(counted, ({ length }) => length === tags.length)).map(({ tag }) => tag)).toEqual(tags);
      const few = (await (await own.request(`/tags?limit=8&${query}`)).json()) as { tag: string }[];
      expect(few.map(({ tag }) => tag)).toEqual(tags.slice(0, 8));
    }
    await own.stop();
  });
});

type TagCount = Readonly<{ tag: string; plants: number }>;

async function readTags(own: TestService, query = ""): Promise<TagCount[]> {
  // A busy machine may not count within the time of a request: the next one finds the counts.
  const response = await askUntil(
    () => own.request(`/tags${query}`),
    ({ status }) => status !== 503,
  );
  expect(response.status).toBe(200);
  expect(response.headers.get("age")).toMatch(/^\d+$/);
  expect(Number(response.headers.get("age"))).toBeLessThanOrEqual(6 * PATIENCE);
  return (await expectConform(TAGS, response)) as TagCount[];
}

/** A separate service with one plant a tag; undefined is no tag. The ids go down from 2^63-1 and up from -2^63. */
async function startWith(tags: readonly (string | undefined)[]): Promise<TestService> {
  const own = await startTestService();
  const lines = tags.map((tag, at) => {
    const id = at % 2 === 0 ? 2n ** 63n - 1n - BigInt(at) : -(2n ** 63n) + BigInt(at - 1);
    return `{"id":${id},"name":"x"${tag === undefined ? "" : `,"tag":${JSON.stringify(tag)}`}}`;
  });
  const response = await own.request("/plants/import", { method: "POST", body: lines.join("\n") });
  expect(await response.json()).toMatchObject({ created: tags.length, refused: 0 });
  return own;
}

/** So many plants with one tag. */
function times(count: number, tag: string | undefined): (string | undefined)[] {
  return Array.from({ length: count }, () => tag);
}

describe.concurrent("GET /tags", () => {
  it("counts the plants of each tag, even at both ends of int64 and of the empty tag, sorted by frequency, then by tag", async () => {
    const tags = [...times(3, "b"), ...times(3, "a"), ...times(5, ""), ...times(1, "B"), ...times(4, undefined), "a ", "\0", "ä", "樹🌳"];
    const own = await startWith(tags);
    const expected = [
      { tag: "", plants: 5 },
      { tag: "a", plants: 3 },
      { tag: "b", plants: 3 },
      ...["\0", "B", "a ", "ä", "樹🌳"].map((tag) => ({ tag, plants: 1 })),
    ];
    expect(await readTags(own)).toEqual(expected);
    expect(await readTags(own, "?limit=1")).toEqual(expected.slice(0, 1));
    expect(await readTags(own, "?limit=3")).toEqual(expected.slice(0, 3));
    expect(await readTags(own, "?limit=2147483647")).toEqual(expected);
    await own.stop();
  });

  it("keeps a count that is expensive, says how old it is, and answers no condition with it", async () => {
    let time = 0;
    let plants = 0;
    const counts = keepCounts({
      count() {
        time += 3000;
        return Promise.resolve([{ tag: "fern", plants: (plants += 1) }]);
      },
      now: () => time,
    });
    expect(await counts()).toEqual({ tags: [{ tag: "fern", plants: 1 }], ageMs: 0 });
    time += 1000;
    expect(await counts()).toEqual({ tags: [{ tag: "fern", plants: 1 }], ageMs: 4000 });
    const { listTags } = tagHandlers({ plants: { countTags: counts }, represent: createRepresent() } as never);
    const ask = (headers: Record<string, string>) =>
      listTags({ parameters: { limit: 10, untagged: false }, headers: new Headers(headers) } as never);
    const { status, headers } = await ask({});
    expect([status, headers?.["age"]]).toEqual([200, "4"]);
    expect((await ask({ "if-none-match": headers!["etag"]! })).status).toBe(200);
    time += 12_000;
    expect(await counts()).toEqual({ tags: [{ tag: "fern", plants: 2 }], ageMs: 0 });
  });

  it("answers the 1,000 most frequent of 1,500 tags, whatever the limit", async () => {
    const frequent = Array.from({ length: 1000 }, (_, at) => `z${String(at).padStart(4, "0")}`);
    const rare = Array.from({ length: 500 }, (_, at) => `a${at}`);
    const own = await startWith([...frequent, ...rare, ...frequent]);
    const expected = frequent.map((tag) => ({ tag, plants: 2 }));
    const answers = await Promise.all(["", "?limit=1000", "?limit=1001"].map((query) => readTags(own, query)));
    expect(answers).toEqual([expected, expected, expected]);
    await own.stop();
  });

  it("counts a tag with more plants than one step counts", async () => {
    const own = await startWith([...times(50_001, "many"), ...times(2, "few"), ...times(50_000, "zebra")]);
    expect(await readTags(own)).toEqual([
      { tag: "many", plants: 50_001 },
      { tag: "zebra", plants: 50_000 },
      { tag: "few", plants: 2 },
    ]);
    await own.stop();
  });
});
