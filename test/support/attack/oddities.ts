// Requests that proxies and services are known to misread. All of them are about plant 1.

/** What is sent on a connection, and how many milliseconds after the previous piece. */
export type Odd = ReadonlyArray<Readonly<{ text: string; afterMs?: number }>>;

/** Ways to write /tokens, or what looks like it. */
export const TOKENS_TARGETS = [
  "/x\\..\\tokens",
  "/.\\tokens",
  "/plants/../tokens",
  "/plants/%2e%2e/tokens",
  "/./tokens",
  "//tokens",
  "/%2Ftokens",
  "/%74okens",
  "/%2574okens",
  "/tokens%2F",
  "/tokens%00",
  "/tokens#x",
] as const;

/** All of them, with these lines for authorization. */
export function makeOdd(authorization: string): Odd[] {
  return [methods, trailers, targets, bodies, heads].flatMap((make) => make(authorization));
}

const PLANT = '{"id":1,"name":"odd"}';
const CODED = "Transfer-Encoding: chunked\r\n";
const CHUNK = `${PLANT.length.toString(16)}\r\n${PLANT}\r\n`;
const TRAILERS = "X-Request-Id: trailer\r\n\r\n";
const WHOLE = `${CHUNK}0\r\n\r\n`;
const NEXT = "GET /plants/1 HTTP/1.1\r\nHost: plants\r\n\r\n";

/** A head without its empty line, with the token in its place if there is to be one. */
function head(line: string, authorization: string, host = "plants"): string {
  return `${line} HTTP/1.1\r\nHost: ${host}\r\n${authorization}`;
}

function methods(authorization: string): Odd[] {
  return ["PLANT", "get", "post", "Get", "BREW", "PROPFIND", "M-SEARCH", "TRACE", "CONNECT", "A", "X".repeat(200), "GET\u007f"].flatMap(
    (method) => [
      [{ text: `${head(`${method} /plants/1`, authorization)}\r\n` }],
      [{ text: `${head(`${method} /plants`, authorization)}Content-Length: ${PLANT.length}\r\n\r\n${PLANT}` }],
    ],
  );
}

function trailers(authorization: string): Odd[] {
  return ["POST /plants", "PUT /plants/1", "GET /livez", "DELETE /plants/1", "POST /plants/import"].flatMap((line) =>
    ["", "Trailer: X-Request-Id\r\n"].flatMap((announced) => {
      const start = `${head(line, authorization)}${CODED}${announced}\r\n${CHUNK}`;
      return [
        [{ text: `${start}0\r\n${TRAILERS}` }],
        ...[2, 50].map((afterMs) => [{ text: `${start}0\r\n` }, { text: TRAILERS, afterMs }]),
        [{ text: start }, { text: `0\r\n${TRAILERS}`, afterMs: 5 }],
        [{ text: `${start}0\r\n` }, { text: "\r\n", afterMs: 5 }],
        [{ text: `${start}0\r\nX: ` }],
      ];
    }),
  );
}

function targets(authorization: string): Odd[] {
  return [...TOKENS_TARGETS, "*", "http://plants/plants/1", "http://others:99999/", "ftp://plants/", "plants:80"].map((target) => [
    { text: `${head(`GET ${target}`, authorization)}\r\n` },
  ]);
}

function bodies(authorization: string): Odd[] {
  const post = head("POST /plants", authorization);
  return [
    // Refused early, while more comes.
    [{ text: `${post}Content-Length: 1000000\r\n\r\n${"x".repeat(100_000)}` }, { text: "x".repeat(900_000), afterMs: 3 }],
    [{ text: `${post}${CODED}\r\n${`10000\r\n${"x".repeat(65_536)}\r\n`.repeat(8)}0\r\n\r\n` }],
    // Broken off.
    [{ text: `${post}Content-Length: 50\r\n\r\n{"id":` }],
    [{ text: `${post}${CODED}\r\n${CHUNK}` }],
    [{ text: "POST /plants HTT" }],
    [{ text: `${head("GET /plants/export", authorization)}\r\n` }],
    // Framed in two ways.
    ...[
      `Content-Length: 5\r\n${CODED}`,
      `${CODED}Content-Length: 5\r\n`,
      `${CODED}${CODED}`,
      "Transfer-Encoding: chunked, identity\r\n",
      "Transfer-Encoding: xchunked\r\n",
      "Transfer-Encoding : chunked\r\n",
      "Transfer-Encoding:\tchunked\r\n",
      "Transfer-Encoding: gzip, chunked\r\n",
      "Content-Length: 5\r\nContent-Length: 6\r\n",
      "Content-Length: +5\r\n",
      "Content-Length: 5, 5\r\n",
    ].map((framing) => [{ text: `${post}${framing}\r\n${WHOLE}${NEXT}` }]),
    ...[
      "0x5\r\nhello\r\n0\r\n\r\n",
      "5;a=b\r\nhello\r\n0\r\n\r\n",
      "5\nhello\n0\n\n",
      "fffffffffffffffff\r\n",
      "5\r\nhelloXX0\r\n\r\n",
    ].map((text) => [{ text: `${post}${CODED}\r\n${text}${NEXT}` }]),
    [{ text: `${head("GET /plants/1", authorization)}Content-Length: ${NEXT.length}\r\n\r\n${NEXT}` }],
    [{ text: `${head("POST /plants", authorization)}Expect: 100-continue\r\nContent-Length: 5\r\n\r\n` }],
  ];
}

function heads(authorization: string): Odd[] {
  const line = "GET /plants/1";
  const get = `${head(line, authorization)}\r\n`;
  return [
    [{ text: get.repeat(20) }],
    [{ text: `\r\n\r\n${get}` }],
    [{ text: `${get}\r\n` }, { text: get, afterMs: 5 }],
    ...["plants:99999", "plants:", "", "pla nts", "a, b", "[::1", "plants:80:80"].map((host) => [
      { text: `${head(line, authorization, host)}\r\n` },
    ]),
    [{ text: `${head(line, authorization)}Host: others\r\n\r\n` }],
    [{ text: "GET /plants/1 HTTP/1.1\r\n\r\n" }],
    [{ text: "GET /plants/1 HTTP/1.0\r\n\r\n" }],
    [{ text: `${head("OPTIONS *", authorization)}\r\n` }],
    [{ text: `${head(line, authorization)}X: ${"x".repeat(15_000)}\r\n\r\n` }],
    [{ text: `${head(line, authorization)}X: ${"x".repeat(70_000)}\r\n\r\n` }],
    [{ text: `${head(line, authorization)}${"X: y\r\n".repeat(300)}\r\n` }],
    [{ text: `${head(line, authorization)}Connection: close, X-Request-Id\r\nX-Forwarded-For: 127.0.0.1\r\n\r\n` }],
    [{ text: `${head(line, authorization)}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n` }],
    [{ text: "\u0016\u0003\u0001\u0002\u0000\u0001" }],
    [{ text: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" }],
  ];
}
