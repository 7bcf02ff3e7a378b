import { expect } from "bun:test";
import { CATALOGUE } from "../../../contract/generated/error-catalogue.ts";
import { PlantStoreError } from "../../../src/domain/errors.ts";
import type { ErrorCode } from "../../../src/domain/errors.ts";
import type { Engine } from "../engines.ts";
import { openWire, toRequest } from "../raw-http.ts";
import { startTestService } from "../service.ts";
import type { Input } from "./growth.ts";

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

type Request = Readonly<{ line: string; fields?: readonly string[]; body?: string }>;

/** `meant`: the alphabet that is hostile to it, and accepted; undefined where no text of such a length is. */
type RequestWork = readonly [
  what: string,
  bytes: number,
  meant: string | undefined,
  requestsOf: (text: string, id: number) => readonly Request[],
];

/** Text as it may stand in a head, a character for each byte, without the end of a line. */
function inHead(text: string): string {
  return Buffer.from(text)
    .toString("latin1")
    .replace(/[\r\n]/g, ";");
}

function inTarget(text: string): string {
  return inHead(text).replaceAll(" ", "+");
}

/** Text in a URL. Escaped, as lone surrogates cannot be. */
function inUrl(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function post(path: string, body: string, type = "application/json"): Request {
  return { line: `POST ${path}`, fields: [`Content-Type: ${type}`], body };
}

function get(target: string): Request {
  return { line: `GET ${target}` };
}

function header(name: string, meant: string | undefined, on = get("/plants/0")): RequestWork {
  return [`${name} of ${on.line}`, HEAD, meant, (text) => [{ ...on, fields: [...(on.fields ?? []), `${name}: ${inHead(text)}`] }]];
}

function parameter(path: string, name: string, meant: string | undefined, length: number = ESCAPED): RequestWork {
  const separator = path.includes("?") ? "&" : "?";
  return [`${name} of ${path}`, length, meant, (text) => [get(`${path}${separator}${name}=${inUrl(text)}`)]];
}

/** What a plant passes through in its life. Each step has its name, or looks for it. */
function lifeOf(text: string, id: number): readonly Request[] {
  const word = `w${id}`;
  const name = JSON.stringify(`${word} ${text}`.toWellFormed());
  return [
    post("/plants", `{"id":${id},"name":${name}}`),
    get(`/plants?q=${word}`),
    get(`/plants/export?q=${word}&format=csv`),
    post("/plants/changes", `{"changes":[{"id":${id},"from":{"name":${name}},"to":null}]}`),
  ];
}

function imported(type: string, what: string, meant: string | undefined, bodyOf: (text: string, id: number) => string): RequestWork {
  const path = `/plants/import?${type === "text/csv" ? "guess=true" : ""}`;
  return [what, FILE, meant, (text, id) => [post(path, bodyOf(text.toWellFormed(), id), type)]];
}

/** A cursor by name whose key is this text, which the store compares with those of its plants. */
function cursorOf(text: string): string {
  return Buffer.concat([Uint8Array.of(5, 0, 0, 0, 0, 0, 0, 0, 1), Buffer.from(text)]).toString("base64url");
}

const ASKS_FIRST: Request = { line: "OPTIONS /plants", fields: ["Origin: https://garden.example"] };
const NEW_TOKEN: Request = { line: "POST /tokens", body: '{"name":"a","scopes":["plants:read"]}' };

const REQUESTS: readonly RequestWork[] = [
  ["a name, from its create to its deletion", NAME, "ligatures of eighteen", lifeOf],
  ["a body", BODY, undefined, (text) => [post("/plants", text.toWellFormed())]],
  ["a body of changes", CHANGES, undefined, (text) => [post("/plants/changes", `{"changes":[${text.toWellFormed()}]}`)]],
  ["a name of a token", 200, "composed letters", (text) => [post("/tokens", JSON.stringify({ name: text, scopes: ["plants:read"] }))]],
  ["a query", HEAD, "ampersands", (text) => [get(`/plants?${inTarget(text)}`)]],
  ["a tag as it stands", HEAD, "equals", (text) => [get(`/plants?tag=${inTarget(text)}`)]],
  parameter("/plants", "q", "marks of seven classes", SEARCH),
  parameter("/plants?sort=name", "q", "marks of seven classes", SEARCH),
  parameter("/plants", "tag", "composed letters"),
  ...["limit", "after", "id", "sort"].map((name) => parameter("/plants", name, undefined)),
  parameter("/plants?sort=name", "cursor", undefined),
  parameter("/plants?sort=newest", "cursor", undefined),
  ...["/plants/count", "/plants/suggestions", "/tags", "/plants/export"].map((path) =>
    parameter(path, "q", "marks of seven classes", SEARCH),
  ),
  ["a key of an order, made up", CURSOR, "composed letters", (text) => [get(`/plants?sort=name&cursor=${cursorOf(text)}`)]],
  ["a target", HEAD, undefined, (text) => [get(`/${inTarget(text)}`)]],
  ["an id", HEAD, undefined, (text) => [get(`/plants/${inTarget(text)}`)]],
  ["an id of a token", HEAD, undefined, (text) => [{ line: `DELETE /tokens/${inTarget(text)}` }]],
  ["a method", HEAD, undefined, (text) => [{ line: `${inTarget(text)} /plants` }]],
  ["a name of a field", HEAD, "a letter", (text) => [{ line: "GET /plants/0", fields: [`${inHead(text)}: a`] }]],
  header("Accept", "commas", get("/plants/export")),
  header("Accept-Encoding", "commas", get("/plants")),
  header("Access-Control-Request-Headers", "commas", {
    ...ASKS_FIRST,
    fields: [...ASKS_FIRST.fields!, "Access-Control-Request-Method: PUT"],
  }),
  header("Access-Control-Request-Method", "commas", ASKS_FIRST),
  header("Content-Type", undefined, { line: "POST /plants", body: '{"id":0,"name":"a"}' }),
  header("Idempotency-Key", undefined, NEW_TOKEN),
  ...[
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
  ...["Authorization", "Host", "If-Match", "Transfer-Encoding"].map((name) => header(name, undefined)),
  header("If-None-Match", "weak tags"),
  // They store plants, which a search without words would find.
  imported("text/csv", "a file of CSV", undefined, (text) => text),
  imported("text/csv", "a header cell of CSV", "two marks", (text, id) => `id,name,"${text.replaceAll('"', "")}"\n${id},a\n`),
  imported("application/x-ndjson", "a file of NDJSON", "line feeds", (text) => text),
  imported("application/x-ndjson", "a line of NDJSON", undefined, (text, id) => `{"id":${id},"name":${JSON.stringify(text)}}`),
];

const CODES = new Map<number, ErrorCode>(Object.entries(CATALOGUE).map(([code, { error }]) => [error, code as ErrorCode]));

/** Requests of these kinds to a new service with all that looks at a head: other origins, and proxies that are believed. */
export async function openRequests({ openFlags }: Engine): Promise<Readonly<{ inputs: readonly Input[]; stop(): Promise<void> }>> {
  const flags = { origins: "https://garden.example", trustedProxies: "127.0.0.1", queueWaitMs: "15000" };
  const { url, token, post: create, stop } = await startTestService({ ...(await openFlags()), ...flags });
  const wire = openWire(url);
  let id = 0;
  expect((await create('{"id":0,"name":"a"}')).status).toBe(200);

  /** Throws what a request is refused for; rejects without an answer: then something else was measured. */
  async function send({ line, fields = [], body }: Request): Promise<void> {
    const bytes = Buffer.from(body ?? "");
    const length = body === undefined ? [] : [`Content-Length: ${bytes.length}`];
    const head = toRequest(line, { token, fields: [...length, ...fields] });
    const outcome = await wire.send(Buffer.concat([Buffer.from(head, "latin1"), bytes]));
    if (typeof outcome === "string") throw new Error(`The request was ${outcome}.`);
    const answer = outcome.body.toString();
    if (outcome.status >= 400) {
      const code = CODES.get((JSON.parse(answer) as { error: number }).error)!;
      if (outcome.status < 500 || code === "unknown_method" || code === "unsupported_version") throw new PlantStoreError(code);
      throw new Error(`The answer was ${outcome.status}.`);
    }
    if (/"refused":[1-9]/.test(answer)) throw new PlantStoreError("malformed_row");
  }

  const inputs = REQUESTS.map(([what, bytes, meant, requestsOf]) => ({
    what,
    bytes,
    meant,
    async work(text: string) {
      id += 1;
      for (const request of requestsOf(text, id)) await send(request);
    },
  }));
  return {
    inputs,
    stop() {
      wire.close();
      return stop();
    },
  };
}
