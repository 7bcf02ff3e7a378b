import type { Socket } from "node:net";
import type { Schemas } from "../../contract/generated/schemas.ts";
import { closeOf, openSocket } from "./raw-http.ts";
import { until } from "./until.ts";

/** What stands between two empty lines of an event stream. */
type StreamEvent = Readonly<{ id?: string; retry?: number; change?: Schemas["Change"] }>;

/** A stream of changes on a socket of its own, read as it comes. */
export type ChangeStream = Readonly<{
  socket: Socket;
  /** The head of the response, once it is there. */
  head(): string;
  /** The body as it came, without the frames of its chunks. */
  text(): string;
  events(): readonly StreamEvent[];
  /** As `id change`: "1 created". */
  changes(): readonly string[];
  /** Resolves once so many changes came. */
  waitFor(changes: number): Promise<void>;
  cursor(): string;
  /** Resolves when the connection is closed, or the body has ended in order. */
  over: Promise<void>;
  /** Whether the body ended in order. */
  isWhole(): boolean;
}>;

type StreamOptions = Readonly<{ token: string; query?: string; fields?: readonly string[]; version?: "1.0" | "1.1" }>;

/** Resolves once the first event is there, or the refusal. */
export async function openStream(url: string, { token, query = "", fields = [], version = "1.1" }: StreamOptions): Promise<ChangeStream> {
  const socket = await openSocket(url);
  let received = "";
  socket.on("data", (bytes: Buffer) => (received += bytes.toString("latin1")));
  const lines = ["Host: plants", `Authorization: Bearer ${token}`, "Accept: text/event-stream", ...fields];
  socket.write(`GET /plants/changes${query} HTTP/${version}\r\n${lines.join("\r\n")}\r\n\r\n`);
  const head = () => received.slice(0, Math.max(0, received.indexOf("\r\n\r\n")));
  const rest = () => received.slice(head().length + 4);
  const isWhole = () => head() !== "" && /(^|\r\n)0\r\n\r\n$/.test(rest());
  const text = () => (/transfer-encoding: chunked/i.test(head()) ? dechunk(rest()) : Buffer.from(rest(), "latin1").toString());
  const events = () => parseEvents(text());
  const changes = () => events().flatMap(({ change }) => (change ? `${change.id} ${change.change}` : []));
  const over = Promise.race([closeOf(socket), until("The stream is over", isWhole)]);
  over.catch(() => {});
  await until("The stream begins", () => /\n\n|\r\n\r\n\{/.test(received) || socket.closed);
  const waitFor = (some: number) => until(`${some} changes of a stream, that has ${changes().join()}`, () => changes().length >= some);
  const cursor = () => events().findLast(({ id }) => id !== undefined)?.id ?? "";
  return { socket, head, text, events, changes, waitFor, cursor, over, isWhole };
}

function dechunk(text: string): string {
  let body = "";
  for (let at = 0; ;) {
    const end = text.indexOf("\r\n", at);
    const length = end < 0 ? 0 : Number.parseInt(text.slice(at, end), 16);
    if (length === 0) return Buffer.from(body, "latin1").toString();
    body += text.slice(end + 2, end + 2 + length);
    at = end + 4 + length;
  }
}

/** Only whole ones. */
function parseEvents(text: string): StreamEvent[] {
  return text
    .split("\n\n")
    .slice(0, -1)
    .map((lines) => {
      const fields = new Map(lines.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]));
      const [id, retry, data] = [fields.get("id"), fields.get("retry"), fields.get("data")];
      return {
        ...(id === undefined ? {} : { id }),
        ...(retry === undefined ? {} : { retry: Number(retry) }),
        ...(data === undefined ? {} : { change: JSON.parse(data) as Schemas["Change"] }),
      };
    });
}
