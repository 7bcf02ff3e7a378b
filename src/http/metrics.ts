import { randomUUID } from "node:crypto";
import { PlantStoreError } from "../domain/errors.ts";
import type { Log } from "../runtime/log.ts";
import type { Family, Metrics, Sample } from "../runtime/metrics.ts";
import { chooseType } from "./accept.ts";
import type { App } from "./app.ts";
import { toErrorResponse, toExpected } from "./error-response.ts";
import type { HttpRequest } from "./wire/request.ts";
import type { HttpResponse } from "./wire/response.ts";

/**
 * Serves `GET /metrics` and nothing else, without a token: it has an address of its own, which the network can close to
 * the world.
 */
export function createMetricsApp(metrics: Metrics, log: Log): Pick<App, "answer" | "refuse"> {
  let reading: ReturnType<Metrics["read"]> | undefined;

  /** Many who ask at once share one look: on PostgreSQL it takes connections that lists need. */
  function read(): ReturnType<Metrics["read"]> {
    reading ??= metrics.read().finally(() => (reading = undefined));
    return reading;
  }

  async function answer({ path, method, headers }: HttpRequest): Promise<HttpResponse> {
    if (path !== "/metrics") throw new PlantStoreError("unknown_path");
    if (method !== "GET" && method !== "HEAD") throw new PlantStoreError("method_not_allowed", { headers: { allow: "GET, HEAD" } });
    const type = chooseType(headers.get("accept"), [PROMETHEUS_TEXT.type, OPEN_METRICS.type]);
    const { write } = type === OPEN_METRICS.type ? OPEN_METRICS : PROMETHEUS_TEXT;
    return { status: 200, body: write(await read()), headers: { "content-type": type, vary: "Accept" } };
  }

  const fail = (thrown: unknown) => toErrorResponse(toExpected(thrown, log, randomUUID()));
  return { answer: (request) => answer(request).catch(fail), refuse: fail };
}

/** A form in which metrics are sent: its media type, and what writes it. */
type Exposition = Readonly<{ type: string; write: (families: readonly Family[]) => string }>;

/** github.com/prometheus/OpenMetrics, version 1.0.0: a counter is named without its `_total`, and the end is marked. */
export const OPEN_METRICS: Exposition = {
  type: "application/openmetrics-text; version=1.0.0; charset=utf-8",
  write: (families) => `${families.map((family) => writeFamily(family, family.name.replace(/_total$/, ""))).join("")}# EOF\n`,
};

/** prometheus.io/docs/instrumenting/exposition_formats, "Text-based format". */
export const PROMETHEUS_TEXT: Exposition = {
  type: "text/plain; version=0.0.4; charset=utf-8",
  write: (families) => families.map((family) => writeFamily(family, family.name)).join(""),
};

function writeFamily({ name, kind, help, samples }: Family, title: string): string {
  const lines = samples.map((sample) => writeSample(name, sample));
  return `# HELP ${title} ${help}\n# TYPE ${title} ${kind}\n${lines.join("")}`;
}

function writeSample(name: string, { suffix = "", labels, value }: Sample): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escape(text)}"`);
  return `${name}${suffix}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${value}\n`;
}

function escape(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
