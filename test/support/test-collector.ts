import { Ajv } from "ajv";

/** A span as it arrived, with ids in hexadecimal. */
export type Received = Readonly<{
  traceId: string;
  spanId: string;
  parentSpanId: string;
  traceState: string;
  name: string;
  kind: (typeof KINDS)[number];
  /** Nanoseconds since 1970. */
  started: bigint;
  ended: bigint;
  attributes: Readonly<Record<string, unknown>>;
  links: ReadonlyArray<Readonly<{ traceId: string; spanId: string }>>;
  isError: boolean;
  flags: number;
  resource: Readonly<Record<string, unknown>>;
}>;

/** A trace that a caller has begun, and the header that says so. */
export function callerTrace(at: number, flags = "01") {
  const traceId = at.toString(16).padStart(32, "a");
  const spanId = at.toString(16).padStart(16, "b");
  return { traceId, spanId, headers: { traceparent: `00-${traceId}-${spanId}-${flags}` } };
}

type KeyValue = Readonly<{ key: string; value: Readonly<{ stringValue?: string; intValue?: string }> }>;
/** A span as it is sent: SPAN below says what else it has. */
type WireSpan = Omit<Received, "kind" | "started" | "ended" | "attributes" | "isError" | "resource" | "parentSpanId" | "traceState"> &
  Readonly<{ kind: number; startTimeUnixNano: string; endTimeUnixNano: string; attributes: readonly KeyValue[] }> &
  Readonly<{ status?: object; droppedLinksCount: number }> &
  Partial<Pick<Received, "parentSpanId" | "traceState">>;
type Group = Readonly<{
  resource: Readonly<{ attributes: readonly KeyValue[] }>;
  scopeSpans: ReadonlyArray<{ spans: readonly WireSpan[] }>;
}>;

const KINDS = ["unspecified", "internal", "server", "client"] as const;

// The fields of opentelemetry/proto/trace/v1/trace.proto that we send, in the JSON of OTLP 1 (2.2.2): ids in hexadecimal, 64 bits
// as text, enumerations as numbers.
const TEXT = { type: "string" };
const INT64 = { type: "string", pattern: "^[0-9]{1,19}$" };
const UINT32 = { type: "integer", minimum: 0, maximum: 2 ** 32 - 1 };
const CONTEXT = { traceId: hex(32), spanId: hex(16), traceState: TEXT };
const ATTRIBUTES = listOf(message({ key: TEXT, value: { oneOf: [message({ stringValue: TEXT }), message({ intValue: INT64 })] } }));
const SPAN = message(
  {
    ...CONTEXT,
    parentSpanId: hex(16),
    name: TEXT,
    kind: { enum: [1, 2, 3] },
    startTimeUnixNano: INT64,
    endTimeUnixNano: INT64,
    attributes: ATTRIBUTES,
    links: listOf(message(CONTEXT, ["traceState"])),
    droppedLinksCount: UINT32,
    status: message({ code: { const: 2 } }),
    flags: UINT32,
  },
  ["traceState", "parentSpanId", "status"],
);
const SCOPE = message({ scope: message({ name: TEXT, version: TEXT }), spans: listOf(SPAN) });
const REQUEST = message({ resourceSpans: listOf(message({ resource: message({ attributes: ATTRIBUTES }), scopeSpans: listOf(SCOPE) })) });

const ajv = new Ajv();
const isRequest = ajv.compile<{ resourceSpans: readonly Group[] }>(REQUEST);

/** A message with these fields, all of which it needs unless they are optional, and no others. */
function message(properties: Readonly<Record<string, object>>, optional: readonly string[] = []) {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: "object", properties, required, additionalProperties: false };
}

function listOf(items: object) {
  return { type: "array", items };
}

function hex(digits: number) {
  return { type: "string", pattern: `^[0-9a-f]{${digits}}$` };
}

/** What a collector answers that has rejected some of the spans. */
export function partialSuccess(rejectedSpans: number, errorMessage: string): string {
  return JSON.stringify({ partialSuccess: { rejectedSpans: String(rejectedSpans), errorMessage } });
}

type CollectorOptions = Readonly<{ answer?: (request: Request, at: number) => Response | Promise<Response> }>;

/**
 * A collector that takes what the specification of OTLP allows, and nothing else. `answer`: what is answered instead of
 * 200; it gets how many requests came before.
 */
export function startCollector({ answer }: CollectorOptions = {}) {
  const requests: Request[] = [];
  const bodies: string[] = [];
  const received: Received[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const at = requests.push(request) - 1;
      const body = await request.text();
      const response = await answer?.(request, at);
      if (response && !response.ok) return response;
      bodies.push(body);
      received.push(...read(body));
      return response ?? Response.json({});
    },
  });
  const url = server.url.href.replace(/\/$/, "");
  return {
    url,
    /** The variable that lets a service send its traces here. */
    environment: { OTEL_EXPORTER_OTLP_ENDPOINT: url },
    spans: () => received,
    requests,
    /** All that arrived, as text. */
    raw: () => bodies.join("\n"),
    stop: () => server.stop(true),
  };
}

/** The spans in a request. Throws if it has anything that the specification does not. */
export function read(body: string): Received[] {
  const request: unknown = JSON.parse(body);
  if (!isRequest(request)) throw new Error(`This is no request of OTLP: ${ajv.errorsText(isRequest.errors)}`);
  return request.resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) => spans.map((span) => toReceived(span, toRecord(resource.attributes)))),
  );
}

function toReceived(span: WireSpan, resource: Received["resource"]): Received {
  const { kind, startTimeUnixNano, endTimeUnixNano, attributes, status, droppedLinksCount: _, ...rest } = span;
  return {
    parentSpanId: "",
    traceState: "",
    ...rest,
    kind: KINDS[kind]!,
    started: BigInt(startTimeUnixNano),
    ended: BigInt(endTimeUnixNano),
    attributes: toRecord(attributes),
    isError: status !== undefined,
    resource,
  };
}

function toRecord(attributes: readonly KeyValue[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]));
}
