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
