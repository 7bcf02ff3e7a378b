import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { once } from "node:events";

/**
 * A server in front of the service that splits its input into requests carelessly: any line end will do, the first
 * digits of the first length count, and a coding is ignored. What it passes on to the service is always well-formed.
 * Ends with the tests.
 */
export async function startNaiveFront(url: string): Promise<string> {
  async function forward({ token, body }: Request): Promise<string> {
    const response = await fetch(`${url}/plants`, { method: "POST", body, headers: { authorization: `Bearer ${token}` } });
    const text = await response.text();
    return `HTTP/1.1 ${response.status} X\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
  }

  async function serve(socket: Socket): Promise<void> {
    let rest = "";
    socket.on("error", () => {});
    for await (const bytes of socket as AsyncIterable<Buffer>) {
      rest += bytes.toString("latin1");
      for (let next = takeRequest(rest); next; next = takeRequest(rest)) {
        rest = next.rest;
        socket.write(await forward(next));
      }
    }
  }

  const server = createServer((socket) => void serve(socket));
  server.unref().listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

type Request = Readonly<{ token: string; body: string; rest: string }>;

function takeRequest(text: string): Request | undefined {
  const [head = "", token = ""] = /^[^]*?bearer ([^\s]+)[^]*?\r?\n\r?\n/i.exec(text) ?? [];
  if (head === "") return undefined;
  const length = Number(/content-length[^\d]*(\d+)/i.exec(head)?.[1] ?? 0);
  const end = head.length + length;
  return text.length < end ? undefined : { token, body: text.slice(head.length, end), rest: text.slice(end) };
}
