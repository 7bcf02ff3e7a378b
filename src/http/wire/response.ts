import { STATUS_CODES } from "node:http";

/** A response, before it is written to a connection. A body is JSON, unless the headers say otherwise. */
export type HttpResponse = Readonly<{
  status: number;
  body?: string | Uint8Array | ReadableStream<Uint8Array>;
  headers?: Readonly<Record<string, string>>;
  /** Called once, when nothing of the response is kept any more: it has been sent, or never will be. */
  onSent?: () => void;
}>;

/** How the end of a body is marked. */
export type Ending = Readonly<{ kind: "none" }> | Readonly<{ kind: "length"; length: number }> | Readonly<{ kind: "chunked" }>;

type HeadOptions = Readonly<{
  status: number;
  headers: NonNullable<HttpResponse["headers"]>;
  ending: Ending;
  isKeepAlive: boolean;
  isHttp10: boolean;
  date: string;
}>;

/** The head of a response as text (RFC 9112, 4). The header values come from this service, and none contains a line end. */
export function toHead({ status, headers, ending, isKeepAlive, isHttp10, date }: HeadOptions): string {
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n`;
  for (const name in headers) if (name !== "connection") head += `${name}: ${headers[name]}\r\n`;
  head += `date: ${date}\r\n`;
  if (ending.kind === "length") head += `content-length: ${ending.length}\r\n`;
  else if (ending.kind === "chunked") head += "transfer-encoding: chunked\r\n";
  if (!isKeepAlive) head += "connection: close\r\n";
  else if (isHttp10) head += "connection: keep-alive\r\n";
  return `${head}\r\n`;
}

/** RFC 9110, 6.4.1: these never have a body. */
export function isBodiless(status: number): boolean {
  return status === 204 || status === 304;
}
