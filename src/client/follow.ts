import { parseChange } from "./change.ts";
import type { ChangesQuery, FollowedChange } from "./change.ts";
import { ConnectionError, TimeoutError } from "./errors.ts";
import { readEvents } from "./event-stream.ts";
import type { StreamEvent } from "./event-stream.ts";
import { watchBytes } from "./export.ts";
import { parseJson } from "./json.ts";
import { startLimit } from "./limit.ts";
import { queryText } from "./request.ts";
import type { ClientContext } from "./request.ts";
import { orUnexpected, readResponse } from "./response.ts";
import { pause, withRetries } from "./retry.ts";
import type { RetryPolicy } from "./retry.ts";
import { toFailure } from "./transport.ts";
import type { Outgoing } from "./transport.ts";

/** The service sends something each 15 s: a connection that is silent for so long is lost, though no one said so. */
const SILENCE_MS_MAX = 40_000;

/** How long to wait for the next connection, unless the service says otherwise. */
const RETRY_MS = 1_000;
const JITTER_MS = 1_000;

/**
 * What changes behind `after`, on one connection after the other, each from the last cursor on: at least once, never a
 * gap. Only the first one is given up when it cannot be made.
 */
export async function* follow(
  context: ClientContext,
  { after, ...filter }: ChangesQuery,
  signal: AbortSignal | undefined,
): AsyncGenerator<FollowedChange, void, undefined> {
  let cursor = after;
  let retryMs = RETRY_MS;
  for (let policy: RetryPolicy = context.policy; ; policy = { ...policy, timeoutMs: Infinity, retries: Infinity }) {
    const path = `/plants/changes${queryText({ ...filter, after: cursor })}`;
    const bytes = await withRetries(policy, (limitMs) => openStream(context, { path, limitMs, signal }), signal);
    try {
      for await (const event of readEvents(bytes, (waitMs) => (retryMs = waitMs))) {
        signal?.throwIfAborted();
        const followed = orUnexpected(NO_CHANGE, () => parseEvent(event));
        cursor = followed.cursor;
        yield followed;
      }
    } catch (thrown) {
      if (!(thrown instanceof ConnectionError || thrown instanceof TimeoutError)) throw thrown;
    }
    // Those who were cut off together do not come back together.
    await pause(retryMs + Math.random() * JITTER_MS, signal);
  }
}

const NO_CHANGE = "An event of the stream is not a change: check the url and any proxy in between.";

type Opening = Readonly<{ path: string; limitMs: number; signal: AbortSignal | undefined }>;

function openStream({ exchange, idleMs }: ClientContext, { path, limitMs, signal }: Opening): Promise<ReadableStream<Uint8Array>> {
  const outgoing: Outgoing = { method: "GET", path, headers: { accept: "text/event-stream" }, isRepeatable: true, signal };
  const limit = startLimit(limitMs);
  return exchange(outgoing, limit, async (response) => {
    const isStream = /^text\/event-stream\s*(;|$)/i.test(response.headers.get("content-type") ?? "");
    if (!response.ok || !isStream || !response.body) return readResponse(response, { isRepeatable: true, parse: refuse });
    const failed = (cause: unknown) => toFailure(cause, outgoing, limit);
    return watchBytes(response.body, { limit, idleMs: Math.min(idleMs, SILENCE_MS_MAX), end: undefined, toFailure: failed });
  });
}

function refuse(): never {
  throw new TypeError("not an event stream");
}

function parseEvent({ id, data }: StreamEvent): FollowedChange {
  if (id === "") throw new TypeError("a change without a cursor");
  return data === undefined ? { cursor: id } : { change: parseChange(parseJson(data)), cursor: id };
}
