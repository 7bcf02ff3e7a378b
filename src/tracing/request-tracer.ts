import type { Operation } from "../domain/contract.ts";
import type { Sampler } from "./sampler.ts";
import { inTraceOf, newTrace } from "./request-trace.ts";
import type { Current, Trace } from "./request-trace.ts";
import type { Span } from "./span.ts";
import { findParent } from "./trace-context.ts";

type Answered = Readonly<{
  trace: Trace | undefined;
  request: Readonly<{ method: string; path: string | undefined }>;
  requestId: string;
  /** Of the contract; else "static" or "none". */
  operation: string;
  /** The name of its error in the contract. */
  error: string | undefined;
}>;

type RequestTracerOptions = Readonly<{
  current: Current;
  sampler: Sampler;
  operations: readonly Operation[];
  record: (span: Span) => void;
  now: () => number;
}>;

export type RequestTracer = ReturnType<typeof createRequestTracer>;

export function createRequestTracer({ current, sampler, operations, record, now }: RequestTracerOptions) {
  const routes = new Map<string, string>(operations.map(({ id, path }) => [id, path]));

  /** From the head of a request until it is let in, or refused. */
  function recordAdmission({ context, started, admitted }: Trace, ended: number, error: string | undefined): void {
    record({
      context: inTraceOf(context),
      parent: { spanId: context.spanId, isRemote: false },
      name: "admission",
      kind: "internal",
      started,
      ended: admitted ?? ended,
      attributes: admitted === undefined && error !== undefined ? { "error.type": error } : {},
    });
  }

  return {
    /** Undefined if the request belongs to no trace. `started`: when it began, by `performance.now()`. */
    begin(headers: Parameters<typeof findParent>[0], started: number): Trace | undefined {
      const parent = findParent(headers);
      const wish = sampler.wishOf(parent);
      if (!parent && !wish) return undefined;
      const context = parent ? inTraceOf(parent) : newTrace();
      return { context, parent, wish, started, admitted: undefined, isKnown: false, isRecorded: false, calls: 0, links: [] };
    },
    /** Does the work of a request. All that is awaited in it belongs to the trace. */
    run: <Result>(trace: Trace, work: () => Result): Result => current.run({ trace, context: trace.context, links: trace.links }, work),
    /** Its token is valid. */
    identified(trace: Trace | undefined): void {
      if (!trace) return;
      trace.isKnown = true;
      trace.isRecorded = trace.wish !== undefined && sampler.admits(trace.wish);
    },
    /** It is let in: rates and queues have room for it. */
    admitted(trace: Trace | undefined): void {
      if (trace) trace.admitted = now();
    },
    answered({ trace, request, requestId, operation, error }: Answered, status: number): void {
      if (!trace) return;
      // The wish of a caller without a valid token does not count.
      const isRecorded = trace.isKnown ? trace.isRecorded : trace.wish === "own" && sampler.admits("stranger");
      if (!isRecorded) return;
      const ended = now();
      const route = routes.get(operation);
      if (route !== undefined) recordAdmission(trace, ended, error);
      record(toServerSpan(trace, { request, requestId, route, error, status, ended }));
    },
  };
}

type Ending = Pick<Answered, "error" | "request" | "requestId"> & Readonly<{ route: string | undefined; status: number; ended: number }>;

function toServerSpan({ context, parent, started, links }: Trace, { request, requestId, route, error, status, ended }: Ending): Span {
  const { method, path } = request;
  return {
    context,
    parent: parent && { spanId: parent.spanId, isRemote: true },
    name: route === undefined ? method : `${method} ${route}`,
    kind: "server",
    started,
    ended,
    attributes: {
      "http.request.method": method,
      "http.response.status_code": status,
      "url.scheme": "http",
      // A path that the contract does not have may be anything that someone typed.
      ...(route === undefined || path === undefined ? {} : { "http.route": route, "url.path": path }),
      ...(error === undefined ? {} : { "error.type": error }),
      "plant_store.request_id": requestId,
    },
    links,
    isFailed: status >= 500,
  };
}
