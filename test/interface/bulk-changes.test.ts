import { afterAll, describe, expect, it } from "bun:test";
import { CATALOGUE } from "../../contract/generated/error-catalogue.ts";
import type { ErrorCode } from "../../src/domain/errors.ts";
import { expectConform } from "../support/conform.ts";
import { sleepPatiently } from "../support/patient-clock.ts";
import { ENGINE, startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { lockWrites } from "../support/write-lock.ts";

const OPERATION = { method: "POST", path: "/plants/changes" };

/** A plant without its id, or none, as JSON. */
type Side = Readonly<{ name: string; tag?: string }> | null;
type Change = Readonly<{ id: bigint; from: Side; to: Side }>;
type Answer = Readonly<{ changed: number; same: number; conflicts: number; failed: number }>;
type Outcomes = Answer & Readonly<{ outcomes: ReadonlyArray<Readonly<Record<string, unknown>>> }>;

const service = await startTestService();
afterAll(() => service.stop());

function toBody(changes: readonly Change[]): string {
  const texts = changes.map(({ id, from, to }) => `{"id":${id},"from":${JSON.stringify(from)},"to":${JSON.stringify(to)}}`);
  return `{"changes":[${texts.join()}]}`;
}

/** Changes that create plants with these ids, from 0 on. */
function creates(count: number, name = "Aloe"): Change[] {
  return Array.from({ length: count }, (_, id) => ({ id: BigInt(id), from: null, to: { name } }));
}

function undo(changes: readonly Change[]): Change[] {
  return changes.map(({ id, from, to }) => ({ id, from: to, to: from }));
}

function send(body: string, { on = service, token = on.token }: { on?: TestService; token?: string } = {}): Promise<Response> {
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  return on.request("/plants/changes", { method: "POST", body, headers });
}

async function change(changes: readonly Change[], on: TestService = service): Promise<Outcomes> {
  const response = await send(toBody(changes), { on });
  expect(response.status).toBe(200);
  const answer = (await expectConform(OPERATION, response)) as Outcomes;
  expect(answer.outcomes.length).toBe(changes.length);
  expect(answer.changed + answer.same + answer.conflicts + answer.failed).toBe(changes.length);
  return answer;
}

async function textOf(id: bigint | number, on: TestService = service): Promise<string> {
  const response = await on.request(`/plants/${id}`);
  return response.ok ? response.text() : String(response.status);
}

async function makeWriter(): Promise<string> {
  const init = { method: "POST", body: '{"name":"writer","scopes":["plants:write"]}', headers: { "content-type": "application/json" } };
  return ((await (await service.request("/tokens", init)).json()) as { token: string }).token;
}

const MIN = -(2n ** 63n);
const MAX = 2n ** 63n - 1n;

describe("many changes", () => {
  it("are made, each with its outcome in order; again they are the same; with the sides exchanged they are undone", async () => {
    await service.post(`{"id":${MAX},"name":"Monstera"}`);
    await service.post(`{"id":${MAX - 1n},"name":"Ginkgo","tag":"tree"}`);
    const changes: Change[] = [
      { id: MAX, from: { name: "Monstera" }, to: { name: "Monstera", tag: "" } },
      { id: MIN, from: null, to: { name: "a\u0000🌿", tag: "new" } },
      { id: MAX - 1n, from: { name: "Ginkgo", tag: "tree" }, to: null },
    ];
    const texts = () => Promise.all(changes.map(({ id }) => textOf(id)));
    const before = await texts();
    const response = await send(toBody(changes));
    expect(await response.text()).toContain(`{"id":${MIN},"outcome":"changed"}`);
    const after = await texts();
    expect(after).toEqual([`{"id":${MAX},"name":"Monstera","tag":""}`, `{"id":${MIN},"name":"a\\u0000🌿","tag":"new"}`, "404"]);
    expect(await change(changes)).toMatchObject({ changed: 0, same: 3 });
    expect(await texts()).toEqual(after);
    expect(await change(undo(changes))).toMatchObject({ changed: 3, outcomes: changes.map(() => ({ outcome: "changed" })) });
    expect(await texts()).toEqual(before);
  });

  it("are conflicts where the plant has changed, with the plant as it is, and all others are made", async () => {
    for (const id of [1, 3, 4]) await service.post(`{"id":${id},"name":"Aloe ${id}"}`);
    const { outcomes, ...counts } = await change([
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
    expect(await Promise.all([1, 3, 4].map((id) => textOf(id)))).toEqual([
      '{"id":1,"name":"Aloe","tag":"x"}',
      '{"id":3,"name":"Aloe 3"}',
      '{"id":4,"name":"Aloe 4"}',
    ]);
  });

  it("are each made by exactly one of several requests that want the same plants", async () => {
    const made = creates(300).map((one) => ({ ...one, id: one.id + 10_000n }));
    await change(made);
    const answers = await Promise.all(
      ["x", "y", "z"].map((tag) => change(made.map(({ id, to }) => ({ id, from: to, to: { ...to!, tag } })))),
    );
    for (const at of made.keys())
      expect(answers.map(({ outcomes }) => String(outcomes[at]!["outcome"])).toSorted()).toEqual(["changed", "conflict", "conflict"]);
  });

  it("a thousand are made as the outcomes say", async () => {
    const own = await startTestService();
    expect(await change(creates(1000), own)).toMatchObject({ changed: 1000 });
    expect(await (await own.request("/plants?limit=1000")).json()).toHaveLength(1000);
    await own.stop();
  });

  it("go to a token that may only write without the plants of others", async () => {
    await service.post('{"id":77,"name":"Secret"}');
    const response = await send(toBody([{ id: 77n, from: { name: "x" }, to: null }]), { token: await makeWriter() });
    expect(await response.clone().text()).not.toContain("Secret");
    expect(await expectConform(OPERATION, response)).toMatchObject({ outcomes: [{ id: 77, outcome: "conflict" }] });
  });

  it("are made to the largest plants, and conflicts show a million characters of them and no more", async () => {
    const name = "n".repeat(65_000);
    const large = creates(30, name).map((one) => ({ ...one, id: one.id + 20_000n }));
    for (const one of large) await service.request(`/plants/${one.id}`, { method: "PUT", body: JSON.stringify(one.to) });
    expect(await change([{ id: 20_000n, from: { name }, to: { name, tag: "x" } }])).toMatchObject({ changed: 1 });
    const { outcomes, conflicts } = await change(large.map(({ id }) => ({ id, from: { name: "x" }, to: null })));
    expect(conflicts).toBe(30);
    expect(outcomes.filter((outcome) => "plant" in outcome).length).toBeWithin(15, 20);
  });

  const LARGE = `{"id":2,"from":null,"to":{"name":"${"é".repeat(32_768)}","tag":"x"}}`;
  const FINE = '{"id":1,"from":{"name":"Aloe"},"to":null}';
  for (const [why, changes, code, message = ""] of [
    ["an empty list", "", "invalid_body", "must have 1 or more values"],
    ["more than a thousand", Array.from({ length: 1001 }, () => FINE).join(), "invalid_body", "must have at most 1000 values"],
    ["a change that is none", `${FINE},7`, "invalid_body", "must be an object"],
    ["no side to", `${FINE},{"id":2,"from":{"name":"x"}}`, "invalid_body", '`changes/1/to` is missing: add it, or send `"delete": true`'],
    ["a plant and its deletion", '{"id":1,"from":null,"to":{"name":"x"},"delete":true}', "invalid_body", "has both `to` and `delete`"],
    ["the deletion of nothing", '{"id":1,"delete":true}', "invalid_body", "`changes/0` has no plant"],
    ["another id in a side", '{"id":1,"from":{"id":2,"name":"Aloe"},"to":null}', "invalid_body", "`changes/0` has two ids"],
    ["no name", '{"id":1,"from":{"tag":"x"},"to":null}', "invalid_body", "`changes/0/from/name`"],
    ["tag null", '{"id":1,"from":{"name":"x","tag":null},"to":null}', "invalid_body", "from/tag` must be a string"],
    ["an id outside int64", '{"id":9223372036854775808,"from":{"name":"x"},"to":null}', "invalid_body", "`changes/0/id`"],
    [
      "a plant twice",
      `${FINE},{"id":1e0,"from":null,"to":{"name":"x"}}`,
      "invalid_body",
      "`changes/0` and `changes/1` name the same plant",
    ],
    ["no plant at all", `${FINE},{"id":2,"from":null,"to":null}`, "invalid_body", "`changes/1` has no plant"],
    ["a key twice in a side", '{"id":1,"from":{"name":"Aloe","name":"Aloe"},"to":null}', "duplicate_key"],
    ["a side twice, once null", '{"id":1,"from":{"name":"Aloe"},"from":null,"to":{"name":"x"}}', "duplicate_key"],
    ["a lone surrogate", '{"id":1,"from":{"name":"Aloe"},"to":{"name":"\\ud800"}}', "invalid_unicode"],
    ["too much", `${FINE}${" ".repeat(4 * 65_536)}`, "body_too_large"],
    ["a plant larger than a create could make", `${FINE},${LARGE}`, "body_too_large", "`changes/1/to` have more than 65536 bytes"],
  ] as ReadonlyArray<readonly [why: string, changes: string, code: ErrorCode, message?: string]>) {
    it(`are refused as a whole with ${why}, and nothing changes`, async () => {
      await service.request("/plants/1", { method: "PUT", body: '{"name":"Aloe"}' });
      const refusal = (await expectConform(OPERATION, await send(`{"changes":[${changes}]}`))) as { error: number; message: string };
      expect(refusal).toEqual({ error: CATALOGUE[code].error, message: expect.stringContaining(message) });
      expect(await textOf(1)).toBe('{"id":1,"name":"Aloe"}');
    });
  }

  for (const [why, first, again] of [
    ["a create without from, undone with delete", '"to":{"name":"Acer"}', '"from":{"name":"Acer"},"delete":true'],
    ["a create that says it is no deletion", '"from":null,"to":{"name":"Acer"},"delete":false', '"from":{"name":"Acer"},"to":null'],
    ["the id in a side", '"to":{"id":5e1,"name":"Acer"}', '"from":{"id":50,"name":"Acer"},"to":null,"delete":true'],
  ])
    it(`need no null: ${why}`, async () => {
      for (const [sides, text] of [
        [first, '{"id":50,"name":"Acer"}'],
        [again, "404"],
      ]) {
        expect(await (await send(`{"changes":[{"id":50,${sides}}]}`)).json()).toMatchObject({ changed: 1 });
        expect(await textOf(50)).toBe(text!);
      }
    });

  it.skipIf(ENGINE === "PostgreSQL")("are reported as failed beside those that were made", async () => {
    const data = temporaryFolder();
    const small = await startTestService({ data, queueMax: "1", queueWaitMs: "300" });
    const unlock = await lockWrites({ data });
    const answer = change(creates(10), small);
    // The first one is given up meanwhile. There was no room for the others, which are tried again.
    await sleepPatiently(600);
    await unlock();
    const { outcomes, changed } = await answer;
    expect(outcomes[0]).toEqual({ id: 0, outcome: "failed", ...CATALOGUE.store_unavailable });
    expect(changed).toBeGreaterThan(0);
    await small.stop();
  });

  it.skipIf(ENGINE === "PostgreSQL")(
    "do not begin once they waited for five seconds: then the store is no longer asked for them",
    async () => {
      const data = temporaryFolder();
      const small = await startTestService({ data, queueMax: "1", queueWaitMs: "300", logChanges: "each" });
      const unlock = await lockWrites({ data });
      const response = await send(toBody(creates(20)), { on: small });
      expect(response.status).toBe(503);
      await expectConform(OPERATION, response);
      await unlock();
      await small.stop();
      expect(small.logged.filter((line) => line.includes('"plant_changed"')).length).toBeWithin(1, 20);
    },
  );
});
