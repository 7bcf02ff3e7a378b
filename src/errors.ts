/**
 * Every error of the interface: its number, its status, and its sentence for the caller. The served contract holds the
 * same list as the examples of its responses; a test keeps the two equal. A number is never used again for another meaning.
 */
export const CATALOGUE = {
  malformed_json: entry(40001, 'The body is not JSON: send one JSON object such as {"id": 1, "name": "Monstera deliciosa"}.'),
  nested_too_deep: entry(40002, "The body is nested deeper than 32 levels: send a flatter object."),
  duplicate_key: entry(40003, "A key stands twice in the object: send each key once."),
  invalid_unicode: entry(40004, "The body holds bytes or escapes that are no Unicode text: send UTF-8 without lone surrogates."),
  invalid_body: entry(40005, "The field `name` is missing: add it."),
  invalid_query: entry(40006, "A query parameter is not known here: send none but `limit`, `after`, `tag`, `q`."),
  incomplete_body: entry(40007, "The body broke off before its end: send the request again."),
  invalid_csv_header: entry(40008, "The first line names no columns `id` and `name`: name them, as in id,name,tag."),
  malformed_row: entry(40009, "The row is not CSV: put quotes around a cell that holds any, and write each of those twice."),
  invalid_host: entry(
    40010,
    "The header Host stands twice, or holds no name of a host: send it once, with the host and port of the service.",
  ),
  missing_body: entry(40011, "The request has no body: send the file with it, as NDJSON or CSV."),
  malformed_request: entry(40012, "The request is not HTTP/1.1 as RFC 9112 has it: send it with a program that speaks HTTP."),
  invalid_idempotency_key: entry(
    40013,
    'The header Idempotency-Key is no text of 1 to 255 characters in quotes: send one such as "8e03978e-40d5-43dd-bc93-6894a57f9324", or none.',
  ),
  missing_token: entry(40100, "The request has no bearer token: send the header Authorization: Bearer <token>."),
  invalid_token: entry(40101, "The bearer token is not valid: send one that exists and is neither expired nor revoked."),
  insufficient_scope: entry(40300, "The token lacks the scope plants:write: use one that has it."),
  unknown_path: entry(40400, "There is nothing at this path: see /openapi.json for those that exist."),
  plant_not_found: entry(40401, "There is no plant with this id: check the id, or create the plant."),
  token_not_found: entry(40402, "There is no token with this id: see GET /tokens for those that exist."),
  method_not_allowed: entry(40500, "This path does not have that method: use one of those in the Allow header."),
  too_slow: entry(40800, "The body comes too slowly: send the file again over a faster connection; what is stored of it stays."),
  id_in_use: entry(40900, "The id names another plant already: choose an id that is not used."),
  precondition_failed: entry(41200, "The plant is not as the condition says: read it again, then repeat the change."),
  body_too_large: entry(41300, "The body is larger than 65536 bytes: send a smaller one."),
  unsupported_media_type: entry(41500, "The body is not declared as JSON: send the header Content-Type: application/json."),
  unsupported_charset: entry(41501, "The body is declared in another charset: send UTF-8 and the header Content-Type: application/json."),
  unsupported_encoding: entry(41502, "The body is compressed or otherwise encoded: send it plain, without Content-Encoding."),
  head_too_large: entry(43100, "The head of the request has more than 16384 bytes or 198 headers: send a smaller one."),
  idempotency_key_reused: entry(42200, "The Idempotency-Key was sent with another token before: send that one, or a key of its own."),
  too_many_requests: entry(42900, "More requests came than are allowed: wait for the seconds in Retry-After, then send fewer."),
  internal: entry(50000, "Something broke in the service: it has been logged, tell whoever runs it the X-Request-Id."),
  unknown_method: entry(50100, "The service knows no such method: use one of those that OPTIONS * names."),
  overloaded: entry(50300, "The service has more work than it can do: try again after the seconds in Retry-After."),
  store_unavailable: entry(50301, "The store cannot be reached or written: try again after the seconds in Retry-After."),
  store_full: entry(50302, "The store's disk is full: try again when whoever runs the service has made room."),
  draining: entry(50303, "The service is shutting down: try again after the seconds in Retry-After."),
  index_building: entry(50304, "The search is being prepared: try again after the seconds in Retry-After."),
  unsupported_version: entry(50500, "The service speaks HTTP/1.1 and HTTP/1.0: send one of these."),
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof CATALOGUE;

type CatalogueEntry = Readonly<{ error: number; message: string }>;

/**
 * An expected failure. Every other throw is a bug: answered 500, its text kept for the log.
 * It has no stack: its code says all, and to gather one for every refusal would be most of its cost when there is too much to do.
 */
export class PlantStoreError extends Error {
  readonly code: ErrorCode;
  /** Headers that the answer must carry beside the usual ones, such as `Allow`. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, options: { message?: string; headers?: Record<string, string>; cause?: unknown } = {}) {
    const message = options.message ?? CATALOGUE[code].message;
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = "PlantStoreError";
    this.code = code;
    this.headers = options.headers ?? {};
  }

  /** The number of the interface: status times 100, plus a number of its own. */
  get number(): number {
    return CATALOGUE[this.code].error;
  }

  get status(): number {
    return Math.trunc(this.number / 100);
  }
}

function entry(error: number, message: string): CatalogueEntry {
  return { error, message };
}
