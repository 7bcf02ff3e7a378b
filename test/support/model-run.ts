import { expect } from "bun:test";
import fc from "fast-check";
import { CATALOGUE } from "../../contract/generated/error-catalogue.ts";
import type { Engine } from "./engines.ts";
import { createModel } from "./model.ts";
import type { Condition, Content, Expected, Page, Patch } from "./model.ts";
import { seedOf } from "./random.ts";
import { startTestService } from "./service.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { askUntil } from "./until.ts";

const STEPS_MAX = 40;

const id = fc.constantFrom(-(2n ** 63n), -1n, 0n, 1n, 2n ** 53n + 1n, 2n ** 63n - 1n);
const name = fc.constantFrom("", "Monstera deliciosa", "Monstera Délíciosa", "Ginkgo biloba", "ficus", "FICUS lyrata \u{1f33f}", "a\0b");
const tag = fc.constantFrom("", "tree", "tropical", "arbre à fruits");
const content: fc.Arbitrary<Content> = fc.record({ name, tag }, { requiredKeys: ["name"] });
const patch: fc.Arbitrary<Patch> = fc.record({ name, tag: fc.option(tag) }, { requiredKeys: [] });
/** Conditions get their ETag on use: it is not known before. */
const condition = fc.constantFrom("none", "none", "this", "other", "any", "absent", "unseen");
const page: fc.Arbitrary<Page> = fc.record(
  {
    limit: fc.integer({ min: 1, max: 7 }),
    after: id,
    tag,
    untagged: fc.boolean(),
    q: fc.constantFrom("", "monst", "DELI monst", "f", "gink bil", "nothing"),
  },
  { requiredKeys: ["limit"] },
);

/** Requests of which the model knows nothing but that every engine answers them alike. */
const ODD = [
  ["GET", "/nothing"],
  ["PUT", "/plants"],
  ["GET", "/plants/01"],
  ["OPTIONS", "/plants"],
  ["HEAD", "/plants/1"],
  ["GET", "/plants/export?format=csv"],
  ["GET", "/plants?limit=0"],
  ["GET", "/plants?after=1e3"],
  ["GET", "/plants?id=1&tag=tree"],
  ["GET", "/plants?sort=name&limit=3"],
  ...["name", "-name", "-id", "newest", "oldest"].map((sort) => ["GET", `/plants?limit=1000&sort=${sort}`] as const),
  ...[
    "",
    "{",
    '{"id":1.5,"name":"x"}',
    '{"id":1,"id":2,"name":"x"}',
    '{"id":1,"name":"\\ud800"}',
    '{"id":3,"tag":null,"name":"x"}',
  ].flatMap((body) => [["POST", "/plants", body] as const, ["POST", "/plants/import?dryRun=true", `${body}\n`] as const]),
] as const;

const step = fc.oneof(
  fc.record({ kind: fc.constant("create" as const), id, content }),
  fc.record({ kind: fc.constant("get" as const), id, condition }),
  fc.record({ kind: fc.constant("put" as const), id, content, condition }),
  fc.record({ kind: fc.constant("patch" as const), id, patch, condition }),
  fc.record({ kind: fc.constant("remove" as const), id, condition }),
  fc.record({ kind: fc.constant("list" as const), page }),
  fc.record({
    kind: fc.constant("sorted" as const),
    page,
    sort: fc.constantFrom("-id", "name", "-name", "newest", "oldest"),
  }),
  fc.record({
    kind: fc.constant("import" as const),
    rows: fc.array(fc.tuple(id, content), { minLength: 1, maxLength: 8 }),
    isReplacing: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("export" as const) }),
  fc.record({ kind: fc.constant("restart" as const) }),
  fc.record({ kind: fc.constant("odd" as const), request: fc.constantFrom(...ODD) }),
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** Each is compared at least ten times. */
const COMPARED = "create get put patch remove list sorted search count import export tags odd"
  .split(" ")
  .concat("filtered tags", "filtered export");

type Sent = Readonly<{ body?: unknown; condition?: Condition }>;
type Answer = Readonly<{ status: number; headers: Readonly<Record<string, string>>; body: string }>;

/** What differs in every response, and the age of a count. */
/** Each service names an import in its own way. */
const IMPORT_ID = /,"import":"[0-9a-f]{32}"/;

const VARYING = ["x-changes-cursor", "date", "x-request-id", "age"];

/** It holds when the plant was stored, which each service decides. */
const TIME_CURSOR = /(?<=sort=(newest|oldest)&cursor=)[^>]+/;

/**
 * Sends random sequences of operations to a service on each engine: all answer like the model, and exactly alike, headers
 * included.
 */
export async function compareWithModel(engines: readonly Engine[], numRuns: number): Promise<void> {
  const flags = await Promise.all(engines.map(async ({ openFlags }) => ({ data: temporaryFolder(), ...(await openFlags()) })));
  const start = () => Promise.all(flags.map((one) => startTestService(one)));
  let services = await start();
  const compared = new Map<string, number>();

  async function restart(): Promise<void> {
    await Promise.all(services.map((service) => service.stop()));
    services = await start();
  }

  async function askAll(method: string, path: string, { body, condition: { ifMatch, ifNoneMatch } = {} }: Sent): Promise<Answer[]> {
    const headers = { ...(ifMatch && { "if-match": ifMatch }), ...(ifNoneMatch && { "if-none-match": ifNoneMatch }) };
    const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
    const init = { method, headers, ...(text === undefined ? {} : { body: new Blob([text]) }) };
    return Promise.all(
      services.map(async ({ request }) => {
        const response = await request(path, init);
        const alike = [...response.headers].filter(([header]) => !VARYING.includes(header));
        const seen = Object.fromEntries(alike.map(([header, value]) => [header, value.replace(TIME_CURSOR, "")]));
        return { status: response.status, headers: seen, body: (await response.text()).replace(IMPORT_ID, "") };
      }),
    );
  }

  async function send(method: string, path: string, sent: Sent = {}): Promise<Answer> {
    // After a restart the search index may still be built. Otherwise all is asked once: what was stored is found at once.
    const isReady = (all: readonly Answer[]) => all.every(({ body }) => !body.includes(`"error":${CATALOGUE.index_building.error},`));
    const answers = await askUntil(() => askAll(method, path, sent), isReady);
    for (const answer of answers) expect(answer, `${method} ${path}`).toEqual(answers[0]!);
    return answers[0]!;
  }

  function compare(what: string, { status, body }: Expected, expected: Expected): void {
    compared.set(what, (compared.get(what) ?? 0) + 1);
    expect([what, status]).toEqual([what, expected.status]);
    if (expected.body !== undefined) expect([what, body]).toEqual([what, expected.body]);
  }

  async function find(what: string, path: string, expected: Expected): Promise<void> {
    compare(what, await send("GET", path), expected);
  }

  /** Does one step everywhere, and compares. */
  async function run(model: ReturnType<typeof createModel>, given: Step): Promise<void> {
    function fill(kind: string, of: bigint): Condition {
      if (kind === "this") return { ifMatch: model.etag(of) };
      if (kind === "other") return { ifMatch: '"other"' };
      if (kind === "any") return { ifMatch: "*" };
      if (kind === "unseen") return { ifNoneMatch: model.etag(of) };
      return kind === "absent" ? { ifNoneMatch: "*" } : {};
    }
    const ask = async (method: string, target: string, sent: Sent, expected: Expected) =>
      compare(given.kind, await send(method, target, sent), expected);
    const guard = "condition" in given ? fill(given.condition, given.id) : {};
    const path = "id" in given ? `/plants/${given.id}` : "/plants";
    switch (given.kind) {
      case "create":
        return ask("POST", "/plants", { body: withId(given.id, given.content) }, model.create(given.id, given.content));
      case "get":
        return ask("GET", path, { condition: guard }, model.get(given.id, guard));
      case "put":
        return ask("PUT", path, { body: given.content, condition: guard }, model.put(given.id, given.content, guard));
      case "patch":
        return ask("PATCH", path, { body: given.patch, condition: guard }, model.patch(given.id, given.patch, guard));
      case "remove":
        return ask("DELETE", path, { condition: guard }, model.remove(given.id, guard));
      case "list": {
        const { limit: _limit, after: _after, ...filter } = given.page;
        const isIndexed = Boolean(filter.q) || filter.untagged === true;
        await find(isIndexed ? "search" : "list", `/plants?${queryOf(given.page)}`, model.list(given.page));
        await find("count", `/plants/count?${queryOf(filter)}`, model.count(filter));
        await find("filtered export", `/plants/export?${queryOf(filter)}`, model.export(filter));
        // Counts of all tags may be older.
        if (isIndexed || filter.tag !== undefined) await find("filtered tags", `/tags?${queryOf(filter)}`, model.tags(filter));
        return;
      }
      case "sorted": {
        // The map has no such order: the engines are compared with each other.
        const { after: _after, ...asked } = given.page;
        const { status } = await send("GET", `/plants?${queryOf({ ...asked, sort: given.sort })}`);
        return compare("sorted", { status }, { status: model.list(asked).status });
      }
      case "import": {
        const body = given.rows.map(([of, plant]) => `${withId(of, plant)}\n`).join("");
        const onConflict = given.isReplacing ? "replace" : "refuse";
        const { status, body: text } = await send("POST", `/plants/import?onConflict=${onConflict}`, { body });
        const { problems: _, unusedColumns: _unused, ...counts } = JSON.parse(text) as Record<string, unknown>;
        return compare("import", { status, body: JSON.stringify(counts) }, model.import(given.rows, given.isReplacing));
      }
      case "export":
        return find("export", "/plants/export", model.export());
      case "restart":
        await restart();
        // A service that has just started counts tags again.
        return find("tags", "/tags", model.tags());
      case "odd": {
        const [method, target, body] = given.request;
        const { status } = await send(method, target, { body });
        return compare("odd", { status: Math.min(status, 500), body: "" }, { status: status < 500 ? status : 0 });
      }
    }
  }

  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: STEPS_MAX }), async (steps) => {
      const { body } = await send("GET", "/plants");
      for (const [, of] of body.matchAll(/"id":(-?\d+)/g)) await send("DELETE", `/plants/${of}`);
      const model = createModel();
      for (const one of steps) await run(model, one);
      await find("list", "/plants?limit=1000", model.list({ limit: 1000 }));
    }),
    { seed: seedOf("model"), numRuns },
  );
  for (const what of COMPARED) expect([what, (compared.get(what) ?? 0) > 10]).toEqual([what, true]);
  await Promise.all(services.map((service) => service.stop()));
}

function withId(of: bigint, plant: object): string {
  return `{"id":${of},${JSON.stringify(plant).slice(1)}`;
}

function queryOf(query: Readonly<Record<string, bigint | boolean | number | string>>): string {
  return Object.entries(query)
    .map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`)
    .join("&");
}
