// Asks for a plant with tokens that were never issued, one after the other, in a separate process:
//   bun test/support/attack/strangers.ts URL PER_SECOND
// Open loop: each request has its time, whether or not those before it are answered. Writes the results so far as JSON
// lines.
import type { Socket } from "node:net";
import { randomBytes } from "node:crypto";
import { createToken } from "../../../src/auth/secret.ts";
import { openSocket } from "../raw-http.ts";

const [url = "", perSecond = "0"] = process.argv.slice(2);
const CONNECTIONS = 256;
const TELL_MS = 50;

const statuses: Record<string, number> = {};
const free: Socket[] = [];
for (let at = 0; at < CONNECTIONS; at += 1) {
  const socket = await openSocket(url);
  free.push(socket);
  socket.on("data", (bytes: Buffer) => {
    const status = bytes.toString("latin1", 9, 12);
    statuses[status] = (statuses[status] ?? 0) + 1;
    free.push(socket);
  });
}
console.log("open");

const start = performance.now();
let due = 0;
setInterval(() => console.log(JSON.stringify({ statuses })), TELL_MS);
setInterval(() => {
  const until = ((performance.now() - start) / 1000) * Number(perSecond);
  for (; due < until; due += 1) {
    const socket = free.pop();
    if (socket) socket.write(`GET /plants/1 HTTP/1.1\r\nHost: plants\r\nAuthorization: Bearer ${createToken(randomBytes)}\r\n\r\n`);
  }
}, 1);
