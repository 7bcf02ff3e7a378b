import { randomBytes } from "node:crypto";
import { afterAll, describe, expect, it } from "bun:test";
import { CATALOGUE } from "../../contract/generated/error-catalogue.ts";
import type { Schemas } from "../../contract/generated/schemas.ts";
import { issueToken } from "../../src/auth/issue.ts";
import { hasTokenForm, randomText } from "../../src/auth/secret.ts";
import { createClient } from "../../src/client/client.ts";
import { SCOPES } from "../../src/domain/scope.ts";
import { allTokens } from "../../src/store/tokens.ts";
import { expectConform } from "../support/conform.ts";
import { startPatientClock } from "../support/patient-clock.ts";
import { startTestService } from "../support/service.ts";

type Created = Schemas["CreatedToken"];

const LIST = { method: "get", path: "/tokens" };
const CREATE = { method: "post", path: "/tokens" };
const REVOKE = { method: "delete", path: "/tokens/{id}" };
const DAY_MS = 24 * 60 * 60 * 1000;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const MINUTE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:00\.000Z$/;

const service = await startTestService();
const { tokens } = service.store;
afterAll(() => service.stop());
// Not the first token, which ends when another token with all scopes is used.
const own = await issueToken({ tokens, random: randomBytes, now: Date.now, name: "own", scopes: SCOPES });

type Sent = Readonly<{ method?: string; body?: string; headers?: Record<string, string>; as?: string }>;

function ask(path: string, { as = own.secret, headers = {}, ...init }: Sent = {}): Promise<Response> {
  return service.request(path, { ...init, headers: { authorization: `Bearer ${as}`, ...headers } });
}

/** POST /tokens. */
function post(body: unknown, sent: Sent = {}): Promise<Response> {
  return ask("/tokens", { method: "POST", body: JSON.stringify(body), ...sent });
}

async function create(body: unknown, sent: Sent = {}): Promise<Created> {
  const response = await post(body, sent);
  expect([response.status, response.headers.get("cache-control")]).toEqual([200, "no-store"]);
  return (await expectConform(CREATE, response)) as Created;
}

async function list(): Promise<readonly Schemas["Token"][]> {
  return (await expectConform(LIST, await ask("/tokens"))) as Schemas["Token"][];
}

async function find(id: string): Promise<Schemas["Token"] | undefined> {
  return (await list()).find((one) => one.id === id);
}

async function revoke(id: string): Promise<void> {
  const response = await ask(`/tokens/${id}`, { method: "DELETE" });
  expect(response.status).toBe(204);
  await expectConform(REVOKE, response);
}

/** What a read with this token is answered. */
async function statusWith(as: string): Promise<number> {
  return (await ask("/plants", { as })).status;
}

const ONE_SCOPE = { name: "x", scopes: ["admin"] };
const NO_INSTANT = "`expires` is not an instant of RFC 3339: send one such as 2027-11-02T09:00:00Z.";
const OUTSIDE = "`expires` must be in the future, and at most 36500 days away: send such an instant.";
const FAR = new Date(Date.now() + 36_501 * DAY_MS).toISOString();

// What every body is refused for: operations.test.ts. Unknown fields: unknown-fields.test.ts.
const REFUSED: ReadonlyArray<readonly [why: string, body: object, message: string]> = [
  ["no name", { scopes: ["admin"] }, "`name` is missing: add it."],
  ["an empty name", { ...ONE_SCOPE, name: "" }, "`name` must have 1 or more characters: send a longer one."],
  ["a name of 101 characters", { ...ONE_SCOPE, name: "🌿".repeat(101) }, "`name` must have at most 100 characters: send a shorter one."],
  ["an empty list of scopes", { ...ONE_SCOPE, scopes: [] }, "`scopes` must have 1 or more values: add one."],
  ["an unknown scope", { ...ONE_SCOPE, scopes: ["root"] }, "`scopes` must be one of plants:read, plants:write, admin."],
  ["a scope twice", { ...ONE_SCOPE, scopes: ["admin", "admin"] }, "`scopes` has a value twice: send each value once."],
  ["scopes that are no list", { ...ONE_SCOPE, scopes: "admin" }, "`scopes` must be a list: send one"],
  ...[0, -0.5, 36_500.01, 1e300, "30", null, []].map(
    (days) =>
      [
        `days: ${JSON.stringify(days)}`,
        { ...ONE_SCOPE, days },
        "`days` must be a number above 0 and at most 36500, without quotes.",
      ] as const,
  ),
  ...["2099-01-01", "2099-01-01T00:00:00", "2099-02-29T00:00:00Z", "2099-01-01T24:00:00Z", "2099-01-01 00:00:00Z", "4070908800"].map(
    (expires) => [`expires: ${expires}`, { ...ONE_SCOPE, expires }, NO_INSTANT] as const,
  ),
  ...["1970-01-01T00:00:00Z", FAR].map((expires) => [`expires: ${expires}`, { ...ONE_SCOPE, expires }, OUTSIDE] as const),
  [
    "both days and an instant",
    { ...ONE_SCOPE, days: 1, expires: FAR },
    "The fields `days` and `expires` contradict each other: send one of them.",
  ],
];

describe("a token that is created", () => {
  it("works at once, for its scopes only, and shows its secret only then", async () => {
    const from = Date.now();
    const { token, ...made } = await create({ name: "Anna's \0 📱", scopes: ["plants:read"] });
    expect(hasTokenForm(token)).toBe(true);
    expect(made).toEqual({
      id: expect.stringMatching(/^[0-9A-Za-z]{8}$/),
      name: "Anna's \0 📱",
      scopes: ["plants:read"],
      created: expect.stringMatching(TIME),
      parent: own.token.id,
    });
    expect(Date.parse(made.created)).toBeWithin(from, Date.now() + 1);
    expect(await statusWith(token)).toBe(200);
    expect((await ask("/plants", { method: "POST", body: '{"id":1,"name":"x"}', as: token })).status).toBe(403);
    const text = await (await ask("/tokens")).text();
    expect(JSON.parse(text)).toContainEqual({ ...made, lastUsed: expect.stringMatching(MINUTE) });
    for (const shown of [text, service.logged.join("")]) expect(shown).not.toContain(token.slice(6, 38));
  });

  it("may have a name of 1 and of 100 characters, and all scopes", async () => {
    for (const name of ["x", "🌿".repeat(100)])
      expect((await create({ name, scopes: ["admin", "plants:write", "plants:read"] })).name).toBe(name);
  });

  for (const days of ["1", "36500", "0.5", "3.65e2", "1e-9"])
    it(`expires after ${days} days of 24 hours`, async () => {
      const response = await ask("/tokens", { method: "POST", body: `{"name":"x","scopes":["plants:read"],"days":${days}}` });
      const { created, expires = "" } = (await expectConform(CREATE, response)) as Created;
      expect(expires).toMatch(TIME);
      expect(Date.parse(expires) - Date.parse(created)).toBe(Math.ceil(Number(days) * DAY_MS));
    });

  for (const [expires, iso] of [
    ["2099-02-28T09:00:00Z", "2099-02-28T09:00:00.000Z"],
    ["2096-02-29t23:59:59.123999999+23:59", "2096-02-29T00:00:59.123Z"],
    ["2099-12-31T23:59:59.5-00:30", "2100-01-01T00:29:59.500Z"],
  ])
    it(`expires at ${expires}`, async () => {
      expect((await create({ ...ONE_SCOPE, expires })).expires).toBe(iso);
    });

  for (const [why, days, isCapped] of [
    ["with its parent if the request asks for longer", 2, true],
    ["with its parent if the request asks for no end", undefined, true],
    ["earlier if the request asks for that", 0.5, false],
  ] as const)
    it(`expires ${why}`, async () => {
      const maker = await create({ name: "maker", scopes: SCOPES, days: 1 });
      const { created, expires, parent } = await create({ name: "child", scopes: ["plants:read"], days }, { as: maker.token });
      expect(parent).toBe(maker.id);
      expect(Date.parse(expires!)).toBe(isCapped ? Date.parse(maker.expires!) : Date.parse(created) + days * DAY_MS);
    });

  it("has no scope that its parent lacks: the refusal names it", async () => {
    const maker = await create({ name: "maker", scopes: ["admin", "plants:read"] });
    for (const scopes of [["plants:write"], ["plants:read", "plants:write"]]) {
      const response = await post({ name: "child", scopes }, { as: maker.token });
      const challenge = 'Bearer realm="plant-store", error="insufficient_scope", scope="plants:write"';
      expect(response.headers.get("www-authenticate")).toBe(challenge);
      expect(await expectConform(CREATE, response)).toEqual({ ...CATALOGUE.insufficient_scope });
    }
    await create({ name: "child", scopes: ["plants:read", "admin"] }, { as: maker.token });
    expect((await list()).filter(({ parent }) => parent === maker.id)).toHaveLength(1);
  });

  for (const [why, body, message] of REFUSED)
    it(`is not created with ${why}: the refusal names it`, async () => {
      const before = (await list()).length;
      const response = await post(body);
      expect(response.status).toBe(400);
      expect(await expectConform(CREATE, response)).toMatchObject({ message: expect.stringContaining(message) });
      expect(await list()).toHaveLength(before);
    });
});

describe("a token that is revoked", () => {
  it("ends within a second; a second revocation is answered the same, and keeps the time of the first", async () => {
    const { id, token } = await create({ name: "lost", scopes: ["plants:read"] });
    expect(await statusWith(token)).toBe(200);
    await revoke(id);
    const clock = startPatientClock();
    while ((await statusWith(token)) === 200) expect(clock.ms()).toBeLessThan(1000);
    const first = (await find(id))?.revoked;
    expect(first).toMatch(TIME);
    await revoke(id);
    expect((await find(id))?.revoked).toBe(first);
  });

  it("is unknown, 404, if no token has the id", async () => {
    for (const id of ["nothing", "0", "z".repeat(64), randomText(randomBytes, 8)])
      expect(await expectConform(REVOKE, await ask(`/tokens/${id}`, { method: "DELETE" }))).toEqual({ ...CATALOGUE.token_not_found });
  });

  for (const [query, statuses] of [
    ["", [401, 401, 401]],
    ["?children=revoke", [401, 401, 401]],
    ["?children=keep", [401, 200, 200]],
  ] as const)
    it(`ends ${query === "?children=keep" ? "alone" : "with its children, and theirs, within a second"}, by DELETE ${query}`, async () => {
      const maker = await create({ name: "maker", scopes: ["admin", "plants:read"] });
      const child = await create({ name: "child", scopes: ["admin", "plants:read"] }, { as: maker.token });
      const grandchild = await create({ name: "grandchild", scopes: ["plants:read"] }, { as: child.token });
      expect(await statusWith(grandchild.token)).toBe(200);
      await revoke(maker.id + query);
      await Bun.sleep(600);
      expect(await Promise.all([maker, child, grandchild].map(({ token }) => statusWith(token)))).toEqual([...statuses]);
    });
});

it("the minute in which a token was last used is listed, without a write for each request", async () => {
  const { id, token } = await create({ name: "used", scopes: ["plants:read"] });
  const before = Date.now() - 60_000;
  for (let request = 0; request < 5; request += 1) await statusWith(token);
  const used = (await find(id))?.lastUsed;
  expect(used).toMatch(MINUTE);
  expect(Date.parse(used!)).toBeWithin(before, Date.now() + 1);
  expect((await Array.fromAsync(allTokens(tokens))).find((one) => one.id === id)).not.toHaveProperty("lastUsed");
});

describe("an Idempotency-Key", () => {
  const key = (name: string) => ({ headers: { "idempotency-key": `"${name}"` } });
  const BODY = { name: "once", scopes: ["plants:read", "plants:write"], days: 30 };

  it("makes repeated and simultaneous requests create one token, and gives each the same secret", async () => {
    const before = (await list()).length;
    const answers = await Promise.all(Array.from({ length: 5 }, () => create(BODY, key("a-1"))));
    answers.push(await create({ ...BODY, scopes: BODY.scopes.toReversed() }, key("a-1")));
    expect(answers).toEqual(answers.map(() => answers[0]!));
    expect(await list()).toHaveLength(before + 1);
    expect(await statusWith(answers[0]!.token)).toBe(200);
  });

  for (const [why, body] of [
    ["name", { ...BODY, name: "other" }],
    ["scopes", { ...BODY, scopes: ["plants:read"] }],
    ["days", { ...BODY, days: 31 }],
    ["instant", { name: BODY.name, scopes: BODY.scopes, expires: "2099-01-01T00:00:00Z" }],
    ["end", { name: BODY.name, scopes: BODY.scopes }],
  ] as const)
    it(`is refused with 422 if the body has another ${why}, and no token is created`, async () => {
      await create(BODY, key("b"));
      const before = (await list()).length;
      const response = await post(body, key("b"));
      expect(response.status).toBe(422);
      expect(await expectConform(CREATE, response)).toEqual({ ...CATALOGUE.idempotency_key_reused });
      expect(await list()).toHaveLength(before);
    });

  it("is one of its creator: another key or creator makes another token", async () => {
    const other = await create({ name: "maker", scopes: SCOPES, days: 40 });
    const made: Created[] = [];
    for (const as of [own.secret, other.token]) for (const name of ["c-1", "c-2"]) made.push(await create(BODY, { as, ...key(name) }));
    expect(new Set(made.flatMap(({ token, id }) => [token, id])).size).toBe(8);
  });

  it("is a string in quotes of at most 255 characters", async () => {
    const wrong = ["", "a", '""', '"a', 'a"', '"a""b"', '"a"; b=1', '"a", "b"', '"a\\b"', `"${"x".repeat(256)}"`, "1", ":YQ==:", "?1"];
    for (const value of wrong) {
      const response = await post(BODY, { headers: { "idempotency-key": value } });
      expect([value, await expectConform(CREATE, response)]).toEqual([value, { ...CATALOGUE.invalid_idempotency_key }]);
    }
    for (const value of ['"x"', '" ~!#[]"', '"a\\"b\\\\"', `"${"x".repeat(255)}"`])
      await create(BODY, { headers: { "idempotency-key": value } });
  });
});

describe("the list of tokens", () => {
  it("has a thousand at most, by time of creation, with a link to the others, which the client follows", async () => {
    const before = await list();
    expect(before.map(({ created }) => created)).toEqual(before.map(({ created }) => created).toSorted());
    const made = Array.from({ length: 1001 }, (_, at) => ({ id: `many${at}`, name: "many", scopes: [], created: Date.now() }));
    await Promise.all(made.map((token) => tokens.create(token, `hash of ${token.id}`)));

    const first = await ask("/tokens?limit=5000");
    const listed = (await expectConform(LIST, first)) as Schemas["TokenList"];
    expect(listed).toHaveLength(1000);
    expect(first.headers.get("link")).toBe(`<?limit=1000&cursor=${listed.at(-1)!.id}>; rel="next"`);
    const second = await ask(`/tokens${/<(.*)>/.exec(first.headers.get("link")!)![1]}`);
    const others = (await expectConform(LIST, second)) as Schemas["TokenList"];
    expect(second.headers.get("link")).toBeNull();
    const exact = await ask(`/tokens?limit=${others.length}&cursor=${listed.at(-1)!.id}`);
    expect([await exact.json(), exact.headers.get("link")]).toEqual([others, null]);

    const ids = [...listed, ...others].map(({ id }) => id);
    expect(ids.toSorted()).toEqual([...before, ...made].map(({ id }) => id).toSorted());
    const found = await createClient({ url: service.url, token: own.secret }).listTokens();
    expect(found.map(({ id }) => id)).toEqual(ids);
  });

  it("refuses a cursor that is of no token", async () => {
    for (const cursor of ["absent", "", "%00"])
      expect(await expectConform(LIST, await ask(`/tokens?cursor=${cursor}`))).toEqual({
        error: 40006,
        message: "The query parameter `cursor` is not from a `Link` of this list: leave it out to begin at the first page.",
      });
  });
});
