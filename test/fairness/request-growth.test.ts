import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { ENGINES } from "../support/engines.ts";
import { ALPHABETS, growthOf, worstOf } from "../support/growth.ts";
import type { Growth } from "../support/growth.ts";
import { openWire } from "../support/raw-http.ts";
import type { Wire } from "../support/raw-http.ts";
import { tell } from "../support/run-form.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";

const JSON_TYPE = "Content-Type: application/json";
/** A body may have 64 KB: twice these characters, of three bytes each, fit. */
const NAME = 10_000;
const FILE = 12_000;
const SEARCH = 480;
/** A head may have 16 KB: characters of two bytes just fit, and longer ones are refused. */
const HEAD = 3500;
/** Nine characters for each, if it has three bytes. */
const ESCAPED = 800;

/**
 * Linear work takes 2, quadratic work 4. The work of a single function may take less than this
 * (`work-growth.test.ts`): around it, a whole service makes responses and collects garbage.
 */
const TIMES_MAX = 3;

type Service = Readonly<{ running: TestService; wire: Wire; nextId: () => number }>;
type Request = Readonly<{ line: string; fields?: readonly string[]; body?: string }>;

/** Sends a request, whatever its answer, but rejects without one: then something else was measured. */
async function send({ running, wire }: Service, { line, fields = [], body }: Request): Promise<void> {
  const bytes = Buffer.from(body ?? "");
  const length = body === undefined ? [] : [`Content-Length: ${bytes.length}`];
  const head = [`${line} HTTP/1.1`, "Host: plants", `Authorization: Bearer ${running.token}`, ...length, ...fields].join("\r\n");
  const outcome = await wire.send(Buffer.concat([Buffer.from(`${head}\r\n\r\n`, "latin1"), bytes]));
  if (typeof outcome === "string") throw new Error(`The request was ${outcome}.`);
  if (outcome.status >= 500 && outcome.status !== 501 && outcome.status !== 505) throw new Error(`The answer was ${outcome.status}.`);
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

type RequestWork = readonly [what: string, length: number, requestsOf: (text: string, id: number) => readonly Request[]];

function header(name: string): RequestWork {
  return [name, HEAD, (text) => [{ line: "GET /plants/1", fields: [`${name}: ${inHead(text)}`] }]];
}

function parameter(path: string, name: string, length: number = ESCAPED): RequestWork {
  const separator = path.includes("?") ? "&" : "?";
  return [`${name} of ${path}`, length, (text) => [{ line: `GET ${path}${separator}${name}=${inUrl(text)}` }]];
}

/** What a plant passes through in its life. Each step has its name, or looks for it. */
function lifeOf(text: string, id: number): readonly Request[] {
  const word = `w${id}`;
  const name = JSON.stringify(`${word} ${text}`.toWellFormed());
  return [
    { line: "POST /plants", fields: [JSON_TYPE], body: `{"id":${id},"name":${name}}` },
    { line: `GET /plants?q=${word}` },
    { line: `GET /plants/export?q=${word}&format=csv` },
    { line: "POST /plants/changes", fields: [JSON_TYPE], body: `{"changes":[{"id":${id},"from":{"name":${name}},"to":null}]}` },
  ];
}

function imported(type: string, what: string, bodyOf: (text: string, id: number) => string): RequestWork {
  return [
    what,
    FILE,
    (text, id) => [{ line: "POST /plants/import", fields: [`Content-Type: ${type}`], body: bodyOf(text.toWellFormed(), id) }],
  ];
}

const WORKS: readonly RequestWork[] = [
  ["a name, from its create to its deletion", NAME, lifeOf],
  ["a body", FILE, (text) => [{ line: "POST /plants", fields: [JSON_TYPE], body: text.toWellFormed() }]],
  [
    "a body of changes",
    FILE,
    (text) => [{ line: "POST /plants/changes", fields: [JSON_TYPE], body: `{"changes":[${text.toWellFormed()}]}` }],
  ],
  ["a name of a token", NAME, (text) => [{ line: "POST /tokens", fields: [JSON_TYPE], body: JSON.stringify({ name: text, scopes: [] }) }]],
  parameter("/plants", "q", SEARCH),
  parameter("/plants?sort=name", "q", SEARCH),
  parameter("/plants", "tag"),
  parameter("/plants", "limit"),
  parameter("/plants", "after"),
  parameter("/plants", "id"),
  parameter("/plants?sort=name", "cursor"),
  parameter("/plants?sort=newest", "cursor"),
  parameter("/plants", "sort"),
  parameter("/plants/count", "q", SEARCH),
  parameter("/tags", "q", SEARCH),
  parameter("/plants/export", "q", SEARCH),
  ["a key of an order, made up", ESCAPED, (text) => [{ line: `GET /plants?sort=name&cursor=${cursorOf(text)}` }]],
  ["a target", HEAD, (text) => [{ line: `GET /${inHead(text).replaceAll(" ", "+")}` }]],
  ["a method", HEAD, (text) => [{ line: `${inHead(text).replaceAll(" ", "+")} /plants` }]],
  ["a name of a field", HEAD, (text) => [{ line: "GET /plants/1", fields: [`${inHead(text)}: a`] }]],
  ...[
    "Accept",
    "Accept-Encoding",
    "Access-Control-Request-Headers",
    "Access-Control-Request-Method",
    "Authorization",
    "Connection",
    "Content-Encoding",
    "Content-Type",
    "Expect",
    "Forwarded",
    "If-Match",
    "If-None-Match",
    "Origin",
    "Range",
    "Traceparent",
    "Tracestate",
    "Upgrade",
    "User-Agent",
    "X-Forwarded-For",
    "X-Request-Id",
  ].map((name) => header(name)),
  // They store plants, which a search without words would find.
  imported("text/csv", "a file of CSV", (text) => text),
  imported("text/csv", "rows of CSV", (text, id) => `id,name,tag\n${id},"${text}`),
  imported("application/x-ndjson", "a file of NDJSON", (text) => text),
  imported("application/x-ndjson", "a line of NDJSON", (text, id) => `{"id":${id},"name":${JSON.stringify(text)}}`),
];

/** A cursor by name whose key is this text, which the store compares with those of its plants. */
function cursorOf(text: string): string {
  return Buffer.concat([Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0, 1), Buffer.from(text.slice(0, ESCAPED))]).toString("base64url");
}

for (const { engine, openFlags } of ENGINES) {
  describe(`on ${engine}, doubling the text of a request takes at most three times the work of the whole service, for`, () => {
    let service: Service;
    let id = 0;
    beforeAll(async () => {
      // With all that looks at a head: other origins, proxies that are believed, and traces.
      const flags = { ...(await openFlags()), origins: "https://garden.example", trustedProxies: "127.0.0.1", queueWaitMs: "15000" };
      const running = await startTestService(flags);
      service = { running, wire: openWire(running.url), nextId: () => (id += 1) };
    });
    afterAll(async () => {
      service.wire.close();
      await service.running.stop();
    });

    for (const [what, length, requestsOf] of WORKS) {
      it(`${what} of ${length} and ${2 * length} characters`, async () => {
        const work = async (text: string) => {
          for (const request of requestsOf(text, service.nextId())) await send(service, request);
        };
        const growths: Growth[] = [];
        for (const alphabet of ALPHABETS) growths.push({ alphabet: alphabet.alphabet, times: await growthOf(work, alphabet, length) });
        tell(`growth on ${engine}`, `${what}: ${worstOf(growths)}`);
        expect(growths.filter(({ times }) => times > TIMES_MAX)).toEqual([]);
      });
    }
  });
}
