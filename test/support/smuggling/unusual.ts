import { CODED, HEAD, inChunks, sized } from "./malformed.ts";
import type { Framing } from "./malformed.ts";

/** A good request in a rare form: how it is answered, and whether its plant is stored. */
type Unusual = Framing & Readonly<{ statuses: readonly number[]; isStored: boolean }>;

const CREATED = { statuses: [200], isStored: true } as const;
const READ = { statuses: [200], isStored: false } as const;

/** Good requests in forms that are easily misread. A request after each of them must be understood just as well. */
export const UNUSUAL: readonly Unusual[] = [
  // RFC 9112, 6.3: a repeated equal length may be accepted.
  lengths("is there twice and is equal", "Content-Length: <n>\r\nContent-Length: <n>"),
  lengths("has a tab before it and white space after it", "Content-Length:\t<n>\t "),
  lengths("has no space before it", "Content-Length:<n>"),
  lengths("has zeros in front", "Content-Length: 000<n>"),
  lengths("is written in capitals", "CONTENT-LENGTH: <n>"),
  // RFC 9110, 5.6.1: a recipient accepts a list with empty elements.
  ...["chunked", "CHUNKED", "\tChunked\t ", "chunked,", ", ,chunked"].map((coding) => ({
    why: `the coding written as ${JSON.stringify(coding)}`,
    bytes: (body: string) => `${HEAD}Transfer-Encoding: ${coding}\r\n\r\n${inChunks(body)}`,
    ...CREATED,
  })),
  chunks("zeros before the size", `${"0".repeat(40)}<s>\r\n<b>\r\n0\r\n\r\n`),
  chunks("many zeros as last chunk", "<s>\r\n<b>\r\n0000\r\n\r\n"),
  chunks("an extension", "<s>;a=b\r\n<b>\r\n0\r\n\r\n"),
  chunks("an extension without a name", "<s>;\r\n<b>\r\n0\r\n\r\n"),
  chunks("an extension in quotes", '<s>;a="b;c"\r\n<b>\r\n0;d\r\n\r\n'),
  chunks("an extension with a byte above 0x7f", "<s>;a=\u00ff\r\n<b>\r\n0\r\n\r\n"),
  chunks("a trailer", "<s>\r\n<b>\r\n0\r\nX: y\r\n\r\n"),
  chunks("a length as trailer", "<s>\r\n<b>\r\n0\r\nContent-Length: 5\r\n\r\n"),
  chunks("a coding as trailer", "<s>\r\n<b>\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n"),
  // RFC 9110, 2.5: a later minor version is understood as the last one that is known.
  ...["1.2", "1.9"].map((version) => ({
    why: `the version ${version}`,
    bytes: (body: string) => `${HEAD.replace("HTTP/1.1", `HTTP/${version}`)}${sized(body)}`,
    ...CREATED,
  })),
  { why: "an empty line in front", bytes: (body) => `\r\n${HEAD}${sized(body)}`, ...CREATED },
  { why: "an empty line at the end", bytes: (body) => `${HEAD}${sized(body)}\r\n`, ...CREATED },
  { why: "OPTIONS of the whole service", bytes: () => "OPTIONS * HTTP/1.1\r\nHost: plants\r\n\r\n", statuses: [204], isStored: false },
  { why: "one byte in each chunk", bytes: (body) => `${HEAD}${CODED}${Array.from(body, oneByte).join("")}0\r\n\r\n`, ...CREATED },
  {
    why: "a line of a request in the body",
    bytes: (body) => `${HEAD}${sized(body.replace('"}', ' POST /plants HTTP/1.1\\r\\n"}'))}`,
    ...CREATED,
  },
  // RFC 9110, 5.5: bytes above 0x7f are opaque, and control bytes except CR, LF and NUL may be kept.
  fields("a byte above 0x7f in a value", "X: \u00e4\u00ff"),
  fields("0x7f in a value", "X: a\u007fb"),
  fields("an empty value", "X:"),
  fields("a header twice", "X: a\r\nX: b"),
  fields("the name of a header of the framing with an underscore", "Content_Length: 5"),
  fields("an upgrade to HTTP/2", "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__"),
  fields(
    "an upgrade to a WebSocket",
    `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${"a".repeat(22)}==`,
  ),
  fields("an unknown expectation", "Expect: 200-ok"),
  {
    why: "a client that expects 100, and does not wait for it",
    bytes: (body) => `${HEAD}Expect: 100-continue\r\n${sized(body)}`,
    ...CREATED,
  },
  ...hosts([
    "127.0.0.1:8080",
    "plants:65535",
    "[::1]:8080",
    "[::ffff:127.0.0.1]",
    "PLANTS.example.",
    "my_host",
    "xn--pflnzchen-02a",
    "a%20b",
    "a,b",
  ]),
  ...["http://plants/plants", "HTTP://others:80/plants", "https://plants/plants", "/%70lants", "/pl%61nts"].map((target) => ({
    why: `${target} for the path`,
    bytes: (body: string) => `${HEAD.replace("/plants", target)}${sized(body)}`,
    ...CREATED,
  })),
  ...[
    "/plants\u007f",
    "/plants\u00ff",
    "/plants#a",
    "//plants",
    "/x/../plants",
    "/./plants",
    "/x/%2e%2e/plants",
    "/x\\..\\plants",
    "/.\\plants",
    "/%2Fplants",
    "/plants%2F",
    "/plants/",
  ].map((path) => ({
    why: `the path ${JSON.stringify(path)}, which is another`,
    bytes: (body: string) => `${HEAD.replace("/plants", path)}${sized(body)}`,
    statuses: [404],
    isStored: false,
  })),
  { why: "a GET with a body", bytes: (body) => `${HEAD.replace("POST /plants", "GET /livez")}${sized(body)}`, ...READ },
  {
    why: "a GET with a body in chunks",
    bytes: (body) => `${HEAD.replace("POST /plants", "GET /livez")}${CODED}${inChunks(body)}`,
    ...READ,
  },
  { why: "a GET with the length 0", bytes: () => `${HEAD.replace("POST /plants", "GET /livez")}Content-Length: 0\r\n\r\n`, ...READ },
  { why: "a HEAD with a body", bytes: (body) => `${HEAD.replace("POST /plants", "HEAD /livez")}${sized(body)}`, ...READ },
];

function oneByte(byte: string): string {
  return inChunks(byte, "<s>\r\n<b>\r\n");
}

function lengths(why: string, lines: string): Unusual {
  const bytes = (body: string) => `${HEAD}${lines.replaceAll("<n>", String(body.length))}\r\n\r\n${body}`;
  return { why: `a length that ${why}`, bytes, ...CREATED };
}

function chunks(why: string, text: string): Unusual {
  return { why: `a body in chunks with ${why}`, bytes: (body) => `${HEAD}${CODED}${inChunks(body, text)}`, ...CREATED };
}

function fields(why: string, lines: string): Unusual {
  return { why, bytes: (body) => `${HEAD}${lines}\r\n${sized(body)}`, ...CREATED };
}

function hosts(names: readonly string[]): Unusual[] {
  return names.map((name) => ({
    why: `the Host "${name}"`,
    bytes: (body) => `${HEAD.replace("Host: plants", `Host: ${name}`)}${sized(body)}`,
    ...CREATED,
  }));
}
