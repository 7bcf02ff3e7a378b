import { INVALID_LINES } from "../../corpus.ts";
import { ALPHABETS } from "../growth/growth.ts";
import { below, openRandom, partsOf, pick } from "../random.ts";
import type { Random } from "../random.ts";
import { damage, drawCsv, drawId, drawNdjson, drawPlant, drawText, drawValue } from "./poison.ts";

/** A request that may be wrong in any way. In its texts one letter is one byte. */
export type HostileRequest = Readonly<{
  method: string;
  target: string;
  headers: readonly string[];
  body?: string;
  /** The operation of the contract that it calls; undefined if its method or path is poisoned too. */
  operation: Readonly<{ method: string; path: string }> | undefined;
  /** Whether only its body may be wrong. */
  isPlain: boolean;
  /** Whether it may be refused as malformed HTTP: cut off, or answered without an error body of ours. */
  isBroken: boolean;
}>;

/**
 * How many requests may be under way. Those of one connection come in turn, so that no more imports, and requests with
 * many changes, run than the service accepts.
 */
export const CONNECTIONS = 24;
const IMPORTERS = 3;

/** Request `number` of a run: the same for the same seed, and without drawing those before it. */
export function drawRequest(seed: number, number: number): HostileRequest {
  const random = openRandom(Math.imul(seed, 0x9e3779b1) ^ Math.imul(number, 0x85ebca6b));
  // Two close seeds begin with similar numbers.
  random();
  const draw = number % CONNECTIONS < IMPORTERS && random() < 0.4 ? pick(random, STREAMS) : pick(random, OPERATIONS);
  return poison(random, draw(random));
}

/** The request as sent over the wire. */
export function toBytes({ method, target, headers, body }: HostileRequest, token: string): Buffer {
  const has = (name: string) => headers.some((line) => line.startsWith(`${name}:`));
  const isChunked = headers.includes(CHUNKED);
  const lines = [
    `${method} ${target} HTTP/1.1`,
    ...(has("Host") ? [] : ["Host: plants"]),
    ...(has("Authorization") ? [] : [`Authorization: Bearer ${token}`]),
    ...(body === undefined || isChunked ? [] : [`Content-Length: ${body.length}`]),
    ...headers,
  ];
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${isChunked ? inChunks(body ?? "") : (body ?? "")}`, "latin1");
}

const CHUNKED = "Transfer-Encoding: chunked";

function inChunks(body: string): string {
  const chunks = body.match(/.{1,1000}/gs) ?? [];
  return [...chunks, ""].map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join("");
}

type Draft = Omit<HostileRequest, "isPlain" | "isBroken" | "operation"> & Readonly<{ path?: string }>;

const JSON_TYPE = "Content-Type: application/json";

function create(random: Random): Draft {
  return { method: "POST", target: "/plants", path: "/plants", headers: [JSON_TYPE], body: drawPlant(random) };
}

function put(random: Random): Draft {
  return { ...onPlant(random, "PUT"), headers: [JSON_TYPE], body: drawPlant(random, { hasId: false }) };
}

function patch(random: Random): Draft {
  const body = random() < 0.5 ? drawPlant(random, { hasId: false }) : `{"tag":${drawValue(random)}}`;
  return { ...onPlant(random, "PATCH"), headers: ["Content-Type: application/merge-patch+json"], body };
}

function onPlant(random: Random, method: string): Draft {
  return { method, target: `/plants/${drawId(random)}`, path: "/plants/{id}", headers: [] };
}

function read(random: Random): Draft {
  return onPlant(random, pick(random, ["GET", "GET", "HEAD", "OPTIONS"]));
}

function remove(random: Random): Draft {
  return onPlant(random, "DELETE");
}

function list(random: Random): Draft {
  return {
    method: pick(random, ["GET", "GET", "HEAD"]),
    target: `/plants${drawQuery(random, ["limit", "after", "sort", "cursor", "id", ...FILTERS])}`,
    path: "/plants",
    headers: [],
  };
}

function count(random: Random): Draft {
  return { method: "GET", target: `/plants/count${drawQuery(random, FILTERS)}`, path: "/plants/count", headers: [] };
}

function listTags(random: Random): Draft {
  return { method: "GET", target: `/tags${drawQuery(random, ["limit", ...FILTERS])}`, path: "/tags", headers: [] };
}

function changeMany(random: Random): Draft {
  const side = () => (random() < 0.3 ? "null" : drawPlant(random, { hasId: false }));
  const changes = Array.from({ length: 1 + below(random, 3) }, () => `{"id":${drawId(random)},"from":${side()},"to":${side()}}`);
  const body = `{"changes":[${changes.join()}]}`;
  return { method: "POST", target: "/plants/changes", path: "/plants/changes", headers: [JSON_TYPE], body };
}

function createToken(random: Random): Draft {
  // Each member is right two times of three: of 300 such requests in a run, about 60 are right in all.
  const draw = (right: readonly string[], wrong: readonly string[]) =>
    random() < 0.67 ? pick(random, right) : pick(random, [...wrong, drawValue(random)]);
  const members = [
    `"name":${draw(['"a"', `"${drawText(random)}"`], ['""'])}`,
    `"scopes":${draw(['["plants:read"]'], ['["admin","admin"]', "[]", '"admin"', '["root"]'])}`,
    `"days":${draw(["1", "36500"], ["0", "-1", "1e-9", "36501", "1e400"])}`,
  ];
  const body = `{${members.slice(random() < 0.8 ? 0 : 1).join()}}`;
  return { method: "POST", target: "/tokens", path: "/tokens", headers: [JSON_TYPE], body };
}

function revokeToken(random: Random): Draft {
  const id = pick(random, ["Zk3vQ9aB", "a", "a".repeat(64), "0", "null", "constructor"]);
  return { method: "DELETE", target: `/tokens/${id}`, path: "/tokens/{id}", headers: [] };
}

function ask(random: Random): Draft {
  const path = pick(random, ["/livez", "/readyz", "/openapi.json", "/openapi/1.0.0.json", "/tokens", "/session"]);
  return { method: pick(random, ["GET", "HEAD"]), target: path + (random() < 0.8 ? "" : drawQuery(random, ["limit"])), path, headers: [] };
}

function importFile(random: Random): Draft {
  const [type, body] = random() < 0.5 ? ["application/x-ndjson", drawNdjson(random)] : ["text/csv", drawCsv(random)];
  const target = `/plants/import${random() < 0.7 ? "" : drawQuery(random, ["onConflict", "dryRun", "guess", "encoding", "ids", "firstId", "nameColumn"])}`;
  return { method: "POST", target, path: "/plants/import", headers: [`Content-Type: ${type}`], body };
}

function exportFile(random: Random): Draft {
  // Mostly without the file itself, which is long.
  const method = random() < 0.9 ? "HEAD" : "GET";
  return { method, target: `/plants/export${drawQuery(random, ["format", "profile", ...FILTERS])}`, path: "/plants/export", headers: [] };
}

const SELDOM = [read, count, listTags, createToken, revokeToken, ask, strangePath, strangeMethod];
const OPERATIONS = [create, create, create, create, put, put, patch, remove, remove, list, list, ...SELDOM];
const STREAMS = [importFile, importFile, importFile, exportFile, changeMany, changeMany];

const FILTERS = ["tag", "untagged", "q"] as const;

const VALUES: Readonly<Record<string, readonly string[]>> = {
  limit: ["1", "0", "-1", "3", "1000", "1001", "2147483647", "2147483648", "1e3", "1.0", "+5", "%31", "", "x", "9".repeat(400)],
  after: ["0", "-0", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "9007199254740993", "01", "1e3", "%2D5", ""],
  onConflict: ["refuse", "replace", "REPLACE", ""],
  dryRun: ["true", "false", "1", ""],
  format: ["csv", "ndjson", "xml"],
  profile: ["dwc", "plain", "x"],
  sort: ["id", "-id", "name", "-name", "newest", "oldest", "Name", ""],
  // By name behind "a", by newest, and what nobody made.
  cursor: ["AQAAAAAAAAABBAA", "AgAAAAAAAAABAAAAAAAAAAE", "AQ", "A===", "-_-_"],
  id: ["0", "1", "-9223372036854775808", "9223372036854775808", "01", ""],
  untagged: ["true", "true", "false", "1", ""],
  guess: ["true", "false", "yes"],
  encoding: ["utf-8", "windows-1252", "utf-16"],
  ids: ["file", "content", "x"],
  firstId: ["1", "9223372036854775807", "-9223372036854775808", "x"],
  nameColumn: ["name", "column 2", "column 0", "column 99999", "x"],
};

const BROKEN_ESCAPES = partsOf(`%|%2|%zz|%00|%ff|%c0%80|%ed%a0%80|%F0%9F%8C%B5|%25|%26|%3D|%u0041|+|=|&|;|[]|[0]`);

function drawQuery(random: Random, names: readonly string[]): string {
  const pairs = Array.from({ length: below(random, 4) }, () => {
    const name =
      random() < 0.9 ? pick(random, names) : pick(random, ["Limit", "__proto__", "constructor", "", "%6cimit", "token", ...BROKEN_ESCAPES]);
    return random() < 0.95 ? `${name}=${drawQueryValue(random, name)}` : name;
  });
  return pairs.length > 0 ? `?${pairs.join(random() < 0.95 ? "&" : "&&")}` : pick(random, ["", "", "?", "?&", "??"]);
}

function drawQueryValue(random: Random, name: string): string {
  const known = VALUES[name];
  if (known && random() < 0.8) return pick(random, known);
  const lot = random();
  if (lot < 0.5) return `oak%20${below(random, 1000)}`;
  if (lot < 0.7) return pick(random, BROKEN_ESCAPES);
  if (lot < 0.73) return encodeURIComponent(pick(random, ALPHABETS).textOf(below(random, 1200)).toWellFormed());
  if (lot < 0.75) return pick(random, ["oak+", "a%00b+", "%E6%A3%AE", "%CC%81", "%22*", "-", "a%20OR%20"]).repeat(below(random, 1200));
  // encodeURIComponent refuses lone surrogates, which these texts cannot hold.
  return encodeURIComponent(Buffer.from(drawText(random), "latin1").toString("utf8"));
}

const STRANGE_PATHS = [
  ...partsOf(`/plants/%31|/plants/1%2F2|/plants/..|/plants/.|/plants/../plants|/plants/+1|/plants/01|/plants/-0|/plants/1e3|/plants/1.0|
  /plants/9223372036854775808|/plants/-9223372036854775809|/plants/1/|/plants/1/2|/plants//1|//plants|/plants/|/plants/%00|
  /plants/%|/plants/%zz|/plants/{id}|/plants/__proto__|/__proto__|/constructor|/toString|/%2e%2e/%2e%2e/|/../../plants|/tokens/|
  /tokens/a-b|/PLANTS|/plants;x=1|/plants%3Flimit=1|/assets/../plants|/plants/1#x|/*`),
  `/plants/${"9".repeat(5000)}`,
  `/tokens/${"a".repeat(65)}`,
  `/${"a/".repeat(2000)}`,
];

function strangePath(random: Random): Draft {
  const lot = random();
  const target =
    lot < 0.7
      ? pick(random, STRANGE_PATHS)
      : lot < 0.9
        ? damage(random, `/plants/${drawId(random)}`)
        : pick(random, ["*", "http://plants/plants", "plants", "", "/pl ants"]);
  const method = pick(random, ["GET", "PUT", "DELETE", "POST", "OPTIONS"]);
  return { method, target, headers: [JSON_TYPE], ...(method === "GET" ? {} : { body: drawPlant(random) }) };
}

function strangeMethod(random: Random): Draft {
  const method = pick(random, [
    "get",
    "Post",
    "FETCH",
    "TRACE",
    "CONNECT",
    "PROPFIND",
    "PUT",
    "PATCH",
    "DELETE",
    "X".repeat(5000),
    "G\xcbT",
    "-",
    "SEARCH",
    "QUERY",
  ]);
  return { method, target: pick(random, ["/plants", "/tags", "/plants/import", "/livez", "/plants/1", "/tokens"]), headers: [] };
}

/** Headers that the service uses, with bad values. */
const HEADERS = [
  ...partsOf(`If-Match: *|If-Match: "x"|If-Match: |If-Match: W/"x", "|If-None-Match: *|If-None-Match: "|If-None-Match: W/*|
  Content-Type: text/plain|Content-Type: |Content-Type: application/json; charset=utf-16|Content-Type: application/json;charset=|
  Content-Type: a/b+json|Content-Type: ;|Content-Encoding: gzip|Content-Encoding: identity|Content-Encoding: |Accept: text/csv|
  Accept: */*;q=0|Accept: \xff\xfe|Accept-Encoding: br;q=x, *;q=0|Authorization: Bearer|Authorization: Bearer plant_x|
  Authorization: Basic eDp5|Authorization: |Authorization: Bearer a b|X-Request-Id: |X-Request-Id: a b|X-Request-Id: \xe9|
  X-Request-Id: %0d%0aX: y|X-Request-Id: __proto__|Expect: 100-continue|Range: bytes=0-|Origin: null|Upgrade: h2c|Connection: close|
  Cookie: a=b|X-HTTP-Method-Override: DELETE|Forwarded: for=_|Host: |Idempotency-Key: "a"|Idempotency-Key: "|
  Access-Control-Request-Method: PUT|Traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`),
  `If-Match: ${'"a",'.repeat(1000)}`,
  `Authorization: Bearer ${"x".repeat(9000)}`,
  `X-Request-Id: ${"x".repeat(129)}`,
  CHUNKED,
  `X-Forwarded-For: ${"1,".repeat(4000)}`,
  `Forwarded: ${'for="'.repeat(2000)}`,
  `Traceparent: ${"00-".repeat(4000)}`,
  `Tracestate: ${"a=b,".repeat(100)}`,
];

/** Lines that HTTP itself does not allow, or that are over the limits of the server. */
const BROKEN_HEADERS = [...INVALID_LINES, `X: ${"x".repeat(17_000)}`, "Host: a b"];

/** With a longer one, the headers are over the limit of 16 KiB. */
const TARGET_LENGTH_MAX = 15_000;

/** The methods that both HTTP and the contract know. */
const METHODS = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"];

function poison(random: Random, { path, ...draft }: Draft): HostileRequest {
  const lot = random();
  const extra = lot < 0.8 ? [] : lot < 0.98 ? [pick(random, HEADERS)] : [pick(random, BROKEN_HEADERS)];
  const names = extra.map((line) => line.slice(0, line.indexOf(":") + 1));
  const headers = [...draft.headers.filter((line) => !names.some((name) => line.startsWith(name))), ...extra];
  const isBroken =
    lot >= 0.98 ||
    draft.target.length > TARGET_LENGTH_MAX ||
    path === undefined ||
    !METHODS.includes(draft.method) ||
    /[^!-~]/.test(draft.target);
  const operation = path === undefined ? undefined : { method: draft.method, path };
  return { ...draft, headers, operation, isBroken, isPlain: extra.length === 0 && operation !== undefined };
}
