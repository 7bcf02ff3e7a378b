// Sends requests that proxies and services are known to misread, in a separate process:
//   bun test/support/attack/odd.ts URL TOKEN
// TOKEN may only read. Writes "open", then now and then how often each status came, as JSON lines.
import { CORPUS } from "../../corpus.ts";
import { closeOf, openSocket, toRequest } from "../raw-http.ts";

const [url = "", token = ""] = process.argv.slice(2);
const SENDERS = 8;
const ANSWER_MS_MAX = 100;
const TELL_MS = 100;
/** The victims need a share of the machine too. */
const PAUSE_MS = 10;
/** After how long the next piece of a request comes: late, and later. */
const WAITS_MS = [2, 50];

/** An export that is not read, and requests that break off. */
const BROKEN_OFF = [
  ["POST /plants HTT"],
  [`${toRequest("POST /plants", { fields: ["Content-Length: 50"] })}{`],
  [toRequest("GET /plants/export", { token })],
];
/** With the token, and with none that is valid. All of them are about plant 1. */
const ODD = [token, "none"].flatMap((login) => CORPUS.map((entry) => ({ ...entry, sent: entry.packets('{"id":1,"name":"odd"}', login) })));
/** Those that proxies pass on and services misread: every other one is of these. */
const HARMFUL = ODD.filter(({ comes, sent }) => comes === "unknown_method" || sent.length > 1);
const odds = [...ODD.flatMap(({ sent }, at) => [sent, HARMFUL[at % HARMFUL.length]!.sent]), ...BROKEN_OFF];

const statuses: Record<string, number> = {};
let sent = 0;

/** Sends one on its own connection, waits briefly for a response, and disconnects. */
async function send(packets: readonly string[], waitMs: number): Promise<void> {
  const socket = await openSocket(url);
  const closed = closeOf(socket);
  const timer = setTimeout(() => socket.destroy(), ANSWER_MS_MAX);
  let isSent = false;
  socket.on("data", (bytes: Buffer) => {
    const status = /^HTTP\/1\.\d (\d{3})/.exec(bytes.toString("latin1"))?.[1];
    if (status !== undefined) statuses[status] = (statuses[status] ?? 0) + 1;
    if (isSent) socket.end();
  });
  for (const [at, packet] of packets.entries()) {
    if (at > 0) await Bun.sleep(waitMs);
    socket.write(packet, "latin1");
  }
  isSent = true;
  await closed;
  clearTimeout(timer);
}

/** Each begins at a different place, so that all kinds are on their way at any time. */
async function sendOn(sender: number): Promise<void> {
  for (let at = Math.trunc((sender * odds.length) / SENDERS); ; at += 1) {
    sent += 1;
    await send(odds[at % odds.length]!, WAITS_MS[sender % WAITS_MS.length]!);
    await Bun.sleep(PAUSE_MS);
  }
}

for (let sender = 0; sender < SENDERS; sender += 1) void sendOn(sender);
console.log("open");
setInterval(() => console.log(JSON.stringify({ sent, isWhole: sent >= odds.length, statuses })), TELL_MS);
