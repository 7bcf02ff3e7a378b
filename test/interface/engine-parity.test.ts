import { afterAll, describe, expect, it } from "bun:test";
import fc from "fast-check";
import { ENGINES } from "../support/engines.ts";
import { seedOf } from "../support/random.ts";
import { inForm } from "../support/run-form.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const REQUESTS = inForm(5000, 10_000);
const ROUNDS = inForm(4, 8);
const SEARCHES = 40;

type Request = Readonly<{ method: string; path: string; headers?: Record<string, string>; body?: string }>;
type Answer = Readonly<{ status: number; headers: Record<string, string>; body: string }>;

const id = fc.oneof(
  fc.constantFrom(-(2n ** 63n), -1n, 0n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n).map(String),
  fc.integer({ min: 1, max: 300 }).map(String),
);
const name = fc.oneof(
  fc.constantFrom(
    "",
    "Monstera deliciosa",
    "MONSTERA Délíciosa",
    "Ginkgo biloba 🌿",
    "a\0b\u0001c\u00010",
    "竹林",
    "ß straße",
    "x'\"\\{},NULL",
    "\u{10ffff}",
  ),
  fc.string({ unit: "grapheme", maxLength: 30 }),
);
const tag = fc.constantFrom("", "tree", "Tree", "tropical", "arbre à fruits", "\0", "\u0001", "\u00010", "a,b", "🌿");
const content = fc.record({ name, tag }, { requiredKeys: ["name"] });
const patch = fc.record({ name, tag: fc.option(tag) }, { requiredKeys: [] });
const condition = fc.constantFrom<Record<string, string>>(
  {},
  {},
  {},
  { "if-match": "*" },
  { "if-match": "seen" },
  { "if-none-match": "*" },
  { "if-none-match": "seen" },
);
const json = { "content-type": "application/json" };
const malformed = fc.constantFrom(
  "",
  "{",
  '{"id":1.5,"name":"x"}',
  '{"id":1,"id":2,"name":"x"}',
  '{"id":9223372036854775808,"name":"x"}',
  '{"id":1,"name":"\\ud800"}',
  '{"id":3,"tag":null,"name":"x"}',
);
const query = fc.record(
  { limit: fc.constantFrom("1", "3", "100", "0", "x", "99999"), after: fc.oneof(id, fc.constant("1e3")), tag, id },
  { requiredKeys: [] },
);

const request: fc.Arbitrary<Request> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(id, content).map(([of, plant]) => ({ method: "POST", path: "/plants", headers: json, body: withId(of, plant) })),
  },
  { weight: 4, arbitrary: fc.tuple(id, condition).map(([of, headers]) => ({ method: "GET", path: `/plants/${of}`, headers })) },
  {
    weight: 4,
    arbitrary: fc.tuple(id, content, condition).map(([of, plant, headers]) => ({
      method: "PUT",
      path: `/plants/${of}`,
      headers: { ...json, ...headers },
      body: JSON.stringify(plant),
    })),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(id, patch, condition).map(([of, plant, headers]) => ({
      method: "PATCH",
      path: `/plants/${of}`,
      headers: { ...json, ...headers },
      body: JSON.stringify(plant),
    })),
  },
  { weight: 3, arbitrary: fc.tuple(id, condition).map(([of, headers]) => ({ method: "DELETE", path: `/plants/${of}`, headers })) },
  { weight: 3, arbitrary: query.map((given) => ({ method: "GET", path: `/plants?${new URLSearchParams(given).toString()}` })) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.array(fc.tuple(id, content), { maxLength: 20 }), fc.constantFrom("refuse", "replace"), fc.boolean(), malformed)
      .map(([rows, onConflict, dryRun, bad]) => ({
        method: "POST",
        path: `/plants/import?onConflict=${onConflict}&dryRun=${dryRun}`,
        body: [...rows.map(([of, plant]) => withId(of, plant)), bad].join("\n"),
      })),
  },
  { weight: 1, arbitrary: malformed.map((body) => ({ method: "POST", path: "/plants", headers: json, body })) },
  {
    // One in seven of these is answered 405, of which more than 20 are to be seen.
    weight: 2,
    arbitrary: fc
      .constantFrom(
        "GET /nothing",
        "PUT /plants",
        "GET /plants/01",
        "OPTIONS /plants",
        "HEAD /plants/1",
        "GET /plants/export",
        "GET /plants/export?format=csv",
      )
      .map((text) => {
        const [method = "", path = ""] = text.split(" ");
        return { method, path };
      }),
  },
);

function withId(of: string, plant: object): string {
  return `{"id":${of},${JSON.stringify(plant).slice(1)}`;
}

/** What differs in every response, and the age of a count. */
const IGNORED = ["date", "x-request-id", "age"];

async function ask(service: TestService, { method, path, headers = {}, body }: Request): Promise<Answer> {
  const response = await service.request(path, { method, headers, ...(body === undefined ? {} : { body: new Blob([body]) }) });
  const all = Object.fromEntries([...response.headers].filter(([header]) => !IGNORED.includes(header)));
  return { status: response.status, headers: all, body: await response.text() };
}

const services = await Promise.all(ENGINES.map(async ({ openFlags }) => startTestService(await openFlags())));

describe("a service on SQLite and one on PostgreSQL", () => {
  afterAll(() => Promise.all(services.map((service) => service.stop())));
  const statuses = new Map<number, number>();
  /** The newest ETag of each path. */
  const seen = new Map<string, string>();

  async function compare(given: Request): Promise<void> {
    const etag = seen.get(given.path) ?? '"none"';
    const headers = Object.fromEntries(
      Object.entries(given.headers ?? {}).map(([header, value]) => [header, value === "seen" ? etag : value]),
    );
    const [left, right] = await Promise.all(services.map((service) => ask(service, { ...given, headers })));
    expect(right, `${given.method} ${given.path} ${given.body}`).toEqual(left);
    statuses.set(left!.status, (statuses.get(left!.status) ?? 0) + 1);
    if (left!.headers["etag"]) seen.set(given.path, left!.headers["etag"]);
  }

  /** An import is indexed after everything before it. */
  async function waitForSearch(round: number): Promise<void> {
    const path = `/plants?q=marker${round}`;
    await compare({ method: "POST", path: "/plants/import", body: withId(`${1_000_000 + round}`, { name: `Marker${round}` }) });
    const isFound = async (service: TestService) => (await ask(service, { method: "GET", path })).body.includes("Marker");
    for (const service of services) await until("The search finds what was imported", () => isFound(service));
  }

  it(`give the same answers, byte for byte, to ${REQUESTS} mixed requests`, async () => {
    const seed = seedOf("alike");
    const requests = fc.sample(request, { seed, numRuns: REQUESTS });
    const q = fc.constantFrom("m", "mon", "monst DELI", "delíc", "gink 🌿", "b", "竹", "strasse", "null x", "x", "nothing", "a b c");
    const searches = fc.sample(
      fc.record({ q, tag, untagged: fc.constantFrom("true", "false"), limit: fc.constantFrom("2", "100") }, { requiredKeys: ["q"] }),
      {
        seed,
        numRuns: ROUNDS * SEARCHES,
      },
    );
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const given of requests.splice(0, REQUESTS / ROUNDS)) await compare(given);
      await waitForSearch(round);
      for (const { limit, ...given } of searches.splice(0, SEARCHES)) {
        const filter = new URLSearchParams(given).toString();
        await compare({ method: "GET", path: `/plants?${filter}${limit === undefined ? "" : `&limit=${limit}`}` });
        for (const sort of ["-id", "name", "-name"])
          await compare({ method: "GET", path: `/plants?sort=${sort}&${filter}${limit === undefined ? "" : `&limit=${limit}`}` });
        await compare({ method: "GET", path: `/plants/count?${filter}` });
        await compare({ method: "GET", path: `/tags?${filter}` });
        await compare({ method: "GET", path: `/plants/export?${filter}` });
      }
      await compare({ method: "GET", path: "/plants/count" });
      await compare({ method: "GET", path: "/plants/count?tag=tree" });
      await compare({ method: "GET", path: "/tags?tag=tree" });
      await compare({ method: "GET", path: "/plants?sort=name&limit=7" });
      // More than there are: the place of a plant among the newest is not the same.
      for (const sort of ["newest", "oldest"]) await compare({ method: "GET", path: `/plants?sort=${sort}&limit=1000` });
    }
    await compare({ method: "GET", path: "/tags" });
    await compare({ method: "GET", path: "/plants/export" });
    for (const status of [200, 201, 204, 304, 400, 404, 405, 409, 412])
      expect(statuses.get(status) ?? 0, `answers ${status}`).toBeGreaterThan(20);
    expect([...statuses.keys()].filter((status) => status >= 500)).toEqual([]);
  });
});
