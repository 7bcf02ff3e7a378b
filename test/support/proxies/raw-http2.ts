import { once } from "node:events";
import { connect } from "node:tls";
import type { Certificate } from "../certificate.ts";

// HTTP/2 as bytes (RFC 9113), for requests that no client would send.

type RawRequest = Readonly<{ fields: readonly (readonly [name: string, value: string])[]; body?: string }>;

const SMUGGLED = "GET /smuggled HTTP/1.1\r\nHost: plants\r\n\r\n";

const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const DATA = 0;
const HEADERS = 1;
const SETTINGS = 4;
const END_STREAM = 1;
const END_HEADERS = 4;
/** How long a proxy has to answer, or to pass on what it must not. */
const WAIT_MS = 300;

type Way = Readonly<{ url: string; certificate: Certificate; from: string }>;

/** Sends one request on a connection of its own, from an address of the loopback. What comes of it shows elsewhere. */
export async function sendHttp2({ url, certificate, from }: Way, { fields, body }: RawRequest): Promise<void> {
  const { hostname, port } = new URL(url);
  const way = { host: "127.0.0.1", port: Number(port), localAddress: from };
  const socket = connect({ ...way, servername: hostname, ca: certificate.text, ALPNProtocols: ["h2"] });
  socket.on("error", () => {});
  await once(socket, "secureConnect");
  socket.write(Buffer.concat([Buffer.from(PREFACE), frame(SETTINGS, 0, 0, Buffer.alloc(0))]));
  const head = Buffer.concat(fields.map(([name, value]) => literal(name, value)));
  socket.write(frame(HEADERS, END_HEADERS | (body === undefined ? END_STREAM : 0), 1, head));
  if (body !== undefined) socket.write(frame(DATA, END_STREAM, 1, Buffer.from(body, "latin1")));
  await Bun.sleep(WAIT_MS);
  socket.destroy();
}

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A field that is neither indexed nor compressed (RFC 7541, 6.2.2). */
function literal(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0]), text(name), text(value)]);
}

/** A length below 127 is one byte; more has a rest in pieces of seven bits (RFC 7541, 5.1). */
function text(value: string): Buffer {
  const bytes = Buffer.from(value, "latin1");
  const length = bytes.length < 127 ? [bytes.length] : [127];
  let rest = bytes.length - 127;
  if (rest >= 0) {
    for (; rest >= 128; rest >>= 7) length.push((rest & 127) | 128);
    length.push(rest);
  }
  return Buffer.concat([Buffer.from(length), bytes]);
}

/** Requests that become two if a proxy writes them down as HTTP/1.1 without a look, after a usual one to the path `usual`. */
export function hostileRequests({ host, usual: path }: Readonly<{ host: string; usual: string }>): RawRequest[] {
  const usual = { ":method": "POST", ":scheme": "https", ":authority": host, ":path": "/plants" };
  const body = `0\r\n\r\n${SMUGGLED}`;
  const request = (changed: Readonly<Record<string, string>>, ...more: RawRequest["fields"]) => ({
    fields: [...Object.entries({ ...usual, ...changed }), ...more],
    body,
  });
  const length = String(body.length);
  return [
    request({ ":path": path }),
    request({}, ["transfer-encoding", "chunked"]),
    request({}, ["content-length", "0"]),
    request({}, ["content-length", "5"]),
    request({}, ["content-length", "5"], ["content-length", length]),
    request({}, ["transfer-encoding", "chunked"], ["content-length", length]),
    request({}, ["x", `y\r\n\r\n${SMUGGLED}`]),
    request({}, ["x", `y\n\n${SMUGGLED.replaceAll("\r", "")}`]),
    request({}, [`x: y\r\n\r\n${SMUGGLED}z`, "1"]),
    request({}, ["x: y\r\ntransfer-encoding", "chunked"]),
    request({ ":path": `/x HTTP/1.1\r\nHost: plants\r\n\r\n${SMUGGLED}` }),
    request({ ":path": "/x HTTP/1.1\r\ntransfer-encoding: chunked\r\nx: y" }),
    request({ ":method": `GET /x HTTP/1.1\r\nHost: plants\r\n\r\n${SMUGGLED}POST` }),
    request({ ":authority": `plants\r\n\r\n${SMUGGLED}` }),
    request({ ":scheme": `https://plants/smuggled HTTP/1.1\r\n\r\n${SMUGGLED}` }),
    request({}, ["connection", "upgrade"], ["upgrade", "h2c"], ["http2-settings", "AAMAAABkAAQAAP__"]),
    request({ ":method": "CONNECT", ":path": "/smuggled" }),
    request({}, [":path", "/smuggled"]),
  ];
}
