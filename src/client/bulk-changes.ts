import type { Client } from "./calls.ts";
import { changeText, idOf, isTransient, parseOutcomes } from "./bulk-change.ts";
import type { ChangeOutcome, PlantChange } from "./bulk-change.ts";
import { ERROR_NUMBERS } from "./error-numbers.ts";
import { PlantStoreClientError, ServiceError } from "./errors.ts";
import { startLimit } from "./limit.ts";
import type { ClientContext } from "./request.ts";
import { readResponse } from "./response.ts";
import { withRetries } from "./retry.ts";

/** What one request may hold. Its body is then below the default limit of the service. */
const CHANGES_MAX = 1000;
const BYTES_MAX = 200_000;

type Item = Readonly<{ change: PlantChange; text: string }>;

export function changeCalls(context: ClientContext): Pick<Client, "change"> {
  return {
    async *change(changes, { signal } = {}) {
      for await (const part of split(changes)) yield* changePart(context, part, signal);
    },
  };
}

/** Parts that are a request each. A plant that occurs again goes into the next one, so that order is kept. */
async function* split(changes: AsyncIterable<PlantChange> | Iterable<PlantChange>): AsyncGenerator<Item[], void, undefined> {
  const utf8 = new TextEncoder();
  let part: Item[] = [];
  let ids = new Set<bigint>();
  let bytes = 0;
  for await (const change of changes) {
    const id = idOf(change);
    const text = changeText(change);
    const size = utf8.encode(text).length + 1;
    if (part.length > 0 && (part.length === CHANGES_MAX || bytes + size > BYTES_MAX || ids.has(id))) {
      yield part;
      part = [];
      ids = new Set();
      bytes = 0;
    }
    part.push({ change, text });
    ids.add(id);
    bytes += size;
  }
  if (part.length > 0) yield part;
}

/** A service with a lower limit than usual gets smaller parts. It refuses a whole request before it changes anything. */
async function* changePart(context: ClientContext, part: readonly Item[], signal: AbortSignal | undefined): AsyncGenerator<ChangeOutcome> {
  try {
    yield* await sendPart(context, part, signal);
  } catch (thrown) {
    const isTooLarge = thrown instanceof ServiceError && thrown.error === ERROR_NUMBERS.body_too_large;
    if (!isTooLarge || part.length === 1) throw thrown;
    const half = Math.ceil(part.length / 2);
    yield* changePart(context, part.slice(0, half), signal);
    yield* changePart(context, part.slice(half), signal);
  }
}

/** Sends changes, and again those that failed for a moment. */
async function sendPart(
  { exchange, policy }: ClientContext,
  part: readonly Item[],
  signal: AbortSignal | undefined,
): Promise<readonly ChangeOutcome[]> {
  const outcomes: ChangeOutcome[] = [];
  let open = [...part.keys()];
  let tries = 0;
  async function attempt(limitMs: number): Promise<void> {
    const body = `{"changes":[${open.map((at) => part[at]!.text).join()}]}`;
    const headers = { "content-type": "application/json" };
    const outgoing = { method: "POST", path: "/plants/changes", headers, body, isRepeatable: true, signal } as const;
    const changes = open.map((at) => part[at]!.change);
    const isRetried = tries > 0;
    tries += 1;
    const parse = ({ body: answer }: { body: unknown }) => parseOutcomes(answer, changes, isRetried);
    const some = await exchange(outgoing, startLimit(limitMs), (response) => readResponse(response, { isRepeatable: true, parse }));
    open.forEach((place, at) => (outcomes[place] = some[at]!));
    open = open.filter((at) => isTransient(outcomes[at]!));
    const failed = outcomes[open[0] ?? -1];
    if (failed?.kind === "failed") throw new ServiceError({ ...failed, isRepeatable: true, ...UNKNOWN });
  }
  try {
    await withRetries(policy, attempt, signal);
  } catch (thrown) {
    // What an earlier try came to must be told.
    if (outcomes.length === 0 || signal?.aborted === true || !(thrown instanceof PlantStoreClientError)) throw thrown;
  }
  return outcomes;
}

const UNKNOWN = { status: 503, requestId: undefined, retryAfterMs: undefined };
