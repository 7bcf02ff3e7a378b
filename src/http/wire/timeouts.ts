/** The idle timeouts of a connection: one for its input and one for its output. */
export type Timeouts = Readonly<{
  /** Something new is due within the usual time. */
  restart(): void;
  /** Only the next request is due, some time. */
  idle(): void;
  /** Nothing is due. */
  suspend(): void;
  /** More of the body is due. */
  resume(): void;
  /** This many bytes of the body arrived. */
  received(bytes: number): void;
  /** A refused client may go on sending for a while. */
  linger(): void;
  /** Bytes begin to wait for the client, or it read some of them; or none waits any more. */
  onOutput(isWaiting: boolean): void;
  /** From now on this request may be silent for this many seconds; 0 for no limit. */
  allow(seconds: number): void;
  /** From now on the usual time applies. */
  reset(): void;
  isOver(time: number): boolean;
}>;

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

/** `now`: a monotonic clock, in milliseconds. */
export function createTimeouts(now: () => number): Timeouts {
  let allowedMs = SILENCE_MS;
  let inputEnds = now() + SILENCE_MS;
  let outputEnds = Infinity;
  return {
    restart: () => (inputEnds = now() + SILENCE_MS),
    idle: () => (inputEnds = now() + IDLE_MS),
    suspend: () => (inputEnds = Infinity),
    resume: () => (inputEnds = now() + allowedMs),
    received: (bytes) => (inputEnds = Math.min(inputEnds + bytes * BODY_BYTE_MS, now() + allowedMs)),
    linger: () => (inputEnds = now() + LINGER_MS),
    onOutput(isWaiting) {
      // An import may be silent without limit, but its response may not.
      outputEnds = isWaiting ? now() + (allowedMs === Infinity ? SILENCE_MS : allowedMs) : Infinity;
    },
    allow(seconds) {
      allowedMs = seconds === 0 ? Infinity : seconds * 1000;
      if (inputEnds !== Infinity) inputEnds = now() + allowedMs;
    },
    reset: () => (allowedMs = SILENCE_MS),
    isOver: (time) => time >= inputEnds || time >= outputEnds,
  };
}
