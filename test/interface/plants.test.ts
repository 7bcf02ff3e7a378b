import { afterAll, describe, expect, it } from "bun:test";
import { CATALOGUE } from "../../contract/generated/error-catalogue.ts";
import type { ErrorCode } from "../../src/domain/errors.ts";
import { expectConform } from "../support/conform.ts";
import { startTestService } from "../support/service.ts";

const service = await startTestService();
afterAll(() => service.stop());

const CREATE = { method: "post", path: "/plants" };

async function expectRefused(response: Response, code: ErrorCode): Promise<{ error: number; message: string }> {
  const body = (await expectConform(CREATE, response)) as { error: number; message: string };
  expect(body.error).toBe(CATALOGUE[code].error);
  expect(response.status).toBe(Math.trunc(body.error / 100));
  expect(Object.keys(body)).toEqual(["error", "message"]);
  return body;
}

describe("POST /plants", () => {
  it("answers 200 with name and tag, without the id, and the location of the plant", async () => {
    const response = await service.post('{"id":1,"name":"Monstera deliciosa","tag":"tropical"}');
    expect(response.status).toBe(200);
    expect(response.headers.get("content-location")).toBe("plants/1");
    expect(response.headers.get("etag")).toMatch(/^"[\w-]{22}"$/);
    expect(await response.clone().text()).toBe('{"name":"Monstera deliciosa","tag":"tropical"}');
    await expectConform(CREATE, response);
  });

  it("answers the same plant again with 200 and the same ETag", async () => {
    const first = await service.post('{"id":3,"name":"Aloe vera","tag":"Asphodelaceae"}');
    const second = await service.post('{ "tag":"Asphodelaceae", "name":"Aloe vera", "id":3.0, "note":"again" }');
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.headers.get("etag")).toBe(first.headers.get("etag"));
  });

  for (const { body, why } of [
    { body: '{"id":4,"name":"Aloe ferox","tag":"Asphodelaceae"}', why: "another name" },
    { body: '{"id":4,"name":"Aloe vera","tag":"x"}', why: "another tag" },
    { body: '{"id":4,"name":"Aloe vera"}', why: "no tag" },
  ]) {
    it(`answers 409 to ${why} under a used id and keeps the first plant`, async () => {
      await service.post('{"id":4,"name":"Aloe vera","tag":"Asphodelaceae"}');
      await expectRefused(await service.post(body), "id_in_use");
      expect(await (await service.request("/plants/4")).json()).toEqual({ id: 4, name: "Aloe vera", tag: "Asphodelaceae" });
    });
  }

  it("answers 200 to exactly one of two different plants that come with one new id at the same moment, 50 times", async () => {
    for (let id = 1000; id < 1050; id += 1) {
      const responses = await Promise.all(["Aloe vera", "Aloe ferox"].map((name) => service.post(JSON.stringify({ id, name }))));
      expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
    }
  });
});

describe("an id", () => {
  for (const [text, id] of [
    ["9223372036854775807", 2n ** 63n - 1n],
    ["-9223372036854775808", -(2n ** 63n)],
    ["9007199254740993", 2n ** 53n + 1n],
    ["-0", 0n],
    ["150e-1", 15n],
    ["9.223372036854775807e18", 2n ** 63n - 1n],
    ["0e999999999", 0n],
    [`17${"0".repeat(20_000)}e-20000`, 17n],
  ] as const) {
    it(`${text.slice(0, 30)} is accepted and stored exactly`, async () => {
      const response = await service.post(`{"id":${text},"name":"exact"}`);
      expect(response.status).toBe(200);
      expect(response.headers.get("content-location")).toBe(`plants/${id}`);
      expect(await (await service.request(`/plants?id=${id}`)).text()).toBe(`[{"id":${id},"name":"exact"}]`);
    });
  }

  const BAD_IDS = ["9223372036854775808", "-9223372036854775809", "1.5", "1e-3", "0.99999999999999999999", "1.00000000000000000001"];
  for (const text of [...BAD_IDS, "1e400", "-1e999999999999999999999", '"1"', "null"]) {
    it(`${text} is refused and the message names the field`, async () => {
      const { message } = await expectRefused(await service.post(`{"id":${text},"name":"x"}`), "invalid_body");
      expect(message).toContain("`id`");
    });
  }
});

describe("a body", () => {
  const deep = (levels: number) => `{"id":20,"name":"deep","x":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;

  for (const { body, code, why } of [
    { body: '{"id":01,"name":"x"}', code: "malformed_json", why: "with a leading zero" },
    { body: "{'id':1}", code: "malformed_json", why: "in single quotes" },
    { body: `{"id":1,"name":"x","x":${'{"a":'.repeat(9000)}1${"}".repeat(9000)}}`, code: "nested_too_deep", why: "nested 9,000 deep" },
    { body: '{"id":1,"name":"x","name":"y"}', code: "duplicate_key", why: "with name twice" },
    { body: '{"id":1,"name":"x","__proto__":1,"__proto__":2}', code: "duplicate_key", why: "with __proto__ twice" },
    { body: "{}", code: "invalid_body", why: "without anything" },
    { body: '{"__proto__":{"id":1,"name":"x"}}', code: "invalid_body", why: "with its fields in __proto__" },
    { body: '{"id":1,"name":"\\ud800"}', code: "invalid_unicode", why: "with a lone surrogate in the name" },
  ] as const) {
    it(`is refused as ${code} ${why}`, async () => {
      await expectRefused(await service.post(body), code);
    });
  }

  for (const { bytes, why } of [
    { bytes: [0xff], why: "a byte that is never UTF-8" },
    { bytes: [0xed, 0xa0, 0x80], why: "an encoded surrogate" },
    { bytes: [0xf0, 0x9f, 0x8c], why: "a character cut short" },
  ]) {
    it(`is refused as invalid_unicode with ${why}`, async () => {
      const body = Buffer.concat([Buffer.from('{"id":1,"name":"'), Buffer.from(bytes), Buffer.from('"}')]);
      await expectRefused(await service.post(body), "invalid_unicode");
    });
  }

  for (const { body, field } of [
    { body: '{"name":"x"}', field: "id" },
    { body: '{"id":1}', field: "name" },
    { body: '{"id":1,"name":5}', field: "name" },
    { body: '{"id":1,"name":"x","tag":null}', field: "tag" },
  ]) {
    it(`${body} is refused and the message names ${field}`, async () => {
      const { message } = await expectRefused(await service.post(body), "invalid_body");
      expect(message).toContain(`\`${field}\``);
    });
  }

  for (const { body, name, why } of [
    { body: deep(32), name: "deep", why: "nested 32 deep" },
    { body: '\uFEFF{"id":21,"name":"bom"}', name: "bom", why: "after a byte order mark" },
    { body: ' \r\n\t{"id" : 22 , "name":"space"}\n', name: "space", why: "surrounded by white space" },
    { body: '{"id":25,"name":"\\ud83c\\udf3f"}', name: "🌿", why: "with an escaped pair of surrogates" },
    { body: '{"id":27,"name":"open","x":{"a":1,"a":2},"y":1e999,"z":"\\ud800"}', name: "open", why: "with unknown fields" },
    { body: '{"id":28,"name":"proto","__proto__":null,"constructor":1}', name: "proto", why: "with keys that objects inherit" },
  ]) {
    it(`is accepted ${why}, and only its own fields come back`, async () => {
      const response = await service.post(body);
      expect(await response.json()).toEqual({ name });
      expect(response.status).toBe(200);
    });
  }
});

describe("the size of a body", () => {
  const ofSize = (bytes: number) => `{"id":30,"name":"${"x".repeat(bytes - 19)}"}`;

  it("is accepted up to 65,536 bytes, and refused with one more", async () => {
    expect((await service.post(ofSize(65_536))).status).toBe(200);
    await expectRefused(await service.post(ofSize(65_537)), "body_too_large");
  });

  it("is also counted if it is not declared, and refused as soon as it is over the limit", async () => {
    let sent = 0;
    const body = new ReadableStream({
      async pull(controller) {
        sent += 16_384;
        controller.enqueue(new Uint8Array(16_384).fill(0x20));
        await new Promise((resolve) => setTimeout(resolve, 5));
      },
    });
    await expectRefused(
      await service.request("/plants", { method: "POST", body, headers: { "content-type": "application/json" } }),
      "body_too_large",
    );
    expect(sent).toBeLessThan(1_000_000);
  });
});

describe("the headers of a body", () => {
  const PLANT = '{"id":40,"name":"headers"}';

  for (const type of [
    "application/json",
    "APPLICATION/JSON",
    "application/json; charset=utf-8",
    'application/json;charset="UTF-8"',
    String.raw`application/json; charset="utf\-8"`,
    "application/plant+json",
    "application/vnd.plant.v1+json; charset=utf8",
  ]) {
    it(`Content-Type: ${type} is accepted`, async () => {
      expect((await service.post(PLANT, { "content-type": type })).status).toBe(200);
    });
  }
});
