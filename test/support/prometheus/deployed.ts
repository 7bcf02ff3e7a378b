import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { PROJECT } from "../process.ts";

type Rule = Readonly<{
  alert: string;
  expr: string;
  labels: Readonly<Record<string, string>>;
  annotations: Readonly<Record<string, string>>;
}>;

export const RULES_FILE = join(PROJECT, "deploy/prometheus/alerts.yaml");
const { groups } = parse(readFileSync(RULES_FILE, "utf8")) as { groups: ReadonlyArray<Readonly<{ rules: readonly Rule[] }>> };
export const RULES = groups.flatMap((group) => group.rules);

export type Place = Readonly<{ x: number; y: number; w: number; h: number }>;
type Panel = Readonly<{ id: number; title: string; gridPos: Place; targets?: ReadonlyArray<Readonly<{ expr: string }>> }>;

export const DASHBOARD = JSON.parse(readFileSync(join(PROJECT, "deploy/grafana/dashboard.json"), "utf8")) as Readonly<{
  panels: readonly Panel[];
  templating: Readonly<{ list: ReadonlyArray<Readonly<{ name: string; type: string }>> }>;
}>;
export const DASHBOARD_QUERIES = DASHBOARD.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));

/** A condition on a label in a query, such as `code="overloaded"`. */
type Matcher = Readonly<{ metric: string; label: string; value: string }>;

/** What a query in PromQL names. */
type Named = Readonly<{
  metrics: readonly string[];
  matchers: readonly Matcher[];
  /** The labels by which it groups or joins. */
  grouped: readonly string[];
}>;

/** The words of the language that our queries use. Any other word must be the name of a metric. */
const WORDS = new Set(
  "and or unless on by le sum max avg rate increase changes absent abs time histogram_quantile predict_linear avg_over_time".split(" "),
);

/** Finds the names in a query by its text: what is no word of the language is a metric. */
export function findNamed(query: string): Named {
  const matchers = Array.from(query.matchAll(/(\w+)\{([^}]*)\}/g), ([, metric = "", inside = ""]) =>
    Array.from(inside.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"/g), ([, label = "", value = ""]) => ({ metric, label, value })),
  ).flat();
  const grouped = Array.from(query.matchAll(/\b(?:by|on)\s*\(([^)]*)\)/g), ([, labels = ""]) => labels.split(/\s*,\s*/)).flat();
  const bare = query
    .replaceAll(/\{[^}]*\}/g, " ")
    .replaceAll(/\[[^\]]*\]/g, " ")
    .replaceAll(/\b(?:by|on)\s*\([^)]*\)/g, " ");
  const metrics = Array.from(bare.matchAll(/(?<![\w.])[a-z_]\w*/gi), ([word]) => word).filter((word) => !WORDS.has(word));
  return { metrics: [...new Set(metrics)], matchers, grouped };
}

/** The labels that each metric has, by the name of its samples, in the text that a service serves. */
export function readLabels(text: string): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const line of text.split("\n").filter((one) => one !== "" && !one.startsWith("#"))) {
    const [, name = "", labels = ""] = /^(\w+)(?:\{(.*)\})? /.exec(line) ?? [];
    const known = found.get(name) ?? new Set();
    for (const [, label = ""] of labels.matchAll(/(\w+)="/g)) known.add(label);
    found.set(name, known);
  }
  return found;
}
