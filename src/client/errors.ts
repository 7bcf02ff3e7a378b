/** Every error of the interface, by its name in the contract. A number is the HTTP status times 100, plus n, and is never reused. */
export const ERROR_NUMBERS = {
  malformed_json: 40001,
  nested_too_deep: 40002,
  duplicate_key: 40003,
  invalid_unicode: 40004,
  invalid_body: 40005,
  invalid_query: 40006,
  incomplete_body: 40007,
  invalid_csv_header: 40008,
  malformed_row: 40009,
  invalid_host: 40010,
  missing_body: 40011,
  malformed_request: 40012,
  invalid_idempotency_key: 40013,
  missing_token: 40100,
  invalid_token: 40101,
  insufficient_scope: 40300,
  unknown_path: 40400,
  plant_not_found: 40401,
  token_not_found: 40402,
  method_not_allowed: 40500,
  too_slow: 40800,
  id_in_use: 40900,
  precondition_failed: 41200,
  body_too_large: 41300,
  unsupported_media_type: 41500,
  unsupported_charset: 41501,
  unsupported_encoding: 41502,
  head_too_large: 43100,
  idempotency_key_reused: 42200,
  too_many_requests: 42900,
  internal: 50000,
  unknown_method: 50100,
  overloaded: 50300,
  store_unavailable: 50301,
  store_full: 50302,
  draining: 50303,
  index_building: 50304,
  unsupported_version: 50500,
} as const;

export type ErrorNumber = (typeof ERROR_NUMBERS)[keyof typeof ERROR_NUMBERS];

type Details = Readonly<{
  message: string;
  isRepeatable: boolean;
  cause?: unknown;
}>;

/**
 * Every failed call throws one of the four classes below. Only these are thrown as they are: the reason of your `signal`,
 * whatever your import source threw, and TypeErrors and RangeErrors for invalid arguments.
 */
export class PlantStoreClientError extends Error {
  /** Whether the call is safe to repeat, whatever this one did. The repeat may fail too. */
  readonly isRepeatable: boolean;

  constructor({ message, isRepeatable, cause }: Details) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "PlantStoreClientError";
    this.isRepeatable = isRepeatable;
  }
}

/** The service responded with one of its errors. `message` is the service's own: what is wrong, and what to do. */
export class ServiceError extends PlantStoreClientError {
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
    this.name = "ServiceError";
    this.status = details.status;
    this.error = details.error as ErrorNumber;
    this.requestId = details.requestId;
    this.retryAfterMs = details.retryAfterMs;
  }
}

/** There was no connection, or it broke before the whole response arrived. Whether a change was made is unknown. `cause` says more. */
export class ConnectionError extends PlantStoreClientError {
  constructor(details: Details) {
    super(details);
    this.name = "ConnectionError";
  }
}

/** Time ran out before the whole response arrived. Whether a change was made is unknown. */
export class TimeoutError extends PlantStoreClientError {
  /** The limit that expired. */
  readonly limitMs: number;

  constructor(details: Details & { limitMs: number }) {
    super(details);
    this.name = "TimeoutError";
    this.limitMs = details.limitMs;
  }
}

/** The response is not Plant Store's: it is a proxy's page, a redirect, or comes from another program at this URL. */
export class UnexpectedAnswerError extends PlantStoreClientError {
  /** The HTTP status; 0 for a redirect in a browser, which hides the rest. */
  readonly status: number;
  /** How long the response asks you to wait before the next try. */
  readonly retryAfterMs: number | undefined;

  constructor(details: Details & { status: number; retryAfterMs?: number | undefined }) {
    super(details);
    this.name = "UnexpectedAnswerError";
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
  }
}
