import { describe, expect, it } from "bun:test";
import { expectConform } from "../support/conform.ts";
import { PATIENCE } from "../support/patience.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { askUntil } from "../support/until.ts";

type TagCount = Readonly<{ tag: string; plants: number }>;

async function readTags(service: TestService, query = ""): Promise<TagCount[]> {
  // A busy machine may not count within the time of a request: the next one finds the counts.
  const response = await askUntil(
    () => service.request(`/tags${query}`),
    ({ status }) => status !== 503,
  );
  expect(response.status).toBe(200);
  expect(response.headers.get("age")).toMatch(/^\d+$/);
  expect(Number(response.headers.get("age"))).toBeLessThanOrEqual(6 * PATIENCE);
  return (await expectConform({ method: "get", path: "/tags" }, response)) as TagCount[];
}

/** A separate service with one plant a tag; undefined is no tag. The ids go down from 2^63-1 and up from -2^63. */
async function startWith(tags: readonly (string | undefined)[]): Promise<TestService> {
  const service = await startTestService();
  const lines = tags.map((tag, at) => {
    const id = at % 2 === 0 ? 2n ** 63n - 1n - BigInt(at) : -(2n ** 63n) + BigInt(at - 1);
    return `{"id":${id},"name":"x"${tag === undefined ? "" : `,"tag":${JSON.stringify(tag)}`}}`;
  });
  const response = await service.request("/plants/import", { method: "POST", body: lines.join("\n") });
  expect(await response.json()).toMatchObject({ created: tags.length, refused: 0 });
  return service;
}

/** So many plants with one tag. */
function times(count: number, tag: string | undefined): (string | undefined)[] {
  return Array.from({ length: count }, () => tag);
}

describe.concurrent("GET /tags", () => {
  it("counts the plants of each tag, even at both ends of int64 and of the empty tag, sorted by frequency, then by tag", async () => {
    const tags = [...times(3, "b"), ...times(3, "a"), ...times(5, ""), ...times(1, "B"), ...times(4, undefined), "a ", "\0", "ä", "樹🌳"];
    const service = await startWith(tags);
    const expected = [
      { tag: "", plants: 5 },
      { tag: "a", plants: 3 },
      { tag: "b", plants: 3 },
      ...["\0", "B", "a ", "ä", "樹🌳"].map((tag) => ({ tag, plants: 1 })),
    ];
    expect(await readTags(service)).toEqual(expected);
    expect(await readTags(service, "?limit=1")).toEqual(expected.slice(0, 1));
    expect(await readTags(service, "?limit=3")).toEqual(expected.slice(0, 3));
    expect(await readTags(service, "?limit=2147483647")).toEqual(expected);
    await service.stop();
  });

  it("answers the 1,000 most frequent of 1,500 tags, whatever the limit", async () => {
    const frequent = Array.from({ length: 1000 }, (_, at) => `z${String(at).padStart(4, "0")}`);
    const rare = Array.from({ length: 500 }, (_, at) => `a${at}`);
    const service = await startWith([...frequent, ...rare, ...frequent]);
    const expected = frequent.map((tag) => ({ tag, plants: 2 }));
    const answers = await Promise.all(["", "?limit=1000", "?limit=1001"].map((query) => readTags(service, query)));
    expect(answers).toEqual([expected, expected, expected]);
    await service.stop();
  });

  it("counts a tag with more plants than one step counts", async () => {
    const service = await startWith([...times(50_001, "many"), ...times(2, "few"), ...times(50_000, "zebra")]);
    expect(await readTags(service)).toEqual([
      { tag: "many", plants: 50_001 },
      { tag: "zebra", plants: 50_000 },
      { tag: "few", plants: 2 },
    ]);
    await service.stop();
  });
});
