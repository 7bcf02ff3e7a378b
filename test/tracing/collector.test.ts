import { afterEach, describe, expect, it } from "bun:test";
import { createLog } from "../../src/runtime/log.ts";
import { createMetrics } from "../../src/runtime/metrics.ts";
import { SpanQueue } from "../../src/tracing/span-queue.ts";
import { toExportRequest } from "../../src/tracing/otlp.ts";
import type { Span } from "../../src/tracing/span.ts";
import { findFreePort } from "../support/port.ts";
import { startPatientClock } from "../support/patient-clock.ts";
import { startTestService } from "../support/service.ts";
import { callerTrace, partialSuccess, read, startCollector } from "../support/test-collector.ts";
import { until } from "../support/until.ts";

const SENDER = { resource: { "service.name": "plants" }, scope: { name: "plants", version: "1" } };

function span(at: number, given: Partial<Span> = {}): Span {
  const { traceId, spanId } = callerTrace(at + 1);
  const empty = { parent: undefined, attributes: {}, links: [], linksDropped: 0, isFailed: false };
  return { context: { traceId, spanId }, name: `span ${at}`, kind: "internal", started: 1, ended: 2, ...empty, ...given };
}

type Counts = Readonly<{ sent: number; dropped: number; failed: number; waiting: number }>;

/** What sends spans to this address, with what it counts and logs. */
function openSender(url: string) {
  const metrics = createMetrics();
  const logged: string[] = [];
  const log = createLog({ level: "debug", isTerminal: false, write: (line) => logged.push(line), now: Date.now });
  const encode = (spans: readonly Span[]) => toExportRequest(spans, SENDER, 0);
  const sender = new SpanQueue({ url, headers: { "api-key": "key" }, encode, metrics, log, now: () => performance.now() });
  async function counts(): Promise<Counts> {
    const families = await metrics.read();
    const samples = families.flatMap((family) => family.samples);
    const of = (outcome: string) => samples.find(({ labels }) => labels["outcome"] === outcome)!.value;
    const waiting = samples.find(({ labels }) => !labels["outcome"])!.value;
    return { sent: of("sent"), dropped: of("dropped"), failed: of("failed"), waiting };
  }
  const events = () => logged.map((line) => (JSON.parse(line) as { event: string }).event);
  function add(count: number): void {
    for (let at = 0; at < count; at += 1) sender.add(span(at));
  }
  return { add, stop: sender.stop, counts, events, logged };
}

const closing: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A collector that answers so, until the end of the test, and what sends spans to it. */
function openBoth(answer: NonNullable<Parameters<typeof startCollector>[0]>["answer"] = () => new Response()) {
  const collector = startCollector({ answer });
  closing.push(() => collector.stop());
  return { collector, sender: openSender(collector.url) };
}

/** A collector that takes requests and never answers. */
const silent = () => new Promise<Response>(() => {});

describe("a span", () => {
  it("is in a request what it was, at any length and with any text, as the specification of OTLP has it", () => {
    const { traceId, spanId } = callerTrace(9);
    const links = Array.from({ length: 128 }, (_, at) => callerTrace(at + 1)).map((link) => ({
      traceId: link.traceId,
      spanId: link.spanId,
    }));
    const attributes = { text: "ä🌿".repeat(50_000), empty: "", none: 0, small: 127, two: 128, large: 2 ** 53 - 1 };
    const whole = span(0, {
      context: { traceId, spanId, state: "a=1" },
      parent: { spanId: "00f067aa0ba902b7", isRemote: true },
      kind: "client",
      attributes,
      links,
      linksDropped: 3,
      isFailed: true,
      started: 1_795_402_063_274.956,
      ended: 1_795_402_063_275,
    });
    const spans = read(toExportRequest([whole, span(1)], SENDER, 0));
    expect(spans[0]).toEqual({
      traceId,
      spanId,
      parentSpanId: "00f067aa0ba902b7",
      traceState: "a=1",
      name: "span 0",
      kind: "client",
      started: 1_795_402_063_274_956_000n,
      ended: 1_795_402_063_275_000_000n,
      attributes,
      links,
      isError: true,
      flags: 0x301,
      resource: SENDER.resource,
    });
    expect(spans[1]).toMatchObject({ name: "span 1", kind: "internal", parentSpanId: "", links: [], isError: false, flags: 0x101 });
  });
});

describe("a collector", () => {
  it("gets spans together, in order, with the headers that it wants", async () => {
    const { collector, sender } = openBoth();
    sender.add(1000);
    await until("all are sent", async () => (await sender.counts()).sent === 1000);
    await sender.stop();
    expect(collector.spans().map(({ name }) => name)).toEqual(Array.from({ length: 1000 }, (_, at) => `span ${at}`));
    expect(collector.requests.length).toBe(2);
    const [{ method, headers }] = collector.requests as [Request];
    expect([method, headers.get("content-type"), headers.get("api-key")]).toEqual(["POST", "application/json", "key"]);
  });

  it("gets the same spans again after it answers 429, as late as it says, and nothing before", async () => {
    const times: number[] = [];
    const { collector, sender } = openBoth((_request, at) => {
      times.push(performance.now());
      return at === 0 ? new Response(null, { status: 429, headers: { "retry-after": "1" } }) : new Response();
    });
    sender.add(600);
    await until("all are sent", async () => (await sender.counts()).sent === 600);
    expect(times[1]! - times[0]!).toBeGreaterThanOrEqual(990);
    expect(new Set(collector.spans().map(({ name }) => name)).size).toBe(600);
    expect(collector.spans().length).toBe(600);
    expect(sender.events()).toEqual(["collector_trouble", "collector_healed"]);
    await sender.stop();
  });

  for (const status of [400, 413, 301, 500])
    it(`never gets the same spans again after it answers ${status}`, async () => {
      const { collector, sender } = openBoth(() => new Response(null, { status, headers: { location: "http://elsewhere/" } }));
      sender.add(1);
      await sender.stop();
      expect(collector.requests.length).toBe(1);
      expect(await sender.counts()).toEqual({ sent: 0, dropped: 0, failed: 1, waiting: 0 });
      expect(sender.logged.join("")).toContain(`The collector answered ${status}.`);
    });

  for (const [why, body, failed] of [
    ["rejects some", partialSuccess(300, "full"), 300],
    ["rejects more than it got", partialSuccess(2 ** 40, "x".repeat(1000)), 512],
    ["rejects some, with a number instead of a text", '{"partialSuccess":{"rejectedSpans":300}}', 300],
    ["says nothing", "", 0],
    ["answers what breaks off", partialSuccess(300, "full").slice(0, 30), 0],
  ] as const)
    it(`has ${failed} of 512 spans counted as failed when it ${why}`, async () => {
      const { collector, sender } = openBoth(() => new Response(body));
      sender.add(512);
      await sender.stop();
      expect(await sender.counts()).toEqual({ sent: 512 - failed, dropped: 0, failed, waiting: 0 });
      expect(collector.requests.length).toBe(1);
    });

  it("is reported in the log once, in words, when it is away", async () => {
    const sender = openSender(`http://127.0.0.1:${await findFreePort()}`);
    sender.add(2000);
    await until("the log says so", () => sender.events().length > 0);
    await sender.stop();
    expect(sender.events()).toEqual(["collector_trouble"]);
    expect(sender.logged[0]).toContain("nothing listens there");
    expect(await sender.counts()).toEqual({ sent: 0, dropped: 0, failed: 2000, waiting: 0 });
  });

  it("is not read any further when it never ends its answer", async () => {
    let isCancelled = false;
    const endless = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
      cancel: () => void (isCancelled = true),
    });
    const { sender } = openBoth(() => new Response(endless));
    sender.add(1);
    await until("it is sent", async () => (await sender.counts()).sent === 1);
    await until("no one reads the answer", () => isCancelled);
    await sender.stop();
  });
});

describe("spans that cannot be sent", () => {
  it("are 4096 in memory at most, and one batch that is being sent; the others are counted as dropped", async () => {
    const { sender } = openBoth(silent);
    sender.add(20_000);
    const { waiting, dropped } = await sender.counts();
    expect(waiting).toBeLessThanOrEqual(4096);
    expect(waiting + dropped).toBeGreaterThanOrEqual(20_000 - 512);
    await sender.stop();
  });

  it("keep no create waiting, and a stop for half a second at most", async () => {
    const { collector } = openBoth(silent);
    const service = await startTestService({}, collector);
    const create = async (id: number) => expect((await service.post(`{"id":${id},"name":"Rose"}`)).status).toBe(200);
    for (let id = 1; id <= 50; id += 1) await create(id);
    await until("the collector has spans that it does not answer", () => collector.requests.length > 0);
    for (let id = 51; id <= 100; id += 1) await create(id);
    const traceless = await startTestService();
    const stopMs = async ({ stop }: { stop: () => Promise<void> }) => {
      const clock = startPatientClock();
      await stop();
      return clock.ms();
    };
    const [without, withTraces] = [await stopMs(traceless), await stopMs(service)];
    // 500 ms, and what a busy machine takes.
    expect(withTraces - without).toBeLessThan(2500);
  });

  it("are tried a last time at a stop, however long the collector asked to wait", async () => {
    const later = new Response(null, { status: 503, headers: { "retry-after": "3600" } });
    const { sender } = openBoth((_request, at) => (at === 0 ? later : new Response()));
    sender.add(512);
    await until("the collector refused", () => sender.events().includes("collector_trouble"));
    await sender.stop();
    expect(await sender.counts()).toEqual({ sent: 512, dropped: 0, failed: 0, waiting: 0 });
  });
});
