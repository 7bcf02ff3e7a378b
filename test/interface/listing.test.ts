import { afterAll, describe, expect, it } from "bun:test";
import { expectConform } from "../support/conform.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const LIST = { method: "get", path: "/plants" };

const MIN = "-9223372036854775808";
const MAX = "9223372036854775807";

/** A new service with these plants. */
async function startWith(lines: readonly string[]): Promise<TestService> {
  const service = await startTestService();
  const response = await service.request("/plants/import", { method: "POST", body: lines.join("\n") });
  expect(await response.json()).toMatchObject({ created: lines.length, refused: 0 });
  return service;
}

function idsIn(text: string): string[] {
  return Array.from(text.matchAll(/"id":(-?\d+)/g), ([, id]) => id!);
}

/** The path of the next page: the Link of this page, resolved against it. */
function nextOf(response: Response): string | undefined {
  const link = response.headers.get("link");
  if (link === null) return undefined;
  const { pathname, search } = new URL(/^<(.*)>; rel="next"$/.exec(link)![1]!, response.url);
  return `${pathname}${search}`;
}

/** The ids of each page from this path on; `between` runs after each page, before the next request. */
async function follow(service: TestService, path: string, between?: (page: number) => Promise<unknown>): Promise<string[][]> {
  const pages: string[][] = [];
  for (let next: string | undefined = path; next !== undefined;) {
    const response = await service.request(next);
    pages.push(idsIn(await response.clone().text()));
    await expectConform(LIST, response);
    next = nextOf(response);
    await between?.(pages.length);
  }
  return pages;
}

describe("GET /plants", () => {
  const ids = [MIN, "-9223372036854775807", "-9007199254740993", "-10", "-9", "-1", "0", "1", "9", "10", "9007199254740993", MAX];
  const service = startWith(ids.toReversed().map((id) => `{"id":${id},"name":"x"}`));
  afterAll(async () => (await service).stop());

  async function list(query: string): Promise<Response> {
    return (await service).request(`/plants${query}`);
  }

  it("answers plants by id, exactly, from one end of int64 to the other, with a tag only if there is one", async () => {
    await (await service).request("/plants/9", { method: "PUT", body: '{"name":"x","tag":""}' });
    const response = await list("");
    const expected = ids.map((id) => `{"id":${id},"name":"x"${id === "9" ? ',"tag":""' : ""}}`);
    expect(await response.clone().text()).toBe(`[${expected.join(",")}]`);
    expect(response.headers.get("link")).toBeNull();
    await expectConform(LIST, response);
  });

  for (const { after, first, why } of [
    { after: MIN, first: 1, why: "the smallest id leaves out only its plant" },
    { after: "-8", first: 5, why: "an id without a plant works" },
    { after: "-1", first: 6, why: "0 comes after -1" },
    { after: "9007199254740992", first: 10, why: "an id past 2^53 is exact" },
    { after: MAX, first: 12, why: "nothing comes after the largest id" },
  ]) {
    it(`answers the plants after ${after}: ${why}`, async () => {
      const response = await list(`?after=${after}`);
      expect(idsIn(await response.text())).toEqual(ids.slice(first));
      expect(response.headers.get("link")).toBeNull();
    });
  }

  it("ends a page of large plants at a million bytes, and has a Link to the rest", async () => {
    const large = await startWith(Array.from({ length: 40 }, (_, at) => `{"id":${at},"name":"${"x".repeat(60_000)}"}`));
    const pages = await follow(large, "/plants?limit=1000");
    // 17 plants have fewer than 2^20 bytes, 18 have more.
    expect(pages.map((page) => page.length)).toEqual([18, 18, 4]);
    expect(pages.flat()).toEqual(Array.from({ length: 40 }, (_, at) => String(at)));
    await large.stop();
  });

  it("ends a page at a million characters of JSON too, in any order, and has a Link to the rest", async () => {
    const escaped = await startWith(Array.from({ length: 40 }, (_, at) => `{"id":${at},"name":"${"\\u0001".repeat(20_000)}"}`));
    const pages = async (sort: string) => (await follow(escaped, `/plants?limit=1000&sort=${sort}`)).map((page) => page.length);
    expect(await pages("id")).toEqual([9, 9, 9, 9, 4]);
    expect(await pages("name")).toEqual([9, 9, 9, 9, 4]);
    await escaped.stop();
  });

  it("has a Link to the next page if there is one, and none on the last page, even a full one", async () => {
    const response = await list("?limit=2");
    expect(response.headers.get("link")).toBe('<?limit=2&after=-9223372036854775807>; rel="next"');
    expect(await follow(await service, "/plants?limit=6")).toEqual([ids.slice(0, 6), ids.slice(6)]);
    expect(await follow(await service, "/plants?limit=5")).toEqual([ids.slice(0, 5), ids.slice(5, 10), ids.slice(10)]);
    expect(await follow(await service, "/plants?limit=1")).toEqual(ids.map((id) => [id]));
  });

  it("answers HEAD with the same Link and no body", async () => {
    const response = await (await service).request("/plants?limit=2", { method: "HEAD" });
    expect(nextOf(response)).toBe("/plants?limit=2&after=-9223372036854775807");
    expect([response.status, await response.text()]).toEqual([200, ""]);
  });
});

describe("the pages of GET /plants", () => {
  it("have 100 plants without a limit, and 1,000 at most", async () => {
    const service = await startWith(Array.from({ length: 1002 }, (_, id) => `{"id":${id},"name":"x"}`));
    const sizes = async (query: string) => (await follow(service, `/plants${query}`)).map(({ length }) => length);
    expect((await sizes(""))[0]).toBe(100);
    for (const limit of [1000, 1001, 2_147_483_647]) expect(await sizes(`?limit=${limit}`)).toEqual([1000, 2]);
    expect(await sizes("?limit=1000&after=1")).toEqual([1000]);
    await service.stop();
  });

  it("hold every lasting plant exactly once, in order, while others are created and deleted in between", async () => {
    const stay = Array.from({ length: 100 }, (_, at) => `${at * 10 - 500}`);
    const service = await startWith(stay.map((id) => `{"id":${id},"name":"stays"}`));
    const pages = await follow(service, "/plants?limit=7", async (page) => {
      const passing = [-499, 499, page * 70 - 500 + 1, page * 70 - 500 - 1];
      for (const id of passing) {
        const method = page % 2 === 1 ? "PUT" : "DELETE";
        const body = method === "PUT" ? { body: '{"name":"passes"}' } : {};
        await service.request(`/plants/${id}`, { method, ...body });
      }
    });
    const met = pages.flat();
    expect(met.filter((id) => stay.includes(id))).toEqual(stay);
    expect(met.map(BigInt)).toEqual(met.map(BigInt).toSorted((left, right) => (left < right ? -1 : 1)));
    expect(met.length).toBeGreaterThan(stay.length);
    await service.stop();
  });
});

describe("the tag of GET /plants", () => {
  const TAGS = ["tree", "Tree", "tre", "tree ", "", "a&b=c", "100% +x", "%2B", "ä/ö?#", "a\u0308", "\u00e4", "樹🌳", "a\0b", "a"];
  const service = startWith([
    ...TAGS.flatMap((tag, at) => [at, at + 100].map((id) => JSON.stringify({ id, name: `Aloe ${id}`, tag }))),
    '{"id":1000,"name":"without"}',
  ]);
  afterAll(async () => (await service).stop());

  for (const [at, tag] of TAGS.entries()) {
    it(`${JSON.stringify(tag)} finds the plants with exactly this tag, and its Link leads to the rest`, async () => {
      const pages = await follow(await service, `/plants?limit=1&tag=${encodeURIComponent(tag)}`);
      expect(pages).toEqual([[`${at}`], [`${at + 100}`]]);
    });
  }
});

describe("untagged and id of GET /plants", () => {
  const lines = Array.from({ length: 60 }, (_, id) =>
    JSON.stringify({ id, name: id % 2 === 0 ? "Aloe" : "Ginkgo", ...(id % 3 === 0 ? {} : { tag: id % 3 === 1 ? "" : "tree" }) }),
  );
  const service = startWith(lines);
  afterAll(async () => (await service).stop());

  it("untagged finds the plants without a tag, not those with an empty one, and the Link keeps it", async () => {
    const bare = Array.from({ length: 20 }, (_, at) => `${3 * at}`);
    const path = "/plants?limit=10&untagged=true";
    await until("The index follows the import", async () => (await follow(await service, path)).flat().length === bare.length);
    expect(nextOf(await (await service).request(path))).toBe("/plants?limit=10&after=27&untagged=true");
    expect(await follow(await service, path)).toEqual([bare.slice(0, 10), bare.slice(10)]);
    expect(await follow(await service, "/plants?untagged=true&q=gink&after=20")).toEqual([["21", "27", "33", "39", "45", "51", "57"]]);
    expect((await follow(await service, "/plants?untagged=false")).flat()).toHaveLength(60);
  });

  for (const { query, ids, why } of [
    { query: "id=4", ids: ["4"], why: "the plant with the id" },
    { query: "id=60", ids: [], why: "nothing under an id without a plant" },
    { query: "id=4&tag=tree", ids: [], why: "nothing if the tag is another one" },
    { query: "id=3&untagged=true&q=gink", ids: ["3"], why: "the plant if it matches everything" },
    { query: "id=4&q=gink", ids: [], why: "nothing if the name lacks a word" },
    { query: "id=4&after=3", ids: ["4"], why: "the plant if it comes after" },
    { query: "id=4&after=4", ids: [], why: "nothing if it does not come after" },
  ]) {
    it(`?${query} finds ${why}`, async () => {
      expect(await follow(await service, `/plants?${query}`)).toEqual([ids]);
    });
  }

  it("untagged together with a tag is refused", async () => {
    const response = await (await service).request("/plants?untagged=true&tag=");
    expect(await expectConform(LIST, response)).toMatchObject({
      error: 40006,
      message: expect.stringContaining("`untagged` excludes `tag`"),
    });
  });
});
