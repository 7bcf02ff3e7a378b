// Opens slow sockets, in a separate process that does not slow down the measurement:
//   bun test/support/attack/attacker.ts URL TOKEN SOCKETS
// Writes "open" when all are, then now and then after how many milliseconds the service closed them, by their kinds.
import type { Socket } from "node:net";
import { openSocket } from "../raw-http.ts";

const [url = "", token = "", sockets = "0"] = process.argv.slice(2);
const DRIP_MS = 1500;
const TELL_MS = 100;
const HEAD = `Host: plants\r\nAuthorization: Bearer ${token}\r\n`;

/** What each kind of socket sends at once, and then again and again. */
const KINDS: Readonly<Record<string, Readonly<{ first: string; drip?: string; isReset?: boolean }>>> = {
  silent: { first: "" },
  "half a head": { first: "GET /livez HTTP/1.1\r\nHos" },
  "dripping head": { first: "GET /livez HTTP/1.1\r\nHost: plants\r\nX: ", drip: "a" },
  "dripping headers": { first: "GET /livez HTTP/1.1\r\nHost: plants\r\n", drip: "X: a\r\n" },
  "half a body": { first: `POST /plants HTTP/1.1\r\n${HEAD}Content-Length: 1000\r\n\r\n{"id":` },
  "dripping body": { first: `POST /plants HTTP/1.1\r\n${HEAD}Content-Length: 1000\r\n\r\n`, drip: " " },
  "dripping chunks": { first: `POST /plants HTTP/1.1\r\n${HEAD}Transfer-Encoding: chunked\r\n\r\n`, drip: "1\r\n \r\n" },
  "dripping body without a token": { first: "POST /plants HTTP/1.1\r\nHost: plants\r\nContent-Length: 1000\r\n\r\n", drip: " " },
  "half a second head": { first: `GET /plants/1 HTTP/1.1\r\n${HEAD}\r\nGET /livez HTTP/1.1\r\nHos` },
  "reset in a body": { first: `POST /plants HTTP/1.1\r\n${HEAD}Content-Length: 1000\r\n\r\n{"id":`, isReset: true },
};

const closed: Record<string, number[]> = {};
const names = Object.keys(KINDS);
const opened = Array.from({ length: Number(sockets) }, (_, at) => open(names[at % names.length]!));
await Promise.all(opened);
console.log("open");
setInterval(() => console.log(JSON.stringify(closed)), TELL_MS);

async function open(name: string): Promise<void> {
  const { first, drip, isReset = false } = KINDS[name]!;
  const socket = await openSocket(url);
  const start = performance.now();
  socket.on("data", () => {});
  socket.on("close", () => (closed[name] ??= []).push(Math.round(performance.now() - start)));
  socket.write(first);
  if (isReset) setTimeout(() => socket.resetAndDestroy(), DRIP_MS);
  if (drip !== undefined) dripOn(socket, drip);
}

function dripOn(socket: Socket, drip: string): void {
  const timer = setInterval(() => socket.write(drip), DRIP_MS);
  socket.on("close", () => clearInterval(timer));
}
