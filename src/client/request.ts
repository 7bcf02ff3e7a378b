import { readResponse } from "./response.ts";
import type { ParsedResponse } from "./response.ts";
import { startLimit } from "./limit.ts";
import { withRetries } from "./retry.ts";
import type { RetryPolicy } from "./retry.ts";
import type { Outgoing, Transport } from "./transport.ts";

/** What all calls of a client share. */
export type ClientContext = Readonly<{
  transport: Transport;
  /** How often, and for how long, to try a request that is safe to repeat. */
  policy: RetryPolicy;
  /** How long a stream may go without moving a byte, in milliseconds. */
  idleMs: number;
}>;

/** Sends a request and reads the whole response. Retries transient failures, by default if the request is safe to repeat. */
export function request<Result>(
  { transport, policy }: ClientContext,
  outgoing: Outgoing,
  parse: (response: ParsedResponse) => Result,
  retries = outgoing.isRepeatable ? policy.retries : 0,
): Promise<Result> {
  const { isRepeatable, signal } = outgoing;
  return withRetries(
    { ...policy, retries },
    (limitMs) => transport.exchange(outgoing, startLimit(limitMs), (response) => readResponse(response, { isRepeatable, parse })),
    signal,
  );
}
