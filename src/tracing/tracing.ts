import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import manifest from "../../package.json" with { type: "json" };
import type { Operation } from "../domain/contract.ts";
import { withFields } from "../runtime/log.ts";
import type { Log } from "../runtime/log.ts";
import type { Metrics } from "../runtime/metrics.ts";
import { createCommitTracer } from "./commit-tracer.ts";
import { toExportRequest } from "./otlp.ts";
import type { Sender } from "./otlp.ts";
import { createRequestTracer } from "./request-tracer.ts";
import { createSampler } from "./sampler.ts";
import { SpanQueue } from "./span-queue.ts";
import type { Active } from "./request-trace.ts";
import { traceStore } from "./traced-store.ts";
import type { TraceSettings } from "./trace-settings.ts";

type TracingOptions = Readonly<{
  settings: TraceSettings;
  operations: readonly Operation[];
  database: "sqlite" | "postgresql";
  metrics: Metrics;
  log: Log;
}>;

/** How far the wall clock may go from ours before spans follow it, in milliseconds: spans of a trace must fit together. */
const CLOCK_MS_MAX = 20;

const AS_JSON =
  "OTEL_EXPORTER_OTLP_PROTOCOL, or the one for traces, asks for http/protobuf: traces are sent as http/json, which a collector takes at the same address. Put one in front of what takes protobuf alone.";

export type Tracing = ReturnType<typeof startTracing>;

/** Traces of OpenTelemetry. Only a service that sends some loads this. */
export function startTracing({ settings, operations, database, metrics, log }: TracingOptions) {
  const { url, headers, resource, sampler, asksForProtobuf } = settings;
  if (asksForProtobuf) log.warn("traces_as_json", { reason: AS_JSON });
  const current = new AsyncLocalStorage<Active>();
  const now = () => performance.now();
  const sender: Sender = {
    resource: { "service.name": manifest.name, "service.version": manifest.version, "service.instance.id": randomUUID(), ...resource },
    scope: { name: manifest.name, version: manifest.version },
  };
  let epochMs = performance.timeOrigin;
  const queue = new SpanQueue({
    url,
    headers,
    encode(spans) {
      const newEpochMs = Date.now() - now();
      if (Math.abs(newEpochMs - epochMs) > CLOCK_MS_MAX) epochMs = newEpochMs;
      return toExportRequest(spans, sender, epochMs);
    },
    metrics,
    log,
    now,
  });
  const recording = { current, record: queue.add, now };
  return {
    requests: createRequestTracer({ ...recording, operations, sampler: createSampler({ ...sampler, metrics, random: Math.random, now }) }),
    commits: createCommitTracer({ ...recording, database }),
    traced: <Store extends object>(name: string, store: Store): Store => traceStore(name, store, recording),
    /** The same log, whose lines about a request say to which trace it belongs. */
    log: withTraceIds(log, () => current.getStore()?.trace.context.traceId),
    stop: queue.stop,
  };
}

function withTraceIds(log: Log, find: () => string | undefined): Log {
  return withFields(log, (fields) => {
    const traceId = fields?.["requestId"] === undefined ? undefined : find();
    return traceId === undefined ? fields : { traceId, ...fields };
  });
}
