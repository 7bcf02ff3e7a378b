import type { Socket } from "node:net";

/**
 * A message of the PostgreSQL protocol: https://www.postgresql.org/docs/current/protocol-message-formats.html. `type`
 * is its letter, or `startup`, `cancel` or `encryption` for messages without one.
 */
export type Message = Readonly<{ type: string; bytes: Buffer }>;

const UNTYPED: ReadonlyMap<number, string> = new Map([
  [80_877_102, "cancel"],
  [80_877_103, "encryption"], // TLS
  [80_877_104, "encryption"], // GSSAPI
]);

/**
 * Splits what one side sends into messages. A client's first messages have no letter. Ends with the connection and
 * never rejects.
 */
export async function* readMessages(socket: Socket, side: "client" | "server"): AsyncGenerator<Message> {
  let isTyped = side === "server";
  let rest = Buffer.alloc(0);
  try {
    for await (const chunk of socket) {
      rest = Buffer.concat([rest, chunk as Buffer]);
      for (let bytes = cut(rest, isTyped); bytes; bytes = cut(rest, isTyped)) {
        rest = rest.subarray(bytes.length);
        const type = isTyped ? String.fromCharCode(bytes[0]!) : (UNTYPED.get(bytes.readInt32BE(4)) ?? "startup");
        isTyped ||= type === "startup";
        yield { type, bytes };
      }
    }
  } catch {
    // A broken connection has ended too.
  }
}

/** The first complete message; `undefined` while there is none. */
function cut(bytes: Buffer, isTyped: boolean): Buffer | undefined {
  const at = isTyped ? 1 : 0;
  if (bytes.length < at + 4) return undefined;
  const length = at + bytes.readInt32BE(at);
  return bytes.length < length ? undefined : bytes.subarray(0, length);
}

/** The first two strings of a message, each ended by a zero byte. Only Parse and Bind have the second. */
export function stringsOf({ bytes }: Message): readonly [string, string] {
  const end = bytes.indexOf(0, 5);
  return [bytes.toString("utf8", 5, end), bytes.toString("utf8", end + 1, bytes.indexOf(0, end + 1))];
}

/** ErrorResponse, as the server writes it. `routine`: of its source. */
export function errorResponse(severity: "ERROR" | "FATAL", sqlstate: string, { isEndless = false, routine = "elog" } = {}): Buffer {
  const fields = [`S${severity}`, `V${severity}`, `C${sqlstate}`, "Minjected by the proxy of the tests", `R${routine}`];
  return write("E", `${fields.join("\0")}\0${isEndless ? "" : "\0"}`);
}

/**
 * Makes the server itself refuse a statement, with an Execute of an unknown portal: the transaction fails, and
 * responses stay in step.
 */
export const EXECUTE_NOTHING = write("E", "no one has this portal\0\0\0\0\0");
export const SYNC = write("S", "");

/** A way to log in that does not exist. */
export const UNREADABLE = write("R", "\0\0\0c");

function write(type: string, body: string): Buffer {
  const bytes = Buffer.from(`${type}\0\0\0\0${body}`);
  bytes.writeInt32BE(bytes.length - 1, 1);
  return bytes;
}
