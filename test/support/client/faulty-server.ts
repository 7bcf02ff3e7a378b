import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";

/** What to do with a connection once the first bytes of a request are here. */
export type Fault = (socket: Socket) => void;

/** A server on the loopback with one fault for each connection, in turn; the last fault applies to all that follow. */
export type FaultyServer = Readonly<{
  url: string;
  /** The received part of each request, as text. There is one request a connection. */
  requests: readonly string[];
  /** Says that the client has taken what came: a fault that waits for it hears `taken` on its connection. */
  taken: () => void;
  /** How many of them are still connected. */
  open: () => number;
  stop: () => Promise<void>;
}>;

export async function startFaulty(...faults: readonly Fault[]): Promise<FaultyServer> {
  const requests: string[] = [];
  let openRequests = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    // A connection that the client breaks off is what some of these tests are about.
    socket.on("error", () => undefined);
    // Node opens a connection in advance when it has lost one: only those that carry data count.
    socket.once("data", (first) => {
      const at = requests.push(String(first)) - 1;
      socket.on("data", (bytes) => (requests[at] += String(bytes)));
      socket.on("close", () => (openRequests -= 1));
      openRequests += 1;
      (faults[at] ?? faults.at(-1)!)(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    taken: () => sockets.forEach((socket) => socket.emit("taken")),
    open: () => openRequests,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** A whole response. A body that is not text is sent as JSON. */
export function answer(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Fault {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const all = { "content-length": String(Buffer.byteLength(text)), connection: "close", etag: '"x"', ...headers };
  return (socket) => socket.end(`${head(status, all)}${text}`);
}

/** The head of a response and these chunks of its body, but not its end: the connection breaks, or waits forever. */
export function chunks(texts: readonly string[], { type, end }: { type: string; end: "break" | "wait" }): Fault {
  const body = texts.map((text) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`).join("");
  return (socket) => {
    socket.write(`${head(200, { "content-type": type, "transfer-encoding": "chunked" })}${body}`);
    // Later, because what arrives together with the end of a connection may be lost with it.
    if (end === "break") setTimeout(() => socket.destroy(), 100);
  };
}

/** Aborts so long after the server has had its first request. */
export function abortAfter({ requests }: FaultyServer, waitMs: number): AbortSignal {
  const controller = new AbortController();
  const timer = setInterval(() => {
    if (requests.length === 0) return;
    clearInterval(timer);
    setTimeout(() => controller.abort(new Error("enough")), waitMs);
  }, 10);
  return controller.signal;
}

export function drop(socket: Socket): void {
  socket.destroy();
}

export function stayStill(): void {}

/** Reads no more from the connection: what the client sends from now on fills the system's buffers. */
export function readNothing(socket: Socket): void {
  socket.pause();
}

function head(status: number, headers: Readonly<Record<string, string>>): string {
  return `HTTP/1.1 ${status} Text\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("")}\r\n`;
}
