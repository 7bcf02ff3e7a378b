import { describe, expect, it } from "bun:test";
import { ENGINES } from "../support/engines.ts";
import { sendRaw, toRequest } from "../support/raw-http.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { callerTrace, startCollector } from "../support/test-collector.ts";
import type { Received } from "../support/test-collector.ts";

/** What a service did: all spans that its collector got until it had stopped, and its log. */
type Done = Readonly<{ spans: readonly Received[]; raw: string; logged: ReadonlyArray<Record<string, unknown>>; token: string }>;

type Given = Readonly<{ flags?: Record<string, string>; environment?: Record<string, string> }>;

/** Starts a service that sends its traces, does the work, and stops it. */
async function traced({ flags = {}, environment = {} }: Given, work: (service: TestService) => Promise<void>): Promise<Done> {
  const collector = startCollector();
  const service = await startTestService({ log: "debug", ...flags }, { environment: { ...collector.environment, ...environment } });
  try {
    await work(service);
  } finally {
    await service.stop();
    await collector.stop();
  }
  const logged = service.logged.map((line) => JSON.parse(line) as Record<string, unknown>);
  return { spans: collector.spans(), raw: collector.raw(), logged, token: service.token };
}

/** The spans of a trace, by name. */
function ofTrace({ spans }: Done, { traceId }: { traceId: string }): Record<string, Received | undefined> {
  return Object.fromEntries(spans.filter((span) => span.traceId === traceId).map((span) => [span.name, span]));
}

function isThere({ raw }: Done, { traceId }: { traceId: string }): boolean {
  return raw.includes(traceId);
}

function requestsIn(spans: readonly Received[]): number {
  return spans.filter(({ kind }) => kind === "server").length;
}

const JSON_TYPE = { "content-type": "application/json" };
const SIMPLE = callerTrace(1);
const CHANGE = callerTrace(2);
const CONFLICT = callerTrace(3);
const SECRET = [5, 6, 7, 8].map((at) => callerTrace(at));
const TOGETHER = Array.from({ length: 40 }, (_, at) => callerTrace(100 + at));

async function sendAll({ post, request }: TestService): Promise<void> {
  await post('{"id":1,"name":"Rose"}', { ...SIMPLE.headers, tracestate: "vendor=value, tenant@system=1", "x-request-id": "simple" });
  await request("/plants/1", { method: "PUT", body: '{"name":"Lily"}', headers: { ...CHANGE.headers, ...JSON_TYPE } });
  await post('{"id":1,"name":"Iris"}', CONFLICT.headers);
  await Promise.all(TOGETHER.map(({ headers }, at) => post(`{"id":${100 + at},"name":"Fern"}`, headers)));
}

/** Puts a secret wherever someone can send one. */
async function sendSecrets({ post, request }: TestService): Promise<void> {
  const [created, refused, listed, patched] = SECRET.map(({ headers }) => ({ ...headers, ...JSON_TYPE, "x-secret": "SECRET-HEADER" }));
  await post('{"id":5,"name":"SECRET-NAME","tag":"SECRET-TAG"}', created);
  await post('{"id":5,"name":"SECRET-OTHER","tag":"SECRET-TAG"}', refused);
  await request("/plants?q=SECRET-WORDS&tag=SECRET-TAG", { headers: listed! });
  await request("/plants/5", { method: "PATCH", body: '{"name":"SECRET-NEW","tag":null}', headers: patched! });
  await request("/SECRET-PATH", { headers: { "user-agent": "SECRET-AGENT", "x-request-id": "unknown-path" } });
  await request("/plants", { headers: { authorization: "Bearer SECRET-TOKEN", "x-request-id": "wrong-token" } });
}

for (const { engine, openFlags } of ENGINES) {
  const flags = { logChanges: "each", ...(await openFlags()) };
  const done = await traced({ flags }, async (service) => {
    await sendAll(service);
    await sendSecrets(service);
  });

  describe(`traces on ${engine}`, () => {
    it("have a create of a caller as request, admission and store, each in its parent", () => {
      const { "POST /plants": request, admission, "plants.create": create, ...others } = ofTrace(done, SIMPLE);
      expect(others).toEqual({});
      expect(request!.parentSpanId).toBe(SIMPLE.spanId);
      expect(request!.traceState).toBe("vendor=value, tenant@system=1");
      expect(request!.kind).toBe("server");
      expect(request!.attributes).toEqual({
        "http.request.method": "POST",
        "http.response.status_code": 200,
        "http.route": "/plants",
        "plant_store.request_id": "simple",
        "url.path": "/plants",
        "url.scheme": "http",
      });
      for (const child of [admission!, create!]) {
        expect(child.parentSpanId).toBe(request!.spanId);
        expect(child.kind).toBe("internal");
        expect(child.started >= request!.started && child.ended <= request!.ended && child.started <= child.ended).toBeTrue();
      }
      expect(admission!.ended <= create!.started).toBeTrue();
      // Whether the parent is remote: it is known, and only that of the request is.
      expect([request!, admission!, create!].map((span) => span.flags)).toEqual([0x301, 0x101, 0x101]);
      expect(Math.abs(Number(request!.started / 1_000_000n) - Date.now())).toBeLessThan(300_000);
    });

    it("link a commit and all creates that it serves with each other", () => {
      const commits = new Map(done.spans.filter(({ name }) => name === "COMMIT").map((commit) => [commit.spanId, commit]));
      const ofMany = new Set<Received>();
      for (const caller of TOGETHER) {
        const create = ofTrace(done, caller)["plants.create"]!;
        expect(create.links.length).toBe(1);
        const commit = commits.get(create.links[0]!.spanId)!;
        expect(commit.traceId).toBe(create.links[0]!.traceId);
        expect(commit.links).toContainEqual({ traceId: create.traceId, spanId: create.spanId });
        expect(commit.started >= create.started && commit.ended <= create.ended).toBeTrue();
        if (commit.links.length > 1) ofMany.add(commit);
      }
      expect(ofMany.size).toBeGreaterThan(0);
      for (const commit of ofMany) {
        expect(commit.parentSpanId).toBe("");
        expect(commit.kind).toBe("client");
        expect(commit.attributes).toEqual({
          "db.system.name": engine.toLowerCase(),
          "db.operation.name": "COMMIT",
          "db.operation.batch.size": commit.links.length,
        });
      }
    });

    it("are named in the log with the id of the request", () => {
      const lines = done.logged.filter(({ requestId }) => requestId === "simple");
      expect(lines.map(({ event, traceId }) => [event, traceId])).toEqual([
        ["plant_changed", SIMPLE.traceId],
        ["request", SIMPLE.traceId],
      ]);
    });

    it("say which error of the contract a request got, and that it was the caller's", () => {
      const { "POST /plants": request, "plants.create": create } = ofTrace(done, CONFLICT);
      for (const span of [request!, create!]) expect([span.attributes["error.type"], span.isError]).toEqual(["id_in_use", false]);
    });

    it("have nothing of plants but their ids, no search, no token and no path that the contract does not have", () => {
      for (const caller of SECRET) expect(isThere(done, caller)).toBeTrue();
      const ids = done.spans.map(({ attributes }) => attributes["plant_store.request_id"]);
      expect(ids).toContain("unknown-path");
      expect(ids).toContain("wrong-token");
      expect(done.raw).toContain("/plants/5");
      expect(done.raw).not.toContain("SECRET");
      expect(done.raw).not.toContain(done.token);
    });
  });
}

describe("whether a request is traced", () => {
  it("follows its caller: not without the flag, but the log names the trace", async () => {
    const unwanted = callerTrace(1, "00");
    const done = await traced({}, async ({ post }) => {
      await post('{"id":1,"name":"Rose"}', unwanted.headers);
      await post('{"id":2,"name":"Rose"}', callerTrace(2).headers);
    });
    expect([isThere(done, unwanted), isThere(done, callerTrace(2))]).toEqual([false, true]);
    expect(done.logged.filter(({ traceId }) => traceId === unwanted.traceId).map(({ event }) => event)).toEqual(["request"]);
  });

  it("does not follow a caller without a valid token", async () => {
    const done = await traced({}, async ({ post, request }) => {
      const headers = { ...callerTrace(1).headers, authorization: "Bearer none" };
      for (const path of ["/plants", "/livez", "/", "/nothing"]) await request(path, { headers });
      await post('{"id":2,"name":"Rose"}', callerTrace(2).headers);
    });
    expect([isThere(done, callerTrace(1)), isThere(done, callerTrace(2))]).toEqual([false, true]);
  });

  it("follows the sampler when no caller has a trace", async () => {
    const { spans } = await traced({ environment: { OTEL_TRACES_SAMPLER: "parentbased_always_off" } }, async ({ post }) => {
      await post('{"id":1,"name":"Rose"}');
      await post('{"id":2,"name":"Rose"}', callerTrace(2).headers);
    });
    expect(requestsIn(spans)).toBe(1);
  });

  it("is bounded: of a thousand callers who wish it, a hundred in a second are traced", async () => {
    let seconds = 0;
    const { spans } = await traced({}, async ({ post }) => {
      const send = (at: number) => post(`{"id":${at + 1},"name":"Rose"}`, callerTrace(at).headers);
      const began = Math.floor(performance.now() / 1000);
      for (let from = 0; from < 1000; from += 100) await Promise.all(Array.from({ length: 100 }, (_, at) => send(from + at)));
      seconds = Math.floor(performance.now() / 1000) - began + 1;
    });
    expect(requestsIn(spans)).toBeGreaterThanOrEqual(100);
    expect(requestsIn(spans)).toBeLessThanOrEqual(100 * seconds);
  });

  it("does not pass on to the next requests of its connection", async () => {
    const { traceId, headers } = callerTrace(1);
    const done = await traced({ environment: { OTEL_TRACES_SAMPLER: "parentbased_always_off" } }, async ({ url, token }) => {
      const create = (id: number, ...fields: readonly string[]) =>
        toRequest("POST /plants", { token, fields: ["Content-Type: application/json", ...fields], body: `{"id":${id},"name":"Rose"}` });
      await sendRaw(url, [create(1, `traceparent: ${headers.traceparent}`) + create(2) + create(3, "Connection: close")]);
    });
    expect(done.spans.filter(({ name }) => name === "plants.create").length).toBe(1);
    const requests = done.logged.filter(({ event }) => event === "request");
    expect(requests.map((line) => line["traceId"])).toEqual([traceId, undefined, undefined]);
  });
});

describe("a request with a thousand changes", () => {
  it("has 32 calls of the store in its trace at most, and is still linked with all its commits", async () => {
    const { traceId, headers } = callerTrace(1);
    const changes = Array.from({ length: 1000 }, (_, at) => `{"id":${at + 1},"from":null,"to":{"name":"Rose"}}`);
    const { spans } = await traced({}, async ({ request }) => {
      const body = `{"changes":[${changes.join()}]}`;
      expect((await request("/plants/changes", { method: "POST", body, headers: { ...headers, ...JSON_TYPE } })).status).toBe(200);
    });
    const own = spans.filter((span) => span.traceId === traceId);
    const calls = own.filter(({ name }) => name.startsWith("plants."));
    expect(calls.length).toBe(32);
    const linked = own.flatMap(({ links }) => links.map(({ spanId }) => spanId));
    const commits = spans.filter(({ name }) => name === "COMMIT").map(({ spanId }) => spanId);
    expect(commits.length).toBeGreaterThan(1);
    expect(commits.filter((commit) => !linked.includes(commit))).toEqual([]);
  });
});
