import type { ChangesQuery, Client, FollowedChange } from "../../../src/client/client.ts";
import { abortAfter, answer, chunks, drop, stayStill } from "./faulty-server.ts";
import type { Fault, FaultyServer } from "./faulty-server.ts";
import type { Call, Troubles } from "./trouble.ts";

const busy = answer(503, { error: 50300, message: "Busy." }, { "retry-after": "0", "x-request-id": "r1" });
const gone = answer(410, { error: 41000, message: "Begin again." }, { "x-request-id": "r1" });

/** The server waits no time for the next connection. */
function stream(end: "break" | "wait", ...events: readonly string[]): Fault {
  return chunks(["retry: 0\n\n", ...events], { type: "text/event-stream", end });
}

/** Breaks once the client has an entry of it: what arrives together with the end of a connection may be lost with it. */
function broken(event: string): Fault {
  return (socket) => {
    socket.once("taken", () => socket.destroy());
    stream("wait", event)(socket);
  };
}

function changed(id: number): string {
  return `id: at-${id}\ndata: {"id":${id},"change":"deleted","at":"then"}\n\n`;
}

const bookmark = "id: later\n\n";

/** Follows the changes up to so many entries: they, and where each connection began. */
function following(entries: number, query: ChangesQuery = { after: "before" }): Call {
  return async (plants, server) => {
    const found: string[] = [];
    for await (const entry of plants.changes(query)) {
      if (found.push(toShort(entry)) === entries) break;
      server.taken();
    }
    return [found.join(" "), startsOf(server)];
  };
}

function toShort({ change, cursor }: FollowedChange): string {
  return `${change?.id ?? "-"}:${cursor}`;
}

const untilRefused: Call = (plants, { taken }) => untilThrown(plants, { after: "before" }, taken);

/** Whatever each request asks for. */
function startsOf({ requests }: FaultyServer): string {
  return requests.map((request) => /^GET \/plants\/changes(\S*) /.exec(request)?.[1] ?? request).join(" ");
}

/** Streams of changes that break, fall silent, or are left. */
export const changeTroubles: Troubles = {
  "changes whose connection breaks, behind a change, a bookmark, and within an event": [
    [broken(changed(1)), broken(bookmark), stream("break", "id: cut\ndata: {"), stream("wait", changed(2))],
    following(3, { after: "before", tag: "a b" }),
    '["1:at-1 -:later 2:at-2","?tag=a%20b&after=before ?tag=a%20b&after=at-1 ?tag=a%20b&after=later ?tag=a%20b&after=later"]',
    { requests: 4 },
  ],
  "changes behind a proxy with 502, 503 and 504, and a connection that breaks each time": [
    [broken(changed(1)), answer(502, "<html>"), busy, drop, answer(504, ""), busy, drop, busy, stream("wait", changed(2))],
    following(2),
    `["1:at-1 2:at-2","?after=before${" ?after=at-1".repeat(8)}"]`,
    { requests: 9 },
  ],
  "changes that fall silent": [
    [stream("wait", changed(1)), stream("wait", changed(2))],
    following(2),
    '["1:at-1 2:at-2","?after=before ?after=at-1"]',
    { requests: 2, options: { idleMs: 1000 } },
  ],
  "changes from now on, before the first of which the connection breaks": [
    [stream("break"), stream("wait", bookmark)],
    following(1, {}),
    '["-:later"," "]',
    { requests: 2 },
  ],
  "changes that are gone when it comes back": [
    [broken(changed(1)), gone],
    untilRefused,
    '["1:at-1","ServiceError: Begin again."]',
    { requests: 2 },
  ],
  "changes behind what is no cursor": [
    [answer(400, { error: 40006, message: "Send one as it came." })],
    untilRefused,
    '["ServiceError: Send one as it came."]',
  ],
  "changes for a token that was revoked": [
    [broken(changed(1)), answer(401, { error: 40101, message: "No." })],
    untilRefused,
    '["1:at-1","ServiceError: No."]',
    { requests: 2 },
  ],
  "changes of a service that keeps none": [[answer(501, { error: 50101, message: "Off." })], untilRefused, '["ServiceError: Off."]'],
  "changes of a port without a listener": [
    [stayStill],
    async (plants, server) => {
      await server.stop();
      return Array.fromAsync(plants.changes());
    },
    "ConnectionError repeatable with a cause",
    { requests: 0, options: { retries: 1 } },
  ],
  "a page of HTML instead of changes": [
    [answer(200, "<html>", { "content-type": "text/html" })],
    (plants) => Array.fromAsync(plants.changes()),
    "UnexpectedAnswerError 200 repeatable with a cause",
  ],
  "an abort while nothing changes": [
    [stream("wait")],
    (plants, server) => Array.fromAsync(plants.changes({ signal: abortAfter(server, 300) })),
    "Error: enough",
  ],
  "an abort while it waits for the next connection": [
    [chunks(["retry: 60000\n\n"], { type: "text/event-stream", end: "break" })],
    (plants, server) => Array.fromAsync(plants.changes({ signal: abortAfter(server, 600) })),
    "Error: enough",
  ],
  "an abort in the loop, while more is there already": [
    [stream("wait", changed(1) + changed(2))],
    (plants) => {
      const stop = new AbortController();
      return untilThrown(plants, { signal: stop.signal }, () => stop.abort(new Error("enough")));
    },
    '["1:at-1","Error: enough"]',
  ],
  "a loop over changes that is left, which ends the connection": [
    [stream("wait", changed(1) + changed(2))],
    async (plants, server) => {
      for await (const entry of plants.changes()) if (entry.change) break;
      for (let tries = 0; server.open() > 0 && tries < 200; tries += 1) await new Promise((resolve) => setTimeout(resolve, 10));
      return server.open();
    },
    "0",
  ],
  "more changes than are read, which wait at the service": [
    [pourOut],
    async (plants) => {
      poured = 0;
      for await (const _ of plants.changes()) {
        let before = -1;
        while (before < poured) {
          before = poured;
          await new Promise((resolve) => setTimeout(resolve, 300));
        }
        return poured < POURED_MAX;
      }
      return "nothing";
    },
    "true",
  ],
};

/** The entries until the loop throws, and what it throws. */
async function untilThrown(plants: Client, options: Parameters<Client["changes"]>[0], onEntry = () => {}): Promise<readonly string[]> {
  const found: string[] = [];
  try {
    for await (const entry of plants.changes(options)) {
      found.push(toShort(entry));
      onEntry();
    }
  } catch (thrown) {
    found.push(String(thrown));
  }
  return found;
}

let poured = 0;
const POURED_MAX = 100_000_000;

/** Sends changes as fast as the other side takes them. */
function pourOut(socket: Parameters<Fault>[0]): void {
  const event = changed(1).repeat(1000);
  stream("wait")(socket);
  function pour(): void {
    while (poured < POURED_MAX) {
      poured += event.length;
      if (!socket.write(`${event.length.toString(16)}\r\n${event}\r\n`)) return;
    }
  }
  socket.on("drain", pour);
  pour();
}
