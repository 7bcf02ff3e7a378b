/** A response, before it is written to a connection. A body is JSON, unless the headers say otherwise. */
export type HttpResponse = Readonly<{
  status: number;
  /** A `ReadableStream` only over HTTP/1.1: HTTP/1.0 has no chunks. */
  body?: string | Uint8Array | ReadableStream<Uint8Array> | LiveBody | undefined;
  headers?: Headers | undefined;
  /** Further header lines, each with its line end. */
  lines?: string;
  /** Whether the connection is closed after it. */
  isLast?: boolean;
  /** Called once, when nothing of the response is kept any more: it has been sent, or never will be. */
  onSent?: (() => void) | undefined;
}>;

/** A body that its source writes whenever it has something to say, to many peers at a time. Exactly one of the two is called, once. */
export type LiveBody = Readonly<{
  open(peer: Peer): LiveSource;
  /** No one will read it. */
  drop(): void;
}>;

/** What a source is told of its peer. */
export type LiveSource = Readonly<{
  /** What was written has all left. */
  drained(): void;
  /** The peer sends no more: as a rule it is gone, which a write shows. */
  ended(): void;
  /** The connection is gone. */
  closed(): void;
}>;

/** The way to one peer. */
export type Peer = Readonly<{
  /** Returns how many bytes wait until the peer reads. What is written while some wait is added to them. */
  write(block: Block): number;
  /** The body is whole. */
  end(): void;
  /** Breaks the connection off. */
  cut(): void;
}>;

/** Bytes as a chunk (RFC 9112, 7.1), and the same bytes without its frame: made once for all peers. */
export type Block = Readonly<{ chunk: Uint8Array; bytes: Uint8Array }>;

const CRLF = Buffer.from("\r\n");

/** There must be some: an empty chunk is the last one. */
export function toBlock(content: string | Uint8Array): Block {
  const length = Buffer.byteLength(content);
  const head = Buffer.from(`${length.toString(16)}\r\n`);
  const chunk = Buffer.concat([head, typeof content === "string" ? Buffer.from(content) : content, CRLF]);
  return { chunk, bytes: chunk.subarray(head.length, -CRLF.length) };
}

export function isLive(body: HttpResponse["body"]): body is LiveBody {
  return typeof body === "object" && "open" in body;
}

type Headers = Readonly<Record<string, string>>;

/** How the end of a body is marked: "close" by that of the connection. */
export type Ending = Readonly<{ kind: "none" | "close" }> | Readonly<{ kind: "length"; length: number }> | Readonly<{ kind: "chunked" }>;

type HeadOptions = Readonly<{
  ending: Ending;
  isKeepAlive: boolean;
  isHttp10: boolean;
  date: string;
}>;

/** Every status that the service answers. `node:http` has the same words, and takes a tenth of a start to load. */
const REASONS: Readonly<Record<number, string>> = {
  200: "OK",
  201: "Created",
  204: "No Content",
  304: "Not Modified",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  409: "Conflict",
  410: "Gone",
  412: "Precondition Failed",
  413: "Payload Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Entity",
  426: "Upgrade Required",
  429: "Too Many Requests",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  501: "Not Implemented",
  503: "Service Unavailable",
  505: "HTTP Version Not Supported",
};

const STATUS_LINES = new Map(Object.entries(REASONS).map(([status, reason]) => [Number(status), `HTTP/1.1 ${status} ${reason}\r\n`]));

/**
 * The head of a response as text (RFC 9112, 4). The header values come from this service: none contains a line end, and
 * all are ASCII.
 */
export function toHead({ status, headers, lines = "" }: HttpResponse, { ending, isKeepAlive, isHttp10, date }: HeadOptions): string {
  let head = (STATUS_LINES.get(status) ?? `HTTP/1.1 ${status} \r\n`) + lines;
  for (const name in headers) if (name !== "connection") head += `${name}: ${headers[name]}\r\n`;
  head += `date: ${date}\r\n`;
  if (ending.kind === "length") head += `content-length: ${ending.length}\r\n`;
  else if (ending.kind === "chunked") head += "transfer-encoding: chunked\r\n";
  // RFC 9110, 7.8.
  if (status === 426) head += "connection: upgrade\r\n";
  if (!isKeepAlive) head += "connection: close\r\n";
  else if (isHttp10) head += "connection: keep-alive\r\n";
  return `${head}\r\n`;
}

/** RFC 9110, 6.4.1: these never have a body. */
export function isBodiless(status: number): boolean {
  return status === 204 || status === 304;
}
