import { ServiceError } from "./errors.ts";
import type { ErrorNumber } from "./errors.ts";
import { startLimit } from "./limit.ts";
import { readResponse } from "./response.ts";
import type { ParsedResponse } from "./response.ts";
import { withRetries } from "./retry.ts";
import type { RetryPolicy } from "./retry.ts";
import type { Exchange, Outgoing } from "./transport.ts";

/** What all calls of a client share. */
export type ClientContext = Readonly<{
  exchange: Exchange;
  /** How often, and for how long, to try a request that is safe to repeat. */
  policy: RetryPolicy;
  /** How long a stream may go without moving a byte, in milliseconds. */
  idleMs: number;
}>;

/** Sends a request and reads the whole response. Retries transient failures, by default if the request is safe to repeat. */
export function request<Result>(
  { exchange, policy }: ClientContext,
  outgoing: Outgoing,
  parse: (response: ParsedResponse) => Result,
  retries = outgoing.isRepeatable ? policy.retries : 0,
): Promise<Result> {
  const { isRepeatable, signal } = outgoing;
  return withRetries(
    { ...policy, retries },
    (limitMs) => exchange(outgoing, startLimit(limitMs), (response) => readResponse(response, { isRepeatable, parse })),
    signal,
  );
}

/** The same for what only reads. */
export function get<Result>(
  context: ClientContext,
  path: string,
  signal: AbortSignal | undefined,
  parse: (response: ParsedResponse) => Result,
): Promise<Result> {
  return request(context, { method: "GET", path, isRepeatable: true, signal }, parse);
}

/** Turns the error `absent`, which says that nothing has this id, into undefined. Any other 404 is about the URL. */
export async function orAbsent<Result>(result: Promise<Result>, absent: ErrorNumber): Promise<Result | undefined> {
  try {
    return await result;
  } catch (thrown) {
    if (thrown instanceof ServiceError && thrown.error === absent) return undefined;
    throw thrown;
  }
}

/** Parameters by name. Undefined ones are left out. */
export type Query = Readonly<Record<string, bigint | boolean | number | string | undefined>>;

/**
 * The query string with its question mark; empty if there are no parameters. Throws a URIError if a text is not valid
 * Unicode, and a RangeError for a number that was rounded: an id is a bigint.
 */
export function queryText(query: Query): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const rounded = given.find(([, value]) => typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER);
  if (rounded) throw new RangeError(`${rounded[0]} is a number that has been rounded: give a bigint, such as 1n.`);
  const text = given.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join("&");
  return text === "" ? "" : `?${text}`;
}
