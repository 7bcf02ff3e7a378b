import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "bun:test";
import { PROJECT } from "../support/process.ts";
import { CASES } from "../support/prometheus/alert-cases.ts";
import { DASHBOARD, DASHBOARD_QUERIES, RULES } from "../support/prometheus/deployed.ts";
import type { Place } from "../support/prometheus/deployed.ts";

const GUIDE = readFileSync(join(PROJECT, "docs/how-to/watch.md"), "utf8");

describe("each alert", () => {
  it("is among the cases with which Prometheus' own tool tries the rules", () => {
    expect([...new Set(CASES.map(([alert]) => alert))]).toEqual(RULES.map(({ alert }) => alert));
  });

  it("says whom it is for, what is wrong, what to do, and where to read more", () => {
    for (const { alert, labels, annotations } of RULES) {
      expect(["page", "ticket"]).toContain(labels["severity"]!);
      expect(Object.keys(annotations)).toEqual(["summary", "description", "runbook"]);
      expect(annotations["runbook"]).toBe(`docs/how-to/watch.md#${alert.toLowerCase()}`);
    }
  });

  it("has a section in docs/how-to/watch.md, in the same order, and no section is for another", () => {
    expect(Array.from(GUIDE.matchAll(/^### (PlantStore\w+)$/gm), ([, alert]) => alert)).toEqual(RULES.map(({ alert }) => alert));
  });
});

describe("the dashboard", () => {
  it("has a title and a place for each panel, and no two share either id or place", () => {
    const panels = DASHBOARD.panels;
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const overlaps = panels.flatMap((one) =>
      panels.filter((other) => other.id > one.id && overlap(one.gridPos, other.gridPos)).map(({ title }) => title),
    );
    expect([overlaps, panels.filter(({ title, gridPos: { x, w } }) => title === "" || x + w > 24)]).toEqual([[], []]);
  });

  it("lets its reader choose the Prometheus and the service", () => {
    expect(DASHBOARD.templating.list.map(({ name, type }) => `${name} ${type}`)).toEqual(["datasource datasource", "instance query"]);
    expect(DASHBOARD_QUERIES.filter(({ expr }) => !expr.includes('instance=~"$instance"') && !expr.startsWith("count(ALERTS"))).toEqual([]);
    const sources = new Set(JSON.stringify(DASHBOARD).match(/"uid":"\$?\{?\w+\}?","?/g));
    expect([...sources].every((uid) => uid.includes("${datasource}"))).toBe(true);
  });
});

function overlap(one: Place, other: Place): boolean {
  return one.x < other.x + other.w && other.x < one.x + one.w && one.y < other.y + other.h && other.y < one.y + one.h;
}
