import { afterAll, describe, expect, it } from "bun:test";
import { CATALOGUE } from "../../contract/generated/error-catalogue.ts";
import type { ErrorCode } from "../../src/domain/errors.ts";
import { parsePlantId } from "../../src/domain/plant.ts";
import { expectConform } from "../support/conform.ts";
import { startTestService } from "../support/service.ts";

const service = await startTestService();
afterAll(() => service.stop());

const PATH = "/plants/{id}";

type Method = "GET" | "PUT" | "PATCH" | "DELETE";
type Sent = Readonly<{ body?: string; headers?: Record<string, string> }>;

function send(method: Method | "HEAD", id: number | string, { body, headers = {} }: Sent = {}): Promise<Response> {
  const typed = body === undefined ? {} : { "content-type": "application/json" };
  return service.request(`/plants/${id}`, { method, ...(body === undefined ? {} : { body }), headers: { ...typed, ...headers } });
}

async function expectRefused(method: Method, response: Response, code: ErrorCode): Promise<string> {
  const { error, message } = (await expectConform({ method, path: PATH }, response)) as { error: number; message: string };
  expect(error).toBe(CATALOGUE[code].error);
  return message;
}

/** Asserts a success with this plant and its location, and that a read there gives the same plant and tag. */
async function expectAnswered(method: Method, response: Response, text: string, status = 200): Promise<void> {
  expect([response.status, await response.clone().text()]).toEqual([status, text]);
  await expectConform({ method, path: PATH }, response);
  // Relative, so that it also leads to the plant behind a proxy that serves the service under a path.
  const behindProxy = response.url.replace("/plants/", "/my/store/plants/");
  expect(new URL(response.headers.get("content-location")!, behindProxy).href).toBe(behindProxy);
  const read = await service.request(new URL(response.url).pathname);
  expect([await read.text(), read.headers.get("etag")]).toEqual([text, response.headers.get("etag")]);
}

/** Puts the plant, and returns its tag. */
async function given(id: number | string, body: string): Promise<string> {
  const response = await send("PUT", id, { body });
  expect([200, 201]).toContain(response.status);
  return response.headers.get("etag")!;
}

async function textOf(id: number | string): Promise<string> {
  return (await send("GET", id)).text();
}

const ALOE = '{"name":"Aloe vera","tag":"x"}';
const stored = (id: number) => `{"id":${id},"name":"Aloe vera","tag":"x"}`;

describe("GET /plants/{id}", () => {
  it("answers the plant with its id and the ETag of the create; HEAD the same without the body", async () => {
    const created = await service.post('{"id":20,"name":"Monstera deliciosa","tag":"tropical"}');
    const response = await send("GET", 20);
    expect([response.status, response.headers.get("etag")]).toEqual([200, created.headers.get("etag")]);
    expect(await response.clone().text()).toBe('{"id":20,"name":"Monstera deliciosa","tag":"tropical"}');
    await expectConform({ method: "GET", path: PATH }, response);
    const head = await send("HEAD", 20);
    expect([head.status, head.headers.get("etag"), await head.text()]).toEqual([200, created.headers.get("etag"), ""]);
  });

  it("takes an id in one written form only", () => {
    for (const text of ["", "-", "+1", "01", "-01", "1.0", "1e3", " 1", "1\n", "9223372036854775808", "-9223372036854775809"])
      expect(parsePlantId(text), text).toBeUndefined();
    expect(parsePlantId("-9223372036854775808")).toBe(-(2n ** 63n) as never);
  });
});

describe("PUT /plants/{id}", () => {
  for (const [why, id, body, text] of [
    ["creates a plant, answers the same again, and replaces another", 1, ALOE, stored(1)],
    ["removes a tag that is left out", 1, '{"name":"Aloe ferox"}', '{"id":1,"name":"Aloe ferox"}'],
    ["accepts the id of the path in the body, in any form", 1000, '{"id":1e3,"name":"a"}', '{"id":1000,"name":"a"}'],
    ["keeps empty text", 1, '{"name":"","tag":""}', '{"id":1,"name":"","tag":""}'],
    ["is exact at the smallest id", "-9223372036854775808", '{"name":"least"}', '{"id":-9223372036854775808,"name":"least"}'],
    ["is exact at the largest id", "9223372036854775807", '{"name":"greatest"}', '{"id":9223372036854775807,"name":"greatest"}'],
  ] as const)
    it(`${why}: ${body}`, async () => {
      await send("DELETE", id);
      await expectAnswered("PUT", await send("PUT", id, { body }), text, 201);
      await expectAnswered("PUT", await send("PUT", id, { body }), text);
      await send("PUT", id, { body: '{"name":"another","tag":"another"}' });
      await expectAnswered("PUT", await send("PUT", id, { body }), text);
    });
});

describe("PATCH /plants/{id}", () => {
  const TYPES = ["application/json", "application/merge-patch+json"];
  for (const [why, patch, text] of [
    ["changes the name alone", '{"name":"b"}', '{"id":3,"name":"b","tag":"x"}'],
    ["changes the tag alone", '{"tag":"y"}', '{"id":3,"name":"Aloe vera","tag":"y"}'],
    ["removes the tag", '{"tag":null}', '{"id":3,"name":"Aloe vera"}'],
    ["sets both to the empty text", '{"name":"","tag":""}', '{"id":3,"name":"","tag":""}'],
    ["changes nothing if it names nothing", "{}", stored(3)],
    ["may repeat the id in any form", '{"id":3.0}', stored(3)],
    ["removes the tag for a client that cannot send null", '{"untagged":true}', '{"id":3,"name":"Aloe vera"}'],
    ["sets a tag if its removal is denied", '{"untagged":false,"tag":"y"}', '{"id":3,"name":"Aloe vera","tag":"y"}'],
  ] as const)
    it(`${why}: ${patch}`, async () => {
      for (const type of TYPES) {
        await given(3, ALOE);
        await expectAnswered("PATCH", await send("PATCH", 3, { body: patch, headers: { "content-type": type } }), text);
      }
    });

  const ACCEPTED = "application/merge-patch+json, application/json";
  const OTHERS = ["json-patch+json", "json-patch-query+json", "vnd.plants+json", "merge-patch+json2", "merge-patch"];
  it("takes only the types that mean a merge patch: 415 and Accept-Patch name them, and the plant stays", async () => {
    await given(4, ALOE);
    for (const type of [...OTHERS.map((name) => `application/${name}`), "text/json"]) {
      const response = await send("PATCH", 4, { body: '{"tag":null}', headers: { "content-type": type } });
      expect([response.headers.get("accept-patch"), response.headers.get("accept")]).toEqual([ACCEPTED, ACCEPTED]);
      expect(await expectRefused("PATCH", response, "unsupported_media_type")).toContain("application/merge-patch+json");
    }
    expect(await textOf(4)).toBe(stored(4));
    for (const type of ["Application/Merge-Patch+JSON ; charset=UTF-8", 'application/json; charset="utf-8"'])
      expect((await send("PATCH", 4, { body: "{}", headers: { "content-type": type } })).status).toBe(200);
    for (const [path, accepted] of [
      ["/plants/4", ACCEPTED],
      ["/plants", null],
      ["/tokens/x", null],
    ] as const)
      expect((await service.request(path, { method: "OPTIONS" })).headers.get("accept-patch")).toBe(accepted);
  });
});

// Whatever else is wrong with a body: operations.test.ts and plants.test.ts.
for (const [method, body, code, field] of [
  ["PUT", '{"id":3,"name":"x"}', "invalid_body", "`id`"],
  ["PUT", '{"tag":"x"}', "invalid_body", "`name`"],
  ["PUT", '{"name":"x","tag":null}', "invalid_body", "`tag`"],
  ["PUT", `{"name":"${"x".repeat(70_000)}"}`, "body_too_large", "65536"],
  ["PATCH", '{"name":null}', "invalid_body", "`name`"],
  ["PATCH", '{"tag":5}', "invalid_body", "`tag`"],
  ["PATCH", '{"tag":"","untagged":true}', "invalid_body", "`untagged`"],
  ["PATCH", '{"nmae":"b"}', "invalid_body", "`nmae` is unknown: send only `id`, `name`, `tag`, `untagged`."],
  ["PATCH", '{"id":4}', "invalid_body", "`id`"],
  ["PATCH", '{"tag":null,"tag":"x"}', "duplicate_key", "twice"],
] as const)
  it(`${method} /plants/{id} refuses ${body.slice(0, 40)} as ${code}, and keeps the plant`, async () => {
    await given(2, ALOE);
    expect(await expectRefused(method, await send(method, 2, { body }), code)).toContain(field);
    expect(await textOf(2)).toBe(stored(2));
  });

it("DELETE /plants/{id} answers 204 without a body, and the plant is gone; a second one answers 404", async () => {
  await given(5, ALOE);
  const response = await send("DELETE", 5);
  expect(response.status).toBe(204);
  await expectConform({ method: "DELETE", path: PATH }, response);
  expect(await expectConform({ method: "GET", path: PATH }, await send("GET", 5))).toEqual(CATALOGUE.plant_not_found);
  await expectRefused("DELETE", await send("DELETE", 5), "plant_not_found");
});

/** A request that any plant allows. */
const REQUESTS = { GET: {}, PUT: { body: '{"name":"changed"}' }, PATCH: { body: '{"name":"changed"}' }, DELETE: {} } as const;

/** Conditions of a request to a plant with this tag, and whether they let a change through, and a read. */
const CONDITIONS: ReadonlyArray<readonly [headers: (etag: string) => Record<string, string>, isMade: boolean, read: number]> = [
  [(etag) => ({ "if-match": etag }), true, 200],
  [(etag) => ({ "if-match": `"a" ,${etag}, "b"` }), true, 200],
  [() => ({ "if-match": "*" }), true, 200],
  [() => ({ "if-match": '"other"' }), false, 412],
  [(etag) => ({ "if-match": `W/${etag}` }), false, 412],
  [(etag) => ({ "if-match": etag.slice(1, -1) }), false, 412],
  [() => ({ "if-none-match": "*" }), false, 304],
  [(etag) => ({ "if-none-match": etag }), false, 304],
  [(etag) => ({ "if-none-match": `W/${etag}` }), false, 304],
  [() => ({ "if-none-match": '"other", W/"another"' }), true, 200],
  [() => ({ "if-none-match": `, W/"a,*,b",\t"" ,` }), true, 200],
  // They were meant to protect something.
  ...["*, *", "*,", '"a", *', "garbage", '"a" "b"', '"a'].map((value) => [() => ({ "if-none-match": value }), false, 200] as const),
  [(etag) => ({ "if-match": etag, "if-none-match": '"other"' }), true, 200],
  [(etag) => ({ "if-match": etag, "if-none-match": etag }), false, 304],
  [(etag) => ({ "if-match": '"other"', "if-none-match": etag }), false, 412],
];

for (const method of ["GET", "PUT", "PATCH", "DELETE"] as const) {
  describe(`the conditions of ${method} /plants/{id}`, () => {
    for (const [headers, isMade, read] of CONDITIONS) {
      const success = { GET: read, PUT: 200, PATCH: 200, DELETE: 204 }[method];
      const status = method === "GET" || isMade ? success : 412;
      it(`${JSON.stringify(headers('"tag"'))} give ${status}${status === 412 ? ", and the plant stays" : ""}`, async () => {
        const etag = await given(6, ALOE);
        const response = await send(method, 6, { ...REQUESTS[method], headers: headers(etag) });
        expect(response.status).toBe(status);
        if (status === 304) expect(response.headers.get("etag")).toBe(etag);
        await expectConform({ method, path: PATH }, response);
        if (status === 412) expect(await textOf(6)).toBe(stored(6));
      });
    }

    for (const [why, toTag, isAltered] of [
      ["made weak, as by nginx", (etag: string) => `W/${etag}`, true],
      ["with the suffix of Apache", (etag: string) => etag.replace(/"$/, '-gzip"'), true],
      ["altered, in a list", (etag: string) => `"other", W/${etag}`, true],
      ["of an earlier version", () => '"-_34567890123456789012"', false],
    ] as const)
      it(`If-Match with the tag ${why} is answered 412 ${isAltered ? "with a message that names the proxy" : "with the usual message"}`, async () => {
        const etag = await given(6, ALOE);
        const response = await send(method, 6, { ...REQUESTS[method], headers: { "if-match": toTag(etag) } });
        const message = await expectRefused(method, response, "precondition_failed");
        expect(message).toMatch(isAltered ? /proxy that altered it \(nginx: gzip off\)/ : /^The plant does not meet the condition/);
      });

    it("give 404 where there is no plant; a PUT is created by If-None-Match, and stopped by If-Match", async () => {
      for (const header of ["if-match", "if-none-match"])
        for (const value of ["*", '"other"']) {
          await send("DELETE", 7);
          const response = await send(method, 7, { ...REQUESTS[method], headers: { [header]: value } });
          const status = method === "PUT" ? (header === "if-match" ? 412 : 201) : 404;
          expect([header, value, response.status]).toEqual([header, value, status]);
          await expectConform({ method, path: PATH }, response);
          expect((await send("GET", 7)).status).toBe(status === 201 ? 200 : 404);
        }
    });
  });
}

it("plants whose names and tags are the same text in a row have different tags", async () => {
  const etags = [await given(8, '{"name":"a:b"}'), await given(8, '{"name":"a","tag":"b"}'), await given(8, '{"name":"a:b","tag":""}')];
  expect(new Set(etags).size).toBe(3);
});

it("a PUT or PATCH that changes nothing must still meet its condition", async () => {
  await given(8, ALOE);
  for (const method of ["PUT", "PATCH"] as const)
    await expectRefused(method, await send(method, 8, { body: ALOE, headers: { "if-match": '"other"' } }), "precondition_failed");
});

describe("of changes of one plant at the same moment", () => {
  const MANY = Array.from({ length: 50 }, (_, at) => at);
  const sendAll = (method: Method, id: number, sent: (at: number) => Sent) => Promise.all(MANY.map((at) => send(method, id, sent(at))));
  const REST = MANY.slice(1);

  for (const [why, method, headers, success, others] of [
    ["one PATCH with the same If-Match", "PATCH", (etag: string) => ({ "if-match": etag }), 200, 412],
    ["one PUT with If-None-Match: *", "PUT", () => ({ "if-none-match": "*" }), 201, 412],
    ["one DELETE", "DELETE", () => ({}), 204, 404],
  ] as const)
    it(`exactly ${why} is made, and the others are answered ${others}`, async () => {
      const etag = await given(9, ALOE);
      if (method === "PUT") await send("DELETE", 9);
      const responses = await sendAll(method, 9, (at) => ({
        headers: headers(etag),
        ...(method === "DELETE" ? {} : { body: `{"name":"writer ${at}"}` }),
      }));
      expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([success, ...REST.map(() => others)]);
      const made = await responses.find(({ status }) => status === success)!.text();
      if (method !== "DELETE") expect(await textOf(9)).toBe(made);
    });

  it("all PATCHes without a condition are answered 200, and none undoes the change of another", async () => {
    await given(11, ALOE);
    const responses = await sendAll("PATCH", 11, (at) => ({ body: `{"${at % 2 === 0 ? "name" : "tag"}":"writer ${at}"}` }));
    const { name, tag } = JSON.parse(await textOf(11)) as { name: string; tag: string };
    expect([name, tag].map((text) => Number(text.slice("writer ".length)) % 2)).toEqual([0, 1]);
    // Each response shows its own change.
    for (const [at, response] of responses.entries())
      expect([response.status, await response.text()]).toEqual([200, expect.stringContaining(`"writer ${at}"`)]);
  });
});
