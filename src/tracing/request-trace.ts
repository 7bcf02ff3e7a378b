import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import { PlantStoreError } from "../domain/errors.ts";
import type { Wish } from "./sampler.ts";
import type { SpanContext } from "./span.ts";
import type { RemoteParent } from "./trace-context.ts";

/** A request that belongs to a trace. */
export type Trace = {
  readonly context: SpanContext;
  readonly parent: RemoteParent | undefined;
  readonly wish: Wish | undefined;
  /** When it began, and was let in, by `performance.now()`. */
  readonly started: number;
  admitted: number | undefined;
  /** Whether it has a valid token. */
  isKnown: boolean;
  isRecorded: boolean;
  /** How many calls of the store were recorded. */
  calls: number;
  /** The commits that serve it. */
  readonly links: SpanContext[];
};

/** What is under way: a call of the store, or else the request itself. */
export type Active = Readonly<{ trace: Trace; context: SpanContext; links: SpanContext[] }>;

/** What is under way follows all that is awaited in it. */
export type Current = AsyncLocalStorage<Active>;

/** The runtime makes a UUID ten times as fast as random bytes. Its last 56 bits are random, as those of a trace have to be. */
export function newTrace(): SpanContext {
  return { traceId: randomUUID().replaceAll("-", ""), spanId: newSpanId() };
}

/** Another span in the same trace. */
export function inTraceOf({ traceId, state }: Omit<SpanContext, "spanId">): SpanContext {
  return { traceId, spanId: newSpanId(), state };
}

/** The `error.type` of a failure. It is never text that someone sent. */
export function errorTypeOf(failure: unknown): string {
  if (failure instanceof PlantStoreError) return failure.code;
  return failure instanceof Error ? failure.name : "unknown";
}

/** Whether it is no fault of the caller. */
export function isOurs(failure: unknown): boolean {
  return !(failure instanceof PlantStoreError) || failure.status >= 500;
}

/** 64 bits of a UUID that are random: those of its version and variant are not. */
function newSpanId(): string {
  const uuid = randomUUID();
  return uuid.slice(0, 8) + uuid.slice(24, 32);
}
