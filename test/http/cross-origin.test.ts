import { afterAll, describe, expect, it } from "bun:test";
import { loadContract } from "../../src/domain/contract.ts";
import { partsOf } from "../support/random.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";

const GARDEN = "https://garden.example";
const LOCAL = "http://localhost:5173";
const ORIGINS = { origins: `${GARDEN}, ${LOCAL}` };

const service = await startTestService({ ...ORIGINS, bodyBytesMax: "1024" });
const closed = await startTestService();
afterAll(() => Promise.all([service.stop(), closed.stop()]));

/** The fields by which a service lets pages of other origins read it. */
function fieldsOf({ headers }: Response): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => name === "vary" || name.startsWith("access-control-")));
}

const SHARED = { "access-control-allow-origin": GARDEN, "access-control-expose-headers": "*" };

type Ask = (service: TestService, origin: string) => Promise<Response>;

const plant = (id: number, name: string) => JSON.stringify({ id, name });

/** Requests, each with the status of its response. */
const REQUESTS: Readonly<Record<string, readonly [number, Ask]>> = {
  "a create": [200, ({ post }, origin) => post(plant(1, "Ficus"), { origin })],
  "a page of plants": [200, ({ request }, origin) => request("/plants", { headers: { origin } })],
  "an export": [200, ({ request }, origin) => request("/plants/export", { headers: { origin } })],
  "a delete": [204, ({ request }, origin) => request("/plants/1", { method: "DELETE", headers: { origin } })],
  "the contract, which needs no token": [200, ({ url }, origin) => fetch(`${url}/openapi.json`, { headers: { origin } })],
  "broken JSON": [400, ({ post }, origin) => post("{", { origin })],
  "no token": [401, ({ url }, origin) => fetch(`${url}/plants`, { headers: { origin } })],
  "a method that the path does not have": [405, ({ request }, origin) => request("/plants", { method: "DELETE", headers: { origin } })],
  "a large body": [413, ({ post }, origin) => post(plant(1, "x".repeat(2000)), { origin })],
  "another type": [415, ({ post }, origin) => post("id=1", { origin, "content-type": "text/plain" })],
};

describe("a page of an allowed origin", () => {
  for (const [why, [status, ask]] of Object.entries(REQUESTS)) {
    it(`can read the response to ${why} (${status}), and caches learn that it is for that origin`, async () => {
      const response = await ask(service, GARDEN);
      await response.arrayBuffer();
      const { vary = "", ...fields } = fieldsOf(response);
      expect([response.status, fields, vary.split(", ").at(-1)]).toEqual([status, SHARED, "Origin"]);
    });
  }

  it("may be one of several", async () => {
    const response = await service.request("/plants", { headers: { origin: LOCAL } });
    expect(response.headers.get("access-control-allow-origin")).toBe(LOCAL);
  });
});

/** The question of a browser whether a page may send a request. */
function askFirst({ url }: TestService, path: string, origin: string): Promise<Response> {
  const headers = { origin, "access-control-request-method": "PUT", "access-control-request-headers": "authorization,if-match" };
  return fetch(`${url}${path}`, { method: "OPTIONS", headers });
}

describe("a browser that asks for an allowed origin", () => {
  for (const path of ["/plants", "/plants/1", "/tokens", "/nothing", "/"]) {
    it(`learns at ${path}, without a token, that every method and header may be sent`, async () => {
      const response = await askFirst(service, path, GARDEN);
      const { "access-control-allow-methods": methods = "", ...fields } = fieldsOf(response);
      expect([response.status, fields]).toEqual([
        204,
        { ...SHARED, "access-control-allow-headers": "authorization, *", "access-control-max-age": "7200", vary: "Origin" },
      ]);
      const all = new Set(loadContract().operations.map(({ method }) => method));
      expect([...all].filter((method) => !methods.split(", ").includes(method))).toEqual([]);
    });
  }
});

/** What a browser sends for pages that are not allowed, and what only looks like an allowed origin. */
const STRANGERS = [
  ...partsOf(`null|*|http://garden.example|https://garden.example:8443|https://garden.example.|https://garden.example/|
  https://garden.example.evil.example|https://evil.example?https://garden.example|https://www.garden.example|https://GARDEN.example|`),
  `${GARDEN}, ${GARDEN}`,
];

describe("a page of another origin", () => {
  for (const origin of STRANGERS) {
    it(`cannot read a response or send what needs a question, from ${JSON.stringify(origin)}`, async () => {
      const response = await service.request("/plants", { headers: { origin } });
      expect([response.status, fieldsOf(response)]).toEqual([200, { vary: "Accept-Encoding, Origin" }]);
      const answer = await askFirst(service, "/plants", origin);
      expect([answer.status, answer.headers.has("allow"), fieldsOf(answer)]).toEqual([204, true, { vary: "Origin" }]);
    });
  }

  it("is every other page while the setting names none: nothing differs for requests with an origin", async () => {
    for (const [status, send] of Object.values(REQUESTS)) {
      const response = await send(closed, GARDEN);
      await response.arrayBuffer();
      if (status === 413) continue;
      expect(response.status).toBe(status);
      expect(fieldsOf(response)["vary"] ?? "").not.toContain("Origin");
      expect(Object.keys(fieldsOf(response)).filter((name) => name !== "vary")).toEqual([]);
    }
    const answer = await askFirst(closed, "/plants/1", GARDEN);
    expect([answer.status, answer.headers.get("allow"), fieldsOf(answer)]).toEqual([204, "DELETE, GET, HEAD, OPTIONS, PATCH, PUT", {}]);
  });
});
