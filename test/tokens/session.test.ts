import { randomBytes } from "node:crypto";
import { afterAll, describe, expect, it } from "bun:test";
import type { Schemas } from "../../contract/generated/schemas.ts";
import { issueToken } from "../../src/auth/issue.ts";
import type { Issued } from "../../src/auth/issue.ts";
import { SCOPES } from "../../src/domain/scope.ts";
import type { Scope } from "../../src/domain/scope.ts";
import { expectConform } from "../support/conform.ts";
import { startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const SESSION = { method: "get", path: "/session" };
const DAY_MS = 24 * 60 * 60 * 1000;

const service = await startTestService();
afterAll(() => service.stop());

function issue(scopes: readonly Scope[], lifetimeMs?: number, name = "Anna's \0 📱"): Promise<Issued> {
  return issueToken({ tokens: service.store.tokens, random: randomBytes, now: Date.now, name, scopes, lifetimeMs });
}

function ask(
  secret: string,
  { path = "/session", headers = {}, ...init }: Omit<RequestInit, "headers"> & { path?: string; headers?: Record<string, string> } = {},
) {
  return fetch(service.url + path, { ...init, headers: { authorization: `Bearer ${secret}`, ...headers } });
}

// Not the first token, which ends when another token with all scopes is used.
const own = await issue(SCOPES);

describe("GET /session", () => {
  for (const scopes of [["plants:read"], ["plants:write", "admin"], SCOPES, []] as const)
    it(`shows a token with ${scopes.join(" and ") || "no scopes"} exactly these, its name and its times`, async () => {
      const { token, secret } = await issue(scopes, DAY_MS);
      expect(await expectConform(SESSION, await ask(secret))).toEqual({
        id: token.id,
        name: "Anna's \0 📱",
        scopes,
        created: new Date(token.created).toISOString(),
        expires: new Date(token.created + DAY_MS).toISOString(),
      });
      const read = await ask(secret, { path: "/plants" });
      expect(read.status).toBe((scopes as readonly Scope[]).includes("plants:read") ? 200 : 403);
    });

  it("omits the expiry of a token that has none, names the parent of one that has a parent, and shows no secret", async () => {
    const session = (await expectConform(SESSION, await ask(own.secret))) as Schemas["Session"];
    expect(session).not.toHaveProperty("expires");
    expect(session).not.toHaveProperty("parent");
    const made = await ask(own.secret, { path: "/tokens", method: "POST", body: '{"name":"child","scopes":["plants:read"]}' });
    const child = await ask(((await made.json()) as Schemas["CreatedToken"]).token);
    expect(await child.clone().text()).not.toContain("plant_");
    expect(await expectConform(SESSION, child)).toMatchObject({ name: "child", scopes: ["plants:read"], parent: own.token.id });
  });

  it("must not be cached, and is never compressed, however long the name; HEAD is the same without the body", async () => {
    const { secret } = await issue(["plants:read"], undefined, "x".repeat(5000));
    const get = await ask(secret, { headers: { "accept-encoding": "gzip, zstd" } });
    expect(["cache-control", "content-encoding", "etag"].map((name) => get.headers.get(name))).toEqual(["no-store", null, null]);
    const head = await ask(secret, { method: "HEAD" });
    expect([head.status, head.headers.get("cache-control"), await head.text()]).toEqual([200, "no-store", ""]);
    expect(head.headers.get("content-length")).toBe(String((await get.bytes()).length));
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
});
