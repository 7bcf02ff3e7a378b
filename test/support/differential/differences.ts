import type { LlhttpReading } from "./llhttp.ts";
import type { Understood } from "../understand.ts";

/** A request that we accept and llhttp does not, or not as the same, and the one before it. */
export type Difference = Readonly<{ what: string; text: string; before: string }>;

/** Compares what we accepted with what llhttp understood. We may refuse or close where it goes on. */
export function findDifference(stream: string, ours: readonly Understood[], { requests, refusal }: LlhttpReading): Difference | undefined {
  let [start, before] = [0, ""];
  for (const [number, request] of ours.entries()) {
    const theirs = requests[number];
    const what = theirs ? compare(request, theirs, refusal) : `refused: ${refusal}`;
    const text = stream.slice(start, request.end);
    if (what !== undefined) return { what, text, before };
    before = text;
    start = request.end ?? stream.length;
  }
  return undefined;
}

function compare(ours: Understood, theirs: LlhttpReading["requests"][number], refusal: string | undefined): string | undefined {
  if (ours.method !== theirs.method) return `method ${theirs.method}`;
  if (toTarget(ours) !== toTheirTarget(ours.method, theirs.target)) return `target ${theirs.target}`;
  // We have not accepted what has not arrived completely.
  if (theirs.end === undefined && refusal !== undefined) return ours.end === undefined ? undefined : `refused: ${refusal}`;
  if (ours.end !== theirs.end) return `end ${theirs.end}`;
  if (ours.body !== theirs.body) return `body ${JSON.stringify(theirs.body)}`;
  const fields = joinFields(theirs.fields);
  const wrong = [...fields.keys()].find((name) => ours.headers.get(name) !== fields.get(name));
  return wrong === undefined ? undefined : `field ${wrong}`;
}

/** Several fields of one name are one list. */
function joinFields(pairs: readonly string[]): Map<string, string> {
  const fields = new Map<string, string>();
  for (let at = 0; at < pairs.length; at += 2) {
    const [name, value] = [pairs[at]!.toLowerCase(), pairs[at + 1]!];
    const before = fields.get(name);
    fields.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return fields;
}

function toTarget({ authority, path, query }: Understood): string {
  return JSON.stringify([authority, path, query]);
}

/** A target as sent, in its parts: all that llhttp says about it. */
function toTheirTarget(method: string, target: string): string {
  if (method === "CONNECT") return JSON.stringify([undefined, undefined, ""]);
  const [, authority, path, query] = /^(?:https?:\/\/([^/?#]*))?([^?]*)\??(.*)$/is.exec(target)!;
  return JSON.stringify([authority, decode(path || "/"), query]);
}

function decode(path: string): string | undefined {
  // An encoded slash, or no UTF-8: no resource.
  if (/%2f/i.test(path)) return undefined;
  if (!path.includes("%")) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

/** A difference that is legal, or the other parser's fault. */
type Known = Readonly<{ why: string; what: RegExp; text?: RegExp; before?: RegExp }>;

/** A field in the trailers of a body in chunks. */
function trailer(field: string): RegExp {
  return new RegExp(String.raw`\r\n0+(?:;[^\r\n]*)?\r\n(?:[^\r\n]+\r\n)*${field}`, "i");
}

export const KNOWN: readonly Known[] = [
  {
    why: "a repeated equal length may be accepted (RFC 9110, 8.6)",
    what: /^refused: HPE_UNEXPECTED_CONTENT_LENGTH$/,
    text: /\r\ncontent-length:[\t ]*(\d+)(?:, \1)*[\t ]*\r\n(?:[^\r\n]+\r\n)*?content-length:[\t ]*\1(?:, \1)*[\t ]*\r\n/i,
  },
  {
    why: "a list of one equal length may be accepted (RFC 9110, 8.6)",
    what: /^refused: HPE_INVALID_CONTENT_LENGTH$/,
    text: /\r\ncontent-length:[\t ]*(\d+), \1[\t ]*\r\n/i,
  },
  {
    why: "a list may have empty members (RFC 9110, 5.6.1)",
    what: /^refused: HPE_INVALID_TRANSFER_ENCODING$/,
    text: /\r\ntransfer-encoding:(?:(?=[^\r\n]*,)[\t ,]*chunked[\t ,]*|[\t ]*)\r\n/i,
  },
  {
    why: "the white space behind a value may be a tab (RFC 9110, 5.5)",
    what: /^refused: HPE_INVALID_TRANSFER_ENCODING$/,
    text: /\r\ntransfer-encoding:[\t ]*chunked *\t[\t ]*\r\n/i,
  },
  {
    why: "a trailer says nothing about where the body ends (RFC 9110, 6.5.1)",
    what: /^refused: HPE_(?:INVALID_CONTENT_LENGTH|INVALID_TRANSFER_ENCODING|UNEXPECTED_CONTENT_LENGTH)$/,
    text: trailer("(?:content-length|transfer-encoding):"),
  },
  {
    why: "a trailer says nothing about the connection (RFC 9110, 6.5.1)",
    what: /^refused: HPE_CLOSED_CONNECTION$/,
    before: trailer("connection:[^\\r\\n]*close"),
  },
  {
    why: "Proxy-Connection is no field of HTTP (RFC 9112, C.2.2)",
    what: /^refused: HPE_CLOSED_CONNECTION$/,
    before: /\r\nproxy-connection:[\t ]*close/i,
  },
  {
    why: "0x7f in a value may be kept (RFC 9110, 5.5)",
    what: /^refused: HPE_INVALID_HEADER_TOKEN$/,
    text: /\r\n[^\r\n:]+:[^\r\n]*\u007f/,
  },
  {
    why: "a target with bytes that no URL has names nothing here; where it ends is clear (RFC 9112, 3.2)",
    what: /^refused: HPE_INVALID_URL$/,
    text: /^(?:\r\n)?(?:CONNECT |[A-Z]+ (?:\/|https?:\/\/))[^ \r\n]+ HTTP/i,
  },
  {
    why: "a later minor version is understood as the last one that is known (RFC 9110, 2.5)",
    what: /^refused: HPE_INVALID_VERSION$/,
    text: /^(?:\r\n)?[A-Z]+ [^ \r\n]+ HTTP\/1\.[2-9]\r\n/,
  },
  {
    why: "an extension of a chunk is ignored, whatever it is (RFC 9112, 7.1.1)",
    what: /^refused: HPE_(?:STRICT|INVALID_CHUNK_SIZE)$/,
    // Not for one that the grammar allows.
    text: /\r\n[\da-f]+(?!(?:;[a-z]+(?:=(?:[a-z]+|"[^"\\\r\n]*"))?)*\r\n);[^\r\n]*\r\n/i,
  },
  {
    why: "the content of CONNECT has no meaning, and the connection ends behind it (RFC 9110, 9.3.6)",
    what: /^end \d+$/,
    text: /^(?:\r\n)?CONNECT /,
  },
  {
    why: "beside an upgrade it takes the body behind a coding that it does not know for what follows",
    what: /^end \d+$/,
    text: /^(?=[^]*\r\nupgrade:)[^]*\r\ntransfer-encoding:[\t ]*(?:,[\t ,]*chunked|chunked *[\t,]|\r\n)/i,
  },
  {
    why: "behind a request for an upgrade it does not say why it refuses one",
    what: /^refused: not taken$/,
  },
];

/** Why a difference is none to mend; undefined for one that no one has explained. */
export function findKnown({ what, text, before }: Difference): Known | undefined {
  return KNOWN.find((known) => known.what.test(what) && (known.text?.test(text) ?? true) && (known.before?.test(before) ?? true));
}
