import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "bun:test";
import { plantBugs } from "../support/plant-bugs.ts";
import { PROJECT, startProcess } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { rejectionOf } from "../support/rejection.ts";

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" };

describe("a service that sends traces", () => {
  for (const { protocol, event, sends } of [
    { protocol: "grpc", event: "traces_off", sends: false },
    { protocol: "http/protobuf", event: "traces_as_json", sends: true },
  ]) {
    it(`starts when ${protocol} is asked for, ${sends ? "with" : "without"} traces, and names the variable`, async () => {
      const environment = { ...ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: "key=SECRET", OTEL_EXPORTER_OTLP_PROTOCOL: protocol };
      const service = await startProcess({ data: temporaryFolder(), environment });
      expect(await service.end("SIGTERM")).toBe(0);
      const warned = service.lines.filter((line) => line.includes(`"${event}"`));
      expect(warned).toEqual([expect.stringContaining("OTEL_EXPORTER_OTLP_PROTOCOL")]);
      expect(service.started["traces"]).toBe(sends ? "http://127.0.0.1:4318/v1/traces" : undefined);
      expect(service.lines.join("")).not.toContain("SECRET");
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
    expect(String(await rejectionOf(startProcess({ data: temporaryFolder(), root, environment: ENDPOINT })))).toContain("It is loaded.");
  });
});
