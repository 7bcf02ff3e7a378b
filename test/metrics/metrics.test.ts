import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { OPERATIONS } from "../../contract/generated/operations.ts";
import { createLog } from "../../src/runtime/log.ts";
import { createMetrics } from "../../src/runtime/metrics.ts";
import { createMetricsApp, OPEN_METRICS, PROMETHEUS_TEXT } from "../../src/http/metrics.ts";
import { HttpServer } from "../../src/http/server.ts";
import { findFreePort } from "../support/port.ts";
import { needs } from "../support/program.ts";
import { promtool } from "../support/prometheus/prometheus.ts";
import { ENGINES, flagsOf } from "../support/engines.ts";
import { rejectionOf } from "../support/rejection.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { runCommand } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

const METRICS = { metrics: "127.0.0.1:0" };
const REFERENCE = readFileSync(new URL("../../docs/reference/metrics.md", import.meta.url), "utf8");

async function read({ metricsUrl }: TestService, accept = "*/*"): Promise<string> {
  return (await fetch(metricsUrl!, { headers: { accept } })).text();
}

const EXPLAINED = Array.from(REFERENCE.matchAll(/^- \*\*`(\w+)`\*\* \((\w+)\)/gm), ([, name, kind]) => `${name} ${kind}`);

/** What any of the services served, by name and kind. */
const served = new Set<string>();

/** The value of one sample, by its name and labels as they are written; 0 if there is none. */
function valueOf(text: string, sample: string): number {
  const line = text.split("\n").find((one) => one.startsWith(`${sample} `));
  return line === undefined ? 0 : Number(line.slice(sample.length + 1));
}

/** By how much samples have grown while something was done. */
async function grownBy(service: TestService, work: () => Promise<unknown>): Promise<(sample: string) => number> {
  const before = await read(service);
  await work();
  const after = await read(service);
  return (sample) => valueOf(after, sample) - valueOf(before, sample);
}

for (const { engine, openFlags } of ENGINES) {
  // Nothing listens there: metrics of traces are there from the start.
  const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1" };
  const place = { data: temporaryFolder(), ...(await openFlags()) };
  const service = await startTestService({ ...METRICS, ...place }, { environment });

  describe(`the metrics on ${engine}`, () => {
    afterAll(() => service.stop());

    needs("promtool").it("are valid for Prometheus' own tool", async () => {
      expect(await promtool(["check", "metrics"], await read(service))).toEqual({ said: "", code: 0 });
    });

    it("are all in docs/reference/metrics.md", async () => {
      const names = Array.from((await read(service)).matchAll(/^# TYPE (\S+) (\S+)$/gm), ([, name, kind]) => `${name} ${kind}`);
      for (const name of names) served.add(name);
      expect(names.filter((name) => !EXPLAINED.includes(name))).toEqual([]);
    });

    it("count each create by its outcome, and the requests by operation and status", async () => {
      const grown = await grownBy(service, async () => {
        for (const name of ["Rose", "Rose", "Lily"]) await service.post(`{"id":1,"name":"${name}"}`);
      });
      for (const outcome of ["created", "same", "in_use"]) expect(grown(`plant_store_creates_total{outcome="${outcome}"}`)).toBe(1);
      expect(grown('plant_store_http_request_duration_seconds_count{operation="createPlant",status="200"}')).toBe(2);
      expect(grown('plant_store_http_request_duration_seconds_count{operation="createPlant",status="409"}')).toBe(1);
      expect(grown('plant_store_http_errors_total{code="id_in_use"}')).toBe(1);
      expect(grown("plant_store_commit_changes_sum")).toBe(3);
      expect(grown("plant_store_plants")).toBe(1);
    });

    it("count refused tokens by the reason", async () => {
      const grown = await grownBy(service, async () => {
        await fetch(`${service.url}/plants`);
        await service.request("/plants", { headers: { authorization: "Bearer no-token" } });
      });
      for (const code of ["missing_token", "invalid_token"]) expect(grown(`plant_store_http_errors_total{code="${code}"}`)).toBe(1);
    });

    it("tell when the last backup was made, and 0 before the first", async () => {
      const moment = async () => valueOf(await read(service), "plant_store_last_backup_timestamp_seconds");
      expect(await moment()).toBe(0);
      const words = ["backup", join(temporaryFolder(), "all.gz"), ...flagsOf(place), "--json"];
      for (let times = 0; times < 2; times += 1) {
        const { stdout, stderr } = await runCommand([...words, "--force"]);
        expect(stderr).toBe("");
        expect(await moment()).toBe(Date.parse((JSON.parse(stdout) as { at: string }).at) / 1000);
      }
      expect(readdirSync(place.data).filter((name) => name.startsWith("last-backup"))).toEqual(["last-backup"]);
    });

    it("count what asks for a path that is not there as no page", async () => {
      expect((await service.request("/nowhere")).status).toBe(404);
      const text = await read(service);
      expect(text).toContain('_count{operation="none",status="404"}');
      expect(text).not.toContain('operation="static",status="404"');
    });

    it("never have a label that a client chose", async () => {
      await service.request("/plants/secret-path?secret=query", { method: "SECRET" });
      await service.request('/secret"\\path', { headers: { "x-request-id": "secret" } });
      const text = await read(service);
      expect(text).not.toContain("secret");
      const operations = new Set(Array.from(text.matchAll(/operation="([^"]*)"/g), ([, operation]) => operation!));
      expect([...operations].filter((name) => !["none", "static", ...OPERATIONS.map(({ id }) => id as string)].includes(name))).toEqual([]);
    });

    it("have no token in them", async () => {
      expect(await read(service)).not.toContain(service.token);
    });
  });
}

it("docs/reference/metrics.md explains no metric that no engine has", () => {
  expect(EXPLAINED.filter((explained) => !served.has(explained))).toEqual([]);
});

describe("the address of the metrics", () => {
  let service: TestService;
  beforeAll(async () => (service = await startTestService(METRICS)));
  afterAll(() => service.stop());

  it("is none by default, and the main address has no metrics", async () => {
    const other = await startTestService();
    expect(other.metricsUrl).toBeUndefined();
    expect((await other.request("/metrics")).status).toBe(404);
    await other.stop();
  });

  it("serves nothing but the metrics", async () => {
    const base = service.metricsUrl!.replace("/metrics", "");
    const headers = { authorization: `Bearer ${service.token}` };
    for (const path of ["/plants", "/", "/livez", "/docs"]) expect((await fetch(base + path, { headers })).status).toBe(404);
    const posted = await fetch(service.metricsUrl!, { method: "POST", body: "x" });
    expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });

  it("answers in OpenMetrics to those who ask for it, else in Prometheus' text", async () => {
    const ask = (accept: string) => fetch(service.metricsUrl!, { headers: { accept } });
    const open = await ask("application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.2");
    const plain = await ask("text/html");
    expect([open, plain].map(({ headers }) => headers.get("content-type"))).toEqual([OPEN_METRICS.type, PROMETHEUS_TEXT.type]);
    expect(await open.text()).toEndWith("\n# EOF\n");
    expect(await plain.text()).not.toContain("# EOF");
  });

  it("is refused with the name of its setting if another program has it", async () => {
    const taken = new URL(service.metricsUrl!).host;
    expect(String(await rejectionOf(startTestService({ metrics: taken })))).toContain("choose another port with --metrics");
  });

  it("is left behind by no start that fails", async () => {
    const metrics = `127.0.0.1:${await findFreePort()}`;
    const taken = { metrics, port: new URL(service.url).port };
    expect(String(await rejectionOf(startTestService(taken)))).toContain("choose another port with --port");
    expect(await rejectionOf(fetch(`http://${metrics}/metrics`))).toBeInstanceOf(Error);
  });
});

it("many who ask at once share one look", async () => {
  const metrics = createMetrics();
  let looks = 0;
  metrics.gauge({ name: "plant_store_looks", help: "Looks." }, async () => {
    await Bun.sleep(100);
    return (looks += 1);
  });
  const log = createLog({ level: "error", isTerminal: false, write: () => {}, now: Date.now });
  const server = new HttpServer({
    host: "127.0.0.1",
    port: 0,
    portFlag: "--metrics",
    connectionsMax: 32,
    ...createMetricsApp(metrics, log),
    log,
  });
  const ask = async () => (await fetch(`${server.url}/metrics`)).text();
  const texts = await Promise.all(Array.from({ length: 16 }, ask));
  expect(new Set(texts).size).toBe(1);
  expect(await ask()).toContain("plant_store_looks 2\n");
  await server.stop(0);
});

it("what runs is counted while an export and an import are under way, and no longer", async () => {
  const service = await startTestService(METRICS);
  for (let id = 1; id <= 300; id += 1) await service.post(`{"id":${id},"name":"${"x".repeat(60_000)}"}`);
  const running = async (kind: string) => valueOf(await read(service), `plant_store_running{kind="${kind}"}`);
  const exported = await service.request("/plants/export");
  expect(await running("export")).toBe(1);
  await exported.body!.cancel();
  const pieces = new TransformStream<Uint8Array, Uint8Array>();
  const writer = pieces.writable.getWriter();
  const imported = service.request("/plants/import", {
    method: "POST",
    body: pieces.readable,
    headers: { "content-type": "application/x-ndjson" },
  });
  await writer.write(new TextEncoder().encode('{"id":1000,"name":"Fern"}\n'));
  await until("an import runs", async () => (await running("import")) === 1);
  await writer.close();
  expect((await imported).status).toBe(200);
  await until("nothing runs", async () => (await running("export")) + (await running("import")) === 0);
  await service.stop();
});

describe("a set of metrics", () => {
  it("puts each value into the first bucket that has room for it, and sums them", async () => {
    const metrics = createMetrics();
    const histogram = metrics.histogram({ name: "plant_store_test", help: "A test.", bounds: [1, 2] })();
    for (const value of [0.5, 1, 1.5, 7]) histogram.observe(value);
    expect(PROMETHEUS_TEXT.write(await metrics.read())).toBe(`# HELP plant_store_test A test.
# TYPE plant_store_test histogram
plant_store_test_bucket{le="1"} 2
plant_store_test_bucket{le="2"} 3
plant_store_test_bucket{le="+Inf"} 4
plant_store_test_sum 10
plant_store_test_count 4
`);
  });

  it("leaves out a gauge that fails or hangs, and gives the others", async () => {
    const metrics = createMetrics();
    metrics.gauge({ name: "plant_store_hanging", help: "Hangs." }, () => new Promise<number>(() => {}));
    metrics.gauge({ name: "plant_store_failing", help: "Fails." }, () => {
      throw new Error("no");
    });
    metrics.gauge({ name: "plant_store_known", help: "Is known." }, () => 7);
    const samples = PROMETHEUS_TEXT.write(await metrics.read()).match(/^[^#].*$/gm);
    expect(samples).toEqual(["plant_store_known 7"]);
  });

  it("writes a label so that no value can end it", async () => {
    const metrics = createMetrics();
    metrics.counter({ name: "plant_store_odd_total", help: "Odd.", labels: ["text"] })('a"\\\nb').value += 1;
    const text = PROMETHEUS_TEXT.write(await metrics.read());
    expect(text).toContain('plant_store_odd_total{text="a\\"\\\\\\nb"} 1\n');
    expect(OPEN_METRICS.write(await metrics.read())).toContain("# TYPE plant_store_odd counter\nplant_store_odd_total{");
  });

  it("refuses a second metric of the same name", () => {
    const metrics = createMetrics();
    const add = () => metrics.counter({ name: "plant_store_twice_total", help: "Twice." });
    add();
    expect(add).toThrow("there already");
  });
});
