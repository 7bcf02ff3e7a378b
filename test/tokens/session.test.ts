import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import type { Schemas } from "../../contract/generated/schemas.ts";
import { issueToken } from "../../src/auth/issue.ts";
import type { Issued } from "../../src/auth/issue.ts";
import { createClient } from "../../src/client/client.ts";
import { SCOPES } from "../../src/domain/scope.ts";
import type { Scope } from "../../src/domain/scope.ts";
import { expectConform } from "../support/conform.ts";
import { ENGINES } from "../support/engines.ts";
import { sendRaw, statusesIn } from "../support/raw-http.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const SESSION = { method: "get", path: "/session" };
const CHILD = JSON.stringify({ name: "child", scopes: ["plants:read"] });
const DAY_MS = 24 * 60 * 60 * 1000;

/** One operation for each scope. */
const READS = { method: "GET", path: "/plants", scope: "plants:read" } as const;
const WRITES = { method: "POST", path: "/plants", scope: "plants:write" } as const;
const ADMINISTERS = { method: "GET", path: "/tokens", scope: "admin" } as const;

/** Every set of scopes that a token may be given. */
const SETS: ReadonlyArray<readonly Scope[]> = [
  ["plants:read"],
  ["plants:write"],
  ["admin"],
  ["plants:read", "plants:write"],
  ["plants:read", "admin"],
  ["plants:write", "admin"],
  SCOPES,
];

for (const { engine, openFlags } of ENGINES) {
  describe(`GET /session, on ${engine}`, () => {
    let service: TestService;
    // Not the first token, which ends when another token with all scopes is used.
    let own: Issued;
    beforeAll(async () => {
      service = await startTestService(await openFlags());
      own = await issue(SCOPES);
    });
    afterAll(() => service.stop());

    async function issue(scopes: readonly Scope[], lifetimeMs?: number): Promise<Issued> {
      const { tokens } = service.store;
      return issueToken({ tokens, random: randomBytes, now: Date.now, name: "Anna's \0 📱", scopes, lifetimeMs });
    }

    function ask(secret: string, { method = "GET", headers = {} } = {}): Promise<Response> {
      return fetch(`${service.url}/session`, { method, headers: { authorization: `Bearer ${secret}`, ...headers } });
    }

    /** POST /tokens with this token. */
    async function makeChild(secret: string, body: string): Promise<Schemas["CreatedToken"]> {
      const headers = { authorization: `Bearer ${secret}` };
      return (await fetch(`${service.url}/tokens`, { method: "POST", body, headers })).json() as Promise<Schemas["CreatedToken"]>;
    }

    for (const scopes of SETS) {
      it(`shows a token with ${scopes.join(" and ")} exactly these scopes, which are the ones in force`, async () => {
        const { token, secret } = await issue(scopes, DAY_MS);
        const response = await ask(secret);
        expect(response.status).toBe(200);
        expect(await expectConform(SESSION, response)).toEqual({
          id: token.id,
          name: "Anna's \0 📱",
          scopes,
          created: new Date(token.created).toISOString(),
          expires: new Date(token.created + DAY_MS).toISOString(),
        });
        for (const { method, path, scope } of [READS, WRITES, ADMINISTERS]) {
          const body = method === "POST" ? { body: '{"id":1,"name":"x"}' } : {};
          const { status } = await fetch(`${service.url}${path}`, { method, headers: { authorization: `Bearer ${secret}` }, ...body });
          expect([scope, status]).toEqual([scope, scopes.includes(scope) ? 200 : 403]);
        }
      });
    }

    it("omits the expiry of a token that has none, names the parent of one that has a parent, and shows no secret", async () => {
      const response = await ask(own.secret);
      const session = (await expectConform(SESSION, response)) as Schemas["Session"];
      expect(session).not.toHaveProperty("expires");
      expect(session).not.toHaveProperty("parent");
      const child = await ask((await makeChild(own.secret, CHILD)).token);
      expect(await child.clone().text()).not.toContain("plant_");
      expect(await expectConform(SESSION, child)).toMatchObject({ name: "child", scopes: ["plants:read"], parent: own.token.id });
    });

    it("must not be cached, and is never compressed, however long the name", async () => {
      const { tokens } = service.store;
      const { secret } = await issueToken({ tokens, random: randomBytes, now: Date.now, name: "x".repeat(5000), scopes: ["plants:read"] });
      const { headers } = await ask(secret, { headers: { "accept-encoding": "gzip, zstd" } });
      expect([headers.get("cache-control"), headers.get("content-encoding"), headers.get("etag")]).toEqual(["no-store", null, null]);
    });

    it("answers HEAD like GET without the body", async () => {
      const get = await ask(own.secret);
      const head = await ask(own.secret, { method: "HEAD" });
      expect([head.status, head.headers.get("cache-control"), await head.text()]).toEqual([200, "no-store", ""]);
      expect(head.headers.get("content-length")).toBe(String((await get.bytes()).length));
      expect((await fetch(`${service.url}/session`, { method: "HEAD" })).status).toBe(401);
    });

    it("refuses a token from the very millisecond that it gave as its expiry", async () => {
      let [secret, expires] = ["", ""];
      // A busy machine may take longer to use it at all.
      await until("One is used in time", async () => {
        secret = (await issue(["plants:read"], 300)).secret;
        ({ expires = "" } = (await (await ask(secret)).json()) as Schemas["Session"]);
        return expires !== "";
      });
      await Bun.sleep(Date.parse(expires) - Date.now());
      while (Date.now() < Date.parse(expires)) await Bun.sleep(1);
      expect((await ask(secret)).status).toBe(401);
    });

    it("shows a token without scopes that it has none, and lets it do nothing else", async () => {
      const { secret } = await issue([]);
      expect(await expectConform(SESSION, await ask(secret))).toMatchObject({ scopes: [] });
      for (const { path } of [READS, ADMINISTERS])
        expect((await fetch(`${service.url}${path}`, { headers: { authorization: `Bearer ${secret}` } })).status).toBe(403);
    });

    it("refuses two tokens in one request, and one after 8,000 spaces only if it is not valid", async () => {
      const twice = `GET /session HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${own.secret}\r\nAuthorization: Bearer ${own.secret}\r\n\r\n`;
      expect(statusesIn((await sendRaw(service.url, [twice])).text)).toEqual([401]);
      const spaces = " ".repeat(8000);
      expect((await ask(`${spaces}${own.secret}`)).status).toBe(200);
      expect((await ask(`${spaces}${own.secret.toLowerCase()}`)).status).toBe(401);
    });

    it("is what the typed client returns", async () => {
      const { token, secret } = await issue(["plants:write"]);
      const client = createClient({ url: service.url, token: secret });
      expect(await client.session()).toEqual({
        id: token.id,
        name: token.name,
        scopes: ["plants:write"],
        created: new Date(token.created).toISOString(),
      });
    });
  });
}
