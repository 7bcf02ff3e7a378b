import { afterAll, describe, expect, it } from "bun:test";
import { CATALOGUE } from "../../contract/generated/error-catalogue.ts";
import type { ErrorCode } from "../../src/domain/errors.ts";
import { expectConform } from "../support/conform.ts";
import { startTestService } from "../support/service.ts";

const service = await startTestService();
afterAll(() => service.stop());

const PATH = "/plants/{id}";

type Method = "PUT" | "PATCH" | "DELETE";
type Sent = Readonly<{ body?: string; headers?: Record<string, string> }>;

function send(method: Method, id: number | string, { body, headers = {} }: Sent = {}): Promise<Response> {
  const typed = body === undefined ? {} : { "content-type": "application/json" };
  return service.request(`/plants/${id}`, { method, ...(body === undefined ? {} : { body }), headers: { ...typed, ...headers } });
}

async function expectRefused(method: Method, response: Response, code: ErrorCode): Promise<string> {
  const { error, message } = (await expectConform({ method, path: PATH }, response)) as { error: number; message: string };
  expect(error).toBe(CATALOGUE[code].error);
  return message;
}

/** Asserts a success with this plant and its location, and that a read there gives the same plant and tag. */
async function expectAnswered(method: Method, id: number | string, response: Response, text: string, status = 200): Promise<void> {
  expect([response.status, await response.clone().text()]).toEqual([status, text]);
  await expectConform({ method, path: PATH }, response);
  const location = new URL(response.headers.get("content-location")!, `${service.url}/plants/${id}`);
  expect(location.href).toBe(`${service.url}/plants/${id}`);
  const read = await service.request(location.pathname);
  expect([await read.text(), read.headers.get("etag")]).toEqual([text, response.headers.get("etag")]);
}

/** Puts the plant, and returns its tag. */
async function given(id: number | string, body: string): Promise<string> {
  const response = await send("PUT", id, { body });
  expect([200, 201]).toContain(response.status);
  return response.headers.get("etag")!;
}

async function textOf(id: number | string): Promise<string> {
  return (await service.request(`/plants/${id}`)).text();
}

const ALOE = '{"name":"Aloe vera","tag":"x"}';

describe("PUT /plants/{id}", () => {
  for (const { id, body, text, why } of [
    { id: "1", body: ALOE, text: '{"id":1,"name":"Aloe vera","tag":"x"}', why: "creates a plant that did not exist" },
    { id: "1", body: ALOE, text: '{"id":1,"name":"Aloe vera","tag":"x"}', why: "answers the same again" },
    { id: "1", body: '{"name":"Aloe ferox","tag":"y"}', text: '{"id":1,"name":"Aloe ferox","tag":"y"}', why: "replaces name and tag" },
    { id: "1", body: '{"name":"Aloe ferox"}', text: '{"id":1,"name":"Aloe ferox"}', why: "removes a tag that is left out" },
    { id: "1", body: '{"id":1,"name":"a"}', text: '{"id":1,"name":"a"}', why: "accepts the id of the path in the body" },
    { id: "1000", body: '{"id":1e3,"name":"a"}', text: '{"id":1000,"name":"a"}', why: "accepts it in another form" },
    { id: "1", body: '{"name":"","tag":""}', text: '{"id":1,"name":"","tag":""}', why: "keeps empty text" },
    { id: "1", body: '{"name":"a\\u0000🌿"}', text: '{"id":1,"name":"a\\u0000🌿"}', why: "keeps U+0000 and emoji" },
    { id: "1", body: '{"name":"b","color":1,"__proto__":2}', text: '{"id":1,"name":"b"}', why: "ignores unknown fields" },
    {
      id: "-9223372036854775808",
      body: '{"id":-9223372036854775808,"name":"least"}',
      text: '{"id":-9223372036854775808,"name":"least"}',
      why: "is exact at the smallest id",
    },
    {
      id: "9223372036854775807",
      body: '{"name":"greatest"}',
      text: '{"id":9223372036854775807,"name":"greatest"}',
      why: "is exact at the largest id",
    },
  ]) {
    it(`${why}: ${body}`, async () => {
      await send("DELETE", id);
      await expectAnswered("PUT", id, await send("PUT", id, { body }), text, 201);
      await expectAnswered("PUT", id, await send("PUT", id, { body }), text, 200);
      await send("PUT", id, { body: '{"name":"another","tag":"another"}' });
      await expectAnswered("PUT", id, await send("PUT", id, { body }), text, 200);
    });
  }

  for (const { body, code, field } of [
    { body: '{"id":3,"name":"x"}', code: "invalid_body", field: "`id`" },
    { body: '{"id":"2","name":"x"}', code: "invalid_body", field: "`id`" },
    { body: '{"id":null,"name":"x"}', code: "invalid_body", field: "`id`" },
    { body: '{"id":2.5,"name":"x"}', code: "invalid_body", field: "`id`" },
    { body: '{"id":9223372036854775808,"name":"x"}', code: "invalid_body", field: "`id`" },
    { body: "{}", code: "invalid_body", field: "`name`" },
    { body: '{"tag":"x"}', code: "invalid_body", field: "`name`" },
    { body: '{"name":null}', code: "invalid_body", field: "`name`" },
    { body: '{"name":5}', code: "invalid_body", field: "`name`" },
    { body: '{"name":"x","tag":null}', code: "invalid_body", field: "`tag`" },
    { body: '{"name":"x","tag":5}', code: "invalid_body", field: "`tag`" },
    { body: '{"name":"x","name":"y"}', code: "duplicate_key", field: "twice" },
    { body: '{"name":"\\ud800"}', code: "invalid_unicode", field: "surrogates" },
    { body: `{"name":"${"x".repeat(70_000)}"}`, code: "body_too_large", field: "65536" },
  ] as const) {
    it(`refuses ${body.slice(0, 40)} as ${code}, and keeps the plant`, async () => {
      await given(2, ALOE);
      expect(await expectRefused("PUT", await send("PUT", 2, { body }), code)).toContain(field);
      expect(await textOf(2)).toBe('{"id":2,"name":"Aloe vera","tag":"x"}');
    });
  }
});

describe("PATCH /plants/{id}", () => {
  for (const { patch, text, why } of [
    { patch: '{"name":"b"}', text: '{"id":3,"name":"b","tag":"x"}', why: "changes the name alone" },
    { patch: '{"tag":"y"}', text: '{"id":3,"name":"Aloe vera","tag":"y"}', why: "changes the tag alone" },
    { patch: '{"tag":null}', text: '{"id":3,"name":"Aloe vera"}', why: "removes the tag" },
    { patch: '{"name":"b","tag":null}', text: '{"id":3,"name":"b"}', why: "changes one and removes the other" },
    { patch: '{"name":"","tag":""}', text: '{"id":3,"name":"","tag":""}', why: "sets both to the empty text" },
    { patch: "{}", text: '{"id":3,"name":"Aloe vera","tag":"x"}', why: "changes nothing if it names nothing" },
    { patch: '{"id":3}', text: '{"id":3,"name":"Aloe vera","tag":"x"}', why: "may repeat the id" },
    { patch: '{"id":3.0,"name":"b"}', text: '{"id":3,"name":"b","tag":"x"}', why: "may repeat it in another form" },
    { patch: '{"untagged":true}', text: '{"id":3,"name":"Aloe vera"}', why: "removes the tag for a client that cannot send null" },
    { patch: '{"name":"b","untagged":true,"tag":null}', text: '{"id":3,"name":"b"}', why: "takes both spellings" },
    { patch: '{"untagged":false}', text: '{"id":3,"name":"Aloe vera","tag":"x"}', why: "keeps the tag if that is denied" },
    { patch: '{"untagged":false,"tag":"y"}', text: '{"id":3,"name":"Aloe vera","tag":"y"}', why: "sets a tag if that is denied" },
  ]) {
    for (const type of ["application/json", "application/merge-patch+json"]) {
      it(`${why}: ${patch} as ${type}`, async () => {
        await given(3, ALOE);
        await expectAnswered("PATCH", 3, await send("PATCH", 3, { body: patch, headers: { "content-type": type } }), text);
      });
    }
  }

  it("of a plant without a tag may remove the tag or set one", async () => {
    await given(3, '{"name":"Aloe vera"}');
    await expectAnswered("PATCH", 3, await send("PATCH", 3, { body: '{"tag":null}' }), '{"id":3,"name":"Aloe vera"}');
    await expectAnswered("PATCH", 3, await send("PATCH", 3, { body: '{"tag":"x"}' }), '{"id":3,"name":"Aloe vera","tag":"x"}');
  });

  for (const { patch, code, field } of [
    { patch: '{"name":null}', code: "invalid_body", field: "`name`" },
    { patch: '{"name":["x"]}', code: "invalid_body", field: "`name`" },
    { patch: '{"tag":5}', code: "invalid_body", field: "`tag`" },
    { patch: '{"tag":"","untagged":true}', code: "invalid_body", field: "`untagged`" },
    { patch: '{"untagged":null}', code: "invalid_body", field: "`untagged`" },
    { patch: '{"nmae":"b"}', code: "invalid_body", field: "`nmae` is unknown: send only `id`, `name`, `tag`, `untagged`." },
    { patch: '{"id":4}', code: "invalid_body", field: "`id`" },
    { patch: '{"id":null}', code: "invalid_body", field: "`id`" },
    { patch: '{"id":"3"}', code: "invalid_body", field: "`id`" },
    { patch: '[{"op":"remove","path":"/tag"}]', code: "invalid_body", field: "not an object" },
    { patch: '{"tag":null,"tag":"x"}', code: "duplicate_key", field: "twice" },
    { patch: '{"tag":"\\udc00"}', code: "invalid_unicode", field: "surrogates" },
  ] as const) {
    it(`refuses ${patch} as ${code}, and keeps the plant`, async () => {
      await given(3, ALOE);
      expect(await expectRefused("PATCH", await send("PATCH", 3, { body: patch }), code)).toContain(field);
      expect(await textOf(3)).toBe('{"id":3,"name":"Aloe vera","tag":"x"}');
    });
  }
});

describe("the media type of a PATCH", () => {
  const ACCEPTED = "application/merge-patch+json, application/json";

  for (const type of [
    "application/merge-patch+json",
    "application/json",
    "Application/Merge-Patch+JSON ; charset=UTF-8",
    'application/json; charset="utf-8"',
  ]) {
    it(`may be ${type}`, async () => {
      await given(4, ALOE);
      const text = '{"id":4,"name":"Aloe vera"}';
      await expectAnswered("PATCH", 4, await send("PATCH", 4, { body: '{"tag":null}', headers: { "content-type": type } }), text);
    });
  }

  for (const type of [
    "application/json-patch+json",
    "application/json-patch-query+json",
    "application/vnd.plants+json",
    "application/merge-patch+json2",
    "application/merge-patch",
    "text/json",
  ]) {
    it(`may not be ${type}, which means something else: 415 names the accepted ones, and the plant stays`, async () => {
      await given(4, ALOE);
      const response = await send("PATCH", 4, { body: '{"tag":null}', headers: { "content-type": type } });
      expect([response.headers.get("accept-patch"), response.headers.get("accept")]).toEqual([ACCEPTED, ACCEPTED]);
      expect(await expectRefused("PATCH", response, "unsupported_media_type")).toContain("application/merge-patch+json");
      expect(await textOf(4)).toBe('{"id":4,"name":"Aloe vera","tag":"x"}');
    });
  }

  it("is in Accept-Patch of a response to OPTIONS, only if there is a PATCH", async () => {
    for (const [path, accepted] of [
      ["/plants/4", ACCEPTED],
      ["/plants", null],
      ["/tokens/x", null],
    ] as const) {
      expect((await service.request(path, { method: "OPTIONS" })).headers.get("accept-patch")).toBe(accepted);
    }
  });

  it("may be any kind of JSON for a PUT, whose body means only one thing", async () => {
    const response = await send("PUT", 4, { body: ALOE, headers: { "content-type": "application/vnd.plants+json" } });
    expect(response.ok).toBe(true);
  });
});

describe("DELETE /plants/{id}", () => {
  it("answers 204 without a body, and the plant is gone; a second one answers 404", async () => {
    await given(5, ALOE);
    const response = await send("DELETE", 5);
    expect(response.status).toBe(204);
    await expectConform({ method: "DELETE", path: PATH }, response);
    expect((await service.request("/plants/5")).status).toBe(404);
    await expectRefused("DELETE", await send("DELETE", 5), "plant_not_found");
  });
});

/** A change that any plant allows. */
const CHANGES = { PUT: { body: '{"name":"changed"}' }, PATCH: { body: '{"name":"changed"}' }, DELETE: {} } as const satisfies Record<
  Method,
  Sent
>;
const METHODS = Object.keys(CHANGES) as Method[];

for (const method of METHODS) {
  describe(`the conditions of ${method} /plants/{id}`, () => {
    for (const { why, headers, isMade } of [
      { why: "If-Match with the tag", headers: (etag: string) => ({ "if-match": etag }), isMade: true },
      { why: "If-Match with a list that has the tag", headers: (etag: string) => ({ "if-match": `"a" ,${etag}, "b"` }), isMade: true },
      { why: "If-Match: *", headers: () => ({ "if-match": "*" }), isMade: true },
      { why: "If-Match with another tag", headers: () => ({ "if-match": '"other"' }), isMade: false },
      { why: "If-Match with the tag marked as weak", headers: (etag: string) => ({ "if-match": `W/${etag}` }), isMade: false },
      { why: "If-Match with the tag without quotes", headers: (etag: string) => ({ "if-match": etag.slice(1, -1) }), isMade: false },
      { why: "If-None-Match: *", headers: () => ({ "if-none-match": "*" }), isMade: false },
      { why: "If-None-Match with the tag", headers: (etag: string) => ({ "if-none-match": etag }), isMade: false },
      { why: "If-None-Match with the tag marked as weak", headers: (etag: string) => ({ "if-none-match": `W/${etag}` }), isMade: false },
      {
        why: "If-None-Match with a list that has the tag",
        headers: (etag: string) => ({ "if-none-match": `"a", ${etag}` }),
        isMade: false,
      },
      { why: "If-None-Match with another tag", headers: () => ({ "if-none-match": '"other"' }), isMade: true },
      { why: "If-None-Match with other tags", headers: () => ({ "if-none-match": `, W/"a,*,b",\t"" ,` }), isMade: true },
      // Whoever sent these wanted something to be kept.
      ...["*, *", "*,", '"a", *', "garbage", '"a" "b"', '"a'].map((value) => ({
        why: `If-None-Match: ${value}`,
        headers: () => ({ "if-none-match": value }),
        isMade: false,
      })),
      {
        why: "the tag in If-Match and another in If-None-Match",
        headers: (etag: string) => ({ "if-match": etag, "if-none-match": '"other"' }),
        isMade: true,
      },
      { why: "the tag in both", headers: (etag: string) => ({ "if-match": etag, "if-none-match": etag }), isMade: false },
    ]) {
      it(`${why} ${isMade ? "lets it through" : "stops it with 412, and the plant stays"}`, async () => {
        const etag = await given(6, ALOE);
        const response = await send(method, 6, { ...CHANGES[method], headers: headers(etag) });
        if (isMade) {
          expect(response.status).toBe(method === "DELETE" ? 204 : 200);
          await expectConform({ method, path: PATH }, response);
          expect(await textOf(6)).not.toContain("Aloe vera");
        } else {
          await expectRefused(method, response, "precondition_failed");
          expect(await textOf(6)).toBe('{"id":6,"name":"Aloe vera","tag":"x"}');
        }
      });
    }

    for (const { why, toTag, isAltered } of [
      { why: "the tag made weak, as by nginx", toTag: (etag: string) => `W/${etag}`, isAltered: true },
      { why: "another tag made weak", toTag: () => 'W/"other"', isAltered: true },
      { why: "the tag with the suffix of Apache", toTag: (etag: string) => etag.replace(/"$/, '-gzip"'), isAltered: true },
      { why: "the tag with another suffix", toTag: (etag: string) => etag.replace(/"$/, ';br"'), isAltered: true },
      { why: "a list with an altered tag", toTag: (etag: string) => `"other", W/${etag}`, isAltered: true },
      { why: "the tag of an earlier version", toTag: () => '"-_34567890123456789012"', isAltered: false },
    ]) {
      it(`If-Match with ${why} is answered 412 ${isAltered ? "with a message that names the proxy" : "with the usual message"}`, async () => {
        const etag = await given(6, ALOE);
        const response = await send(method, 6, { ...CHANGES[method], headers: { "if-match": toTag(etag) } });
        const message = await expectRefused(method, response, "precondition_failed");
        expect(message).toMatch(isAltered ? /proxy that altered it \(nginx: gzip off\)/ : /^The plant does not meet the condition/);
      });
    }

    for (const { why, headers, put } of [
      { why: "If-Match: *", headers: { "if-match": "*" }, put: 412 },
      { why: "If-Match with a tag", headers: { "if-match": '"other"' }, put: 412 },
      { why: "If-None-Match: *", headers: { "if-none-match": "*" }, put: 201 },
      { why: "If-None-Match with a tag", headers: { "if-none-match": '"other"' }, put: 201 },
    ]) {
      const status = method === "PUT" ? put : 404;
      it(`${why} is answered ${status} if there is no plant`, async () => {
        await send("DELETE", 7);
        const response = await send(method, 7, { ...CHANGES[method], headers });
        expect(response.status).toBe(status);
        await expectConform({ method, path: PATH }, response);
        expect((await service.request("/plants/7")).status).toBe(status === 201 ? 200 : 404);
      });
    }
  });
}

it("plants whose names and tags are the same text in a row have different tags", async () => {
  const etags = [await given(8, '{"name":"a:b"}'), await given(8, '{"name":"a","tag":"b"}'), await given(8, '{"name":"a:b","tag":""}')];
  expect(new Set(etags).size).toBe(3);
});

it("a PUT or PATCH that changes nothing must still meet its condition", async () => {
  await given(8, ALOE);
  for (const method of ["PUT", "PATCH"] as const) {
    await expectRefused(method, await send(method, 8, { body: ALOE, headers: { "if-match": '"other"' } }), "precondition_failed");
  }
});

describe("changes of one plant at the same moment", () => {
  const MANY = Array.from({ length: 50 }, (_, at) => at);

  it("with the same If-Match: exactly one PATCH succeeds, and the others are answered 412", async () => {
    const etag = await given(9, ALOE);
    const responses = await Promise.all(
      MANY.map((at) => send("PATCH", 9, { body: `{"name":"writer ${at}"}`, headers: { "if-match": etag } })),
    );
    const made = responses.filter(({ status }) => status === 200);
    expect(made).toHaveLength(1);
    expect(responses.filter(({ status }) => status === 412)).toHaveLength(MANY.length - 1);
    expect(await textOf(9)).toBe(await made[0]!.text());
  });

  it("with If-None-Match: * exactly one PUT creates the plant", async () => {
    const responses = await Promise.all(
      MANY.map((at) => send("PUT", 10, { body: `{"name":"writer ${at}"}`, headers: { "if-none-match": "*" } })),
    );
    expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, ...MANY.slice(1).map(() => 412)]);
    expect(await textOf(10)).toBe(await responses.find(({ status }) => status === 201)!.text());
  });

  it("without a condition all PATCHes are answered 200, and none undoes the change of another", async () => {
    await given(11, ALOE);
    const responses = await Promise.all(
      MANY.map((at) => send("PATCH", 11, { body: at % 2 === 0 ? `{"name":"writer ${at}"}` : `{"tag":"writer ${at}"}` })),
    );
    expect(responses.map(({ status }) => status)).toEqual(MANY.map(() => 200));
    const { name, tag } = JSON.parse(await textOf(11)) as { name: string; tag: string };
    expect(Number(name.slice("writer ".length)) % 2).toBe(0);
    expect(Number(tag.slice("writer ".length)) % 2).toBe(1);
    // Each response shows its own change.
    for (const [at, response] of responses.entries()) expect(await response.text()).toContain(`"writer ${at}"`);
  });

  it("exactly one DELETE is answered 204, the others 404", async () => {
    await given(12, ALOE);
    const responses = await Promise.all(MANY.map(() => send("DELETE", 12)));
    expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([204, ...MANY.slice(1).map(() => 404)]);
  });
});
