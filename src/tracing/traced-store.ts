import { errorTypeOf, inTraceOf, isOurs } from "./request-trace.ts";
import type { Active, Current } from "./request-trace.ts";
import type { Span } from "./span.ts";

type TracedOptions = Readonly<{ current: Current; record: (span: Span) => void; now: () => number }>;

/**
 * How many calls of the store one request records: one with many changes makes a thousand.
 *
 * @limit traces: traced calls of the store in a request
 */
const CALLS_MAX = 32;

/** The same store, whose calls are spans of the requests that make them. */
export function traceStore<Store extends object>(name: string, store: Store, { current, record, now }: TracedOptions): Store {
  function recordCall(method: string, { trace, context, links }: Active, started: number, failure?: Readonly<{ reason: unknown }>): void {
    record({
      context,
      parent: { spanId: trace.context.spanId, isRemote: false },
      name: `${name}.${method}`,
      kind: "internal",
      started,
      ended: now(),
      attributes: failure ? { "error.type": errorTypeOf(failure.reason) } : {},
      links,
      isFailed: failure !== undefined && isOurs(failure.reason),
    });
  }

  function call(method: string, work: () => unknown): unknown {
    const caller = current.getStore();
    if (!caller?.trace.isRecorded || caller.trace.calls >= CALLS_MAX) return work();
    const { trace } = caller;
    const active: Active = { trace, context: inTraceOf(trace.context), links: [] };
    const started = now();
    const result = current.run(active, work);
    if (!(result instanceof Promise)) return result;
    trace.calls += 1;
    return result.then(
      (value: unknown) => {
        recordCall(method, active, started);
        return value;
      },
      (reason: unknown) => {
        recordCall(method, active, started, { reason });
        throw reason;
      },
    );
  }

  const methods = Object.entries(store).map(([method, value]) => [
    method,
    typeof value === "function" ? (...args: unknown[]) => call(method, () => value(...args) as unknown) : (value as unknown),
  ]);
  // Each method keeps its type.
  return Object.fromEntries(methods) as Store;
}
