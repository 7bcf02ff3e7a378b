import type { Socket } from "node:net";
import pg from "pg";

/** What pg has, and its types do not say: it reads messages from the stream once any encryption is set up. */
type Wire = pg.Connection & { attachListeners(stream: Pick<Socket, "on" | "destroy">): void };

/** ErrorResponse and NoticeResponse (postgresql.org/docs/current/protocol-message-formats.html). */
const ERRORS: readonly number[] = [0x45, 0x4e];

/** A letter, and the length of the rest with itself. */
const HEAD_BYTES = 5;

/** What a server may send until it has been found fit: what has no end would fill the memory until its time is up. */
const UNKNOWN_BYTES_MAX = 1_000_000;

/**
 * Gives errors the end that what is in front of a server may leave out: pg-protocol 1.16 reads such an error without end,
 * and nothing else runs any more. What cannot be read at all ends the connection: pg throws it where no one can catch it,
 * which would end the process. So does too much from a server that is not known yet. Gives them their severity in English
 * too: pg reads only that in the language of the server.
 */
export function mendErrors(connection: pg.Connection, isKnown = () => false): void {
  const wire = connection as Wire;
  const attach = wire.attachListeners.bind(wire);
  wire.attachListeners = (stream) => {
    const mend = createErrorMender();
    let total = 0;
    attach({
      on(event: string, listener: (bytes: Buffer) => void) {
        function read(bytes: Buffer): void {
          total += bytes.length;
          if (total > UNKNOWN_BYTES_MAX && !isKnown()) {
            stream.destroy(new Error("The database sent more than 1 MB before it was checked."));
            return;
          }
          try {
            listener(mend(bytes));
          } catch (cause) {
            stream.destroy(new Error("The database sent a message that cannot be read.", { cause }));
          }
        }
        return stream.on(event, event === "data" ? read : listener);
      },
    } as Socket);
  };
}

/** Takes what arrives, and returns what can be read of it: errors only whole, and with an end. */
export function createErrorMender(): (bytes: Buffer) => Buffer {
  let held = Buffer.alloc(0);
  /** How many bytes are still to come of a message that has begun. */
  let rest = 0;
  return (bytes) => {
    let all = held.length > 0 ? Buffer.concat([held, bytes]) : bytes;
    let at = Math.min(rest, all.length);
    rest -= at;
    while (rest === 0 && all.length - at >= HEAD_BYTES) {
      const end = at + 1 + all.readUInt32BE(at + 1);
      if (!ERRORS.includes(all[at]!)) {
        rest = Math.max(0, end - all.length);
        at = end - rest;
      } else if (end > all.length) break;
      else {
        const whole = mendError(all.subarray(at, end));
        all = Buffer.concat([all.subarray(0, at), whole, all.subarray(end)]);
        at += whole.length;
      }
    }
    held = Buffer.from(all.subarray(at));
    return all.subarray(0, at);
  };
}

/** Ends each field with a zero byte, and the error with one more. The severity becomes that which is never translated (V). */
function mendError(error: Buffer): Buffer {
  const fields = error
    .toString("latin1", HEAD_BYTES)
    .split("\0")
    .filter((field) => field !== "");
  const severity = fields.find((field) => field.startsWith("V"))?.slice(1);
  const mended = fields.map((field) => `${field.startsWith("S") && severity !== undefined ? `S${severity}` : field}\0`);
  const whole = Buffer.concat([error.subarray(0, HEAD_BYTES), Buffer.from(`${mended.join("")}\0`, "latin1")]);
  whole.writeUInt32BE(whole.length - 1, 1);
  return whole;
}
