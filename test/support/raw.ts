import { connect } from "node:net";
import { once } from "node:events";

/** What came back over a socket, a character for each byte, and whether the service closed it. */
type Received = Readonly<{ text: string; isClosed: boolean }>;

type RawOptions = Readonly<{
  /** How long the service has to close the socket. */
  waitMs?: number;
}>;

const WAIT_MS = 20_000;
/** How long the service has to answer a packet before the next is sent. */
const PAUSE_MS_MAX = 250;

/** Sends packets as they stand over a socket of its own, each when the one before is answered or that takes long, until the service closes it. */
export async function sendRaw(url: string, packets: readonly string[], { waitMs = WAIT_MS }: RawOptions = {}): Promise<Received> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const closed = once(socket, "close");
  let text = "";
  let isClosed = false;
  socket.on("data", (bytes) => (text += bytes.toString("latin1")));
  // A service that refuses what is still being sent resets the connection; what it answered before counts.
  socket.on("error", () => {});
  void closed.then(() => (isClosed = true));
  await Promise.race([once(socket, "connect"), closed]);
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

/** The statuses of the answers, in their order. */
export function statusesIn(text: string): number[] {
  return Array.from(text.matchAll(/HTTP\/1\.1 (\d{3})/g), ([, status]) => Number(status));
}

/** A status below 200 announces an answer and is none. */
function answersIn(text: string): number {
  return statusesIn(text).filter((status) => status >= 200).length;
}
