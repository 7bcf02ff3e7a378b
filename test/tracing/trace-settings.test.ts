import { describe, expect, it } from "bun:test";
import { parseTraceSettings } from "../../src/tracing/trace-settings.ts";
import type { TraceSettings } from "../../src/tracing/trace-settings.ts";

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" };

function parse(environment: Record<string, string>): { settings: TraceSettings | undefined; problems: string[] } {
  const problems: string[] = [];
  return { settings: parseTraceSettings(environment, problems), problems };
}

describe("the variables of OpenTelemetry", () => {
  it("trace everything that no caller decides about, and send it without headers, by default", () => {
    const sampler = { isParentBased: true, ratio: 1 };
    const settings = { url: "http://collector:4318/v1/traces", headers: {}, resource: {}, sampler, asksForProtobuf: false };
    expect(parse(ENDPOINT)).toEqual({ settings, problems: [] });
  });

  it("may ask for JSON or, for all programs or for traces, for protobuf", () => {
    const asked = (given: Record<string, string>) => parse({ ...ENDPOINT, ...given });
    expect(asked({ OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" })).toMatchObject({ settings: { asksForProtobuf: false }, problems: [] });
    for (const name of ["OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"])
      expect(asked({ [name]: "http/protobuf" })).toMatchObject({ settings: { asksForProtobuf: true }, problems: [] });
  });

  for (const [why, environment] of [
    ["there is no endpoint", { OTEL_SERVICE_NAME: "plants", OTEL_TRACES_SAMPLER: "always_on" }],
    ["it is disabled", { ...ENDPOINT, OTEL_SDK_DISABLED: "TRUE" }],
    ["nothing is exported", { ...ENDPOINT, OTEL_TRACES_EXPORTER: "none" }],
  ] as ReadonlyArray<readonly [string, Record<string, string>]>) {
    it(`trace nothing if ${why}`, () => {
      expect(parse(environment)).toEqual({ settings: undefined, problems: [] });
    });
  }

  for (const [environment, url] of [
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: "https://collector/base/" }, "https://collector/base/v1/traces"],
    [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://other:1/traces" }, "http://other:1/traces"],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://other:1" }, "http://other:1/"],
  ] as ReadonlyArray<readonly [Record<string, string>, string]>) {
    it(`send to ${url}`, () => {
      expect(parse(environment)).toMatchObject({ settings: { url }, problems: [] });
    });
  }

  it("name the service, and what else is said about it", () => {
    const { settings, problems } = parse({
      ...ENDPOINT,
      OTEL_SERVICE_NAME: "garden",
      OTEL_RESOURCE_ATTRIBUTES: "service.name=other, deployment.environment.name=north%20wing,k=",
    });
    expect(problems).toEqual([]);
    expect(settings!.resource).toEqual({ "service.name": "garden", "deployment.environment.name": "north wing", k: "" });
  });

  it("have headers, for traces or for everything", () => {
    const all = { ...ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: "api-key=a%3Db,x=1" };
    expect(parse(all).settings!.headers).toEqual({ "api-key": "a=b", x: "1" });
    expect(parse({ ...all, OTEL_EXPORTER_OTLP_TRACES_HEADERS: "y=2" }).settings!.headers).toEqual({ y: "2" });
  });

  for (const [name, argument, sampler] of [
    ["always_on", "0.5", { isParentBased: false, ratio: 1 }],
    ["always_off", "", { isParentBased: false, ratio: 0 }],
    ["traceidratio", "0.25", { isParentBased: false, ratio: 0.25 }],
    ["parentbased_always_off", "", { isParentBased: true, ratio: 0 }],
    ["parentbased_traceidratio", "0.01", { isParentBased: true, ratio: 0.01 }],
  ] as const) {
    it(`have the sampler ${name} ${argument}`, () => {
      const asked = parse({ ...ENDPOINT, OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: argument });
      expect(asked).toMatchObject({ settings: { sampler }, problems: [] });
    });
  }

  for (const [variable, value] of [
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "http://user:SECRET@collector"],
    ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "SECRET"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "key=SECRET%0d%0aX: y"],
    ["OTEL_RESOURCE_ATTRIBUTES", "a b=SECRET"],
    ["OTEL_TRACES_SAMPLER", "jaeger_remote"],
    ["OTEL_TRACES_EXPORTER", "console"],
  ] as const) {
    it(`are refused by name, without their value: ${variable}=${value}`, () => {
      const { problems } = parse({ ...ENDPOINT, [variable]: value });
      expect(problems.length).toBe(1);
      expect(problems[0]).toStartWith(`${variable} must be `);
      expect(problems[0]).not.toContain("SECRET");
    });
  }

  it("have a share from 0 to 1 only", () => {
    for (const share of ["-1", "1.5", "half"]) {
      const { problems } = parse({ ...ENDPOINT, OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: share });
      expect(problems).toEqual(["OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1."]);
    }
  });
});
