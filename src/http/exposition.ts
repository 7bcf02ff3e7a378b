import type { Family, Sample } from "../runtime/metrics.ts";

/** A form in which metrics are sent: its media type, and what writes it. */
export type Exposition = Readonly<{ type: string; write: (families: readonly Family[]) => string }>;

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
