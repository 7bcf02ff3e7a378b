import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { CATALOGUE } from "../../contract/generated/error-catalogue.ts";
import type { ErrorCode } from "../../src/errors.ts";
import { parsePlantId } from "../../src/plant.ts";
import { expectConform } from "../support/conform.ts";
import { startTestService } from "../support/service.ts";

const service = await startTestService();
afterAll(() => service.stop());

const READ = { method: "get", path: "/plants/{id}" };

let etag = "";
beforeAll(async () => {
  const created = await service.post('{"id":1,"name":"Monstera deliciosa","tag":"tropical"}');
  etag = created.headers.get("etag") ?? "";
});

describe("GET /plants/{id}", () => {
  it("answers the plant with its id, and the ETag of the create", async () => {
    const response = await service.request("/plants/1");
    expect([response.status, response.headers.get("etag")]).toEqual([200, etag]);
    expect(await response.clone().text()).toBe('{"id":1,"name":"Monstera deliciosa","tag":"tropical"}');
    await expectConform(READ, response);
  });

  for (const id of ["9223372036854775807", "-9223372036854775808", "9007199254740993", "0", "-1"]) {
    it(`answers the id ${id} exactly, and no tag if there is none`, async () => {
      await service.post(`{"id":${id},"name":"x"}`);
      const response = await service.request(`/plants/${id}`);
      expect(await response.text()).toBe(`{"id":${id},"name":"x"}`);
    });
  }

  for (const { what, header } of [
    { what: "the tag", header: () => etag },
    { what: "the tag, marked as weak", header: () => `W/${etag}` },
    { what: "a list with the tag", header: () => `"other" , ${etag}` },
    { what: "*", header: () => "*" },
  ]) {
    it(`answers 304 with the ETag and no body if If-None-Match is ${what}`, async () => {
      const response = await service.request("/plants/1", { headers: { "if-none-match": header() } });
      expect([response.status, response.headers.get("etag")]).toEqual([304, etag]);
      await expectConform(READ, response);
    });
  }

  it("answers 200 if If-None-Match has only other tags", async () => {
    const response = await service.request("/plants/1", { headers: { "if-none-match": '"other", W/"another"' } });
    expect(response.status).toBe(200);
  });

  for (const { what, header } of [
    { what: "the tag", header: () => etag },
    { what: "a list with the tag", header: () => `"other" , ${etag}` },
    { what: "*", header: () => "*" },
  ]) {
    it(`answers 200 if If-Match is ${what}`, async () => {
      const response = await service.request("/plants/1", { headers: { "if-match": header() } });
      expect([response.status, response.headers.get("etag")]).toEqual([200, etag]);
      await expectConform(READ, response);
    });
  }

  it("answers 412 if If-Match is the tag, marked as weak", async () => {
    const response = await service.request("/plants/1", { headers: { "if-match": `W/${etag}` } });
    expect(await expectConform(READ, response)).toMatchObject({ error: 41200 });
  });

  it("answers 412 if If-Match fails, even if If-None-Match would give a 304", async () => {
    const response = await service.request("/plants/1", { headers: { "if-match": '"other"', "if-none-match": etag } });
    expect(await expectConform(READ, response)).toMatchObject({ error: 41200 });
  });

  const refusals: { what: string; path: string; headers?: Record<string, string>; code: ErrorCode; message?: string }[] = [
    { what: "an id without a plant", path: "/plants/404", code: "plant_not_found" },
    { what: "such an id even with If-None-Match: *", path: "/plants/404", headers: { "if-none-match": "*" }, code: "plant_not_found" },
    { what: "such an id even with If-Match: *", path: "/plants/404", headers: { "if-match": "*" }, code: "plant_not_found" },
    { what: "an id out of range", path: "/plants/9223372036854775808", code: "unknown_path" },
    { what: "negative zero", path: "/plants/-0", code: "unknown_path" },
    { what: "the template itself", path: "/plants/{id}", code: "unknown_path" },
    { what: "more path after the id", path: "/plants/1/", code: "unknown_path" },
    { what: "another scheme", path: "/plants/1", headers: { authorization: "Basic eA==" }, code: "missing_token" },
    { what: "an unknown token", path: "/plants/1", headers: { authorization: "Bearer x" }, code: "invalid_token" },
    {
      what: "an unknown parameter",
      path: "/plants/1?fields=name",
      code: "invalid_query",
      message: "This operation has no query parameters: send none.",
    },
  ];
  for (const { what, path, headers = {}, code, message } of refusals) {
    it(`refuses ${what} as ${code}`, async () => {
      const body = await expectConform(READ, await service.request(path, { headers }));
      expect(body).toEqual({ error: CATALOGUE[code].error, message: message ?? CATALOGUE[code].message });
    });
  }

  it("refuses a token without plants:read, and names the scope", async () => {
    const wanted = JSON.stringify({ name: "writer", scopes: ["plants:write"] });
    const made = await service.request("/tokens", { method: "POST", body: wanted, headers: { "content-type": "application/json" } });
    const { token } = (await made.json()) as { token: string };
    const response = await service.request("/plants/1", { headers: { authorization: `Bearer ${token}` } });
    expect(response.headers.get("www-authenticate")).toBe('Bearer realm="plant-store", error="insufficient_scope", scope="plants:read"');
    expect(await expectConform(READ, response)).toMatchObject({ error: 40300 });
  });

  it("answers HEAD with the same headers and no body", async () => {
    const response = await service.request("/plants/1", { method: "HEAD" });
    expect([response.status, response.headers.get("etag"), await response.text()]).toEqual([200, etag, ""]);
  });
});

describe("an id in a path", () => {
  it("has one written form", () => {
    for (const text of ["", "-", "+1", "01", "-01", "1.0", "1e3", " 1", "1\n", "9223372036854775808", "-9223372036854775809"]) {
      expect(parsePlantId(text), text).toBeUndefined();
    }
    expect(parsePlantId("-9223372036854775808")).toBe(-(2n ** 63n) as never);
  });
});
