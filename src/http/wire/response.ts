/** A response, before it is written to a connection. A body is JSON, unless the headers say otherwise. */
export type HttpResponse = Readonly<{
  status: number;
  /** A stream only over HTTP/1.1: HTTP/1.0 has no chunks. */
  body?: string | Uint8Array | ReadableStream<Uint8Array> | undefined;
  headers?: Headers | undefined;
  /** Further header lines, each with its line end. */
  lines?: string;
  /** Whether the connection is closed after it. */
  isLast?: boolean;
  /** Called once, when nothing of the response is kept any more: it has been sent, or never will be. */
  onSent?: (() => void) | undefined;
}>;

type Headers = Readonly<Record<string, string>>;

/** How the end of a body is marked. */
export type Ending = Readonly<{ kind: "none" }> | Readonly<{ kind: "length"; length: number }> | Readonly<{ kind: "chunked" }>;

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
