// Runs in Node: reads lines, each a JSON array of streams, and answers each with what llhttp understood of them.
import { createInterface } from "node:readline";
import type { LlhttpReading } from "./llhttp.ts";

type Parser = {
  initialize(type: number, resource: object, headBytesMax: number, lenience: number): void;
  execute(bytes: Uint8Array): number | (Error & { code: string });
  close(): void;
  [event: number]: unknown;
};
type ParserClass = Readonly<{ REQUEST: number; kLenientNone: number }> & Readonly<Record<string, number>> & (new () => Parser);

/** What node:http itself parses with. */
const { HTTPParser, methods } = process.getBuiltinModule("_http_common") as unknown as {
  HTTPParser: ParserClass;
  methods: readonly string[];
};

const HEAD_BYTES_MAX = 16_384;

function read(stream: string): LlhttpReading {
  const bytes = Buffer.from(stream, "latin1");
  const requests: Array<LlhttpReading["requests"][number]> = [];
  const parser = new HTTPParser();
  let [early, url]: [string[], string] = [[], ""];
  parser.initialize(HTTPParser.REQUEST, {}, HEAD_BYTES_MAX, HTTPParser.kLenientNone);
  // Many fields come in several parts. So do trailers, which count for nothing here.
  parser[HTTPParser["kOnHeaders"]!] = (fields: string[], part: string) => {
    early.push(...fields);
    url += part;
  };
  parser[HTTPParser["kOnHeadersComplete"]!] = (...parts: readonly unknown[]) => {
    const [, , fields, method, target] = parts as [number, number, string[] | undefined, number, string | undefined];
    requests.push({ method: methods[method]!, target: target ?? url, fields: fields ?? early, body: "", end: undefined });
    [early, url] = [[], ""];
    // As node:http says when no one listens to "upgrade".
    return methods[method] === "CONNECT" ? 2 : 0;
  };
  parser[HTTPParser["kOnBody"]!] = (piece: Buffer) => {
    requests.at(-1)!.body += piece.toString("latin1");
  };
  let at = 0;
  parser[HTTPParser["kOnMessageComplete"]!] = () => {
    requests.at(-1)!.end = at + 1;
    [early, url] = [[], ""];
  };
  let refusal: string | undefined;
  for (; at < bytes.length && refusal === undefined; at += 1) {
    const result = parser.execute(bytes.subarray(at, at + 1));
    if (typeof result !== "number") refusal = result.code;
    else if (result === 0) refusal = "not taken";
    // Nothing after this is HTTP any more.
    else if (requests.at(-1)?.method === "CONNECT") break;
  }
  parser.close();
  return { requests, refusal };
}

for await (const line of createInterface({ input: process.stdin }))
  process.stdout.write(`${JSON.stringify((JSON.parse(line) as string[]).map(read))}\n`);
