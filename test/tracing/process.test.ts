import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "bun:test";
import { plantBugs } from "../support/plant-bugs.ts";
import { PROJECT, startProcess } from "../support/process.ts";
import { PATIENT } from "../support/service-process.ts";
import { readToken } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { callerTrace, startCollector } from "../support/test-collector.ts";
import { rejectionOf } from "../support/rejection.ts";

describe("a service that sends traces", () => {
  it("sends when it ends what it has, each part of a create in its place, and says where to, but not with which headers", async () => {
    const caller = callerTrace(1);
    const collector = startCollector();
    const data = temporaryFolder();
    const environment = { ...collector.environment, OTEL_EXPORTER_OTLP_HEADERS: "key=SECRET" };
    const service = await startProcess({ data, flags: PATIENT, environment });
    const create = (token: string) => {
      const headers = { ...caller.headers, authorization: `Bearer ${token}`, "content-type": "application/json" };
      return fetch(`${service.url}/plants`, { method: "POST", body: '{"id":1,"name":"Rose"}', headers });
    };
    expect([(await create("none")).status, (await create(await readToken(data))).status]).toEqual([401, 200]);
    expect(await service.end("SIGTERM")).toBe(0);
    await collector.stop();

    const spans = collector.spans();
    const requests = spans.filter(({ traceId, kind }) => traceId === caller.traceId && kind === "server");
    const created = spans.find(({ name }) => name === "plants.create");
    const commit = spans.find(({ name }) => name === "COMMIT");
    // That of the caller without a token is not recorded.
    expect(requests.map(({ parentSpanId }) => parentSpanId)).toEqual([caller.spanId]);
    expect(created?.parentSpanId).toBe(requests[0]!.spanId);
    expect(created?.links.map(({ spanId }) => spanId)).toEqual([commit!.spanId]);
    expect(commit?.links.map(({ spanId }) => spanId)).toEqual([created!.spanId]);
    expect(service.started["traces"]).toEndWith("/v1/traces");
    expect(service.lines.join("")).not.toContain("SECRET");
  });

  for (const { protocol, event, sends } of [
    { protocol: "grpc", event: "traces_off", sends: false },
    { protocol: "http/protobuf", event: "traces_as_json", sends: true },
  ]) {
    it(`starts when ${protocol} is asked for, ${sends ? "with" : "without"} traces, and names the variable`, async () => {
      const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318", OTEL_EXPORTER_OTLP_PROTOCOL: protocol };
      const service = await startProcess({ data: temporaryFolder(), environment });
      expect(await service.end("SIGTERM")).toBe(0);
      const warned = service.lines.filter((line) => line.includes(`"${event}"`));
      expect(warned).toEqual([expect.stringContaining("OTEL_EXPORTER_OTLP_PROTOCOL")]);
      expect(service.started["traces"] !== undefined).toBe(sends);
    });
  }
});

describe("a service without traces", () => {
  it("loads none of the code for them", async () => {
    const file = "src/tracing/tracing.ts";
    const [line] = readFileSync(join(PROJECT, file), "utf8").split("\n") as [string];
    const root = plantBugs([{ file, from: line, to: `throw new Error("It is loaded.");\n${line}` }]);
    const service = await startProcess({ data: temporaryFolder(), root });
    expect(await service.end("SIGTERM")).toBe(0);
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" };
    expect(String(await rejectionOf(startProcess({ data: temporaryFolder(), root, environment })))).toContain("It is loaded.");
  });

  it("has the code for them behind that one file, but for its settings and types", () => {
    const sources = [...new Bun.Glob("src/**/*.ts").scanSync(PROJECT)].filter((path) => !path.startsWith("src/tracing/"));
    const imports = sources.flatMap((path) =>
      Array.from(
        readFileSync(join(PROJECT, path), "utf8").matchAll(/^import (?!type ).*tracing\/(.+)";$|import\(".*tracing\/(.+)"\)/gm),
        (found) => found[1] ?? found[2]!,
      ),
    );
    expect(imports.toSorted()).toEqual(["trace-settings.ts", "tracing.ts"]);
    expect(readFileSync(join(PROJECT, "src/tracing/trace-settings.ts"), "utf8")).not.toMatch(/^import (?!type )/m);
  });
});
