import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { CATALOGUE } from "../../contract/generated/error-catalogue.ts";
import type { ErrorCode } from "../../src/domain/errors.ts";
import { expectConform } from "../support/conform.ts";
import { ENGINES } from "../support/engines.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import { sleepPatiently } from "../support/patient-clock.ts";
import { startProcess } from "../support/process.ts";
import { PATIENT } from "../support/service-process.ts";
import { readToken, startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { lockWrites } from "../support/write-lock.ts";

const OPERATION = { method: "POST", path: "/plants/changes" };

/** A plant without its id, or none, as JSON. */
type Side = Readonly<{ name: string; tag?: string }> | null;
type Change = Readonly<{ id: bigint; from: Side; to: Side }>;

type Answer = Readonly<{ changed: number; same: number; conflicts: number; failed: number }>;
type Outcomes = Answer & Readonly<{ outcomes: ReadonlyArray<Readonly<Record<string, unknown>>> }>;

function toBody(changes: readonly Change[]): string {
  const texts = changes.map(({ id, from, to }) => `{"id":${id},"from":${JSON.stringify(from)},"to":${JSON.stringify(to)}}`);
  return `{"changes":[${texts.join()}]}`;
}

function undo(changes: readonly Change[]): Change[] {
  return changes.map(({ id, from, to }) => ({ id, from: to, to: from }));
}

type Sender = Pick<TestService, "request">;

function send({ request }: Sender, body: string, headers: Record<string, string> = {}): Promise<Response> {
  return request("/plants/changes", { method: "POST", body, headers: { "content-type": "application/json", ...headers } });
}

async function change(service: Sender, changes: readonly Change[]): Promise<Outcomes> {
  const response = await send(service, toBody(changes));
  expect(response.status).toBe(200);
  const answer = (await expectConform(OPERATION, response)) as Outcomes;
  expect(answer.outcomes.length).toBe(changes.length);
  expect(answer.changed + answer.same + answer.conflicts + answer.failed).toBe(changes.length);
  return answer;
}

async function textOf({ request }: Sender, id: bigint): Promise<string> {
  const response = await request(`/plants/${id}`);
  return response.ok ? response.text() : String(response.status);
}

const MIN = -(2n ** 63n);
const MAX = 2n ** 63n - 1n;

for (const { engine, openFlags } of ENGINES) {
  describe(`many changes on ${engine}`, () => {
    let service: TestService;
    beforeAll(async () => {
      service = await startTestService(await openFlags());
    });
    afterAll(() => service.stop());

    it("are made, each with its outcome in order; again they are the same; with the sides exchanged they are undone", async () => {
      await service.post(`{"id":${MAX},"name":"Monstera"}`);
      await service.post(`{"id":${MAX - 1n},"name":"Ginkgo","tag":"tree"}`);
      const changes: Change[] = [
        { id: MAX, from: { name: "Monstera" }, to: { name: "Monstera", tag: "" } },
        { id: MIN, from: null, to: { name: "a\u0000🌿", tag: "new" } },
        { id: MAX - 1n, from: { name: "Ginkgo", tag: "tree" }, to: null },
      ];
      const ids = changes.map(({ id }) => id);
      const before = await Promise.all(ids.map((id) => textOf(service, id)));
      expect(await change(service, changes)).toMatchObject({ changed: 3, outcomes: ids.map(() => ({ outcome: "changed" })) });
      const after = await Promise.all(ids.map((id) => textOf(service, id)));
      expect(after).toEqual([`{"id":${MAX},"name":"Monstera","tag":""}`, `{"id":${MIN},"name":"a\\u0000🌿","tag":"new"}`, "404"]);
      expect(await change(service, changes)).toMatchObject({ changed: 0, same: 3 });
      expect(await Promise.all(ids.map((id) => textOf(service, id)))).toEqual(after);
      expect(await change(service, undo(changes))).toMatchObject({ changed: 3 });
      expect(await Promise.all(ids.map((id) => textOf(service, id)))).toEqual(before);
      const response = await send(service, toBody(changes));
      expect(await response.text()).toContain(`{"id":${MIN},"outcome":"changed"}`);
      await change(service, undo(changes));
    });

    it("of plants that are something else now are conflicts, with the plant as it is, and all others are made", async () => {
      for (const id of [1, 2, 3, 4]) await service.post(`{"id":${id},"name":"Aloe ${id}"}`);
      await service.request("/plants/2", { method: "DELETE" });
      const { outcomes, ...counts } = await change(service, [
        { id: 1n, from: { name: "Aloe 1" }, to: { name: "Aloe", tag: "x" } },
        { id: 2n, from: { name: "Aloe 2" }, to: { name: "Aloe", tag: "x" } },
        { id: 3n, from: { name: "Aloe 3", tag: "x" }, to: null },
        { id: 4n, from: null, to: { name: "Aloe" } },
        { id: 5n, from: null, to: { name: "Aloe" } },
      ]);
      expect(counts).toEqual({ changed: 2, same: 0, conflicts: 3, failed: 0 });
      expect(outcomes).toEqual([
        { id: 1, outcome: "changed" },
        { id: 2, outcome: "conflict", plant: null },
        { id: 3, outcome: "conflict", plant: { name: "Aloe 3" } },
        { id: 4, outcome: "conflict", plant: { name: "Aloe 4" } },
        { id: 5, outcome: "changed" },
      ]);
      expect(await Promise.all([1n, 3n, 4n].map((id) => textOf(service, id)))).toEqual([
        '{"id":1,"name":"Aloe","tag":"x"}',
        '{"id":3,"name":"Aloe 3"}',
        '{"id":4,"name":"Aloe 4"}',
      ]);
    });

    it("of which two requests want the same plant: exactly one makes each", async () => {
      const ids = Array.from({ length: 300 }, (_, at) => BigInt(10_000 + at));
      await change(
        service,
        ids.map((id) => ({ id, from: null, to: { name: "Aloe" } })),
      );
      const wanted = ["x", "y", "z"].map((tag) => ids.map((id) => ({ id, from: { name: "Aloe" }, to: { name: "Aloe", tag } })));
      const answers = await Promise.all(wanted.map((changes) => change(service, changes)));
      for (const at of ids.keys()) {
        const outcomes = answers.map(({ outcomes: all }) => all[at]!["outcome"]);
        expect(outcomes.filter((outcome) => outcome === "changed").length).toBe(1);
        expect(outcomes.filter((outcome) => outcome === "conflict").length).toBe(2);
      }
    });

    it("go to a token that may only write without the plants of others", async () => {
      const init = { method: "POST", body: '{"name":"writer","scopes":["plants:write"]}', headers: { "content-type": "application/json" } };
      const { token } = (await (await service.request("/tokens", init)).json()) as { token: string };
      await service.post('{"id":77,"name":"Secret"}');
      const response = await send(service, toBody([{ id: 77n, from: { name: "x" }, to: null }]), { authorization: `Bearer ${token}` });
      expect(await expectConform(OPERATION, response)).toMatchObject({ outcomes: [{ id: 77, outcome: "conflict" }] });
      const again = await send(service, toBody([{ id: 77n, from: { name: "x" }, to: null }]), { authorization: `Bearer ${token}` });
      expect(await again.text()).not.toContain("Secret");
    });

    it("of the largest plants are made, and conflicts show a million characters of them and no more", async () => {
      const name = "n".repeat(65_000);
      const ids = Array.from({ length: 30 }, (_, at) => BigInt(20_000 + at));
      for (const id of ids) await service.post(`{"id":${id},"name":"${name}"}`);
      expect(await change(service, [{ id: 20_000n, from: { name }, to: { name, tag: "x" } }])).toMatchObject({ changed: 1 });
      const { outcomes, conflicts } = await change(
        service,
        ids.map((id) => ({ id, from: { name: "x" }, to: null })),
      );
      expect(conflicts).toBe(30);
      const shown = outcomes.filter((outcome) => "plant" in outcome);
      expect(shown.length).toBeGreaterThan(14);
      expect(shown.length).toBeLessThan(20);
    });
  });
}

describe("many changes", () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService();
    await service.post('{"id":1,"name":"Aloe"}');
  });
  afterAll(() => service.stop());

  const FINE = '{"id":1,"from":{"name":"Aloe"},"to":null}';
  for (const { body, code, message, why } of [
    { why: "no changes", body: "{}", code: "invalid_body", message: "The field `changes` is missing: add it." },
    { why: "an empty list", body: '{"changes":[]}', code: "invalid_body", message: "must have 1 or more values" },
    {
      why: "more than a thousand",
      body: `{"changes":[${Array.from({ length: 1001 }, (_, id) => `{"id":${id},"from":null,"to":{"name":""}}`).join()}]}`,
      code: "invalid_body",
      message: "must have at most 1000 values: send the others in another request.",
    },
    { why: "a change that is none", body: `{"changes":[${FINE},7]}`, code: "invalid_body", message: "must be an object" },
    {
      why: "no side to",
      body: `{"changes":[${FINE},{"id":2,"from":{"name":"x"}}]}`,
      code: "invalid_body",
      message: 'The field `changes/1/to` is missing: add it, or send `"delete": true` to delete the plant.',
    },
    {
      why: "no side to, and a deletion that is denied",
      body: '{"changes":[{"id":1,"from":{"name":"Aloe"},"delete":false}]}',
      code: "invalid_body",
      message: "The field `changes/0/to` is missing",
    },
    {
      why: "a misspelt side to",
      body: '{"changes":[{"id":1,"from":{"name":"Aloe"},"too":{"name":"Acer"}}]}',
      code: "invalid_body",
      message: "The field `changes/0/too` is unknown: send only `id`, `from`, `to`, `delete`.",
    },
    {
      why: "a plant and its deletion",
      body: '{"changes":[{"id":1,"from":{"name":"Aloe"},"to":{"name":"Acer"},"delete":true}]}',
      code: "invalid_body",
      message: "`changes/0` has both `to` and `delete`",
    },
    {
      why: "a deletion that is no boolean",
      body: '{"changes":[{"id":1,"from":{"name":"Aloe"},"delete":"true"}]}',
      code: "invalid_body",
      message: "`changes/0/delete` must be a boolean",
    },
    {
      why: "the deletion of nothing",
      body: '{"changes":[{"id":1,"delete":true}]}',
      code: "invalid_body",
      message: "`changes/0` has no plant",
    },
    {
      why: "another id in a side",
      body: '{"changes":[{"id":1,"from":{"id":2,"name":"Aloe"},"to":null}]}',
      code: "invalid_body",
      message: "`changes/0` has two ids",
    },
    { why: "no name", body: '{"changes":[{"id":1,"from":{"tag":"x"},"to":null}]}', code: "invalid_body", message: "`changes/0/from/name`" },
    {
      why: "tag null",
      body: '{"changes":[{"id":1,"from":{"name":"x","tag":null},"to":null}]}',
      code: "invalid_body",
      message: "from/tag` must be a string",
    },
    {
      why: "an id with a fraction",
      body: '{"changes":[{"id":1.5,"from":{"name":"x"},"to":null}]}',
      code: "invalid_body",
      message: "`changes/0/id`",
    },
    { why: "an id outside int64", body: '{"changes":[{"id":9223372036854775808,"from":{"name":"x"},"to":null}]}', code: "invalid_body" },
    {
      why: "a plant twice",
      body: `{"changes":[${FINE},{"id":1e0,"from":null,"to":{"name":"x"}}]}`,
      code: "invalid_body",
      message: "`changes/0` and `changes/1` name the same plant",
    },
    {
      why: "no plant at all",
      body: `{"changes":[${FINE},{"id":2,"from":null,"to":null}]}`,
      code: "invalid_body",
      message: "`changes/1` has no plant",
    },
    { why: "a key twice in a change", body: '{"changes":[{"id":1,"id":2,"from":{"name":"Aloe"},"to":null}]}', code: "duplicate_key" },
    { why: "a key twice in a side", body: '{"changes":[{"id":1,"from":{"name":"Aloe","name":"Aloe"},"to":null}]}', code: "duplicate_key" },
    {
      why: "a side twice, once null",
      body: '{"changes":[{"id":1,"from":{"name":"Aloe"},"from":null,"to":{"name":"x"}}]}',
      code: "duplicate_key",
    },
    { why: "the list twice", body: `{"changes":[${FINE}],"changes":[]}`, code: "duplicate_key" },
    { why: "a lone surrogate", body: '{"changes":[{"id":1,"from":{"name":"Aloe"},"to":{"name":"\\ud800"}}]}', code: "invalid_unicode" },
    { why: "too much", body: `{"changes":[${FINE}]${" ".repeat(4 * 65_536)}}`, code: "body_too_large" },
    {
      why: "a plant larger than a create could make",
      body: `{"changes":[${FINE},{"id":2,"from":null,"to":{"name":"${"é".repeat(32_768)}","tag":"x"}}]}`,
      code: "body_too_large",
      message: "The name and tag in `changes/1/to` have more than 65536 bytes",
    },
  ] as ReadonlyArray<{ why: string; body: string; code: ErrorCode; message?: string }>) {
    it(`are refused as a whole with ${why}, and nothing changes`, async () => {
      const { error, message: said } = (await expectConform(OPERATION, await send(service, body))) as { error: number; message: string };
      expect(error).toBe(CATALOGUE[code].error);
      expect(said).toContain(message ?? "");
      expect(await textOf(service, 1n)).toBe('{"id":1,"name":"Aloe"}');
    });
  }

  for (const { why, first, again } of [
    { why: "a create without from, undone with delete", first: '"to":{"name":"Acer"}', again: '"from":{"name":"Acer"},"delete":true' },
    { why: "a create that says it is no deletion", first: '"from":null,"to":{"name":"Acer"},"delete":false' },
    { why: "the id in a side", first: '"to":{"id":5e1,"name":"Acer"}', again: '"from":{"id":50,"name":"Acer"},"to":null,"delete":true' },
  ])
    it(`need no null: ${why}`, async () => {
      expect(await (await send(service, `{"changes":[{"id":50,${first}}]}`)).json()).toMatchObject({ changed: 1 });
      expect(await textOf(service, 50n)).toBe('{"id":50,"name":"Acer"}');
      const undone = await send(service, `{"changes":[{"id":50,${again ?? '"from":{"name":"Acer"},"to":null'}}]}`);
      expect(await undone.json()).toMatchObject({ changed: 1 });
      expect(await textOf(service, 50n)).toBe("404");
    });

  it("all end in the store when only three of them may wait at a time", async () => {
    const small = await startTestService({ queueMax: "3" });
    // Few: those that have not begun within five seconds are refused.
    const changes = Array.from({ length: 30 }, (_, id) => ({ id: BigInt(id), from: null, to: { name: "Aloe" } }));
    expect(await change(small, changes)).toMatchObject({ changed: 30 });
    expect(((await (await small.request("/plants?limit=1000")).json()) as unknown[]).length).toBe(30);
    await small.stop();
  });

  it("that failed are told beside those that were made", async () => {
    const data = temporaryFolder();
    const small = await startTestService({ data, queueMax: "1", queueWaitMs: "300" });
    const unlock = await lockWrites({ data });
    const answer = change(
      small,
      Array.from({ length: 10 }, (_, id) => ({ id: BigInt(id), from: null, to: { name: "Aloe" } })),
    );
    // The first one is given up meanwhile. There was no room for the others, which are tried again.
    await sleepPatiently(600);
    await unlock();
    const { outcomes, changed } = await answer;
    const { error, message } = CATALOGUE.store_unavailable;
    expect(outcomes[0]).toEqual({ id: 0, outcome: "failed", error, message });
    expect(changed).toBeGreaterThan(0);
    await small.stop();
  });

  it("of which one fails for a reason that nobody foresaw are answered 500, though others are made: no outcome says why", async () => {
    const data = temporaryFolder();
    const own = await startTestService({ data });
    const other = new DatabaseSync(join(data, "plants.db"));
    other.exec("CREATE TRIGGER broken BEFORE INSERT ON plants WHEN new.id = 500 BEGIN SELECT RAISE(ABORT, 'broken'); END");
    other.close();
    const changes = Array.from({ length: 1000 }, (_, id) => ({ id: BigInt(id), from: null, to: { name: "Aloe" } }));
    const response = await send(own, toBody(changes));
    expect(response.status).toBe(500);
    await expectConform(OPERATION, response);
    expect([await textOf(own, 0n), await textOf(own, 500n)]).toEqual(['{"id":0,"name":"Aloe"}', "404"]);
    expect((await own.post('{"id":1001,"name":"Acer"}')).status).toBe(200);
    await own.stop();
  });

  it("do not begin once they waited for five seconds: then the store is not asked for them any more", async () => {
    const data = temporaryFolder();
    const small = await startTestService({ data, queueMax: "1", queueWaitMs: "300", logChanges: "each" });
    const unlock = await lockWrites({ data });
    const changes = Array.from({ length: 20 }, (_, id) => ({ id: BigInt(id), from: null, to: { name: "Aloe" } }));
    const response = await send(small, toBody(changes));
    expect(response.status).toBe(503);
    await expectConform(OPERATION, response);
    await unlock();
    await small.stop();
    const asked = small.logged.filter((line) => line.includes('"plant_changed"'));
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.length).toBeLessThan(changes.length);
  });

  it("leave other tokens room, and their own token no more than half of what may run", async () => {
    const init = { method: "POST", body: '{"name":"other","scopes":["plants:write"]}', headers: { "content-type": "application/json" } };
    const { token } = (await (await service.request("/tokens", init)).json()) as { token: string };
    const unfinished = Array.from({ length: 8 }, () => {
      const stop = new AbortController();
      const body = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode('{"changes":')) });
      const options = { method: "POST", body, headers: { authorization: `Bearer ${service.token}` }, signal: stop.signal };
      return {
        stop,
        status: fetch(`${service.url}/plants/changes`, options).then(
          ({ status }) => status,
          () => 0,
        ),
      };
    });
    const refused = await Promise.race([Promise.all(unfinished.slice(4).map(({ status }) => status)), sleepPatiently(5000)]);
    expect(refused).toEqual([503, 503, 503, 503]);
    const response = await send(service, `{"changes":[{"id":900,"from":null,"to":{"name":"x"}}]}`, { authorization: `Bearer ${token}` });
    expect(response.status).toBe(200);
    for (const { stop } of unfinished) stop.abort();
  });

  it("are counted in the log as what they were", async () => {
    const own = await startTestService({ logChanges: "each" });
    const changes: Change[] = [1n, 2n, 3n].map((id) => ({ id, from: null, to: { name: "Aloe" } }));
    await change(own, changes);
    await change(own, [
      { ...changes[0]!, from: { name: "x" } },
      { id: 2n, from: { name: "Aloe" }, to: { name: "Aloe", tag: "t" } },
    ]);
    await change(own, [{ id: 3n, from: { name: "Aloe" }, to: null }]);
    await own.stop();
    const lines = own.logged.filter((line) => line.includes('"plant_changed"')).map((line) => JSON.parse(line) as Record<string, string>);
    expect(lines.map(({ change: what, id, outcome }) => `${what} ${id} ${outcome}`)).toEqual([
      "created 1 done",
      "created 2 done",
      "created 3 done",
      "replaced 2 done",
      "deleted 3 done",
    ]);
  });
});

/** How many of a thousand changes are made, though each has an outcome that says so. */
async function countMade(root?: string): Promise<Readonly<{ said: number; made: number }>> {
  const data = temporaryFolder();
  const running = await startProcess({ data, flags: PATIENT, ...(root === undefined ? {} : { root }) });
  const authorization = `Bearer ${await readToken(data)}`;
  const request: TestService["request"] = (path, init = {}) =>
    fetch(`${running.url}${path}`, { ...init, headers: { authorization, ...init.headers } });
  const changes = Array.from({ length: 1000 }, (_, id) => ({ id: BigInt(id), from: null, to: { name: "Aloe" } }));
  const { changed } = (await (await send({ request }, toBody(changes))).json()) as Outcomes;
  const made = ((await (await request("/plants?limit=1000")).json()) as unknown[]).length;
  await running.end("SIGTERM");
  return { said: changed, made };
}

it("a thousand changes are made as the outcomes say", async () => {
  expect(await countMade()).toEqual({ said: 1000, made: 1000 });
});

it("would visibly not be made if one was lost without a word", async () => {
  const lost = {
    file: "src/http/bulk-changes.ts",
    from: "return await swapOne(swap, who);",
    to: 'return idOf(swap) === 500n ? { kind: "changed" } : await swapOne(swap, who);',
  };
  expect(await countMade(plantBugs([lost]))).toEqual({ said: 1000, made: 999 });
});
