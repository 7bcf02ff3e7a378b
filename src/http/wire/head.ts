import { PlantStoreError } from "../../errors.ts";
import { membersOf, parseFields } from "./fields.ts";
import type { Fields } from "./fields.ts";

/** The head of a request, understood (RFC 9112, 2 to 6). */
export type Head = Readonly<{
  method: string;
  /** As it was sent but for percent-encoding, which is decoded; undefined when no resource can stand there. "*" for OPTIONS of the whole service. */
  path: string | undefined;
  /** What stands behind the question mark, as it was sent. */
  query: string;
  fields: Fields;
  /** The host and port that an absolute target names; undefined for other targets. */
  authority: string | undefined;
  framing: Framing;
  /** HTTP/1.0 knows no chunks and no 100. */
  isOld: boolean;
  /** Whether the client lets the connection live on. */
  isKept: boolean;
  /** Whether the client waits for "100 Continue" before it sends the body. */
  isExpecting: boolean;
}>;

/** How long the body is. */
export type Framing = Readonly<{ kind: "length"; length: number }> | Readonly<{ kind: "chunked" }>;

/** What this service knows; RFC 9110, 9.1: what is unknown is 501, what is known but not here is 405. */
const METHODS = new Set(["CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"]);

/** Lines that end in CR LF, and hold no other control character than tabs. */
const LINES = /^[\t -\xff]*(?:\r\n[\t -\xff]*)*$/;

/** A method, a target and a version, one space between them. */
const LINE = /^([!#$%&'*+\-.^_`|~\dA-Za-z]+) ([!-\xff]+) (HTTP\/\d\.\d)$/;

const ABSOLUTE = /^https?:\/\/([^/?#]*)/i;

/**
 * Reads a head, a character for each byte, without the empty line at its end. Throws `malformed_request`, `head_too_large`, `unknown_method`,
 * `unsupported_version` or `invalid_host`: behind any of them nobody knows where the next request begins.
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
  // What follows an attempt at a tunnel may be meant for its other end.
  const isKept = rest.isKept && method !== "CONNECT";
  return {
    method,
    path,
    query,
    authority,
    fields: rest.fields,
    framing: rest.framing,
    isOld: rest.isOld,
    isKept,
    isExpecting: rest.isExpecting,
  };
}

/** What the field lines say. */
type Rest = Omit<Head, "method" | "path" | "query" | "authority">;

/** How many texts of field lines, and how long ones, are remembered: a client sends the same ones again and again. */
const REMEMBERED_MAX = 1000;
const REMEMBERED_LENGTH_MAX = 1000;

const remembered = new Map<string, Rest>();

function parseRest(text: string, isOld: boolean): Rest {
  const known = remembered.get(text);
  if (known?.isOld === isOld) return known;
  const rest = readRest(text, isOld);
  if (text.length <= REMEMBERED_LENGTH_MAX) {
    if (remembered.size >= REMEMBERED_MAX) remembered.clear();
    remembered.set(text, rest);
  }
  return rest;
}

function readRest(text: string, isOld: boolean): Rest {
  if (!LINES.test(text)) throw new PlantStoreError("malformed_request");
  const fields = parseFields(text === "" ? [] : text.split("\r\n"));
  if (fields === "too_many") throw new PlantStoreError("head_too_large");
  if (!fields) throw new PlantStoreError("malformed_request");
  if (!isOld && fields.get("host") === null) throw new PlantStoreError("invalid_host");
  const options = membersOf(fields.get("connection")?.toLowerCase() ?? "");
  return {
    fields,
    framing: framingOf(fields, isOld),
    isOld,
    isKept: !options.includes("close") && (!isOld || options.includes("keep-alive")),
    isExpecting: !isOld && fields.get("expect")?.toLowerCase() === "100-continue",
  };
}

/** A line that is a request of another version, or of none that we know. */
function refuseLine(line: string): PlantStoreError {
  return new PlantStoreError(/^[!-\xff]+ [!-\xff]+ HTTP\/\d+(\.\d+)?$/.test(line) ? "unsupported_version" : "malformed_request");
}

/** RFC 9112, 6.3. Two ways to tell a length are refused, as two readers could see two requests. */
function framingOf(fields: Fields, isOld: boolean): Framing {
  const coding = fields.get("transfer-encoding");
  const length = fields.get("content-length");
  if (coding === null) return { kind: "length", length: length === null ? 0 : parseLength(length) };
  const codings = membersOf(coding);
  if (isOld || length !== null || codings.length !== 1 || codings[0]!.toLowerCase() !== "chunked")
    throw new PlantStoreError("malformed_request");
  return { kind: "chunked" };
}

/** RFC 9110, 8.6: a length that stands several times and is the same may be taken. */
function parseLength(text: string): number {
  const lengths = text.split(", ");
  if (!lengths.every((length) => /^\d+$/.test(length) && length === lengths[0])) throw new PlantStoreError("malformed_request");
  return Number(lengths[0]);
}

function splitTarget(target: string, method: string): Pick<Head, "authority" | "path" | "query"> {
  if (target === "*" && method === "OPTIONS") return { authority: undefined, path: "*", query: "" };
  // The authority of a tunnel is no path of ours.
  if (method === "CONNECT") return { authority: undefined, path: undefined, query: "" };
  const [start = "", authority] = target.startsWith("/") ? [] : (ABSOLUTE.exec(target) ?? []);
  const local = target.slice(start.length);
  if (authority === undefined && !target.startsWith("/")) throw new PlantStoreError("malformed_request");
  const mark = local.indexOf("?");
  const path = mark === -1 ? local : local.slice(0, mark);
  return { authority, path: decodePath(path === "" ? "/" : path), query: mark === -1 ? "" : local.slice(mark + 1) };
}

/** RFC 3986, 6.2.2.2: what is percent-encoded and need not be is the same. An encoded slash is no slash. Nothing else is tidied up. */
function decodePath(path: string): string | undefined {
  if (!path.includes("%")) return path;
  try {
    const segments = path.split("/").map(decodeURIComponent);
    return segments.some((segment) => segment.includes("/")) ? undefined : segments.join("/");
  } catch {
    return undefined;
  }
}
