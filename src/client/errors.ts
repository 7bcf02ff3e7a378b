import type { ERROR_NUMBERS } from "./error-numbers.ts";

export type ErrorNumber = (typeof ERROR_NUMBERS)[keyof typeof ERROR_NUMBERS];

type Details = Readonly<{
  message: string;
  isRepeatable: boolean;
  cause?: unknown;
}>;

/**
 * Every failed call throws one of the four classes below. Only these are thrown as they are: the reason of your
 * `signal`, whatever your import source threw, and TypeErrors and RangeErrors for invalid arguments.
 */
export class PlantStoreClientError extends Error {
  /** Whether the call is safe to repeat, whatever this one did. The repeat may fail too. */
  readonly isRepeatable: boolean;
  override readonly name: string = "PlantStoreClientError";

  constructor({ message, isRepeatable, cause }: Details) {
    super(message, cause === undefined ? undefined : { cause });
    this.isRepeatable = isRepeatable;
  }
}

/** The service responded with one of its errors. `message` is the service's own: what is wrong, and what to do. */
export class ServiceError extends PlantStoreClientError {
  override readonly name = "ServiceError";
  /** The HTTP status. */
  readonly status: number;
  /** One of `ERROR_NUMBERS`. A service newer than this client may send others. */
  readonly error: ErrorNumber;
  /** Identifies the request in the service's log. */
  readonly requestId: string | undefined;
  /** How long the service asks you to wait before the next try. */
  readonly retryAfterMs: number | undefined;

  constructor(details: Details & { status: number; error: number; requestId: string | undefined; retryAfterMs: number | undefined }) {
    super(details);
    this.status = details.status;
    this.error = details.error as ErrorNumber;
    this.requestId = details.requestId;
    this.retryAfterMs = details.retryAfterMs;
  }
}

/**
 * There was no connection, or it broke before the whole response arrived. Whether a change was made is unknown. `cause`
 * says more.
 */
export class ConnectionError extends PlantStoreClientError {
  override readonly name = "ConnectionError";
}

/** Time ran out before the whole response arrived. Whether a change was made is unknown. */
export class TimeoutError extends PlantStoreClientError {
  override readonly name = "TimeoutError";
  /** The limit that expired. */
  readonly limitMs: number;

  constructor(details: Details & { limitMs: number }) {
    super(details);
    this.limitMs = details.limitMs;
  }
}

/** The response is not Plant Store's: it is a proxy's page, a redirect, or comes from another program at this URL. */
export class UnexpectedAnswerError extends PlantStoreClientError {
  override readonly name = "UnexpectedAnswerError";
  /** The HTTP status; 0 for a redirect in a browser, which hides the rest. */
  readonly status: number;
  /** How long the response asks you to wait before the next try. */
  readonly retryAfterMs: number | undefined;

  constructor(details: Details & { status: number; retryAfterMs?: number | undefined }) {
    super(details);
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
  }
}
