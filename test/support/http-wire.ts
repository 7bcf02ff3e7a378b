import { connect } from "node:net";
import type { Socket } from "node:net";

/** An answer as it came. */
export type WireAnswer = Readonly<{ status: number; headers: Headers; body: Buffer }>;

/** "cut" when the connection was closed without a whole answer, "silent" when none came in time. */
type WireOutcome = WireAnswer | "cut" | "silent";

/** One connection over which requests go as they stand, one at a time: `fetch` would mend what a test breaks, and takes three times as long. */
export type Wire = Readonly<{
  /** Opens the connection anew when it was closed. A HEAD must be said to be one, as its answer has no body. */
  send(request: Uint8Array, options?: Readonly<{ isHead?: boolean }>): Promise<WireOutcome>;
  close(): void;
}>;

type Waiting = Readonly<{ isHead: boolean; resolve: (outcome: WireOutcome) => void; timer: ReturnType<typeof setTimeout> }>;

const ANSWER_MS_MAX = 20_000;
const HEAD_END = "\r\n\r\n";

export function openWire(url: string): Wire {
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
    // What is left belongs to nobody: such a connection cannot be used again.
    const isLast = size < received.length || answer.headers.get("connection") === "close";
    received = Buffer.alloc(0);
    if (isLast) {
      socket?.destroy();
      socket = undefined;
    }
    settle(answer);
  }

  function open(): Socket {
    const opened = connect(Number(port), hostname);
    opened.setNoDelay(true);
    opened.on("data", (chunk: Buffer) => {
      if (opened !== socket) return;
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      take();
    });
    opened.on("error", () => {});
    opened.on("close", () => {
      if (opened === socket) drop("cut");
    });
    return opened;
  }

  return {
    send(request, { isHead = false } = {}) {
      socket ??= open();
      const { promise, resolve } = Promise.withResolvers<WireOutcome>();
      waiting = { isHead, resolve, timer: setTimeout(() => drop("silent"), ANSWER_MS_MAX) };
      socket.write(request);
      return promise;
    },
    close: () => drop("cut"),
  };
}

/** The first whole answer in these bytes and how many of them are its own; undefined while more must come. */
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
