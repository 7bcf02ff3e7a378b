import type { NewPlant } from "../../../src/domain/plant.ts";
import { expectConform } from "../conform.ts";
import { countLines, readPlant } from "./reference.ts";
import { toBytes } from "./requests.ts";
import type { HostileRequest } from "./requests.ts";
import { openWire } from "../raw-http.ts";
import type { Wire, WireAnswer } from "../raw-http.ts";

/** The default of the service. */
const BODY_BYTES_MAX = 65_536;

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

type Written = Readonly<{ request: HostileRequest; plant: NewPlant }>;

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

  function get(wire: Wire, id: bigint): Promise<string> {
    const target = `/plants/${id}`;
    return exchange(wire, { method: "GET", target, headers: [], operation: undefined, isPlain: true, isBroken: false }).then((answer) =>
      typeof answer === "string" ? answer : answer.body.toString(),
    );
  }

  /** Reads a plant that was answered 200. If it differs, another request may have changed it meanwhile. */
  async function isReadBack(wire: Wire, { plant }: Written): Promise<boolean> {
    return (await get(wire, plant.id)) === textOf(plant);
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
      if (answer.status < 400 && request.operation) successes.add(operationOf(request.operation));
      const fault = (await findFault(request, answer)) ?? findMeaning(request, answer);
      if (fault !== undefined) return `${answer.status} ${answer.body.toString("latin1").slice(0, 500)}: ${fault}`;
      const plant = answer.status === 200 || answer.status === 201 ? plantOf(request) : undefined;
      if (!plant) return undefined;
      readBack += 1;
      if (!(await isReadBack(wire, { request, plant }))) doubtful.push({ request, plant });
      return undefined;
    },
    /** Writes the plants again that did not read back, one by one, and says which still do not. */
    async repeatDoubtful(url: string): Promise<string[]> {
      const wire = openWire(url);
      const faults: string[] = [];
      for (const written of doubtful) {
        const { request, plant } = written;
        await exchange(wire, { ...request, method: "DELETE", target: `/plants/${plant.id}`, headers: [], body: "" });
        const answer = await exchange(wire, request);
        if (typeof answer === "string" || answer.status >= 300) faults.push(`${JSON.stringify(request)} is not answered 200 alone`);
        else if (!(await isReadBack(wire, written))) faults.push(`${JSON.stringify(request)} reads back as ${await get(wire, plant.id)}`);
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
  if (request.method === "OPTIONS")
    return status === 204 && headers.has("allow") ? undefined : checkConform(PUT, { status, headers, body });
  if (!request.operation && status < 400) return undefined;
  const fault = await checkConform(request.operation ?? (status === 409 ? CREATE : PUT), { status, headers, body });
  if (fault !== undefined || status < 400) return fault;
  const { message } = JSON.parse(body.toString()) as { message: string };
  return INTERNAL.test(message) ? "something internal" : undefined;
}

async function checkConform(
  operation: { method: string; path: string },
  { status, headers, body }: WireAnswer,
): Promise<string | undefined> {
  try {
    await expectConform(operation, new Response(body.length > 0 ? Uint8Array.from(body) : null, { status, headers }));
    return undefined;
  } catch (reason) {
    return `not as the contract says: ${reason instanceof Error ? reason.message : String(reason)}`;
  }
}

/** The plant that a create or a PUT must store; undefined for what must be refused, and for other operations. */
function plantOf({ isPlain, operation, target, body = "" }: HostileRequest): NewPlant | undefined {
  if (!isPlain || body.length > BODY_BYTES_MAX) return undefined;
  const bytes = Buffer.from(body, "latin1");
  if (operation?.method === "POST" && operation.path === "/plants") return readPlant(bytes);
  return operation?.method === "PUT" ? readPlant(bytes, { pathId: BigInt(target.slice("/plants/".length)) }) : undefined;
}

/**
 * What is wrong with the response to a request that is right except perhaps for its body: only a plant must be
 * accepted.
 */
function findMeaning(request: HostileRequest, answer: WireAnswer): string | undefined {
  const { isPlain, operation, headers } = request;
  if (!isPlain) return undefined;
  if (operation?.method === "PUT") return findWriteFault(request, answer);
  if (operation?.method !== "POST") return undefined;
  if (operation.path === "/plants") return findWriteFault(request, answer);
  return answer.status === 200 && headers.includes("Content-Type: application/x-ndjson") ? findImportFault(request, answer) : undefined;
}

function findWriteFault(request: HostileRequest, { status, headers, body }: WireAnswer): string | undefined {
  const isCreate = request.method === "POST";
  const plant = plantOf(request);
  if (!plant) return status === 400 || status === 413 ? undefined : "taken though it is no plant";
  if (status === 409 && isCreate) return undefined;
  if (status !== 200 && (isCreate || status !== 201)) return "refused though it is a plant";
  const { id, ...content } = plant;
  if (headers.get("content-location") !== (isCreate ? `plants/${id}` : String(id))) return "created elsewhere";
  return body.toString() === (isCreate ? JSON.stringify(content) : textOf(plant)) ? undefined : "not answered as sent";
}

type Summary = Readonly<Record<"read" | "created" | "unchanged" | "replaced" | "refused", number>>;

function findImportFault({ target, body = "" }: HostileRequest, answer: WireAnswer): string | undefined {
  const { read, created, unchanged, replaced, refused } = JSON.parse(answer.body.toString()) as Summary;
  const { lines, plants } = countLines(body);
  const taken = created + unchanged + replaced;
  if (read !== lines || read !== taken + refused) return `${lines} lines are counted otherwise`;
  // Otherwise a plant is refused if another one has its id.
  const isReplacing = target.includes("onConflict=replace");
  return taken > plants || (isReplacing && taken < plants) ? `${plants} of ${lines} lines are plants` : undefined;
}

function textOf({ id, ...content }: NewPlant): string {
  return `{"id":${id},${JSON.stringify(content).slice(1)}`;
}

/** HEAD is an operation of GET, without the body. An export is mostly asked for like that. */
function operationOf({ method, path }: Readonly<{ method: string; path: string }>): string {
  return `${method === "HEAD" ? "GET" : method} ${path}`;
}
