import { CORPUS } from "../../corpus.ts";
import { below, partsOf, pick } from "../random.ts";
import type { Random } from "../random.ts";

/** What the last request of each stream asks for: where the others end shows in whether it is understood. */
const LAST = "GET /last HTTP/1.1\r\nHost: plants\r\n\r\n";

const BODIES = ["x", "plants", "\r\n", "0\r\n\r\n", "\0\u00ff\u0080", '{"id":1}', "x".repeat(300), "1\r\nx\r\n0\r\n\r\n", LAST, ""];
const LENGTH_MAX = 2000;

/** Those of the corpus that are short, with each body. */
const SHORT = CORPUS.filter(({ packets }) => packets("", "t").join("").length < LENGTH_MAX);
const [REFUSED, UNDERSTOOD] = [true, false].map((isRefused) =>
  SHORT.filter(({ isLast }) => isLast === isRefused).flatMap(({ packets }) => BODIES.map((body) => packets(body, "t").join(""))),
) as [string[], string[]];
UNDERSTOOD.push("CONNECT plants:80 HTTP/1.1\r\nHost: plants\r\nContent-Length: 2\r\n\r\nab");
/** One in so many requests is of those that are refused, so that what follows is often read. */
const REFUSED_ONE_IN = 6;

/** Lines that say something about the connection, besides those of the corpus. */
const LINES =
  partsOf(`Connection: keep-alive|Connection: close|Connection: Close, x|Connection: keep-alive, close|Connection: ,|Connection:|
  Connection: close\r\nConnection: keep-alive|Connection: closed|Connection: clo se|Connection: Upgrade\r\nUpgrade: websocket|TE: trailers|Expect: x|Upgrade: h2c|
  Proxy-Connection: close|Trailer: Content-Length|Connection: content-length|!#$%&'*+-.^_\`~1: y|X: "a\\"b"|Content-Length: 1, 1|
  Content-Length: 01, 1|Content-Length: 1\r\nContent-Length: 01|Content-Length: -0|Transfer-Encoding: x,chunked|Transfer-Encoding:\t`);

/** What is put in anywhere, or in place of something. */
const PIECES =
  partsOf(`\r|\n|\r\n|\r\n\r\n|\r\n |\n\r| |\t|:|\0|0|;|,|-|+|/|?|#|%|%2F|%zz|"|=|\v|\f|\u0001|\u007f|\u0080|\u00a0|\u00ff|\u00c3\u00a9|a|F|x|
  0x|1.0|HTTP/1.0|chunked|identity|GET |CONNECT |http://|;a="b|;a=\u00ff|\r\nX: y|\r\nContent-Length: 1|\r\nTransfer-Encoding: chunked`);

/** Up to three requests in a row as bytes, one character for each, and the last one behind them: often with something odd. */
export function drawStream(random: Random): string {
  const requests = Array.from({ length: 1 + below(random, 3) }, () => drawRequest(random));
  const stream = damage(random, [...requests, LAST].join(""));
  return below(random, 40) === 0 ? stream.slice(0, below(random, stream.length)) : stream;
}

function drawRequest(random: Random): string {
  const request = pick(random, below(random, REFUSED_ONE_IN) === 0 ? REFUSED : UNDERSTOOD);
  return below(random, 4) === 0 ? addLine(random, request) : request;
}

/** Adds a line behind another one, mostly in the head. */
function addLine(random: Random, text: string): string {
  const ends = Array.from(text.matchAll(/\r\n/g), ({ index }) => index);
  if (ends.length === 0) return text;
  const at = pick(random, ends);
  const line = below(random, 2) === 0 ? pick(random, LINES) : pick(random, pick(random, pick(random, [REFUSED, UNDERSTOOD])).split("\r\n"));
  return `${text.slice(0, at)}\r\n${line}${text.slice(at)}`;
}

/** Half of the streams have something put in, left out or replaced, at up to three places. */
function damage(random: Random, text: string): string {
  let damaged = text;
  for (let times = Math.max(0, below(random, 6) - 2); times > 0; times -= 1) {
    const at = below(random, damaged.length);
    const piece = pick(random, ["", pick(random, PIECES), pick(random, PIECES), String.fromCharCode(below(random, 256))]);
    damaged = damaged.slice(0, at) + piece + damaged.slice(at + below(random, 3));
  }
  return damaged;
}
