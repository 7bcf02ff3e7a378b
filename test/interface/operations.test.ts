import { randomBytes } from "node:crypto";
import { afterAll, beforeEach, describe, expect, it } from "bun:test";
import { CATALOGUE } from "../../contract/generated/error-catalogue.ts";
import { toPastCursor } from "../../src/http/cursor.ts";
import { issueToken } from "../../src/auth/issue.ts";
import { loadContract } from "../../src/domain/contract.ts";
import type { Operation, ParameterSchema } from "../../src/domain/contract.ts";
import { PlantStoreError } from "../../src/domain/errors.ts";
import type { ErrorCode } from "../../src/domain/errors.ts";
import { SCOPES } from "../../src/domain/scope.ts";
import type { Scope } from "../../src/domain/scope.ts";
import { toErrorResponse } from "../../src/http/error-response.ts";
import { expectConform } from "../support/conform.ts";
import { pathOf, SAMPLES } from "../support/samples.ts";
import { startTestService } from "../support/service.ts";

// What is true for every operation, read from the contract itself: a new operation is tested from its first day.

const service = await startTestService();
const { tokens } = service.store;
afterAll(() => service.stop());

const { operations, served } = loadContract();
const guarded = operations.filter(({ scope }) => scope !== undefined);

async function issue(scopes: readonly Scope[]): Promise<string> {
  return (await issueToken({ tokens, random: randomBytes, now: Date.now, name: "test", scopes })).secret;
}

/** Any token: a second revocation is answered the same. */
const { token: anyToken } = await issueToken({ tokens, random: randomBytes, now: Date.now, name: "other", scopes: ["plants:read"] });

type Sent = Readonly<{ query?: string; headers?: Record<string, string>; given?: string }>;

/** A request that the operation accepts, without authorization. */
function send(operation: Operation, { query = "", headers = {}, given }: Sent = {}): Promise<Response> {
  const { body = "", type } = SAMPLES[operation.id];
  const init = operation.body.kind === "none" ? {} : { body: new TextEncoder().encode(given ?? body) };
  const typed = type === undefined ? {} : { "content-type": type };
  const path = pathOf(operation, { token: anyToken.id });
  return fetch(`${service.url}${path}${query}`, { method: operation.method, headers: { ...typed, ...headers }, ...init });
}

/** The same with the first token, which has every scope. */
function sendAdmitted(operation: Operation, { headers = {}, ...sent }: Sent = {}): Promise<Response> {
  return send(operation, { ...sent, headers: { authorization: `Bearer ${service.token}`, ...headers } });
}

/** Plant 1 is there. */
async function restore(): Promise<void> {
  expect((await service.request("/plants/1", { method: "PUT", body: '{"name":"Aloe"}' })).ok).toBe(true);
}
beforeEach(restore);

async function expectAccepted(operation: Operation, response: Response, why = ""): Promise<void> {
  if (!response.ok) throw new Error(`${operation.id} ${why} was answered ${response.status}: ${await response.text()}`);
  await expectConform(operation, response);
  await restore();
}

async function expectRefused(operation: Operation, response: Response, code: ErrorCode, why = ""): Promise<string> {
  const { error, message } = (await expectConform(operation, response)) as { error?: number; message: string };
  expect([why, error]).toEqual([why, CATALOGUE[code].error]);
  return message;
}

const INT64_WRONG = ["", "x", "01", "-01", "-0", "+1", "1.0", "1e3", " 1", "9223372036854775808", "-9223372036854775809"];
const INT32_WRONG = ["", "0", "-1", "+1", "x", "1.5", "1e2", "0x10", " 1", "2147483648", "99999999999999999999", "null"];

/** Values that a parameter refuses; one that accepts any text has none. */
function wrongFor({ type, format, enum: choices, maxLength, pattern }: ParameterSchema): readonly string[] {
  if (type === "boolean") return ["", "1", "yes", "TRUE"];
  if (type === "integer") return format === "int64" ? INT64_WRONG : INT32_WRONG;
  if (choices) return ["", choices[0]!.toUpperCase(), `${choices[0]} `, choices.slice(0, 2).join(), "other"];
  if (pattern !== undefined) return ["", " ", "a b", "a/b", "\u00e4", "a\n", "x".repeat(201)];
  return maxLength === undefined ? [] : ["x".repeat(maxLength + 1)];
}

const newest = await service.store.history.newest();

/** Text that a parameter accepts, where it is not any text. */
const RIGHT_TEXTS: Readonly<Record<string, string>> = {
  "listPlants cursor": "BQAAAAAAAAABBAA&sort=name",
  "listTokens cursor": "first",
  "listChanges after": "now",
  "listPlantChanges cursor": toPastCursor({ list: "plant 1", place: newest }),
  "listDeletedPlants cursor": toPastCursor({ list: "deleted", place: newest }),
  "listImportChanges cursor": toPastCursor({ list: "import 0123456789abcdef0123456789abcdef", place: newest }),
  "importPlants reading": "%7B%22tag%22%3A%22%22%7D",
  "importPlants idColumn": "column%201",
  "importPlants nameColumn": "name",
  "importPlants tagColumn": "column%203",
};

function rightFor({ id }: Operation, name: string, { type, enum: choices }: ParameterSchema): string {
  return RIGHT_TEXTS[`${id} ${name}`] ?? choices?.at(-1) ?? { boolean: "true", integer: "1", string: "aloe" }[type];
}

it("the contract has operations that need a token, and these that do not; each has the scope that it should have", () => {
  expect(operations.filter(({ scope }) => scope === undefined).map(({ path }) => path)).toEqual([
    "/livez",
    "/readyz",
    "/openapi.json",
    "/openapi/1.0.0.json",
  ]);
  expect(operations.map(({ id, scope }) => [id, scope])).toEqual(operations.map(({ id }) => [id, SAMPLES[id].scope]));
});

for (const operation of guarded) {
  const { query, scope } = operation;
  describe(`${operation.method} ${operation.path}`, () => {
    // Each other state of a token: tokens/states.test.ts.
    it("answers 401 and 403 in the words of the catalogue, and takes no token from the query", async () => {
      const inQuery = { query: `?access_token=${service.token}` };
      for (const sent of [{}, inQuery])
        expect(await expectRefused(operation, await send(operation, sent), "missing_token")).toBe(CATALOGUE.missing_token.message);
      expect(await expectRefused(operation, await sendAdmitted(operation, inQuery), "invalid_query")).not.toContain("access_token");
      const unknown = { headers: { authorization: "Bearer plant_x" } };
      expect(await expectRefused(operation, await send(operation, unknown), "invalid_token")).toBe(CATALOGUE.invalid_token.message);
      if (scope === undefined || scope === "any") return;
      const token = await issue(SCOPES.filter((other) => other !== scope));
      const response = await send(operation, { headers: { authorization: `Bearer ${token}` } });
      expect(await expectRefused(operation, response, "insufficient_scope")).toContain(scope);
    });

    it("refuses an unknown query parameter, naming the known ones, and broken percent-encoding", async () => {
      const known = `A query parameter is unknown: send only ${query.map(({ name }) => `\`${name}\``).join(", ")}.`;
      for (const name of ["limits", "LIMIT", "__proto__", "toString", "ids "]) {
        const message = await expectRefused(operation, await sendAdmitted(operation, { query: `?${name}=1` }), "invalid_query", name);
        expect(message).toBe(query.length === 0 ? "This operation has no query parameters: send none." : known);
      }
      for (const broken of ["%", "%zz=1", "%4", "%ff=1", "%ed%a0%80", ...query.map(({ name }) => `${name}=%c3`)]) {
        const message = await expectRefused(operation, await sendAdmitted(operation, { query: `?${broken}` }), "invalid_query", broken);
        expect(message, broken).toContain("percent-encoding");
      }
      for (const empty of ["?", "?&", "?&&"]) await expectAccepted(operation, await sendAdmitted(operation, { query: empty }), empty);
    });

    for (const { name, schema } of query)
      it(`accepts the parameter ${name} once, also percent-encoded, and names it where it is wrong`, async () => {
        const right = `${name}=${rightFor(operation, name, schema)}`;
        for (const given of [right, `%${name.charCodeAt(0).toString(16)}${right.slice(1)}`])
          await expectAccepted(operation, await sendAdmitted(operation, { query: `?${given}` }), given);
        const twice = await sendAdmitted(operation, { query: `?${right}&${right}` });
        const message = await expectRefused(operation, twice, "invalid_query", `${right} twice`);
        expect(message).toBe(`The query parameter \`${name}\` is given twice: send it once.`);
        for (const wrong of wrongFor(schema)) {
          const response = await sendAdmitted(operation, { query: `?${name}=${encodeURIComponent(wrong)}` });
          const said = await expectRefused(operation, response, "invalid_query", `${name}=${wrong}`);
          expect(said).toStartWith(`The query parameter \`${name}\` must be `);
        }
      });

    it("returns the request id, with a success and with an error", async () => {
      for (const [bad, id] of [
        ["", "import_17.b-2"],
        ["?nothing=1", "x".repeat(128)],
      ] as const) {
        const response = await sendAdmitted(operation, { query: bad, headers: { "x-request-id": id } });
        expect([response.headers.get("x-request-id"), response.ok]).toEqual([id, bad === ""]);
        await expectConform(operation, response);
      }
    });
  });
}

/** Bodies that no operation accepts that takes JSON, and what the message says of them. */
const REFUSED_BODIES = [
  ...["", "{", '{"name":"x"', '{"id":1,"name":"x"} x'].map((given) => ({ given, code: "malformed_json", says: "not valid JSON" }) as const),
  ...["[]", "null", '"name"', "1"].map((given) => ({ given, code: "invalid_body", says: "not an object" }) as const),
  { given: `{"x":${"[".repeat(32)}${"]".repeat(32)}}`, code: "nested_too_deep", says: "32 levels" },
] as const;

const JSON_LIKE = ["application/jsonx", "application/json-patch+jsonx", "json", "text/plain, application/json"];
const REFUSED_HEADERS = [
  ...["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ...JSON_LIKE].map(
    (type) => ["content-type", type, "unsupported_media_type"] as const,
  ),
  ...["latin1", "utf-16", "us-ascii"].map(
    (charset) => ["content-type", `application/json; charset=${charset}`, "unsupported_charset"] as const,
  ),
  ...["gzip", "br"].map((coding) => ["content-encoding", coding, "unsupported_encoding"] as const),
];

for (const operation of operations.filter(({ body, id }) => body.kind !== "none" && SAMPLES[id].type === undefined)) {
  const accepted = operation.method === "PATCH" ? "application/merge-patch+json, application/json" : "application/json";

  it(`the body of ${operation.method} ${operation.path} is refused if it is no JSON object, or its headers say so`, async () => {
    for (const { given, code, says } of REFUSED_BODIES)
      expect(await expectRefused(operation, await sendAdmitted(operation, { given }), code, given)).toContain(says);
    for (const [header, value, code] of REFUSED_HEADERS) {
      const response = await sendAdmitted(operation, { headers: { [header]: value } });
      if (header === "content-type") expect(response.headers.get("accept")).toBe(accepted);
      else expect(response.headers.get("accept-encoding")).toBe("identity");
      const message = await expectRefused(operation, response, code, value);
      if (code === "unsupported_media_type") expect(message).toContain(`Content-Type: ${accepted.split(",", 1)[0]}`);
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

for (const operation of guarded)
  it(`${operation.method} ${operation.path} looks at both conditions, or at none`, async () => {
    const isConditional = takes(operation, "IfMatch");
    expect(takes(operation, "IfNoneMatch")).toBe(isConditional);
    expect(isConditional).toBe(operation.path === "/plants/{id}");
    for (const tag of BAD_TAGS)
      for (const header of ["if-match", "if-none-match"]) {
        const isStopped = isConditional && (header === "if-match" || (operation.method !== "GET" && NO_TAGS.includes(tag)));
        const response = await sendAdmitted(operation, { headers: { [header]: tag } });
        if (isStopped) await expectRefused(operation, response, "precondition_failed", `${header}: ${tag}`);
        else await expectAccepted(operation, response, `${header}: ${tag}`);
      }
  });

it("errors of the catalogue with 503 say when to try again, and no others do", () => {
  for (const code of Object.keys(CATALOGUE) as ErrorCode[])
    expect([code, "retry-after" in (toErrorResponse(new PlantStoreError(code)).headers ?? {})]).toEqual([
      code,
      Math.trunc(CATALOGUE[code].error / 100) === 503,
    ]);
});
