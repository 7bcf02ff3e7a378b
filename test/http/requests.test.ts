import { afterAll, describe, expect, it } from "bun:test";
import manifest from "../../package.json" with { type: "json" };
import { OPERATIONS } from "../../contract/generated/operations.ts";
import { loadContract } from "../../src/domain/contract.ts";
import { CATALOGUE } from "../../contract/generated/error-catalogue.ts";
import { expectConform } from "../support/conform.ts";
import { partsOf } from "../support/random.ts";
import { sendRaw, statusesIn } from "../support/raw-http.ts";
import { pathOf } from "../support/samples.ts";
import { startTestService } from "../support/service.ts";

const service = await startTestService();
afterAll(() => service.stop());

/** Sends raw bytes, and resolves with everything that came back until the service closed the connection. */
async function sendUntilClosed(text: string): Promise<string> {
  const { text: received, isClosed } = await sendRaw(service.url, [text]);
  expect(isClosed).toBe(true);
  return received;
}

describe("JSON", () => {
  async function bodyFor(agent: string, path: string): Promise<string> {
    const response = await service.request(path, { headers: { "user-agent": agent } });
    const text = await response.text();
    expect(response.headers.get("content-length")).toBe(String(text.length));
    return text;
  }
  for (const path of ["/plants/1", "/plants", "/plants/count", "/livez", "/session"])
    it(`ends with a line end for clients that show it in a terminal, and for no other: ${path}`, async () => {
      for (const agent of ["curl/8.14.1", "Wget/1.21.3", "HTTPie/3.2.1", "xh/0.24.0"])
        expect(await bodyFor(agent, path)).toMatch(/^[^\n]+\n$/);
      expect(await bodyFor("a-program/1.0", path)).not.toContain("\n");
    });
});

describe("a path", () => {
  for (const path of partsOf(`/plant|/plants/|/plants/abc|/plants/01|/plants/-0|/plants/1/|/plants/9223372036854775808|/PLANTS|/session/me|
    /tokens/|/tokens/a-b|/tokens/{id}|/plants/{id}|/openapi|/plants%2F1|/plants%5C1|/tokens/${"a".repeat(65)}`))
    it(`${path.slice(0, 30)} that does not exist is answered 404, without asking for a token`, async () => {
      const response = await fetch(`${service.url}${path}`, { method: "POST" });
      expect(await expectConform({ method: "post", path: "/plants" }, response)).toEqual({ ...CATALOGUE.unknown_path });
    });
});

it("a path with a percent-encoded id names the plant with this id", async () => {
  await service.post(`{"id":5,"name":"Ficus"}`);
  for (const path of ["/plants/%35", "/%70lants/5"]) expect(await (await service.request(path)).text()).toBe(`{"id":5,"name":"Ficus"}`);
});

describe("a method", () => {
  const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];
  for (const [path, some] of Map.groupBy(OPERATIONS, (operation) => operation.path)) {
    const own: readonly string[] = some.map(({ method }) => method);
    const allow = [...own, "OPTIONS", ...(own.includes("GET") ? ["HEAD"] : [])].toSorted().join(", ");
    it(`is answered 405 if ${path} does not have it, and OPTIONS 204, with Allow: ${allow}, without asking for a token`, async () => {
      const url = service.url + pathOf(some[0]!, { token: "1" });
      for (const method of methods.filter((one) => !own.includes(one))) {
        const response = await fetch(url, { method });
        expect([response.status, response.headers.get("allow")]).toEqual([405, allow]);
        expect(await response.json()).toEqual({ ...CATALOGUE.method_not_allowed });
      }
      const response = await fetch(url, { method: "OPTIONS" });
      expect([response.status, response.headers.get("allow"), await response.text()]).toEqual([204, allow, ""]);
    });
  }
});

describe("the service's own operations", () => {
  it("/livez and /readyz answer 200 without a token, and only /livez with a version", async () => {
    for (const [path, healthy] of [
      ["/livez", { status: "ok", version: manifest.version }],
      ["/readyz", { status: "ok" }],
    ] as const)
      expect(await expectConform({ method: "get", path }, await fetch(`${service.url}${path}`))).toEqual(healthy);
  });

  it("/openapi.json and /openapi/1.0.0.json return the two contracts", async () => {
    const contract = loadContract();
    expect(await (await fetch(`${service.url}/openapi.json`)).text()).toBe(contract.served);
    expect(await (await fetch(`${service.url}/openapi/1.0.0.json`)).text()).toBe(contract.base);
  });

  it("keep an id in an example exact to its last digit", async () => {
    expect(await (await fetch(`${service.url}/openapi.json`)).text()).toContain('"id":-9223372036854775808');
  });
});

it("a request id that is malformed or missing is replaced by a new one", async () => {
  const given = ["a b", "x".repeat(129), "a/b", "ä"].map((id): Record<string, string> => ({ "x-request-id": id }));
  const ids = await Promise.all(
    [...given, {}, {}].map(async (headers) => (await fetch(`${service.url}/livez`, { headers })).headers.get("x-request-id")),
  );
  for (const id of ids) expect(id).toMatch(/^[\da-f-]{36}$/);
  expect(new Set(ids).size).toBe(6);
});

describe("on the wire", () => {
  const host = "Host: plants\r\n";
  const authorization = `Authorization: Bearer ${service.token}\r\n`;

  it("the body of a request with a refused token is not read: one that never comes is answered 401", async () => {
    const received = await sendUntilClosed(`POST /plants HTTP/1.1\r\n${host}Content-Length: 50\r\nConnection: close\r\n\r\n`);
    expect(received).toStartWith("HTTP/1.1 401 ");
  });

  it("a refused body in chunks has one response, whenever its trailers come", async () => {
    const head = `POST /plants HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n18\r\n{"id":777,"name":"late"}\r\n0\r\n`;
    const behind = `GET /livez HTTP/1.1\r\n${host}Connection: close\r\n\r\n`;
    for (const packets of [
      [`${head}X: y\r\n\r\n`, behind],
      [head, "X: y\r\n\r\n", behind],
      [head, `X: y\r\n\r\n${behind}`],
    ])
      expect([[401], [401, 200]]).toContainEqual(statusesIn((await sendRaw(service.url, packets)).text));
  });

  it("HTTP/1.0 without a Host is answered too", async () => {
    expect(await sendUntilClosed("GET /livez HTTP/1.0\r\n\r\n")).toMatch(/^HTTP\/1.1 200 .*\{"status":"ok",.*\}$/s);
  });

  it("HTTP/1.0 gets no export, because one that broke off would end like a whole one", async () => {
    const answer = await sendUntilClosed(`GET /plants/export HTTP/1.0\r\n${authorization}\r\n`);
    expect(answer).toStartWith("HTTP/1.1 426 Upgrade Required\r\n");
    expect(answer).toContain("\r\nupgrade: HTTP/1.1\r\n");
    expect(answer).toContain("\r\nconnection: upgrade\r\n");
    expect(answer).toContain('{"error":42600,');
  });
});
