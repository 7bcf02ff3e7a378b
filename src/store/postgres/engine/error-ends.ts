import type { Socket } from "node:net";
import pg from "pg";

/** What pg has, and its types do not say: it reads messages from the stream once any encryption is set up. */
type Wire = pg.Connection & { attachListeners(stream: Pick<Socket, "on">): void };

/** ErrorResponse and NoticeResponse (postgresql.org/docs/current/protocol-message-formats.html). */
const ERRORS: readonly number[] = [0x45, 0x4e];

/** A letter, and the length of the rest with itself. */
const HEAD_BYTES = 5;

const END = Buffer.from([0]);

/**
 * Gives errors the end that some poolers leave out: pg-protocol 1.16 reads such an error for ever, and nothing else runs
 * any more. That of pgagroal, when its pool is full or its server away, lacks the zero byte behind the last field.
 */
export function mendErrors(connection: pg.Connection): void {
  const wire = connection as Wire;
  const attach = wire.attachListeners.bind(wire);
  wire.attachListeners = (stream) => {
    const mend = createErrorMender();
    attach({
      on(event: string, listener: (bytes: Buffer) => void) {
        return stream.on(event, event === "data" ? (bytes: Buffer) => listener(mend(bytes)) : listener);
      },
    } as Pick<Socket, "on">);
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
      else if (isEnded(all.subarray(at, end))) at = end;
      else {
        all = Buffer.concat([all.subarray(0, end), END, all.subarray(end)]);
        all.writeUInt32BE(end - at, at + 1);
        at = end + 1;
      }
    }
    held = Buffer.from(all.subarray(at));
    return all.subarray(0, at);
  };
}

/** Whether a zero byte follows the last field, which ends with one itself, or there is no field. */
function isEnded(error: Buffer): boolean {
  return error.at(-1) === 0 && (error.at(-2) === 0 || error.length === HEAD_BYTES + 1);
}
