import type { Span, SpanContext } from "./span.ts";

// The messages and numbers of opentelemetry/proto/trace/v1/trace.proto, which are stable, as JSON (OTLP 1, 2.2.2): ids are
// hexadecimal, enumerations numbers, and integers of 64 bits text.

const KINDS = { internal: 1, server: 2, client: 3 } as const satisfies Record<Span["kind"], number>;

const STATUS_ERROR = 2;

/** W3C's flag of a span that is recorded, and that we know whether its parent is remote; and that it is. */
const RECORDED = 0x1;
const KNOWN_REMOTE = 0x100;
const REMOTE = 0x200;

export type Sender = Readonly<{ resource: Readonly<Record<string, string>>; scope: Readonly<{ name: string; version: string }> }>;

/** An ExportTraceServiceRequest with these spans. `epochMs`: the wall clock when `performance.now()` was 0. */
export function toExportRequest(spans: readonly Span[], { resource, scope }: Sender, epochMs: number): string {
  const scopeSpans = [{ scope, spans: spans.map((span) => toWire(span, epochMs)) }];
  return JSON.stringify({ resourceSpans: [{ resource: { attributes: toAttributes(resource) }, scopeSpans }] });
}

/** How many spans a collector rejected, as its ExportTraceServiceResponse says; 0 if that cannot be read. */
export function rejectedIn(response: string): number {
  try {
    const { partialSuccess } = JSON.parse(response) as { partialSuccess?: { rejectedSpans?: unknown } };
    const rejected = Number(partialSuccess?.rejectedSpans);
    return rejected > 0 ? Math.trunc(rejected) : 0;
  } catch {
    return 0;
  }
}

function toWire(
  { context, parent, name, kind, started, ended, attributes, links = [], linksDropped = 0, isFailed }: Span,
  epochMs: number,
) {
  return {
    ...toContext(context),
    ...(parent ? { parentSpanId: parent.spanId } : {}),
    name,
    kind: KINDS[kind],
    startTimeUnixNano: toNanoseconds(epochMs + started),
    endTimeUnixNano: toNanoseconds(epochMs + ended),
    attributes: toAttributes(attributes),
    links: links.map(toContext),
    droppedLinksCount: linksDropped,
    ...(isFailed ? { status: { code: STATUS_ERROR } } : {}),
    flags: RECORDED | KNOWN_REMOTE | (parent?.isRemote ? REMOTE : 0),
  };
}

/** The first fields of a span, and of a link. JSON leaves out what is undefined. */
function toContext({ traceId, spanId, state }: SpanContext) {
  return { traceId, spanId, traceState: state };
}

function toAttributes(attributes: Span["attributes"]) {
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === "string" ? { stringValue: value } : { intValue: String(value) },
  }));
}

function toNanoseconds(ms: number): string {
  return `${Math.round(ms * 1000)}000`;
}
