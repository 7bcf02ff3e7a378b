import type { OperationId } from "../../../contract/generated/operations.ts";
import { loadContract } from "../../../src/domain/contract.ts";
import type { Operation, QueryParameter } from "../../../src/domain/contract.ts";
import { INVALID_LINES } from "../../corpus.ts";
import { ALPHABETS } from "../growth/growth.ts";
import { below, openRandom, partsOf, pick } from "../random.ts";
import type { Random } from "../random.ts";
import { damage, drawCsv, drawId, drawNdjson, drawNumber, drawPlant, drawText, drawValue } from "./poison.ts";

/** A request that may be wrong in any way. In its texts one letter is one byte. */
export type HostileRequest = Readonly<{
  method: string;
  target: string;
  headers: readonly string[];
  body?: string;
  /** The operation that it calls, also for HEAD and OPTIONS; undefined if its method or path is poisoned too. */
  operation: Operation | undefined;
  /** Whether it may be refused as malformed HTTP: cut off, or answered without an error body of ours. */
  isBroken: boolean;
}>;

/**
 * How many requests may be under way. Those of one connection come in turn, so that no more imports, and requests with
 * many changes, run than the service accepts.
 */
export const CONNECTIONS = 24;
const IMPORTERS = 3;

/** How often an operation is called, if not as often as most. */
const SHARES: Partial<Record<OperationId, number>> = {
  createPlant: 6,
  putPlant: 3,
  deletePlant: 3,
  listPlants: 3,
  createToken: 2,
  importPlants: 3,
  changePlants: 2,
};
const LARGE: readonly OperationId[] = ["importPlants", "exportPlants", "changePlants"];
const CALLS: readonly Operation[] = loadContract().operations.flatMap((one) => Array<Operation>(SHARES[one.id] ?? 1).fill(one));
const LARGE_CALLS = CALLS.filter(({ id }) => LARGE.includes(id));
const SMALL_CALLS = CALLS.filter(({ id }) => !LARGE.includes(id));

/** Request `number` of a run: the same for the same seed, and without drawing those before it. */
export function drawRequest(seed: number, number: number): HostileRequest {
  const random = openRandom(Math.imul(seed, 0x9e3779b1) ^ Math.imul(number, 0x85ebca6b));
  // Two close seeds begin with similar numbers.
  random();
  const isLarge = number % CONNECTIONS < IMPORTERS && random() < 0.4;
  if (!isLarge && random() < 0.1) return poison(random, drawStrange(random));
  return poison(random, drawCall(random, pick(random, isLarge ? LARGE_CALLS : SMALL_CALLS)));
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

type Draft = Omit<HostileRequest, "isBroken">;

const JSON_TYPE = "application/json";
const IMPORT_IDS = ["0".repeat(32), "0123456789abcdef0123456789abcdef", "0".repeat(31), "G".repeat(32)];
const TOKEN_IDS = ["Zk3vQ9aB", "a", "a".repeat(64), "0", "null", "constructor"];

/** What each operation with a body gets: the type and the body. */
const BODIES: Partial<Record<OperationId, (random: Random) => readonly [type: string, body: string]>> = {
  createPlant: (random) => [JSON_TYPE, drawPlant(random)],
  putPlant: (random) => [JSON_TYPE, drawPlant(random, { hasId: false })],
  patchPlant: (random) => [
    "application/merge-patch+json",
    random() < 0.5 ? drawPlant(random, { hasId: false }) : `{"tag":${drawValue(random)}}`,
  ],
  changePlants(random) {
    const side = () => (random() < 0.3 ? "null" : drawPlant(random, { hasId: false }));
    const changes = Array.from({ length: 1 + below(random, 3) }, () => `{"id":${drawId(random)},"from":${side()},"to":${side()}}`);
    return [JSON_TYPE, `{"changes":[${changes.join()}]}`];
  },
  createToken(random) {
    // Each member is right two times of three: of 300 such requests in a run, about 60 are right in all.
    const draw = (right: readonly string[], wrong: readonly string[]) =>
      random() < 0.67 ? pick(random, right) : pick(random, [...wrong, drawValue(random)]);
    const members = [
      `"name":${draw(['"a"', `"${drawText(random)}"`], ['""'])}`,
      `"scopes":${draw(['["plants:read"]'], ['["admin","admin"]', "[]", '"admin"', '["root"]'])}`,
      `"days":${draw(["1", "36500"], ["0", "-1", "1e-9", "36501", "1e400"])}`,
    ];
    return [JSON_TYPE, `{${members.slice(random() < 0.8 ? 0 : 1).join()}}`];
  },
  importPlants: (random) => (random() < 0.5 ? ["application/x-ndjson", drawNdjson(random)] : ["text/csv", drawCsv(random)]),
};

function drawPathId(random: Random, path: string): string {
  if (path.startsWith("/tokens")) return pick(random, TOKEN_IDS);
  return path.startsWith("/imports") ? pick(random, IMPORT_IDS) : String(drawId(random));
}

function drawCall(random: Random, operation: Operation): Draft {
  const { id, method, path, query } = operation;
  const [type, body] = BODIES[id]?.(random) ?? [];
  const target = path.replace("{id}", () => drawPathId(random, path));
  // An export is mostly asked for without the file itself, which is long.
  const alike = id === "exportPlants" && random() < 0.9 ? ["HEAD"] : ["GET", "GET", "GET", "HEAD", "OPTIONS"];
  return {
    method: method === "GET" ? pick(random, alike) : method,
    target: target + (random() < (query.length > 0 ? 0.7 : 0.05) ? drawQuery(random, query) : ""),
    headers: type === undefined ? [] : [`Content-Type: ${type}`],
    ...(body === undefined ? {} : { body }),
    operation,
  };
}

const BROKEN_ESCAPES = partsOf(`%|%2|%zz|%00|%ff|%c0%80|%ed%a0%80|%F0%9F%8C%B5|%25|%26|%3D|%u0041|+|=|&|;|[]|[0]`);
const STRANGE_NAMES = ["Limit", "__proto__", "constructor", "", "%6cimit", "token", ...BROKEN_ESCAPES];

function drawQuery(random: Random, parameters: readonly QueryParameter[]): string {
  const pairs = Array.from({ length: below(random, 4) }, () => {
    const known = parameters.length > 0 && random() < 0.9 ? pick(random, parameters) : undefined;
    const name = known?.name ?? pick(random, STRANGE_NAMES);
    return random() < 0.95 ? `${name}=${drawParameter(random, known?.schema)}` : name;
  });
  return pairs.length > 0 ? `?${pairs.join(random() < 0.95 ? "&" : "&&")}` : pick(random, ["", "", "?", "?&", "??"]);
}

// Among the texts are cursors: by name behind "a", by newest, of changes, and what no one made.
const TEXTS = partsOf(
  `name|column 2|column 0|column 99999|BQAAAAAAAAABBAA|AgAAAAAAAAABAAAAAAAAAAE|AAAAAAAAAAEAAAAAAAAAAQAGYVJmzAZA|AQ|A===|-_-_|now`,
);
const NUMBERS = partsOf(`1|0|-1|3|1000|1001|2147483647|2147483648|1e3|1.0|+5|%31|01|-0|%2D5|x|`);

function drawParameter(random: Random, schema: QueryParameter["schema"] | undefined): string {
  const lot = random();
  if (schema && lot < 0.8) {
    if (schema.enum) return pick(random, [...schema.enum, ...schema.enum, schema.enum[0]!.toUpperCase(), ""]);
    if (schema.type === "boolean") return pick(random, ["true", "true", "false", "1", ""]);
    if (schema.type === "integer") return pick(random, [...NUMBERS, String(drawId(random)), drawNumber(random)]);
    if (lot < 0.2) return pick(random, TEXTS);
  }
  if (lot < 0.85) return `oak%20${below(random, 1000)}`;
  if (lot < 0.92) return pick(random, BROKEN_ESCAPES);
  if (lot < 0.94) return encodeURIComponent(pick(random, ALPHABETS).textOf(below(random, 1200)).toWellFormed());
  if (lot < 0.95) return pick(random, ["oak+", "a%00b+", "%E6%A3%AE", "%CC%81", "%22*", "-", "a%20OR%20"]).repeat(below(random, 1200));
  // encodeURIComponent refuses lone surrogates, which these texts cannot hold.
  return encodeURIComponent(Buffer.from(drawText(random), "latin1").toString("utf8"));
}

const STRANGE_PATHS = [
  ...partsOf(`/plants/%31|/plants/1%2F2|/plants/..|/plants/.|/plants/../plants|/plants/+1|/plants/01|/plants/-0|/plants/1e3|/plants/1.0|
  /plants/9223372036854775808|/plants/-9223372036854775809|/plants/1/|/plants/1/2|/plants//1|//plants|/plants/|/plants/%00|
  /plants/%|/plants/%zz|/plants/{id}|/plants/__proto__|/__proto__|/constructor|/toString|/%2e%2e/%2e%2e/|/../../plants|/tokens/|
  /tokens/a-b|/PLANTS|/plants;x=1|/plants%3Flimit=1|/assets/../plants|/plants/1#x|/*|*|http://plants/plants|plants||/pl ants`),
  `/plants/${"9".repeat(5000)}`,
  `/tokens/${"a".repeat(65)}`,
  `/${"a/".repeat(2000)}`,
];
const STRANGE_METHODS = [...partsOf("get|Post|FETCH|TRACE|CONNECT|PROPFIND|G\xcbT|-|SEARCH|QUERY|PUT|PATCH|DELETE"), "X".repeat(5000)];

/** A request to no operation: its path is strange, or its method is not one of its path. */
function drawStrange(random: Random): Draft {
  if (random() < 0.5) {
    const target = pick(random, ["/plants", "/tags", "/plants/import", "/livez", "/plants/1", "/tokens"]);
    return { method: pick(random, STRANGE_METHODS), target, headers: [], operation: undefined };
  }
  const target = random() < 0.8 ? pick(random, STRANGE_PATHS) : damage(random, `/plants/${drawId(random)}`);
  const method = pick(random, ["GET", "PUT", "DELETE", "POST", "OPTIONS"]);
  const headers = [`Content-Type: ${JSON_TYPE}`];
  return { method, target, headers, ...(method === "GET" ? {} : { body: drawPlant(random) }), operation: undefined };
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

function poison(random: Random, draft: Draft): HostileRequest {
  const lot = random();
  const extra = lot < 0.8 ? [] : lot < 0.98 ? [pick(random, HEADERS)] : [pick(random, BROKEN_HEADERS)];
  const names = extra.map((line) => line.slice(0, line.indexOf(":") + 1));
  const headers = [...draft.headers.filter((line) => !names.some((name) => line.startsWith(name))), ...extra];
  const isBroken = lot >= 0.98 || draft.target.length > TARGET_LENGTH_MAX || !draft.operation || /[^!-~]/.test(draft.target);
  return { ...draft, headers, isBroken };
}
