import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { waitMsMax } from "./until.ts";

// HTTP as bytes, for tests whose faults `fetch` would repair: a socket, packets until the service closes it, and
// requests one at a time.

type RequestParts = Readonly<{ token?: string; fields?: readonly string[]; body?: string }>;

/** A request with a token, fields, and a body with its length, a character for each byte. */
export function toRequest(line: string, { token, fields = [], body }: RequestParts = {}): string {
  const login = token === undefined ? [] : [`Authorization: Bearer ${token}`];
  const length = body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  return [`${line} HTTP/1.1`, "Host: plants", ...login, ...length, ...fields, "", body ?? ""].join("\r\n");
}

/** A connection. Rejects if nothing listens. If it breaks later, it ends. */
export async function openSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await once(socket, "connect");
  // A service that refuses a request before its end resets the connection; its response before that counts.
  socket.on("error", () => {});
  return socket;
}

/** Resolves once the connection has ended, even by a reset: `once` would reject then. */
export function closeOf(socket: Socket): Promise<void> {
  return socket.closed ? Promise.resolve() : new Promise((resolve) => void socket.once("close", () => resolve()));
}

/** Everything from now on until the service closes the connection, a character for each byte. */
export async function receiveAll(socket: Socket): Promise<string> {
  let text = "";
  socket.on("data", (bytes: Buffer) => (text += bytes.toString("latin1")));
  socket.resume();
  await closeOf(socket);
  return text;
}

/**
 * A create that is under way: the service has read its head and waits for its body, which this sends. Resolves with all
 * that is answered until the service closes the connection.
 */
export async function beginCreate(url: string, token: string): Promise<(plant: string) => Promise<string>> {
  const socket = await openSocket(url);
  socket.write(toRequest("POST /plants", { token, fields: ["Transfer-Encoding: chunked", "Expect: 100-continue"] }));
  await once(socket, "data");
  return (plant) => {
    socket.write(`${Buffer.byteLength(plant).toString(16)}\r\n${plant}\r\n0\r\n\r\n`);
    return receiveAll(socket);
  };
}

/** What came back over a socket, a character for each byte, and whether the service closed it. */
type Received = Readonly<{ text: string; isClosed: boolean }>;

type RawOptions = Readonly<{
  /** How long the service has to close the socket. */
  waitMs?: number;
}>;

/** How long the service has to answer a packet before the next is sent. */
const PAUSE_MS_MAX = 250;

/**
 * Sends packets unchanged over a new socket, each when the one before is answered or times out, until the service
 * closes it.
 */
export async function sendRaw(url: string, packets: readonly string[], { waitMs = waitMsMax() }: RawOptions = {}): Promise<Received> {
  const socket = await openSocket(url);
  const closed = closeOf(socket);
  let text = "";
  let isClosed = false;
  socket.on("data", (bytes: Buffer) => (text += bytes.toString("latin1")));
  void closed.then(() => (isClosed = true));
  for (const [at, packet] of packets.entries()) {
    const deadline = at === 0 ? 0 : performance.now() + PAUSE_MS_MAX;
    while (!isClosed && answersIn(text) < at && performance.now() < deadline) await Bun.sleep(1);
    if (isClosed) break;
    socket.write(Buffer.from(packet, "latin1"));
  }
  await Promise.race([closed, Bun.sleep(waitMs)]);
  socket.destroy();
  return { text, isClosed };
}

/** The statuses of the responses, in order. */
export function statusesIn(text: string): number[] {
  return Array.from(text.matchAll(/HTTP\/1\.1 (\d{3})/g), ([, status]) => Number(status));
}

/** A status below 200 announces a response, and is not one. */
function answersIn(text: string): number {
  return statusesIn(text).filter((status) => status >= 200).length;
}

/** A response as received. */
export type WireAnswer = Readonly<{ status: number; headers: Headers; body: Buffer }>;

/** "cut" if the connection was closed without a whole response, "silent" if none came in time. */
type WireOutcome = WireAnswer | "cut" | "silent";

/**
 * One connection that sends requests unchanged, one at a time: `fetch` would repair the faults of a test, and takes
 * three times as long.
 */
export type Wire = Readonly<{
  /** Opens another connection if this one was closed. A HEAD must be declared, because its response has no body. */
  send(request: Uint8Array, options?: Readonly<{ isHead?: boolean }>): Promise<WireOutcome>;
  /** Whether the connection accepts another request: the service has neither closed it nor asked to. */
  isOpen(): boolean;
  close(): void;
}>;

type Waiting = Readonly<{ isHead: boolean; resolve: (outcome: WireOutcome) => void; timer: ReturnType<typeof setTimeout> }>;

const HEAD_END = "\r\n\r\n";

/** `onReset` is called when the connection is reset or refused, even without a request. */
export function openWire(url: string, onReset: (reason: Error) => void = () => {}): Wire {
  const { hostname, port } = new URL(url);
  let socket: Socket | undefined;
  let received: Buffer = Buffer.alloc(0);
  let waiting: Waiting | undefined;

  function settle(outcome: WireOutcome): void {
    if (!waiting) return;
    const { resolve, timer } = waiting;
    clearTimeout(timer);
    waiting = undefined;
    resolve(outcome);
  }

  function drop(outcome: "cut" | "silent"): void {
    socket?.destroy();
    socket = undefined;
    received = Buffer.alloc(0);
    settle(outcome);
  }

  function take(): void {
    const found = waiting && parseAnswer(received, waiting.isHead);
    if (!found) return;
    const { answer, size } = found;
    // The rest belongs to no request: such a connection cannot be used again.
    const isLast = size < received.length || answer.headers.get("connection") === "close";
    received = Buffer.alloc(0);
    if (isLast) {
      socket?.destroy();
      socket = undefined;
    }
    settle(answer);
  }

  function open(): Socket {
    const opened = connect({ host: hostname, port: Number(port), noDelay: true });
    opened.on("data", (chunk: Buffer) => {
      if (opened !== socket) return;
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      take();
    });
    opened.on("error", (reason) => {
      if (opened === socket) onReset(reason);
    });
    for (const end of ["end", "close"])
      opened.on(end, () => {
        if (opened === socket) drop("cut");
      });
    return opened;
  }

  return {
    send(request, { isHead = false } = {}) {
      socket ??= open();
      const { promise, resolve } = Promise.withResolvers<WireOutcome>();
      waiting = { isHead, resolve, timer: setTimeout(() => drop("silent"), waitMsMax()) };
      socket.write(request);
      return promise;
    },
    isOpen: () => socket !== undefined,
    close: () => drop("cut"),
  };
}

/** The first whole response in these bytes and its length; undefined while more must come. */
function parseAnswer(bytes: Buffer, isHead: boolean): { answer: WireAnswer; size: number } | undefined {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd === -1) return undefined;
  const [first = "", ...lines] = bytes.toString("latin1", 0, headEnd).split("\r\n");
  const status = Number(first.split(" ")[1]);
  const bodyStart = headEnd + HEAD_END.length;
  if (status === 100) return parseAnswer(bytes.subarray(bodyStart), isHead);
  const headers = new Headers(lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]));
  const found =
    isHead || status === 204 || status === 304 ? { body: Buffer.alloc(0), size: bodyStart } : parseBody(bytes, bodyStart, headers);
  return found && { answer: { status, headers, body: found.body }, size: found.size };
}

function parseBody(bytes: Buffer, start: number, headers: Headers): { body: Buffer; size: number } | undefined {
  if (headers.get("transfer-encoding") === "chunked") return parseChunks(bytes, start);
  const size = start + Number(headers.get("content-length") ?? 0);
  return bytes.length < size ? undefined : { body: bytes.subarray(start, size), size };
}

function parseChunks(bytes: Buffer, start: number): { body: Buffer; size: number } | undefined {
  const chunks: Buffer[] = [];
  for (let at = start; ;) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd === -1) return undefined;
    const size = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    const end = lineEnd + 2 + size + 2;
    if (bytes.length < end) return undefined;
    if (size === 0) return { body: Buffer.concat(chunks), size: end };
    chunks.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = end;
  }
}
