import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { CATALOGUE } from "../../contract/generated/error-catalogue.ts";
import { parsePlantId } from "../../src/domain/plant.ts";
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

  for (const headers of [{}, { "if-none-match": "*" }, { "if-match": "*" }] as const) {
    it(`refuses an id without a plant, whatever the conditions: ${Object.keys(headers).join() || "none"}`, async () => {
      const body = await expectConform(READ, await service.request("/plants/404", { headers }));
      expect(body).toEqual(CATALOGUE.plant_not_found);
    });
  }

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
