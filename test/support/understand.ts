import type { HttpRequest } from "../../src/http/wire/request.ts";
import type { HttpResponse } from "../../src/http/wire/response.ts";
import { hold } from "./held-connection.ts";

/** A request as our connection understood it, one character for each byte of the body. */
export type Understood = Pick<HttpRequest, "method" | "path" | "query" | "authority" | "headers"> & {
  body: string;
  /** How many bytes of the stream had arrived when it was complete; undefined when the stream ended before. */
  end: number | undefined;
};

export type Reading = Readonly<{
  requests: readonly Understood[];
  /** The code of the error when the rest was refused; undefined when more could follow, or the connection was closed. */
  refusal: string | undefined;
}>;

/** What our connection makes of the packets of one connection. */
export async function understand(packets: readonly string[]): Promise<Reading> {
  const requests: Understood[] = [];
  /** The request whose body has not arrived completely. */
  let waiting: Readonly<{ request: HttpRequest; respond: (response: HttpResponse) => void }> | undefined;
  let refusal: string | undefined;
  let arrived = 0;

  function answer(request: HttpRequest): HttpResponse | Promise<HttpResponse> {
    const { method, path, query, authority, headers } = request;
    const whole = request.body.whole();
    requests.push({ method, path, query, authority, headers, body: whole ? latin1(whole) : "", end: whole && arrived });
    return whole ? { status: 200 } : new Promise((respond) => (waiting = { request, respond }));
  }

  /** Responds to the request that waits, if its body is there now: the connection goes on to the next one. */
  async function complete(): Promise<void> {
    const whole = waiting?.request.body.whole();
    if (!waiting || !whole) return;
    Object.assign(requests.at(-1)!, { body: latin1(whole), end: arrived });
    const { respond } = waiting;
    waiting = undefined;
    await new Promise<void>((onSent) => respond({ status: 200, onSent }));
  }

  /** The stream is over: takes what there is of the body that is not complete. */
  async function breakOff({ request }: NonNullable<typeof waiting>): Promise<void> {
    try {
      for await (const piece of request.body) requests.at(-1)!.body += latin1(piece);
    } catch (thrown) {
      const { code } = thrown as { code: string };
      if (code === "incomplete_body") return;
      refusal = code;
      requests.pop();
    }
  }

  const held = hold({
    answer,
    refuse({ code, status }) {
      refusal = code;
      return { status };
    },
  });
  for (const packet of packets) {
    if (held.isGone() || refusal !== undefined) break;
    arrived += packet.length;
    held.say(packet);
    if (waiting) await complete();
  }
  held.receiveEnd();
  if (waiting) await breakOff(waiting);
  return { requests, refusal };
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}
