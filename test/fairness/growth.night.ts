import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { CATALOGUE } from "../../contract/generated/error-catalogue.ts";
import { PlantStoreError } from "../../src/domain/errors.ts";
import type { ErrorCode } from "../../src/domain/errors.ts";
import { ENGINES } from "../support/engines.ts";
import { judge, tableLine } from "../support/growth/growth.ts";
import type { Input } from "../support/growth/growth.ts";
import { WORKS } from "../support/growth/works.ts";
import { openWire } from "../support/raw-http.ts";
import type { Wire } from "../support/raw-http.ts";
import { tell } from "../support/run-form.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";

/** The most that the limits let in, in bytes. */
const NAME = 65_000;
const BODY = 65_536;
const CHANGES = 4 * BODY;
const FILE = 131_000;
const SEARCH = 980;
/** A head may have 16 KB, and twelve fields more. */
const HEAD = 16_000;
/** Encoded, a byte is three. */
const ESCAPED = 5000;
const CURSOR = 300;

type Service = Readonly<{ running: TestService; wire: Wire; nextId: () => number }>;
type Request = Readonly<{ line: string; fields?: readonly string[]; body?: string }>;

const CODES = new Map<number, ErrorCode>(Object.entries(CATALOGUE).map(([code, { error }]) => [error, code as ErrorCode]));

/** Sends a request. Throws what it is refused for; rejects without an answer: then something else was measured. */
async function send({ running, wire }: Service, { line, fields = [], body }: Request): Promise<void> {
  const bytes = Buffer.from(body ?? "");
  const length = body === undefined ? [] : [`Content-Length: ${bytes.length}`];
  const head = [`${line} HTTP/1.1`, "Host: plants", `Authorization: Bearer ${running.token}`, ...length, ...fields].join("\r\n");
  const outcome = await wire.send(Buffer.concat([Buffer.from(`${head}\r\n\r\n`, "latin1"), bytes]));
  if (typeof outcome === "string") throw new Error(`The request was ${outcome}.`);
  const answer = outcome.body.toString();
  if (outcome.status >= 400) {
    const code = CODES.get((JSON.parse(answer) as { error: number }).error)!;
    if (outcome.status < 500 || code === "unknown_method" || code === "unsupported_version") throw new PlantStoreError(code);
    throw new Error(`The answer was ${outcome.status}.`);
  }
  if (/"refused":[1-9]/.test(answer)) throw new PlantStoreError("malformed_row");
}

/** Text as it may stand in a head, a character for each byte, without the end of a line. */
function inHead(text: string): string {
  return Buffer.from(text)
    .toString("latin1")
    .replace(/[\r\n]/g, ";");
}

/** Text in a URL. Escaped, as lone surrogates cannot be. */
function inUrl(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

type RequestWork = readonly [
  what: string,
  bytes: number,
  meant: string | undefined,
  requestsOf: (text: string, id: number) => readonly Request[],
];

function post(path: string, body: string, type = "application/json"): Request {
  return { line: `POST ${path}`, fields: [`Content-Type: ${type}`], body };
}

function header(name: string, meant: string | undefined, path = "/plants/0"): RequestWork {
  return [name, HEAD, meant, (text) => [{ line: `GET ${path}`, fields: [`${name}: ${inHead(text)}`] }]];
}

function parameter(path: string, name: string, meant: string | undefined, length: number = ESCAPED): RequestWork {
  const separator = path.includes("?") ? "&" : "?";
  return [`${name} of ${path}`, length, meant, (text) => [{ line: `GET ${path}${separator}${name}=${inUrl(text)}` }]];
}

/** What a plant passes through in its life. Each step has its name, or looks for it. */
function lifeOf(text: string, id: number): readonly Request[] {
  const word = `w${id}`;
  const name = JSON.stringify(`${word} ${text}`.toWellFormed());
  return [
    post("/plants", `{"id":${id},"name":${name}}`),
    { line: `GET /plants?q=${word}` },
    { line: `GET /plants/export?q=${word}&format=csv` },
    post("/plants/changes", `{"changes":[{"id":${id},"from":{"name":${name}},"to":null}]}`),
  ];
}

function imported(type: string, what: string, meant: string | undefined, bodyOf: (text: string, id: number) => string): RequestWork {
  const path = `/plants/import?${type === "text/csv" ? "guess=true" : ""}`;
  return [what, FILE, meant, (text, id) => [post(path, bodyOf(text.toWellFormed(), id), type)]];
}

const REQUESTS: readonly RequestWork[] = [
  ["a name, from its create to its deletion", NAME, "ligatures of eighteen", lifeOf],
  ["a body", BODY, undefined, (text) => [post("/plants", text.toWellFormed())]],
  ["a body of changes", CHANGES, undefined, (text) => [post("/plants/changes", `{"changes":[${text.toWellFormed()}]}`)]],
  ["a name of a token", 200, "composed letters", (text) => [post("/tokens", JSON.stringify({ name: text, scopes: ["plants:read"] }))]],
  parameter("/plants", "q", "marks of seven classes", SEARCH),
  parameter("/plants?sort=name", "q", "marks of seven classes", SEARCH),
  parameter("/plants", "tag", "composed letters"),
  parameter("/plants", "limit", undefined),
  parameter("/plants", "after", undefined),
  parameter("/plants", "id", undefined),
  parameter("/plants?sort=name", "cursor", undefined),
  parameter("/plants?sort=newest", "cursor", undefined),
  parameter("/plants", "sort", undefined),
  parameter("/plants/count", "q", "marks of seven classes", SEARCH),
  parameter("/tags", "q", "marks of seven classes", SEARCH),
  parameter("/plants/export", "q", "marks of seven classes", SEARCH),
  ["a key of an order, made up", CURSOR, "composed letters", (text) => [{ line: `GET /plants?sort=name&cursor=${cursorOf(text)}` }]],
  ["a target", HEAD, undefined, (text) => [{ line: `GET /${inHead(text).replaceAll(" ", "+")}` }]],
  ["a method", HEAD, undefined, (text) => [{ line: `${inHead(text).replaceAll(" ", "+")} /plants` }]],
  ["a name of a field", HEAD, "a letter", (text) => [{ line: "GET /plants/0", fields: [`${inHead(text)}: a`] }]],
  header("Accept", "commas", "/plants/export"),
  header("Accept-Encoding", "commas", "/plants"),
  ...[
    "Access-Control-Request-Headers",
    "Access-Control-Request-Method",
    "Connection",
    "Content-Encoding",
    "Content-Type",
    "Expect",
    "Forwarded",
    "Origin",
    "Range",
    "Traceparent",
    "Tracestate",
    "Upgrade",
    "User-Agent",
    "X-Forwarded-For",
    "X-Request-Id",
  ].map((name) => header(name, "commas")),
  header("Authorization", undefined),
  header("If-Match", undefined),
  header("If-None-Match", "weak tags"),
  // They store plants, which a search without words would find.
  imported("text/csv", "a file of CSV", undefined, (text) => text),
  imported("text/csv", "a header cell of CSV", "two marks", (text, id) => `id,name,"${text.replaceAll('"', "")}"\n${id},a\n`),
  imported("application/x-ndjson", "a file of NDJSON", "line feeds", (text) => text),
  imported("application/x-ndjson", "a line of NDJSON", undefined, (text, id) => `{"id":${id},"name":${JSON.stringify(text)}}`),
];

/** A cursor by name whose key is this text, which the store compares with those of its plants. */
function cursorOf(text: string): string {
  return Buffer.concat([Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0, 1), Buffer.from(text)]).toString("base64url");
}

async function expectGrowth(where: string, input: Input): Promise<void> {
  const verdict = await judge(input);
  tell(where, tableLine(input, verdict));
  expect(verdict.faults).toEqual([]);
}

describe("doubling the text takes at most three times the work, and at its largest it keeps the loop for 50 ms at most, for", () => {
  for (const input of WORKS) it(`${input.what} of ${input.bytes} bytes`, () => expectGrowth("growth", input));
});

for (const { engine, openFlags } of ENGINES) {
  describe(`on ${engine}, doubling the text of a request takes at most three times the work of the whole service, and at its largest it keeps the loop for 50 ms at most, for`, () => {
    let service: Service;
    let id = 0;
    beforeAll(async () => {
      // With all that looks at a head: other origins, proxies that are believed, and traces.
      const flags = { ...(await openFlags()), origins: "https://garden.example", trustedProxies: "127.0.0.1", queueWaitMs: "15000" };
      const running = await startTestService(flags);
      service = { running, wire: openWire(running.url), nextId: () => (id += 1) };
      expect((await running.post('{"id":0,"name":"a"}')).status).toBe(200);
    });
    afterAll(async () => {
      service.wire.close();
      await service.running.stop();
    });

    for (const [what, bytes, meant, requestsOf] of REQUESTS) {
      it(`${what} of ${bytes} bytes`, async () => {
        const work = async (text: string) => {
          for (const request of requestsOf(text, service.nextId())) await send(service, request);
        };
        await expectGrowth(`growth on ${engine}`, { what, bytes, meant, work });
      });
    }
  });
}
