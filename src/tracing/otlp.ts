import { createProtobuf, readProtobuf } from "./protobuf.ts";
import type { Span, SpanContext } from "./span.ts";

// The messages and numbers of opentelemetry/proto/trace/v1/trace.proto, which are stable.

const KINDS = { internal: 1, server: 2, client: 3 } as const satisfies Record<Span["kind"], number>;

const STATUS_ERROR = 2;

/** W3C's flag of a span that is recorded, and that we know whether its parent is remote; and that it is. */
const RECORDED = 0x1;
const KNOWN_REMOTE = 0x100;
const REMOTE = 0x200;

type Writer = ReturnType<typeof createProtobuf>;

/** Who sends spans. */
export type Sender = Readonly<{ resource: Readonly<Record<string, string>>; scope: Readonly<{ name: string; version: string }> }>;

/** An ExportTraceServiceRequest with these spans. `epochMs`: the wall clock when `performance.now()` was 0. */
export function toExportRequest(spans: readonly Span[], { resource, scope }: Sender, epochMs: number): Uint8Array<ArrayBuffer> {
  const message = createProtobuf();
  message.part(1, () => {
    message.part(2, () => {
      for (const span of spans.toReversed()) message.part(2, () => writeSpan(message, span, epochMs));
      message.part(1, () => {
        message.text(2, scope.version);
        message.text(1, scope.name);
      });
    });
    message.part(1, () => writeAttributes(message, 1, resource));
  });
  return message.finish();
}

/** How many spans a collector rejected, as its ExportTraceServiceResponse says; 0 if that cannot be read. */
export function rejectedIn(response: Uint8Array): number {
  const partialSuccess = readProtobuf(response).get(1);
  const rejected = partialSuccess instanceof Uint8Array ? readProtobuf(partialSuccess).get(1) : 0;
  return typeof rejected === "number" ? rejected : 0;
}

function writeSpan(message: Writer, span: Span, epochMs: number): void {
  message.fixed32(16, RECORDED | KNOWN_REMOTE | (span.parent?.isRemote ? REMOTE : 0));
  if (span.isFailed) message.part(15, () => message.varint(3, STATUS_ERROR));
  if (span.linksDropped > 0) message.varint(14, span.linksDropped);
  for (const link of span.links.toReversed()) message.part(13, () => writeContext(message, link));
  writeAttributes(message, 9, span.attributes);
  message.fixed64(8, toNanoseconds(epochMs + span.ended));
  message.fixed64(7, toNanoseconds(epochMs + span.started));
  message.varint(6, KINDS[span.kind]);
  message.text(5, span.name);
  if (span.parent) message.hex(4, span.parent.spanId);
  writeContext(message, span.context);
}

/** The first fields of a span, and of a link. */
function writeContext(message: Writer, { traceId, spanId, state }: SpanContext): void {
  if (state !== undefined) message.text(3, state);
  message.hex(2, spanId);
  message.hex(1, traceId);
}

function writeAttributes(message: Writer, field: number, attributes: Span["attributes"]): void {
  for (const [name, value] of Object.entries(attributes)) {
    message.part(field, () => {
      message.part(2, () => (typeof value === "string" ? message.text(1, value) : message.varint(3, value)));
      message.text(1, name);
    });
  }
}

function toNanoseconds(ms: number): bigint {
  return BigInt(Math.round(ms * 1000)) * 1000n;
}
