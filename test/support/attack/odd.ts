// Sends requests that proxies and services are known to misread, in a separate process:
//   bun test/support/attack/odd.ts URL TOKEN
// TOKEN may only read. Writes "open", then now and then how often each status came, as JSON lines.
import { closeOf, openSocket } from "../raw-http.ts";
import { makeOdd } from "./oddities.ts";
import type { Odd } from "./oddities.ts";

const [url = "", token = ""] = process.argv.slice(2);
const SENDERS = 8;
const ANSWER_MS_MAX = 100;
const TELL_MS = 100;
/** The victims need a share of the machine too. */
const PAUSE_MS = 10;

const odds = ["", `Authorization: Bearer ${token}\r\n`].flatMap(makeOdd);
const statuses: Record<string, number> = {};
let sent = 0;

/** Sends one on its own connection, waits briefly for a response, and disconnects. */
async function send(odd: Odd): Promise<void> {
  const socket = await openSocket(url);
  const closed = closeOf(socket);
  const timer = setTimeout(() => socket.destroy(), ANSWER_MS_MAX);
  let isSent = false;
  socket.on("data", (bytes: Buffer) => {
    const status = /^HTTP\/1\.\d (\d{3})/.exec(bytes.toString("latin1"))?.[1];
    if (status !== undefined) statuses[status] = (statuses[status] ?? 0) + 1;
    if (isSent) socket.end();
  });
  void writeAll(odd, (text) => socket.write(text, "latin1")).then(() => (isSent = true));
  await closed;
  clearTimeout(timer);
}

async function writeAll(odd: Odd, write: (text: string) => void): Promise<void> {
  for (const { text, afterMs } of odd) {
    if (afterMs !== undefined) await Bun.sleep(afterMs);
    write(text);
  }
}

/** Each begins at a different place, so that all kinds are on their way at any time. */
async function sendOn(sender: number): Promise<void> {
  for (let at = Math.trunc((sender * odds.length) / SENDERS); ; at += 1) {
    sent += 1;
    await send(odds[at % odds.length]!);
    await Bun.sleep(PAUSE_MS);
  }
}

for (let sender = 0; sender < SENDERS; sender += 1) void sendOn(sender);
console.log("open");
setInterval(() => console.log(JSON.stringify({ sent, statuses })), TELL_MS);
