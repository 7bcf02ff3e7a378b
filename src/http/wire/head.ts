import { PlantStoreError } from "../../errors.ts";
import { membersOf, parseFields } from "./fields.ts";
import type { Fields } from "./fields.ts";

/** The parsed head of a request (RFC 9112, 2 to 6). */
export type Head = Readonly<{
  method: string;
  /**
   * Percent-decoded, otherwise as sent. Undefined when no resource can have this path. "*" for OPTIONS of the whole
   * service.
   */
  path: string | undefined;
  /** What follows the question mark, as sent. */
  query: string;
  fields: Fields;
  /** The host and port of an absolute target; undefined for other targets. */
  authority: string | undefined;
  framing: Framing;
  /** HTTP/1.0 has no chunks and no 100 Continue. */
  isHttp10: boolean;
  /** Whether the client wants keep-alive. */
  isKeepAlive: boolean;
  /** Whether the client waits for "100 Continue" before it sends the body. */
  isExpecting: boolean;
}>;

/** How long the body is. */
export type Framing = Readonly<{ kind: "length"; length: number }> | Readonly<{ kind: "chunked" }>;

/**
 * The methods that this service knows. RFC 9110, 9.1: an unknown method gets 501, a known one that is not allowed here
 * 405.
 */
const METHODS = new Set(["CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"]);

/** Lines that end in CR LF, without control characters other than tabs. */
const LINES = /^[\t -\xff]*(?:\r\n[\t -\xff]*)*$/;

/** A method, a target and a version, separated by one space. */
const LINE = /^([!#$%&'*+\-.^_`|~\dA-Za-z]+) ([!-\xff]+) (HTTP\/\d\.\d)$/;

const ABSOLUTE = /^https?:\/\/([^/?#]*)/i;

/**
 * Parses a head, one character for each byte, without the empty line at its end. Throws `malformed_request`,
 * `head_too_large`, `unknown_method`, `unsupported_version` or `invalid_host`: after any of them it is unknown where
 * the next request begins.
 */
export function parseHead(text: string): Head {
  const lineEnd = text.indexOf("\r\n");
  const line = lineEnd === -1 ? text : text.slice(0, lineEnd);
  const [, method = "", target = "", version = ""] = LINE.exec(line) ?? [];
  if (method === "") throw refuseLine(line);
  if (version !== "HTTP/1.1" && version !== "HTTP/1.0") throw new PlantStoreError("unsupported_version");
  const rest = parseRest(lineEnd === -1 ? "" : text.slice(lineEnd + 2), version === "HTTP/1.0");
  if (!METHODS.has(method)) throw new PlantStoreError("unknown_method");
  const { authority, path, query } = splitTarget(target, method);
  // What follows CONNECT may be meant for the other end of a tunnel.
  const isKeepAlive = rest.isKeepAlive && method !== "CONNECT";
  return {
    method,
    path,
    query,
    authority,
    fields: rest.fields,
    framing: rest.framing,
    isHttp10: rest.isHttp10,
    isKeepAlive,
    isExpecting: rest.isExpecting,
  };
}

/** What the field lines say, without the request line. */
type Rest = Omit<Head, "method" | "path" | "query" | "authority">;

/** How many texts of field lines are cached, and how long they may be: a client sends the same ones again and again. */
const REMEMBERED_MAX = 1000;
const REMEMBERED_LENGTH_MAX = 1000;

const remembered = new Map<string, Rest>();

function parseRest(text: string, isHttp10: boolean): Rest {
  const known = remembered.get(text);
  if (known?.isHttp10 === isHttp10) return known;
  const rest = readRest(text, isHttp10);
  if (text.length <= REMEMBERED_LENGTH_MAX) {
    if (remembered.size >= REMEMBERED_MAX) remembered.clear();
    remembered.set(text, rest);
  }
  return rest;
}

function readRest(text: string, isHttp10: boolean): Rest {
  if (!LINES.test(text)) throw new PlantStoreError("malformed_request");
  const fields = parseFields(text === "" ? [] : text.split("\r\n"));
  if (fields === "too_many") throw new PlantStoreError("head_too_large");
  if (!fields) throw new PlantStoreError("malformed_request");
  if (!isHttp10 && fields.get("host") === null) throw new PlantStoreError("invalid_host");
  const options = membersOf(fields.get("connection")?.toLowerCase() ?? "");
  return {
    fields,
    framing: framingOf(fields, isHttp10),
    isHttp10,
    isKeepAlive: !options.includes("close") && (!isHttp10 || options.includes("keep-alive")),
    isExpecting: !isHttp10 && fields.get("expect")?.toLowerCase() === "100-continue",
  };
}

/** The error for a request line of another version, or for a line that is none. */
function refuseLine(line: string): PlantStoreError {
  return new PlantStoreError(/^[!-\xff]+ [!-\xff]+ HTTP\/\d+(\.\d+)?$/.test(line) ? "unsupported_version" : "malformed_request");
}

/** RFC 9112, 6.3. Both lengths together are refused: two readers could see two different requests. */
function framingOf(fields: Fields, isHttp10: boolean): Framing {
  const coding = fields.get("transfer-encoding");
  const length = fields.get("content-length");
  if (coding === null) return { kind: "length", length: length === null ? 0 : parseLength(length) };
  const codings = membersOf(coding);
  if (isHttp10 || length !== null || codings.length !== 1 || codings[0]!.toLowerCase() !== "chunked")
    throw new PlantStoreError("malformed_request");
  return { kind: "chunked" };
}

/** RFC 9110, 8.6: a repeated length is valid if it is always the same. */
function parseLength(text: string): number {
  const lengths = text.split(", ");
  if (!lengths.every((length) => /^\d+$/.test(length) && length === lengths[0])) throw new PlantStoreError("malformed_request");
  return Number(lengths[0]);
}

function splitTarget(target: string, method: string): Pick<Head, "authority" | "path" | "query"> {
  if (target === "*" && method === "OPTIONS") return { authority: undefined, path: "*", query: "" };
  // CONNECT names an authority, not a path.
  if (method === "CONNECT") return { authority: undefined, path: undefined, query: "" };
  const [start = "", authority] = target.startsWith("/") ? [] : (ABSOLUTE.exec(target) ?? []);
  const local = target.slice(start.length);
  if (authority === undefined && !target.startsWith("/")) throw new PlantStoreError("malformed_request");
  const mark = local.indexOf("?");
  const path = mark === -1 ? local : local.slice(0, mark);
  return { authority, path: decodePath(path === "" ? "/" : path), query: mark === -1 ? "" : local.slice(mark + 1) };
}

/**
 * RFC 3986, 6.2.2.2: needless percent-encoding makes no difference. An encoded slash is not a slash. Nothing else is
 * normalized.
 */
function decodePath(path: string): string | undefined {
  if (!path.includes("%")) return path;
  try {
    const segments = path.split("/").map(decodeURIComponent);
    return segments.some((segment) => segment.includes("/")) ? undefined : segments.join("/");
  } catch {
    return undefined;
  }
}
