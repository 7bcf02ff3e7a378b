import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "bun:test";
import { plantBugs } from "../support/plant-bugs.ts";
import type { PlantedBug } from "../support/plant-bugs.ts";
import { PROJECT, startProcess } from "../support/process.ts";
import { PATIENT } from "../support/service-process.ts";
import { readToken } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { callerTrace, startCollector } from "../support/test-collector.ts";
import type { Received } from "../support/test-collector.ts";
import { rejectionOf } from "../support/rejection.ts";

const CALLER = callerTrace(1);

type Started = Readonly<{ root?: string; environment?: Record<string, string> }>;

/** What a process that creates one plant, for a caller with a trace and without a token too, sends until it has ended. */
async function createTraced({ root = PROJECT }: Started = {}) {
  const collector = startCollector();
  const data = temporaryFolder();
  const { environment } = collector;
  const service = await startProcess({
    data,
    root,
    flags: PATIENT,
    environment: { ...environment, OTEL_EXPORTER_OTLP_HEADERS: "key=SECRET" },
  });
  const send = (token: string) =>
    fetch(`${service.url}/plants`, {
      method: "POST",
      body: '{"id":1,"name":"Rose"}',
      headers: { ...CALLER.headers, authorization: `Bearer ${token}`, "content-type": "application/json" },
    });
  const statuses = [(await send("none")).status, (await send(await readToken(data))).status];
  const status = await service.end("SIGTERM");
  await collector.stop();
  return { spans: collector.spans(), statuses, status, started: service.started, lines: service.lines };
}

/** What is wrong with the trace of that create. */
function faultsIn(spans: readonly Received[]): string[] {
  const faults: string[] = [];
  const [request, ...others] = spans.filter(({ traceId, kind }) => traceId === CALLER.traceId && kind === "SPAN_KIND_SERVER").toReversed();
  const create = spans.find(({ name }) => name === "plants.create");
  const commit = spans.find(({ name }) => name === "COMMIT");
  if (request?.parentSpanId !== CALLER.spanId) faults.push("the caller is lost");
  if (others.length > 0) faults.push("a stranger is recorded");
  if (create?.parentSpanId !== request?.spanId) faults.push("the parent is lost");
  if (!create?.links.some(({ spanId }) => spanId === commit?.spanId)) faults.push("the link to the commit is lost");
  if (!commit?.links.some(({ spanId }) => spanId === create?.spanId)) faults.push("the link from the commit is lost");
  return faults;
}

const REQUESTS = "src/tracing/request-tracer.ts";
const COMMITS = "src/tracing/commit-tracer.ts";

/** Bugs that can be in one copy, by what each of them must show. */
const BUGS = {
  "the caller is lost": [{ file: REQUESTS, from: "parent ? inTraceOf(parent) : newTrace()", to: "newTrace()" }],
  "a stranger is recorded": [{ file: REQUESTS, from: "trace.isKnown ? trace.isRecorded : trace.wish", to: "true || trace.wish" }],
  "the parent is lost": [
    { file: "src/tracing/traced-store.ts", from: "parent: { spanId: trace.context.spanId, isRemote: false }", to: "parent: undefined" },
  ],
  "the link to the commit is lost": [{ file: COMMITS, from: "links.push(context)", to: "links.slice()" }],
  "the link from the commit is lost": [{ file: COMMITS, from: "served.slice(0, LINKS_MAX)", to: "served.slice(0, 0)" }],
} as const satisfies Record<string, readonly PlantedBug[]>;

describe("a service that sends traces", () => {
  it("sends when it ends what it has, each part of a create in its place, and says where to, but not with which headers", async () => {
    const { spans, statuses, status, started, lines } = await createTraced();
    expect([statuses, status]).toEqual([[401, 200], 0]);
    expect(faultsIn(spans)).toEqual([]);
    expect(started["traces"]).toEndWith("/v1/traces");
    expect(lines.join("")).not.toContain("SECRET");
  });

  it("would visibly lose the caller, the parent and the links of either direction, and record a stranger", async () => {
    const { "the caller is lost": lost, ...others } = BUGS;
    const withoutCaller = await createTraced({ root: plantBugs(lost) });
    expect(faultsIn(withoutCaller.spans)).toContain("the caller is lost");
    const withOthers = await createTraced({ root: plantBugs(Object.values(others).flat()) });
    expect(faultsIn(withOthers.spans)).toEqual(Object.keys(others));
  });

  it("starts without traces if a variable is not understood, and names it", async () => {
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://localhost:4317", OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" };
    const service = await startProcess({ data: temporaryFolder(), environment });
    expect(await service.end("SIGTERM")).toBe(0);
    const [off] = service.lines.filter((line) => line.includes('"traces_off"'));
    expect(off).toContain("OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf.");
    expect(service.started["traces"]).toBeUndefined();
  });
});

describe("a service without traces", () => {
  const file = "src/tracing/tracing.ts";
  const [line] = readFileSync(join(PROJECT, file), "utf8").split("\n") as [string];
  const root = plantBugs([{ file, from: line, to: `throw new Error("It is loaded.");\n${line}` }]);

  it("loads none of the code for them", async () => {
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
