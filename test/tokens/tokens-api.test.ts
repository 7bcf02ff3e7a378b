import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { randomBytes } from "node:crypto";
import type { Schemas } from "../../contract/generated/schemas.ts";
import { issueToken } from "../../src/auth/issue.ts";
import { createClient } from "../../src/client/client.ts";
import { hasTokenForm, randomText } from "../../src/auth/secret.ts";
import { CATALOGUE } from "../../contract/generated/error-catalogue.ts";
import { SCOPES } from "../../src/domain/scope.ts";
import { allTokens } from "../../src/store/tokens.ts";
import { expectConform } from "../support/conform.ts";
import { ENGINES } from "../support/engines.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { startPatientClock } from "../support/patient-clock.ts";

const LIST = { method: "get", path: "/tokens" };
const CREATE = { method: "post", path: "/tokens" };
const REVOKE = { method: "delete", path: "/tokens/{id}" };
const DAY_MS = 24 * 60 * 60 * 1000;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const MINUTE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:00\.000Z$/;

const REFUSED: readonly Readonly<{ why: string; body: unknown; message: string }>[] = [
  { why: "no name", body: { scopes: ["admin"] }, message: "The field `name` is missing: add it." },
  {
    why: "an empty name",
    body: { name: "", scopes: ["admin"] },
    message: "The field `name` must have 1 or more characters: send a longer one.",
  },
  {
    why: "a name of 101 characters",
    body: { name: "🌿".repeat(101), scopes: ["admin"] },
    message: "The field `name` must have at most 100 characters: send a shorter one.",
  },
  {
    why: "a name that is not a string",
    body: { name: 1, scopes: ["admin"] },
    message: "The field `name` must be a string: send one, or leave out a field that has no value.",
  },
  { why: "a name with a lone surrogate", body: { name: "\ud800", scopes: ["admin"] }, message: CATALOGUE.invalid_unicode.message },
  { why: "no scopes", body: { name: "x" }, message: "The field `scopes` is missing: add it." },
  { why: "an empty list of scopes", body: { name: "x", scopes: [] }, message: "The field `scopes` must have 1 or more values: add one." },
  {
    why: "an unknown scope",
    body: { name: "x", scopes: ["plants:read", "root"] },
    message: "Each value in the field `scopes` must be one of plants:read, plants:write, admin.",
  },
  {
    why: "a scope twice",
    body: { name: "x", scopes: ["admin", "plants:read", "admin"] },
    message: "The field `scopes` has a value twice: send each value once.",
  },
  {
    why: "scopes that are not a list",
    body: { name: "x", scopes: "admin" },
    message: "The field `scopes` must be a list: send one, or leave out a field that has no value.",
  },
  {
    why: "a scope that is not a string",
    body: { name: "x", scopes: [1] },
    message: "Each value in the field `scopes` must be one of plants:read, plants:write, admin.",
  },
  ...[0, -1, -0.5, 36_501, 36_500.01, 1e300, "30", null, true, []].map((days) => ({
    why: `days: ${JSON.stringify(days)}`,
    body: { name: "x", scopes: ["admin"], days },
    message: "The field `days` must be a number above 0 and at most 36500, without quotes.",
  })),
  ...["2099-01-01", "2099-01-01T00:00:00", "2099-02-29T00:00:00Z", "2099-01-01T24:00:00Z", "2099-01-01 00:00:00Z", "", "4070908800"].map(
    (expires) => ({
      why: `expires: ${JSON.stringify(expires)}`,
      body: { name: "x", scopes: ["admin"], expires },
      message: "The field `expires` is not an instant of RFC 3339: send one such as 2027-11-02T09:00:00Z.",
    }),
  ),
  ...["1970-01-01T00:00:00Z", new Date().toISOString(), new Date(Date.now() + 36_501 * DAY_MS).toISOString()].map((expires) => ({
    why: `expires: ${expires}`,
    body: { name: "x", scopes: ["admin"], expires },
    message: "The field `expires` must be in the future, and at most 36500 days away: send such an instant.",
  })),
  {
    why: "an instant that is a number",
    body: { name: "x", scopes: ["admin"], expires: 4_070_908_800 },
    message: "The field `expires` must be a string: send one, or leave out a field that has no value.",
  },
  {
    why: "both days and an instant",
    body: { name: "x", scopes: ["admin"], days: 1, expires: "2099-01-01T00:00:00Z" },
    message: "The fields `days` and `expires` contradict each other: send one of them.",
  },
  {
    why: "a misspelt field",
    body: { name: "x", scopes: ["admin"], day: 1 },
    message: "The field `day` is unknown: send only `name`, `scopes`, `days`, `expires`.",
  },
  {
    why: "a list instead of the object",
    body: [],
    message: 'The body is not an object: send one such as {"name":"Anna\'s phone","scopes":["plants:read"],"days":365}.',
  },
];

for (const { engine, openFlags } of ENGINES) {
  describe(`on ${engine}`, () => {
    let service: TestService;
    let ownId: string;
    beforeAll(async () => {
      const started = await startTestService(await openFlags());
      // Not the first token, which ends when another token with all scopes is used.
      const { tokens } = started.store;
      const { token, secret } = await issueToken({ tokens, random: randomBytes, now: Date.now, name: "own", scopes: SCOPES });
      ownId = token.id;
      const authorization = `Bearer ${secret}`;
      service = {
        ...started,
        token: secret,
        request: (path, init = {}) => started.request(path, { ...init, headers: { authorization, ...init.headers } }),
      };
    });
    afterAll(() => service.stop());

    async function create(body: unknown): Promise<Schemas["CreatedToken"]> {
      const response = await service.request("/tokens", { method: "POST", body: JSON.stringify(body) });
      expect(response.headers.get("cache-control")).toBe("no-store");
      expect(response.status).toBe(200);
      return (await expectConform(CREATE, response)) as Schemas["CreatedToken"];
    }

    /** POST /tokens with a token other than the first. */
    function createWith(token: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
      const own = { authorization: `Bearer ${token}`, ...headers };
      return service.request("/tokens", { method: "POST", body: JSON.stringify(body), headers: own });
    }

    async function list(): Promise<readonly Schemas["Token"][]> {
      return (await expectConform(LIST, await service.request("/tokens"))) as Schemas["Token"][];
    }

    function revoke(id: string): Promise<Response> {
      return service.request(`/tokens/${id}`, { method: "DELETE" });
    }

    function listPlantsWith(token: string): Promise<Response> {
      return service.request("/plants", { headers: { authorization: `Bearer ${token}` } });
    }

    it("lists tokens without their secrets", async () => {
      const own = (await list()).find(({ id }) => id === ownId);
      expect(own).toEqual({
        id: ownId,
        name: "own",
        scopes: SCOPES,
        created: expect.stringMatching(TIME),
        lastUsed: expect.stringMatching(MINUTE),
      });
    });

    it("creates a token that works at once, for its scopes only, and shows its secret only then", async () => {
      const from = Date.now();
      const { token, ...made } = await create({ name: "Anna's \0 📱", scopes: ["plants:read"] });
      expect(hasTokenForm(token)).toBe(true);
      expect(made).toEqual({
        id: expect.stringMatching(/^[0-9A-Za-z]{8}$/),
        name: "Anna's \0 📱",
        scopes: ["plants:read"],
        created: expect.stringMatching(TIME),
        parent: ownId,
      });
      expect(Date.parse(made.created)).toBeWithin(from, Date.now() + 1);
      expect((await listPlantsWith(token)).status).toBe(200);
      const write = await service.post('{"id":1,"name":"x"}', { authorization: `Bearer ${token}` });
      expect(write.status).toBe(403);
      const text = await (await service.request("/tokens")).text();
      expect(JSON.parse(text)).toContainEqual({ ...made, lastUsed: expect.stringMatching(MINUTE) });
      expect(text).not.toContain(token.slice(6, 38));
      expect(service.logged.join("")).not.toContain(token.slice(6, 38));
    });

    it("takes names of 1 and of 100 characters, and all scopes", async () => {
      expect((await create({ name: "x", scopes: ["admin", "plants:write", "plants:read"] })).name).toBe("x");
      expect((await create({ name: "🌿".repeat(100), scopes: ["admin"] })).name).toBe("🌿".repeat(100));
    });

    for (const days of ["1", "36500", "0.5", "3.65e2", "1.0", "1e-9"]) {
      it(`creates a token that expires after ${days} days of 24 hours`, async () => {
        const response = await service.request("/tokens", { method: "POST", body: `{"name":"x","scopes":["plants:read"],"days":${days}}` });
        const { created, expires = "" } = (await expectConform(CREATE, response)) as Schemas["CreatedToken"];
        expect(expires).toMatch(TIME);
        expect(Date.parse(expires) - Date.parse(created)).toBe(Math.ceil(Number(days) * DAY_MS));
      });
    }

    for (const { expires, iso } of [
      { expires: "2099-02-28T09:00:00Z", iso: "2099-02-28T09:00:00.000Z" },
      { expires: "2096-02-29t23:59:59.123999999+23:59", iso: "2096-02-29T00:00:59.123Z" },
      { expires: "2099-12-31T23:59:59.5-00:30", iso: "2100-01-01T00:29:59.500Z" },
    ])
      it(`creates a token that expires at ${expires}`, async () => {
        expect((await create({ name: "x", scopes: ["plants:read"], expires })).expires).toBe(iso);
      });

    it("lists tokens by time of creation, including expired and revoked ones", async () => {
      const made = [];
      for (const name of ["one", "two", "three"]) {
        made.push((await create({ name, scopes: ["plants:read"], days: 1e-9 })).id);
        await Bun.sleep(2);
      }
      expect((await revoke(made[1]!)).status).toBe(204);
      const listed = await list();
      expect(listed.slice(-3).map(({ id }) => id)).toEqual(made);
      expect(listed.map(({ created }) => created)).toEqual(listed.map(({ created }) => created).toSorted());
      expect(listed.slice(-3).map(({ revoked }) => revoked !== undefined)).toEqual([false, true, false]);
    });

    it("revokes a token within a second, answers a second revocation the same, and keeps the time of the first", async () => {
      const { id, token } = await create({ name: "lost", scopes: ["plants:read"] });
      expect((await listPlantsWith(token)).status).toBe(200);
      const response = await revoke(id);
      expect(response.status).toBe(204);
      await expectConform(REVOKE, response);
      const clock = startPatientClock();
      while ((await listPlantsWith(token)).status === 200) expect(clock.ms()).toBeLessThan(1000);
      const first = (await list()).find((one) => one.id === id)?.revoked;
      expect(first).toMatch(TIME);
      expect((await revoke(id)).status).toBe(204);
      expect((await list()).find((one) => one.id === id)?.revoked).toBe(first);
    });

    for (const id of ["nothing", "0", "1", "z".repeat(64), randomText(randomBytes, 8)]) {
      it(`answers 404 to the revocation of ${id}, which no token has`, async () => {
        expect(await expectConform(REVOKE, await revoke(id))).toEqual({ ...CATALOGUE.token_not_found });
      });
    }

    for (const { why, body, message } of REFUSED) {
      it(`refuses ${why}, names it, and creates no token`, async () => {
        const before = (await list()).length;
        const response = await service.request("/tokens", { method: "POST", body: JSON.stringify(body) });
        expect(response.status).toBe(400);
        expect(await expectConform(CREATE, response)).toMatchObject({ message });
        expect(await list()).toHaveLength(before);
      });
    }

    for (const { why, days, childDays, isCapped } of [
      { why: "asks for longer", days: 1, childDays: 2, isCapped: true },
      { why: "asks for no end", days: 1, childDays: undefined, isCapped: true },
      { why: "asks for less", days: 1, childDays: 0.5, isCapped: false },
    ]) {
      it(`creates a token that expires with its parent if the request ${why}, or earlier if it asks for that`, async () => {
        const maker = await create({ name: "maker", scopes: SCOPES, days });
        const response = await createWith(maker.token, { name: "child", scopes: ["plants:read"], days: childDays });
        const { created, expires, parent } = (await expectConform(CREATE, response)) as Schemas["CreatedToken"];
        expect(parent).toBe(maker.id);
        expect(Date.parse(expires!)).toBe(isCapped ? Date.parse(maker.expires!) : Date.parse(created) + childDays! * DAY_MS);
      });
    }

    it("creates no token with a scope that its parent lacks, and names it", async () => {
      const maker = await create({ name: "maker", scopes: ["admin", "plants:read"] });
      for (const scopes of [["plants:write"], ["plants:read", "plants:write"], ["admin", "plants:write"]]) {
        const response = await createWith(maker.token, { name: "child", scopes });
        expect(response.headers.get("www-authenticate")).toBe(
          'Bearer realm="plant-store", error="insufficient_scope", scope="plants:write"',
        );
        expect(await expectConform(CREATE, response)).toEqual({ ...CATALOGUE.insufficient_scope });
      }
      expect((await createWith(maker.token, { name: "child", scopes: ["plants:read", "admin"] })).status).toBe(200);
      expect((await list()).filter(({ parent }) => parent === maker.id)).toHaveLength(1);
    });

    for (const { query, isKept } of [
      { query: "", isKept: false },
      { query: "?children=revoke", isKept: false },
      { query: "?children=keep", isKept: true },
    ]) {
      it(`revokes a token ${isKept ? "alone" : "with its children, and theirs, within a second,"} by DELETE ${query}`, async () => {
        const maker = await create({ name: "maker", scopes: ["admin", "plants:read"] });
        const child = (await (
          await createWith(maker.token, { name: "child", scopes: ["admin", "plants:read"] })
        ).json()) as Schemas["CreatedToken"];
        const grandchild = (await (
          await createWith(child.token, { name: "grandchild", scopes: ["plants:read"] })
        ).json()) as Schemas["CreatedToken"];
        expect((await listPlantsWith(grandchild.token)).status).toBe(200);
        const response = await revoke(maker.id + query);
        expect(response.status).toBe(204);
        await expectConform(REVOKE, response);
        await Bun.sleep(600);
        const statuses = [];
        for (const { token } of [maker, child, grandchild]) statuses.push((await listPlantsWith(token)).status);
        expect(statuses).toEqual(isKept ? [401, 200, 200] : [401, 401, 401]);
      });
    }

    it("records the minute in which a token was last used, without a write per request", async () => {
      const { id, token } = await create({ name: "used", scopes: ["plants:read"] });
      const before = Date.now() - 60_000;
      for (let request = 0; request < 5; request += 1) await listPlantsWith(token);
      const used = (await list()).find((one) => one.id === id)?.lastUsed;
      expect(used).toMatch(MINUTE);
      expect(Date.parse(used!)).toBeWithin(before, Date.now() + 1);
      expect((await Array.fromAsync(allTokens(service.store.tokens))).find((one) => one.id === id)).not.toHaveProperty("lastUsed");
    });

    describe("with an Idempotency-Key", () => {
      const key = (name: string) => ({ "idempotency-key": `"${name}"` });
      const BODY = { name: "once", scopes: ["plants:read", "plants:write"], days: 30 };

      it("answers repeated and simultaneous requests with the same token and secret, and creates one", async () => {
        const before = (await list()).length;
        const answers = await Promise.all(
          Array.from({ length: 5 }, async () => {
            const response = await createWith(service.token, BODY, key("a-1"));
            expect(response.status).toBe(200);
            return expectConform(CREATE, response);
          }),
        );
        const reordered = await (await createWith(service.token, { ...BODY, scopes: BODY.scopes.toReversed() }, key("a-1"))).json();
        for (const answer of [...answers, reordered]) expect(answer).toEqual(answers[0]);
        expect(await list()).toHaveLength(before + 1);
        expect((await listPlantsWith((answers[0] as Schemas["CreatedToken"]).token)).status).toBe(200);
      });

      for (const { why, body } of [
        { why: "name", body: { ...BODY, name: "other" } },
        { why: "scopes", body: { ...BODY, scopes: ["plants:read"] } },
        { why: "days", body: { ...BODY, days: 31 } },
        { why: "an instant", body: { name: BODY.name, scopes: BODY.scopes, expires: "2099-01-01T00:00:00Z" } },
        { why: "no days", body: { name: BODY.name, scopes: BODY.scopes } },
      ]) {
        it(`answers 422 to the same key with another body (${why}), and creates no token`, async () => {
          await createWith(service.token, BODY, key("b"));
          const before = (await list()).length;
          const response = await createWith(service.token, body, key("b"));
          expect(response.status).toBe(422);
          expect(await expectConform(CREATE, response)).toEqual({ ...CATALOGUE.idempotency_key_reused });
          expect(await list()).toHaveLength(before);
        });
      }

      it("creates another token for another key, and for another creator with the same key", async () => {
        const makers = [service.token, (await create({ name: "maker", scopes: SCOPES, days: 40 })).token];
        const made: Schemas["CreatedToken"][] = [];
        for (const maker of makers)
          for (const name of ["c-1", "c-2"])
            made.push((await (await createWith(maker, BODY, key(name))).json()) as Schemas["CreatedToken"]);
        expect(new Set(made.map(({ token }) => token)).size).toBe(4);
        expect(new Set(made.map(({ id }) => id)).size).toBe(4);
      });

      for (const value of [
        "",
        "a",
        "a-b",
        '""',
        '"a',
        'a"',
        '"a""b"',
        '"a"; b=1',
        '"a", "b"',
        '"a\\b"',
        `"${"x".repeat(256)}"`,
        "1",
        ":YQ==:",
        "?1",
      ]) {
        it(`refuses the key ${value.slice(0, 20)}, which is not a string in quotes, or is too long`, async () => {
          const response = await createWith(service.token, BODY, { "idempotency-key": value });
          expect(await expectConform(CREATE, response)).toEqual({ ...CATALOGUE.invalid_idempotency_key });
        });
      }

      for (const value of ['"x"', '" ~!#[]"', '"a\\"b\\\\"', `"${"x".repeat(255)}"`]) {
        it(`takes the key ${value.slice(0, 20)}`, async () => {
          expect((await createWith(service.token, BODY, { "idempotency-key": value })).status).toBe(200);
        });
      }
    });

    it("lists a thousand tokens at most, with a link to the others, which the client follows", async () => {
      const before = await list();
      const made = Array.from({ length: 1001 }, (_, at) => ({ id: `many${at}`, name: "many", scopes: [], created: Date.now() }));
      await Promise.all(made.map((token) => service.store.tokens.create(token, `hash of ${token.id}`)));

      const first = await service.request("/tokens?limit=5000");
      const listed = (await expectConform(LIST, first)) as Schemas["TokenList"];
      expect(listed).toHaveLength(1000);
      expect(first.headers.get("link")).toBe(`<?limit=1000&cursor=${listed.at(-1)!.id}>; rel="next"`);
      const second = await service.request(`/tokens${/<(.*)>/.exec(first.headers.get("link")!)![1]}`);
      const others = (await expectConform(LIST, second)) as Schemas["TokenList"];
      expect(second.headers.get("link")).toBeNull();
      const exact = await service.request(`/tokens?limit=${others.length}&cursor=${listed.at(-1)!.id}`);
      expect([await exact.json(), exact.headers.get("link")]).toEqual([others, null]);

      const ids = [...before, ...made].map(({ id }) => id).toSorted();
      expect([...listed, ...others].map(({ id }) => id).toSorted()).toEqual(ids);
      const found = await createClient({ url: service.url, token: service.token }).listTokens();
      expect(found.map(({ id }) => id)).toEqual([...listed, ...others].map(({ id }) => id));
    });

    it("refuses a cursor that is of no token", async () => {
      for (const cursor of ["nobody", "", "%00"]) {
        const response = await service.request(`/tokens?cursor=${cursor}`);
        expect(await expectConform(LIST, response)).toEqual({
          error: 40006,
          message: "The query parameter `cursor` is not from a `Link` of this list: leave it out to begin at the first page.",
        });
      }
    });

    it("does it all through the client", async () => {
      const admin = createClient({ url: service.url, token: service.token });
      const { token, ...made } = await admin.createToken({ name: "client", scopes: ["plants:read", "plants:write"], days: 1 });
      await createClient({ url: service.url, token }).create({ id: 1n, name: "Ficus" });
      expect(await admin.listTokens()).toContainEqual({ ...made, lastUsed: expect.stringMatching(MINUTE) });
      expect([await admin.revokeToken(made.id), await admin.revokeToken(made.id), await admin.revokeToken("nothing")]).toEqual([
        true,
        true,
        false,
      ]);
      expect((await admin.listTokens()).find(({ id }) => id === made.id)?.revoked).toMatch(TIME);
    });
  });
}
