import { randomBytes } from "node:crypto";
import { afterAll, beforeEach, describe, expect, it } from "bun:test";
import { issueToken } from "../../src/auth/issue.ts";
import { createToken, hashToken } from "../../src/auth/secret.ts";
import { loadContract } from "../../src/domain/contract.ts";
import type { Operation } from "../../src/domain/contract.ts";
import { CATALOGUE } from "../../contract/generated/error-catalogue.ts";
import { PlantStoreError } from "../../src/domain/errors.ts";
import type { ErrorCode } from "../../src/domain/errors.ts";
import { toErrorResponse } from "../../src/http/error-response.ts";
import { SCOPES } from "../../src/domain/scope.ts";
import type { Scope } from "../../src/domain/scope.ts";
import { expectConform } from "../support/conform.ts";
import { startTestService } from "../support/service.ts";

// What is true for every operation, read from the contract itself: a new operation is tested from its first day.

const service = await startTestService();
const { tokens } = service.store;
afterAll(() => service.stop());

const { operations, served } = loadContract();
const guarded = operations.filter(({ scope }) => scope !== undefined);

async function issue(scopes: readonly Scope[], lifetimeMs?: number): Promise<string> {
  const lifetime = lifetimeMs === undefined ? {} : { lifetimeMs };
  const { secret } = await issueToken({ tokens, random: randomBytes, now: Date.now, name: "test", scopes, ...lifetime });
  return secret;
}

const revoked = await issue(SCOPES);
await tokens.revoke((await tokens.find(hashToken(revoked)))!.id, Date.now(), { isKeepingChildren: false });
const expired = await issue(SCOPES, -1);

/** Any token: a second revocation is answered the same. */
const { token: anyToken } = await issueToken({ tokens, random: randomBytes, now: Date.now, name: "other", scopes: ["plants:read"] });

/** The id in the paths that end in one. */
const IDS: Readonly<Record<string, string>> = { "/plants/{id}": "1", "/tokens/{id}": anyToken.id };

/** A body that each operation accepts; a plant for all that are not listed here. */
const BODIES: Readonly<Record<string, string>> = {
  createToken: '{"name":"test","scopes":["admin"],"days":1}',
  changePlants: '{"changes":[{"id":1,"from":null,"to":{"name":"Aloe vera"}}]}',
  importPlants: "id,name,tag\n1,Aloe vera,\n",
  // Whole, or it would also be a read.
  patchPlant: '{"id":1,"name":"Aloe vera","tag":null}',
};

/** The type of the body; JSON for all that are not listed here. */
const TYPES: Readonly<Record<string, string>> = { importPlants: "text/csv" };

type Sent = Readonly<{ query?: string; headers?: Record<string, string>; given?: string }>;

/** A request that the operation accepts, on plant 1 or a token, without authorization. */
function send({ id, method, path, body }: Operation, { query = "", headers = {}, given }: Sent = {}): Promise<Response> {
  const init = body.kind === "none" ? {} : { body: new TextEncoder().encode(given ?? BODIES[id] ?? '{"id":1,"name":"Aloe vera"}') };
  const type = TYPES[id] === undefined ? {} : { "content-type": TYPES[id] };
  return fetch(`${service.url}${path.replace("{id}", IDS[path] ?? "")}${query}`, { method, headers: { ...type, ...headers }, ...init });
}

/** The same with the first token, which has every scope. */
function sendAdmitted(operation: Operation, { headers = {}, ...sent }: Sent = {}): Promise<Response> {
  return send(operation, { ...sent, headers: { authorization: `Bearer ${service.token}`, ...headers } });
}

async function expectRefused(operation: Operation, response: Response, code: ErrorCode): Promise<string> {
  const { error, message } = (await expectConform(operation, response)) as { error: number; message: string };
  expect(error).toBe(CATALOGUE[code].error);
  return message;
}

beforeEach(async () => {
  expect((await service.request("/plants/1", { method: "PUT", body: '{"name":"Aloe vera"}' })).ok).toBe(true);
});

const BARE = 'Bearer realm="plant-store"';

const WITHOUT_TOKEN: Readonly<Record<string, Record<string, string>>> = {
  "no token": {},
  "another scheme": { authorization: "Basic dXNlcjpwYXNz" },
  "a scheme that begins like ours": { authorization: `Bearer-x ${service.token}` },
  "no space after the scheme": { authorization: `bearer${service.token}` },
  "the token without its scheme": { authorization: service.token },
  "the token in a cookie": { cookie: `access_token=${service.token}` },
};

const INVALID_TOKENS: Readonly<Record<string, string>> = {
  "nothing after the scheme": "",
  "a malformed token": "plant_x",
  "a cut token": service.token.slice(0, -1),
  "a token with more after it": `${service.token}x`,
  "a token with a wrong checksum": service.token.replace(/.$/, (last) => (last === "0" ? "1" : "0")),
  "a token in lower case": service.token.toLowerCase(),
  "two tokens": `${service.token} ${service.token}`,
  "two tokens in a list": `${service.token}, Bearer ${service.token}`,
  "an unknown token": createToken(randomBytes),
  "an expired token": expired,
  "a revoked token": revoked,
};

/** Who sent no token learns of no error (RFC 6750, 3.1). */
const REFUSED_TOKENS = [
  ...Object.entries(WITHOUT_TOKEN).map(([why, headers]) => ({ why, headers, code: "missing_token", challenge: BARE }) as const),
  ...Object.entries(INVALID_TOKENS).map(([why, token]) => {
    const headers = { authorization: `Bearer ${token}`.trimEnd() };
    return { why, headers, code: "invalid_token", challenge: `${BARE}, error="invalid_token"` } as const;
  }),
];

/** Values that each query parameter refuses; a parameter that accepts any text has none. */
const WRONG_VALUES: Readonly<Record<string, readonly string[]>> = {
  limit: ["", "0", "-1", "+1", "x", "1.5", "1e2", "0x10", " 1", "2147483648", "99999999999999999999", "null"],
  after: ["", "x", "01", "-01", "-0", "+1", "1.0", "1e3", " 1", "9223372036854775808", "-9223372036854775809"],
  tag: [],
  q: [],
  sort: ["", "Name", "name ", "id,name"],
  cursor: [],
  id: ["", "x", "01", "-0", "+1", "1.0", "9223372036854775808"],
  untagged: ["", "1", "yes", "TRUE"],
  header: ["", "Absent", "false"],
  guess: ["", "1", "yes"],
  encoding: ["", "UTF-8", "latin1", "utf-16"],
  idColumn: [],
  nameColumn: [],
  tagColumn: [],
  ids: ["", "Content", "random"],
  firstId: ["", "x", "01", "1.0", "9223372036854775808"],
  dropEmptyTags: ["", "1", "none"],
  onConflict: ["", "Replace", "overwrite", "replace "],
  dryRun: ["", "1", "0", "yes", "TRUE"],
  format: ["", "json", "CSV", "text/csv"],
  profile: ["", "DWC", "darwin"],
  guardFormulas: ["", "1", "TRUE"],
  children: ["", "Keep", "kill"],
};

/** A value that each query parameter accepts. */
const RIGHT_VALUES: Readonly<Record<string, string>> = {
  limit: "1",
  after: "0",
  tag: "tree",
  q: "aloe",
  sort: "name",
  cursor: "AQAAAAAAAAABBAA&sort=name",
  id: "1",
  untagged: "true",
  header: "absent",
  guess: "true",
  encoding: "windows-1252",
  idColumn: "column%201",
  nameColumn: "name",
  tagColumn: "column%203",
  ids: "content",
  firstId: "1001",
  dropEmptyTags: "true",
  onConflict: "refuse",
  dryRun: "true",
  format: "csv",
  profile: "dwc",
  guardFormulas: "true",
  children: "keep",
};

/** What an operation accepts instead. */
const OWN_VALUES: Readonly<Record<string, string>> = { "listTokens cursor": "first" };

it("the contract has operations that need a token, and these that do not", () => {
  expect(guarded.map(({ id }) => id)).toContain("createPlant");
  expect(operations.filter(({ scope }) => scope === undefined).map(({ path }) => path)).toEqual([
    "/livez",
    "/readyz",
    "/openapi.json",
    "/openapi/1.0.0.json",
  ]);
});

it("every query parameter of the contract is in the tables of this test", () => {
  const names = [...new Set(operations.flatMap(({ query }) => query.map(({ name }) => name)))].toSorted();
  expect(Object.keys(WRONG_VALUES).toSorted()).toEqual(names);
  expect(Object.keys(RIGHT_VALUES).toSorted()).toEqual(names);
});

for (const operation of guarded) {
  const { method, path, query, scope } = operation;
  describe(`${method} ${path}`, () => {
    for (const { why, headers, code, challenge } of REFUSED_TOKENS) {
      it(`answers 401 ${code} to ${why}, in the words of the catalogue`, async () => {
        const response = await send(operation, { headers });
        expect([response.status, response.headers.get("www-authenticate")]).toEqual([401, challenge]);
        expect(await expectRefused(operation, response, code)).toBe(CATALOGUE[code].message);
      });
    }

    if (scope === "any") {
      it("accepts every valid token, whatever its scope", async () => {
        for (const only of SCOPES) {
          const response = await send(operation, { headers: { authorization: `Bearer ${await issue([only])}` } });
          expect(response.status).toBe(200);
          await expectConform(operation, response);
        }
      });
    } else if (scope !== undefined) {
      it("answers 403 to a valid token with every other scope, and names the missing one", async () => {
        const token = await issue(SCOPES.filter((other) => other !== scope));
        const response = await send(operation, { headers: { authorization: `Bearer ${token}` } });
        expect(response.status).toBe(403);
        expect(response.headers.get("www-authenticate")).toBe(`${BARE}, error="insufficient_scope", scope="${scope}"`);
        expect(await expectRefused(operation, response, "insufficient_scope")).toContain(scope);
      });

      it("accepts a valid token with only its scope", async () => {
        const response = await send(operation, { headers: { authorization: `Bearer ${await issue([scope])}` } });
        expect([200, 204]).toContain(response.status);
        await expectConform(operation, response);
      });
    }

    it("accepts no token in the query: 401 without another, 400 with one", async () => {
      const given = { query: `?access_token=${service.token}` };
      await expectRefused(operation, await send(operation, given), "missing_token");
      expect(await expectRefused(operation, await sendAdmitted(operation, given), "invalid_query")).not.toContain("access_token");
    });

    it("refuses an unknown query parameter, and names the known ones", async () => {
      for (const name of ["limits", "LIMIT", "__proto__", "toString", "ids "]) {
        const message = await expectRefused(operation, await sendAdmitted(operation, { query: `?${name}=1` }), "invalid_query");
        if (query.length === 0) expect(message).toBe("This operation has no query parameters: send none.");
        else expect(message).toBe(`A query parameter is unknown: send only ${query.map((known) => `\`${known.name}\``).join(", ")}.`);
      }
    });

    it("refuses a query with broken percent-encoding or that is not UTF-8", async () => {
      for (const broken of ["%", "%zz=1", "%4", "%ff=1", "%ed%a0%80", ...query.map(({ name }) => `${name}=%c3`)]) {
        const message = await expectRefused(operation, await sendAdmitted(operation, { query: `?${broken}` }), "invalid_query");
        expect(message, broken).toContain("percent-encoding");
      }
    });

    it("accepts an empty query, and one of empty pairs", async () => {
      for (const empty of ["?", "?&", "?&&"]) {
        await service.request("/plants/1", { method: "PUT", body: '{"name":"Aloe vera"}' });
        const response = await sendAdmitted(operation, { query: empty });
        expect([200, 204]).toContain(response.status);
        await expectConform(operation, response);
      }
    });

    for (const { name } of query) {
      const right = `${name}=${OWN_VALUES[`${operation.id} ${name}`] ?? RIGHT_VALUES[name]}`;

      it(`accepts ${right}, even if the name is percent-encoded`, async () => {
        const encoded = `%${name.charCodeAt(0).toString(16)}${right.slice(1)}`;
        for (const given of [right, encoded]) {
          const response = await sendAdmitted(operation, { query: `?${given}` });
          expect([200, 204]).toContain(response.status);
          await expectConform(operation, response);
        }
      });

      it(`refuses ${name} given twice, even with the same value, and names it`, async () => {
        const message = await expectRefused(operation, await sendAdmitted(operation, { query: `?${right}&${right}` }), "invalid_query");
        expect(message).toBe(`The query parameter \`${name}\` is given twice: send it once.`);
      });

      for (const wrong of WRONG_VALUES[name] ?? []) {
        it(`refuses ${name}=${wrong} and names it`, async () => {
          const response = await sendAdmitted(operation, { query: `?${name}=${encodeURIComponent(wrong)}` });
          const message = await expectRefused(operation, response, "invalid_query");
          expect(message).toStartWith(`The query parameter \`${name}\` must be `);
        });
      }
    }

    it("returns the request id, with a success and with an error", async () => {
      for (const [bad, id] of [
        ["", "import_17.b-2"],
        ["?nothing=1", "x".repeat(128)],
      ] as const) {
        const response = await sendAdmitted(operation, { query: bad, headers: { "x-request-id": id } });
        expect(response.headers.get("x-request-id")).toBe(id);
        expect(response.ok).toBe(bad === "");
        await expectConform(operation, response);
      }
    });
  });
}

const DEEP = `{"x":${"[".repeat(32)}${"]".repeat(32)}}`;

/** Bodies that no operation takes which takes JSON, and what the message says of them. */
const REFUSED_BODIES = [
  ...["", "{", '{"name":"x"', '{"id":1,"name":"x"} x'].map((given) => ({ given, code: "malformed_json", says: "not valid JSON" }) as const),
  ...["[]", "null", '"name"', "1"].map((given) => ({ given, code: "invalid_body", says: "not an object" }) as const),
  { given: DEEP, code: "nested_too_deep", says: "32 levels" },
] as const;

/** Types of a body that each of them refuses. */
const REFUSED_TYPES = ["text/plain", "application/jsonx", "application/json-patch+jsonx", "json", "text/plain, application/json"].concat([
  "application/x-www-form-urlencoded",
  "multipart/form-data",
]);

for (const operation of operations.filter(({ body, id }) => body.kind !== "none" && TYPES[id] === undefined)) {
  const accepted = operation.method === "PATCH" ? "application/merge-patch+json, application/json" : "application/json";
  describe(`the body of ${operation.method} ${operation.path}`, () => {
    for (const { given, code, says } of REFUSED_BODIES) {
      it(`is refused as ${code}: ${given.slice(0, 40) || "nothing"}`, async () => {
        expect(await expectRefused(operation, await sendAdmitted(operation, { given }), code)).toContain(says);
      });
    }

    for (const [header, value, code] of [
      ...REFUSED_TYPES.map((type) => ["content-type", type, "unsupported_media_type"] as const),
      ...["latin1", "utf-16", "us-ascii"].map(
        (charset) => ["content-type", `application/json; charset=${charset}`, "unsupported_charset"] as const,
      ),
      ...["gzip", "br"].map((coding) => ["content-encoding", coding, "unsupported_encoding"] as const),
    ]) {
      it(`is refused with ${header}: ${value}, and the answer says what to send`, async () => {
        const response = await sendAdmitted(operation, { headers: { [header]: value } });
        if (header === "content-type") expect(response.headers.get("accept")).toBe(accepted);
        else expect(response.headers.get("accept-encoding")).toBe("identity");
        const message = await expectRefused(operation, response, code);
        if (code === "unsupported_media_type") expect(message).toContain(`Content-Type: ${accepted.split(",", 1)[0]}`);
      });
    }
  });
}

/** Whether the contract gives an operation this header. */
function takes({ path, method }: Operation, header: "IfMatch" | "IfNoneMatch"): boolean {
  const { paths } = JSON.parse(served) as { paths: Record<string, Record<string, { parameters?: readonly { $ref?: string }[] }>> };
  const parameters = paths[path]?.[method.toLowerCase()]?.parameters ?? [];
  return parameters.some(({ $ref }) => $ref === `#/components/parameters/${header}`);
}

/** None is a tag that plant 1 can have. */
const BAD_TAGS = ['"other"', 'W/"other"', "other", '"', "", ",", '"*"', "\u00e4", '"a", "b" , W/"c"'];

/** Those that are no list of tags at all: they may have been meant to protect the plant. */
const NO_TAGS = ["other", '"', "\u00e4"];

for (const operation of guarded) {
  const { method, path } = operation;
  const isConditional = takes(operation, "IfMatch");

  it(`${method} ${path} has both conditions or none`, () => {
    expect(takes(operation, "IfNoneMatch")).toBe(isConditional);
    expect(isConditional).toBe(path === "/plants/{id}");
  });

  for (const tag of BAD_TAGS) {
    it(`${method} ${path} ${isConditional ? "answers 412 to" : "does not look at"} If-Match: ${tag}`, async () => {
      const response = await sendAdmitted(operation, { headers: { "if-match": tag } });
      if (isConditional) await expectRefused(operation, response, "precondition_failed");
      else {
        expect([200, 204]).toContain(response.status);
        await expectConform(operation, response);
      }
    });

    const isStopped = isConditional && method !== "GET" && NO_TAGS.includes(tag);
    it(`${method} ${path} ${isStopped ? "is stopped by" : "goes on with"} If-None-Match: ${tag}`, async () => {
      const response = await sendAdmitted(operation, { headers: { "if-none-match": tag } });
      if (isStopped) await expectRefused(operation, response, "precondition_failed");
      else {
        expect([200, 204]).toContain(response.status);
        await expectConform(operation, response);
      }
    });
  }
}

describe("an error of the catalogue", () => {
  for (const code of Object.keys(CATALOGUE) as ErrorCode[]) {
    const isUnavailable = Math.trunc(CATALOGUE[code].error / 100) === 503;

    it(`${code} ${isUnavailable ? "says when to try again" : "does not ask for another try"}`, () => {
      const { headers = {} } = toErrorResponse(new PlantStoreError(code));
      expect("retry-after" in headers).toBe(isUnavailable);
    });
  }
});
