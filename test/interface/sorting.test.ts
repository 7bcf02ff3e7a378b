import { afterAll, describe, expect, it } from "bun:test";
import { toCursor } from "../../src/http/cursor.ts";
import { asPlantId } from "../../src/domain/plant.ts";
import { expectConform } from "../support/conform.ts";
import { startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const LIST = { method: "get", path: "/plants" };
const NAMES = ["Zinnia", "apfel", "Äpfel", "Apfel", "Bellis", "~", "éclair", "Eclair 2"];

describe(`sorted lists`, () => {
  const started = startTestService();
  afterAll(async () => (await started).stop());

  async function get(path: string): Promise<Response> {
    return (await started).request(path);
  }

  /** The names of all pages, and the first link. */
  async function follow(path: string): Promise<{ names: string[]; links: string[] }> {
    const names: string[] = [];
    const links: string[] = [];
    for (let next: string | undefined = path; next !== undefined;) {
      const response = await get(next);
      names.push(...((await response.clone().json()) as { name: string }[]).map(({ name }) => name));
      await expectConform(LIST, response);
      const link = response.headers.get("link");
      if (link !== null) links.push(link);
      next = link === null ? undefined : `/plants${/^<(\?.*)>; rel="next"$/.exec(link)![1]}`;
    }
    return { names, links };
  }

  it("are by name, or by newest, page after page, as soon as a plant is created", async () => {
    const { request } = await started;
    for (const [at, name] of NAMES.entries()) {
      const body = JSON.stringify({ id: 10 + at, name, ...(at % 2 === 0 ? { tag: "even" } : {}) });
      await until("It takes requests", async () => (await request("/plants?sort=name")).status === 200);
      expect((await request("/plants", { method: "POST", headers: { "content-type": "application/json" }, body })).status).toBe(200);
    }
    for (const limit of [1, 3, 1000]) {
      const names = async (query: string) => (await follow(`/plants?${query}&limit=${limit}`)).names;
      expect(await names("sort=name")).toEqual(["~", "apfel", "Äpfel", "Apfel", "Bellis", "éclair", "Eclair 2", "Zinnia"]);
      expect(await names("sort=newest")).toEqual(NAMES.toReversed());
      expect(await names("sort=oldest")).toEqual(NAMES);
      expect(await names("sort=id")).toEqual(NAMES);
      expect(await names("sort=-id")).toEqual(NAMES.toReversed());
      expect(await names("sort=name&q=apf")).toEqual(["apfel", "Äpfel", "Apfel"]);
      expect(await names("sort=-name&q=apf")).toEqual(["Apfel", "Äpfel", "apfel"]);
      for (const sort of ["newest", "-id"]) expect(await names(`sort=${sort}&tag=even`)).toEqual(["éclair", "Bellis", "Äpfel", "Zinnia"]);
      expect(await names("sort=-id&untagged=true&q=apf")).toEqual(["Apfel", "apfel"]);
    }
  });

  it("keep sort and words in the link to the next page, with a cursor in place of an id", async () => {
    const { links } = await follow("/plants?q=apf&limit=2&sort=name");
    expect(links).toEqual([expect.stringMatching(/^<\?limit=2&sort=name&cursor=[\w-]+&q=apf>; rel="next"$/)]);
  });

  it("begin below an id when ids fall, even below the greatest, and are empty below the least", async () => {
    const { request } = await started;
    const [least, greatest] = [-(2n ** 63n), 2n ** 63n - 1n];
    for (const id of [least, greatest]) {
      const body = `{"id":${id},"name":"End","tag":"end"}`;
      expect((await request("/plants", { method: "POST", headers: { "content-type": "application/json" }, body })).status).toBe(200);
    }
    const ids = async (query: string) =>
      ((await (await get(`/plants?sort=-id&${query}`)).text()).match(/(?<="id":)-?\d+/g) ?? []).map(BigInt);
    for (const filter of ["", "&tag=end", "&q=end", "&q=end&tag=end"]) {
      expect(await ids(`limit=1${filter}`)).toEqual([greatest]);
      expect((await ids(`after=${greatest}${filter}`)).filter((id) => id === least || id === greatest)).toEqual([least]);
      expect(await ids(`after=${least + 1n}${filter}`)).toEqual([least]);
      expect(await ids(`after=${least}${filter}`)).toEqual([]);
    }
    expect(await ids(`id=12&after=12`)).toEqual([]);
    expect(await ids(`id=12&after=13`)).toEqual([12n]);
  });

  const place = { key: "38", id: asPlantId(1n) };
  const age = { key: "-5", id: asPlantId(1n) };
  for (const { why, query } of [
    { why: "an id in a list by name", query: "sort=name&after=1" },
    { why: "a cursor in a list by falling id", query: `sort=-id&cursor=${toCursor("name", place)}` },
    { why: "a cursor of the reversed order", query: `sort=-name&cursor=${toCursor("name", place)}` },
    { why: "a cursor of the newest among the oldest", query: `sort=oldest&cursor=${toCursor("newest", age)}` },
    { why: "a cursor in a list by id", query: `cursor=${toCursor("name", place)}` },
    {
      why: "a cursor of the order in which leading signs counted",
      query: `sort=name&cursor=${Buffer.from("01000000000000000038", "hex").toString("base64url")}`,
    },
    { why: "an empty cursor", query: "sort=name&cursor=" },
    { why: "a cursor that was cut", query: `sort=newest&cursor=${toCursor("newest", age).slice(0, -2)}` },
    { why: "a cursor with more after it", query: `sort=newest&cursor=${toCursor("newest", age)}AAAA` },
    { why: "a cursor that is no base64url", query: `sort=name&cursor=${toCursor("name", place)}!` },
    { why: "a cursor of 700 characters", query: `sort=name&cursor=${"A".repeat(700)}` },
  ])
    it(`refuse ${why}`, async () => {
      const response = await get(`/plants?${query}`);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: 40006 });
    });

  /** `skipped`: how many plants are in front of that place. */
  for (const { order, key, skipped } of [
    { order: "name", key: "00".repeat(300), skipped: 0 },
    { order: "name", key: "ff".repeat(300), skipped: Infinity },
    { order: "newest", key: String(-(2n ** 63n)), skipped: Infinity },
    { order: "newest", key: String(2n ** 63n - 1n), skipped: 0 },
    { order: "-name", key: "00", skipped: Infinity },
    // Between Zinnia and all others.
    { order: "-name", key: "3800", skipped: 1 },
    { order: "-name", key: "ff".repeat(300), skipped: 0 },
    { order: "oldest", key: String(-(2n ** 63n)), skipped: 0 },
    { order: "oldest", key: String(2n ** 63n - 1n), skipped: Infinity },
  ] as const)
    for (const id of [-(2n ** 63n), 0n, 2n ** 63n - 1n])
      it(`read on from a cursor that someone made up: ${order} ${key.slice(0, 20)} ${id}`, async () => {
        const list = async (query: string) =>
          (await expectConform(LIST, await get(`/plants?sort=${order}${query}`))) as readonly { tag?: string }[];
        const cursor = toCursor(order, { key, id: asPlantId(id) });
        const behind = (await list("")).slice(skipped);
        expect(await list(`&cursor=${cursor}`)).toEqual(behind);
        expect(await list(`&cursor=${cursor}&tag=even`)).toEqual(behind.filter(({ tag }) => tag === "even"));
      });
});
