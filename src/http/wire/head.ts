import { PlantStoreError } from "../../domain/errors.ts";
import { membersOf, parseFields, withField } from "./fields.ts";
import type { Fields } from "./fields.ts";

/** The parsed head of a request (RFC 9112, 2 to 6). */
export type Head = Target & Readonly<{ method: string; section: HeaderSection }>;

type RequestLine = Target & Readonly<{ method: string }>;

type Target = Readonly<{
  /**
   * Percent-decoded, otherwise as sent. Undefined when no resource can have this path. "*" for OPTIONS of the whole
   * service.
   */
  path: string | undefined;
  /** What follows the question mark, as sent. */
  query: string;
  /** The host and port of an absolute target; undefined for other targets. */
  authority: string | undefined;
}>;

/** What the field lines and the version say. */
type HeaderSection = Readonly<{
  fields: Fields;
  framing: Framing;
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
const LINE = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+ [!-\xff]+ HTTP\/\d\.\d$/;
const VERSION_LENGTH = " HTTP/1.1".length;

const ABSOLUTE = /^https?:\/\/([^/?#]*)/i;

/**
 * Parses a head, one character for each byte, without the empty line at its end. Throws `malformed_request`,
 * `head_too_large`, `unknown_method`, `unsupported_version` or `invalid_host`: after any of them it is unknown where
 * the next request begins.
 */
export type HeadParser = (text: string) => Head;

/** How many texts of field lines are cached, and how long they may be: a client sends the same ones again and again. */
const REMEMBERED_MAX = 1000;
const REMEMBERED_LENGTH_MAX = 1000;

/**
 * Lines that differ with each request, of clients and proxies that name or trace their requests. Without them, the
 * others are the same ones again, and are not parsed again: that would be a third of the main thread's part of a
 * create. A longer text might have too many fields.
 */
const VARYING = /\r\n(traceparent|tracestate|x-request-id): ([!-~](?:[ -~]*[!-~])?)(?=\r\n|$)/i;
const VARYING_LENGTH_MAX = 800;

export function createHeadParser(): HeadParser {
  const remembered = new Map<string, HeaderSection>();

  function parseSection(text: string, isHttp10: boolean): HeaderSection {
    const known = remembered.get(text);
    if (known?.isHttp10 === isHttp10) return known;
    return parseVarying(text, isHttp10) ?? parseWhole(text, isHttp10);
  }

  /** Undefined if the text has no such line, or several of one name. */
  function parseVarying(text: string, isHttp10: boolean): HeaderSection | undefined {
    const varying = text.length <= VARYING_LENGTH_MAX ? VARYING.exec(text) : null;
    if (!varying) return undefined;
    const [line, name = "", value = ""] = varying;
    const key = name.toLowerCase();
    const others = text.slice(0, varying.index) + text.slice(varying.index + line.length);
    // Dozens of one name would be taken out one by one.
    if (others.toLowerCase().includes(`\r\n${key}:`)) return undefined;
    const section = parseSection(others, isHttp10);
    return section.fields.get(key) === null ? { ...section, fields: withField(section.fields, key, value) } : undefined;
  }

  function parseWhole(text: string, isHttp10: boolean): HeaderSection {
    const section = readSection(text, isHttp10);
    if (text.length <= REMEMBERED_LENGTH_MAX) {
      if (remembered.size >= REMEMBERED_MAX) remembered.clear();
      remembered.set(text, section);
    }
    return section;
  }

  /** The line of the last request. Many in a row may have the same one: creates do. */
  let last: (RequestLine & Readonly<{ text: string; isHttp10: boolean }>) | undefined;

  return (text) => {
    const lineEnd = text.indexOf("\r\n");
    const line = lineEnd === -1 ? text : text.slice(0, lineEnd);
    const known = last?.text === line ? last : undefined;
    const isHttp10 = known ? known.isHttp10 : readVersion(line) === "1.0";
    // The contract promises this order: the host first, then path and method.
    const section = parseSection(lineEnd === -1 ? "" : text.slice(lineEnd + 2), isHttp10);
    const { method, path, query, authority } = known ?? (last = { text: line, isHttp10, ...readLine(line) });
    return { method, path, query, authority, section };
  };
}

function readVersion(line: string): "1.0" | "1.1" {
  if (!LINE.test(line)) throw refuseLine(line);
  if (line.endsWith(" HTTP/1.1")) return "1.1";
  if (line.endsWith(" HTTP/1.0")) return "1.0";
  // RFC 9110, 2.5: a later minor version is understood as the last one that is known.
  if (line.at(-3) === "1") return "1.1";
  throw new PlantStoreError("unsupported_version");
}

/** Parses a line that has a version. */
function readLine(line: string): RequestLine {
  const space = line.indexOf(" ");
  const method = line.slice(0, space);
  if (!METHODS.has(method)) throw new PlantStoreError("unknown_method");
  const { authority, path, query } = splitTarget(line.slice(space + 1, -VERSION_LENGTH), method);
  return { method, path, query, authority };
}

function readSection(text: string, isHttp10: boolean): HeaderSection {
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
  const isOther = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+ [!-\xff]+ HTTP\/\d+(\.\d+)?$/.test(line);
  return new PlantStoreError(isOther ? "unsupported_version" : "malformed_request");
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

/** RFC 9110, 8.6: a repeated length is valid if it is always the same. A number that would be rounded is refused. */
function parseLength(text: string): number {
  const [first = "", ...others] = text.split(", ");
  const length = /^\d+$/.test(first) ? Number(first) : NaN;
  if (!Number.isSafeInteger(length) || others.some((other) => other !== first)) throw new PlantStoreError("malformed_request");
  return length;
}

function splitTarget(target: string, method: string): Target {
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
