import { createRequire } from "node:module";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { installPackages } from "./packages.ts";
import { PROJECT } from "./process.ts";

/** A span as it arrived, with ids in hexadecimal. */
export type Received = Readonly<{
  traceId: string;
  spanId: string;
  parentSpanId: string;
  traceState: string;
  name: string;
  kind: string;
  /** Nanoseconds since 1970. */
  started: bigint;
  ended: bigint;
  attributes: Readonly<Record<string, unknown>>;
  links: ReadonlyArray<Readonly<{ traceId: string; spanId: string }>>;
  isError: boolean;
  flags: number;
  resource: Readonly<Record<string, unknown>>;
}>;

/** A collector that reads what arrives with the definitions that OpenTelemetry publishes. */
export type TestCollector = Readonly<{
  url: string;
  /** The variable that lets a service send its traces here. */
  environment: Readonly<Record<string, string>>;
  spans: () => readonly Received[];
  requests: readonly Request[];
  /** All that arrived, as text. */
  raw: () => string;
  stop: () => Promise<void>;
}>;

/** A trace that a caller has begun, and the header that says so. */
export function callerTrace(at: number, flags = "01") {
  const traceId = at.toString(16).padStart(32, "a");
  const spanId = at.toString(16).padStart(16, "b");
  return { traceId, spanId, headers: { traceparent: `00-${traceId}-${spanId}-${flags}` } };
}

type Value = Readonly<Record<string, unknown>>;
type KeyValue = Readonly<{ key: string; value: Value }>;
type WireSpan = Readonly<{
  traceId: Buffer;
  spanId: Buffer;
  parentSpanId?: Buffer;
  traceState?: string;
  name: string;
  kind: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes?: readonly KeyValue[];
  links?: ReadonlyArray<Readonly<{ traceId: Buffer; spanId: Buffer }>>;
  status?: Readonly<{ code?: string }>;
  flags?: number;
}>;
type WireRequest = Readonly<{
  resourceSpans: ReadonlyArray<
    Readonly<{
      resource: Readonly<{ attributes: readonly KeyValue[] }>;
      scopeSpans: ReadonlyArray<Readonly<{ spans: readonly WireSpan[] }>>;
    }>
  >;
}>;
type Message = Readonly<{
  decode(bytes: Uint8Array): object;
  encode(message: object): Readonly<{ finish(): Uint8Array }>;
  toObject(message: object, options: object): WireRequest;
}>;

type Definitions = Readonly<{ ExportTraceServiceRequest: Message; ExportTraceServiceResponse: Pick<Message, "encode"> }>;

const OTLP = join(PROJECT, "test/otlp");
const DEFINITIONS = join(OTLP, "node_modules/@opentelemetry/otlp-transformer/build/src/generated/root.js");

function loadDefinitions(): Definitions {
  installPackages(OTLP);
  const { opentelemetry } = createRequire(import.meta.url)(DEFINITIONS) as {
    opentelemetry: { proto: { collector: { trace: { v1: Definitions } } } };
  };
  return opentelemetry.proto.collector.trace.v1;
}

const { ExportTraceServiceRequest: definition, ExportTraceServiceResponse: answers } = loadDefinitions();

/** What a collector answers that has rejected some of the spans. */
export function partialSuccess(rejectedSpans: number, errorMessage: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(answers.encode({ partialSuccess: { rejectedSpans, errorMessage } }).finish());
}

type CollectorOptions = Readonly<{ answer?: (request: Request, at: number) => Response | Promise<Response> }>;

/** `answer`: what is answered instead of 200; it gets how many requests came before. */
export function startCollector({ answer }: CollectorOptions = {}): TestCollector {
  const requests: Request[] = [];
  const bodies: Buffer[] = [];
  const received: Received[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const at = requests.push(request) - 1;
      const sent = Buffer.from(await request.arrayBuffer());
      const body = request.headers.get("content-encoding") === "gzip" ? gunzipSync(sent) : sent;
      const response = await answer?.(request, at);
      if (response && !response.ok) return response;
      bodies.push(body);
      received.push(...read(body));
      return response ?? new Response(new Uint8Array(), { headers: { "content-type": "application/x-protobuf" } });
    },
  });
  const url = server.url.href.replace(/\/$/, "");
  return {
    url,
    environment: { OTEL_EXPORTER_OTLP_ENDPOINT: url },
    spans: () => received,
    requests,
    raw: () => Buffer.concat(bodies).toString("latin1"),
    stop: () => server.stop(true),
  };
}

/** The spans in a request. Throws if it has anything that the definitions do not. */
export function read(body: Uint8Array): Received[] {
  const message = definition.decode(body);
  if (definition.encode(message).finish().length !== body.length) throw new Error("The request has more than the definitions know.");
  const { resourceSpans } = definition.toObject(message, { longs: String, enums: String, bytes: Buffer });
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) => spans.map((span) => toReceived(span, toRecord(resource.attributes)))),
  );
}

function toReceived(span: WireSpan, resource: Record<string, unknown>): Received {
  return {
    traceId: span.traceId.toString("hex"),
    spanId: span.spanId.toString("hex"),
    parentSpanId: span.parentSpanId?.toString("hex") ?? "",
    traceState: span.traceState ?? "",
    name: span.name,
    kind: span.kind,
    started: BigInt(span.startTimeUnixNano),
    ended: BigInt(span.endTimeUnixNano),
    attributes: toRecord(span.attributes ?? []),
    links: (span.links ?? []).map(({ traceId, spanId }) => ({ traceId: traceId.toString("hex"), spanId: spanId.toString("hex") })),
    isError: span.status?.code === "STATUS_CODE_ERROR",
    flags: span.flags ?? 0,
    resource,
  };
}

function toRecord(attributes: readonly KeyValue[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value["stringValue"] ?? Number(value["intValue"])]));
}
