import { spawn } from "node:child_process";
import { once } from "node:events";
import { Readable } from "node:stream";
import type { Certificate } from "../certificate.ts";
import { findProgram } from "../program.ts";

/** What curl received. The text has a character for each byte. */
export type CurlAnswer = Readonly<{ version: string; status: number; headers: Headers; text: string }>;

export type CurlOptions = Readonly<{
  certificate: Certificate;
  /** The address of the loopback that the client has. */
  from: string;
  token?: string;
  words?: readonly string[];
  /** The body, with `-T -` among the words. */
  input?: AsyncIterable<Uint8Array>;
  /** Waits before it reads what curl has received. */
  whileUnread?: () => Promise<void>;
}>;

/** Sends a request with curl, over HTTP/2 if the other side can. Rejects if curl says that it failed. */
export async function curl(url: string, { certificate, from, token, words = [], input, whileUnread }: CurlOptions): Promise<CurlAnswer> {
  const login = token === undefined ? [] : ["-H", `authorization: Bearer ${token}`];
  const usual = ["-sS", "-4", "-D", "-", "--path-as-is", "--cacert", certificate.path, "--interface", from];
  const child = spawn(findProgram("curl"), [...usual, ...login, ...words, url], { stdio: [input ? "pipe" : "ignore", "pipe", "pipe"] });
  if (input) Readable.from(input).pipe(child.stdin!);
  // curl ends before it has read everything if the other side refuses the body.
  child.stdin?.on("error", () => {});
  let trouble = "";
  child.stderr!.on("data", (chunk: Buffer) => (trouble += chunk.toString()));
  await whileUnread?.();
  const chunks: Buffer[] = [];
  child.stdout!.on("data", (chunk: Buffer) => chunks.push(chunk));
  const [code] = (await once(child, "close")) as [number];
  if (code !== 0) throw new Error(`curl ended with ${code}: ${trouble}`);
  return parse(Buffer.concat(chunks).toString("latin1"));
}

function parse(output: string): CurlAnswer {
  const start = /^(?:HTTP\/[\d.]+ 1\d\d[^]*?\r\n\r\n)*/.exec(output)![0].length;
  const end = output.indexOf("\r\n\r\n", start);
  const [first = "", ...lines] = output.slice(start, end).split("\r\n");
  const headers = new Headers(lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]));
  const [version = "", status] = first.split(" ");
  return { version, status: Number(status), headers, text: output.slice(end + 4) };
}
