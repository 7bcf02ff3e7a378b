/**
 * How long a connection may be silent, or take for a head, in milliseconds: up to a second and a half more.
 *
 * @limit connections: silence, or a slow head, small body or reader
 */
const SILENCE_MS = 10_000;
/**
 * How long a connection waits for its next request, in milliseconds. The side that closes it loses what the other end sends at
 * that moment, and few senders repeat a create by themselves. So clients and proxies should close it, not the service:
 * most keep it for 1 to 10 minutes, Envoy for an hour.
 *
 * @limit connections: time between two requests
 */
const IDLE_MS = 61 * 60_000;
/**
 * Each byte of a body adds this to its time, up to the full time again: below a thousand bytes a second the time runs
 * out. In milliseconds.
 */
const BODY_BYTE_MS = 1;
/**
 * How long a refused client may go on sending: what it sends is dropped, so that it can read its response (RFC 9112,
 * 9.6). In milliseconds.
 *
 * @limit connections: time a refused client may go on sending
 */
const LINGER_MS = 5000;

/** The idle timeouts of a connection: one for its input and one for its output. */
export type Timeouts = ReturnType<typeof createTimeouts>;

/** `now`: a monotonic clock, in milliseconds. */
export function createTimeouts(now: () => number) {
  let allowedMs = SILENCE_MS;
  let inputEnds = now() + SILENCE_MS;
  let outputEnds = Infinity;
  return {
    /** Something new is due within the usual time. */
    restart: () => void (inputEnds = now() + SILENCE_MS),
    /** Only the next request is due, some time. */
    idle: () => void (inputEnds = now() + IDLE_MS),
    /** Nothing is due. */
    suspend: () => void (inputEnds = Infinity),
    /** More of the body is due. */
    resume: () => void (inputEnds = now() + allowedMs),
    /** This many bytes of the body arrived. */
    received: (bytes: number) => void (inputEnds = Math.min(inputEnds + bytes * BODY_BYTE_MS, now() + allowedMs)),
    /** A refused client may go on sending for a while. */
    linger: () => void (inputEnds = now() + LINGER_MS),
    /** Bytes begin to wait for the client, or it read some of them; or none waits any more. */
    onOutput(isWaiting: boolean): void {
      // An import may be silent without limit, but its response may not.
      outputEnds = isWaiting ? now() + (allowedMs === Infinity ? SILENCE_MS : allowedMs) : Infinity;
    },
    /** From now on this request may be silent for this many seconds; 0 for no limit. */
    allow(seconds: number): void {
      allowedMs = seconds === 0 ? Infinity : seconds * 1000;
      if (inputEnds !== Infinity) inputEnds = now() + allowedMs;
    },
    /** From now on the usual time applies. */
    reset: () => void (allowedMs = SILENCE_MS),
    isOver: (time: number): boolean => time >= inputEnds || time >= outputEnds,
  };
}
