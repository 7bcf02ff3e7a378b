import { readAnswer } from "./response.ts";
import type { Answer } from "./response.ts";
import { startLimit } from "./limit.ts";
import { withRetries } from "./retry.ts";
import type { RetryPolicy } from "./retry.ts";
import type { Outgoing, Transport } from "./transport.ts";

/** What all calls of a client share. */
export type Connection = Readonly<{
  transport: Transport;
  /** How often, and for how long, to try what can be repeated. */
  policy: RetryPolicy;
  /** Longest that a stream may stand still, in milliseconds. */
  idleMs: number;
}>;

/** Sends a request and reads the whole answer; where repeating can do no harm, tries again what may pass. */
export function request<Result>({ transport, policy }: Connection, outgoing: Outgoing, parse: (answer: Answer) => Result): Promise<Result> {
  const { isRepeatable, signal } = outgoing;
  const retries = isRepeatable ? policy.retries : 0;
  return withRetries(
    { ...policy, retries },
    (limitMs) => transport.exchange(outgoing, startLimit(limitMs), (response) => readAnswer(response, { isRepeatable, parse })),
    signal,
  );
}
