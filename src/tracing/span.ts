/** Where a span is: in which trace, and its own id, both in hexadecimal. */
export type SpanContext = Readonly<{ traceId: string; spanId: string; state?: string | undefined }>;

/** A span that has ended. It is recorded only then, so that nothing of it is kept while it lasts. */
export type Span = Readonly<{
  context: SpanContext;
  parent: Readonly<{ spanId: string; isRemote: boolean }> | undefined;
  name: string;
  kind: "internal" | "server" | "client";
  /** By `performance.now()`. */
  started: number;
  ended: number;
  /** Names are those of OpenTelemetry's semantic conventions where there is one. */
  attributes: Readonly<Record<string, string | number>>;
  links?: readonly SpanContext[];
  /** How many links it would have beyond LINKS_MAX. */
  linksDropped?: number;
  /** Whether it failed through no fault of the caller. */
  isFailed?: boolean;
}>;

/** How many links a span may have: as OpenTelemetry's SDKs do by default. */
export const LINKS_MAX = 128;
