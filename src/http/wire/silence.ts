/** How long a connection may be silent: while a request comes, and while a response goes. Each may wait for the client by itself. */
export type Silence = Readonly<{
  /** Something new is to come within the usual time. */
  restart(): void;
  /** Nothing is to come. */
  suspend(): void;
  /** The body is to go on. */
  resume(): void;
  /** So many bytes of the body came. */
  received(bytes: number): void;
  /** A refused client may go on sending for a while. */
  linger(): void;
  /** Bytes begin to wait for the client, or it took some of them; or none waits any more. */
  onOutput(isWaiting: boolean): void;
  /** From now on this request may be silent for so many seconds, with 0 for ever. */
  allow(seconds: number): void;
  /** From now on the usual time holds. */
  reset(): void;
  isOver(time: number): boolean;
}>;

/** How long a connection may be silent, or may take for a head, in milliseconds. */
const SILENCE_MS = 10_000;
/** A body gets more time for each byte that comes, up to that again: fewer than a thousand a second are too few. In milliseconds. */
const BODY_BYTE_MS = 1;
/** A client that is refused may still be sending: what it sends is dropped so long that it reads its answer (RFC 9112, 9.6). */
const LINGER_MS = 5000;

/** `now`: a clock that never goes back, in milliseconds. */
export function createSilence(now: () => number): Silence {
  let allowedMs = SILENCE_MS;
  let inputEnds = now() + SILENCE_MS;
  let outputEnds = Infinity;
  return {
    restart: () => (inputEnds = now() + SILENCE_MS),
    suspend: () => (inputEnds = Infinity),
    resume: () => (inputEnds = now() + allowedMs),
    received: (bytes) => (inputEnds = Math.min(inputEnds + bytes * BODY_BYTE_MS, now() + allowedMs)),
    linger: () => (inputEnds = now() + LINGER_MS),
    onOutput(isWaiting) {
      // An import may be silent for ever, and not its answer.
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
