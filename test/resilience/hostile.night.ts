import { afterEach, expect, it } from "bun:test";
import { OPERATIONS } from "../../contract/generated/operations.ts";
import { ENGINES } from "../support/engines.ts";
import type { Engine } from "../support/engines.ts";
import { watchLoop } from "../support/loop/loop.ts";
import { seedOf } from "../support/random.ts";
import { inForm, tell } from "../support/run-form.ts";
import { CONNECTIONS, drawRequest, toBytes } from "../support/hostile/requests.ts";
import { killServices, startOn } from "../support/service-process.ts";
import { findGrowth, watchVitals } from "../support/vitals.ts";
import { openWire } from "../support/raw-http.ts";
import { expectConform } from "../support/conform.ts";
import type { HostileRequest } from "../support/hostile/requests.ts";
import type { Wire, WireAnswer } from "../support/raw-http.ts";

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
function createJudge(token: string) {
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

/** For another number, set TEST_HOSTILE_REQUESTS: a million takes half an hour on each engine. */
const REQUESTS = inForm(6000, Number(process.env["TEST_HOSTILE_REQUESTS"] ?? 1_000_000));
/** With this many faults a run stops. */
const FAULTS_MAX = 5;
const SAMPLE_MS = inForm(200, 2000);
const SHOWN_LENGTH = 2000;

/**
 * The longest time that the event loop may be blocked, in milliseconds of the processor: what 24 clients ask at once,
 * on a shared machine.
 */
const KEPT_MS_MAX = 250;

afterEach(killServices);

/** Starts a new service and sends it hostile requests over several connections. Ends early after enough faults. */
async function attack(engine: Engine) {
  const seed = seedOf("hostile");
  const loop = watchLoop();
  const service = await startOn(engine, { environment: loop.environment });
  loop.reset();
  const judge = createJudge(service.token);
  const vitals = watchVitals(service.pid, SAMPLE_MS);
  const faults: string[] = [];
  const started = performance.now();

  async function fire(first: number): Promise<void> {
    const wire = openWire(service.url);
    for (let number = first; number < REQUESTS && faults.length < FAULTS_MAX; number += CONNECTIONS) {
      const request = drawRequest(seed, number);
      const fault = await judge.send(wire, request);
      if (fault !== undefined) faults.push(`request ${number} of seed ${seed}: ${fault}\n${show(toBytes(request, "TOKEN"))}`);
    }
    wire.close();
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, (_, connection) => fire(connection)));
  const seconds = (performance.now() - started) / 1000;
  const growth = findGrowth(vitals.stop(), "megabytes");
  // With nothing else under way, no other request can have changed the plant between its write and its read.
  faults.push(...(await judge.repeatDoubtful(service.url)));
  const keptMs = loop.longestMs();
  if (keptMs > KEPT_MS_MAX) faults.push(`the event loop was blocked for ${keptMs} ms`);
  return { service, judge, faults, growth, seconds, keptMs };
}

/**
 * What a run must meet to count: each of these responses, and a success of each operation but the one that needs a
 * token's id.
 */
const OPERATION_IDS = OPERATIONS.map(({ id }) => id).filter((id) => id !== "revokeToken");
const STATUSES = [200, 204, 400, 401, 404, 405, 409, 412, 413, 415];
/** In the short form the runtime's heap is still growing to its usual size: 1.26 was seen. */
const MEGABYTES_GROWTH_MAX = inForm(1.5, 1.25);

for (const engine of ENGINES) {
  it(`hostile input on ${engine.engine}: ${REQUESTS} generated requests are answered according to the contract, never 5xx, plants come back as sent, and memory stays flat`, async () => {
    const { service, judge, faults, growth, seconds, keptMs } = await attack(engine);
    const { middle, last } = growth;
    const counts = Object.fromEntries(judge.statuses);
    tell(`hostile input, ${engine.engine}`, { ...counts, readBack: judge.readBack(), perSecond: REQUESTS / seconds, ...growth, keptMs });
    expect(faults).toEqual([]);
    expect(STATUSES.filter((status) => !judge.statuses.has(status))).toEqual([]);
    expect(OPERATION_IDS.filter((id) => !judge.successes.has(id))).toEqual([]);
    expect(judge.readBack()).toBeGreaterThan(REQUESTS / 100);
    expect(last / middle).toBeLessThan(MEGABYTES_GROWTH_MAX);
    expect(service.lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
    expect(await service.statusOf("POST", "/plants", '{"id":4711,"name":"Monstera"}')).toBe(200);
    expect(await service.end("SIGTERM")).toBe(0);
  });
}

/** A request as text that JavaScript and Python read in the same way. */
function show(bytes: Buffer): string {
  const text = JSON.stringify(bytes.toString("latin1"));
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)} and ${text.length - SHOWN_LENGTH} characters more` : text;
}
