import { expectConform } from "../conform.ts";
import { toBytes } from "./requests.ts";
import type { HostileRequest } from "./requests.ts";
import { openWire } from "../raw-http.ts";
import type { Wire, WireAnswer } from "../raw-http.ts";

/** With these the server refuses what is not a request of HTTP/1.1, without a body. */
const BARE_STATUSES = [400, 431, 505];

/** With these the service says that the head is too large, or that it does not know the method or version. */
const UNKNOWN_STATUSES = [431, 501, 505];

/** A longer head is refused, whatever it contains. The token is not counted. */
const HEAD_BYTES_MAX = 16_000;

/** Internals: places in code and on disk, statements, names of dependencies. */
const INTERNAL =
  /\bat \S+:\d+|\.ts\b|node_modules|\/(src|tmp|home|root|usr)\/|\b(SELECT|INSERT|UPDATE|WHERE|sqlite|postgres|pg_|SQLSTATE|ECONN\w*|undefined|\w*Error:)/i;

/**
 * For requests to no path of the contract, or only after its dots are resolved: operations that have the errors of all.
 */
const CREATE = { method: "post", path: "/plants" };
const PUT = { method: "put", path: "/plants/{id}" };

/** What must be stored: `text` is the plant as a read returns it. */
type Written = Readonly<{ request: HostileRequest; id: string; text: string }>;

/** Sends requests and says what is wrong with the responses. */
export function createJudge(token: string) {
  const statuses = new Map<number, number>();
  const successes = new Set<string>();
  const doubtful: Written[] = [];
  let readBack = 0;

  async function exchange(wire: Wire, request: HostileRequest) {
    const bytes = toBytes(request, token);
    const first = await wire.send(bytes, { isHead: request.method === "HEAD" });
    // A kept connection may be closed at any moment (RFC 9112, 9.3.1): then the request is sent again.
    return first === "cut" && !request.isBroken ? wire.send(bytes, { isHead: request.method === "HEAD" }) : first;
  }

  /** Reads a plant that was answered 200. If it differs, another request may have changed it meanwhile. */
  async function read(wire: Wire, id: string): Promise<string> {
    const answer = await exchange(wire, { method: "GET", target: `/plants/${id}`, headers: [], operation: undefined, isBroken: false });
    return typeof answer === "string" ? answer : answer.body.toString();
  }

  return {
    statuses,
    successes,
    readBack: () => readBack,
    /** What is wrong with the response; undefined if nothing is. */
    async send(wire: Wire, request: HostileRequest): Promise<string | undefined> {
      const answer = await exchange(wire, request);
      // A response to the rest of it would be taken for the response to the next request.
      if (request.isBroken) wire.close();
      if (typeof answer === "string") return answer === "cut" && request.isBroken ? undefined : answer;
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      if (answer.status < 400 && request.operation && request.method !== "OPTIONS") successes.add(request.operation.id);
      const written = toWritten(request, answer);
      const fault = (await findFault(request, answer)) ?? (typeof written === "string" ? written : undefined);
      if (fault !== undefined) return `${answer.status} ${answer.body.toString("latin1").slice(0, 500)}: ${fault}`;
      if (typeof written !== "object") return undefined;
      readBack += 1;
      if ((await read(wire, written.id)) !== written.text) doubtful.push(written);
      return undefined;
    },
    /** Writes the plants again that did not read back, one by one, and says which still do not. */
    async repeatDoubtful(url: string): Promise<string[]> {
      const wire = openWire(url);
      const faults: string[] = [];
      for (const { request, id, text } of doubtful) {
        await exchange(wire, { ...request, method: "DELETE", target: `/plants/${id}`, headers: [], body: "" });
        const answer = await exchange(wire, request);
        const found = await read(wire, id);
        if (typeof answer === "string" || answer.status >= 300) faults.push(`${JSON.stringify(request)} is not answered 200 alone`);
        else if (found !== text) faults.push(`${JSON.stringify(request)} reads back as ${found}`);
      }
      wire.close();
      return faults;
    },
  };
}

/** What is wrong with a response, whatever the request meant. */
async function findFault(request: HostileRequest, { status, headers, body }: WireAnswer): Promise<string | undefined> {
  const isNoRequest = (BARE_STATUSES.includes(status) && body.length === 0) || UNKNOWN_STATUSES.includes(status);
  if (isNoRequest && (request.isBroken || toBytes(request, "").indexOf("\r\n\r\n") > HEAD_BYTES_MAX)) return undefined;
  if (status >= 500) return "a status of its own fault";
  if (!headers.get("x-request-id")) return "no X-Request-Id";
  if (request.method === "HEAD") return body.length === 0 ? undefined : "a body for a HEAD";
  if (request.method === "OPTIONS" && status === 204 && headers.has("allow")) return undefined;
  if (!request.operation && status < 400) return undefined;
  const alike = request.method === "OPTIONS" ? PUT : (request.operation ?? (status === 409 ? CREATE : PUT));
  const fault = await checkConform(alike, { status, headers, body });
  if (fault !== undefined || status < 400) return fault;
  const { message } = JSON.parse(body.toString()) as { message: string };
  return INTERNAL.test(message) ? "something internal" : undefined;
}

async function checkConform(
  operation: Readonly<{ method: string; path: string }>,
  { status, headers, body }: WireAnswer,
): Promise<string | undefined> {
  try {
    await expectConform(operation, new Response(body.length > 0 ? Uint8Array.from(body) : null, { status, headers }));
    return undefined;
  } catch (reason) {
    return `not as the contract says: ${reason instanceof Error ? reason.message : String(reason)}`;
  }
}

/**
 * The plant that a create or a PUT has stored, as JSON.parse reads it, apart from its id: that is compared by its digits,
 * where it is sent as nothing else. A text says what is wrong with the answer; undefined if nothing had to be stored.
 */
function toWritten(request: HostileRequest, { status, headers, body }: WireAnswer): Written | string | undefined {
  const { operation, target, body: sent = "" } = request;
  const isCreate = operation?.id === "createPlant";
  if (request.isBroken || status >= 300 || !(isCreate || operation?.id === "putPlant")) return undefined;
  const { name, tag } = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(sent, "latin1"))) as Record<
    string,
    unknown
  >;
  if (![name, tag ?? ""].every((text) => typeof text === "string" && text.isWellFormed()) || tag === null)
    return "taken though it is no plant";
  const at = headers.get("content-location") ?? "";
  const id = isCreate ? at.replace("plants/", "") : at;
  const meant = isCreate ? (/^\{"id":(-?\d+)[,}]/.exec(sent)?.[1] ?? id) : target.split(/[/?]/)[2]!;
  const content = JSON.stringify({ name, tag });
  const text = `{"id":${id},${content.slice(1)}`;
  if (BigInt(meant) !== BigInt(id)) return "stored elsewhere";
  return body.toString() === (isCreate ? content : text) ? { request, id, text } : "not answered as sent";
}
