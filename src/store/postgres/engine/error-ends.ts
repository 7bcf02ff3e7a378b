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
 * Gives errors the end that some poolers leave out: pg-protocol 1.16 reads such an error for ever, and nothing else runs
 * any more. That of pgagroal, when its pool is full or its server away, lacks the zero byte behind the last field. What
 * cannot be read at all ends the connection: pg throws it where nobody can catch it, which would end the process. So
 * does too much from a server that is not known yet.
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
            stream.destroy(new Error("The database sent more than 1 MB before it was found fit."));
            return;
          }
          try {
            listener(mend(bytes));
          } catch (cause) {
            stream.destroy(new Error("The database sent what nobody can read.", { cause }));
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
        const missing = missingEnd(all.subarray(at, end));
        if (missing > 0) {
          all = Buffer.concat([all.subarray(0, end), Buffer.alloc(missing), all.subarray(end)]);
          all.writeUInt32BE(end + missing - at - 1, at + 1);
        }
        at = end + missing;
      }
    }
    held = Buffer.from(all.subarray(at));
    return all.subarray(0, at);
  };
}

/** How many zero bytes are missing: one ends the last field, and one the error. */
function missingEnd(error: Buffer): number {
  if (error.at(-1) !== 0) return 2;
  return error.at(-2) === 0 || error.length === HEAD_BYTES + 1 ? 0 : 1;
}
