import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "bun:test";
import { CHECKPOINT_OFTEN } from "../support/bugs.ts";
import { ENGINES } from "../support/engines.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import { PROJECT } from "../support/process.ts";
import { needs } from "../support/program.ts";
import { startPrometheus } from "../support/prometheus/prometheus.ts";
import { killServices, startOn } from "../support/service-process.ts";
import { askUntil } from "../support/until.ts";

type Place = Readonly<{ x: number; y: number; w: number; h: number }>;
type Panel = Readonly<{ id: number; title: string; type: string; gridPos: Place; targets?: ReadonlyArray<Readonly<{ expr: string }>> }>;
const dashboard = JSON.parse(readFileSync(join(PROJECT, "deploy/grafana/dashboard.json"), "utf8")) as Readonly<{
  panels: readonly Panel[];
  templating: Readonly<{ list: ReadonlyArray<Readonly<{ name: string; type: string }>> }>;
}>;
const queries = dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));

/** A query as Grafana sends it, for all services. */
function fill(expr: string): string {
  return expr.replaceAll("$instance", ".*").replaceAll("$__rate_interval", "5s");
}

describe("the dashboard", () => {
  needs("prometheus").it("asks nothing that a running Prometheus does not answer with numbers", async () => {
    const { watch, query, stop } = await startPrometheus();
    const root = plantBugs(CHECKPOINT_OFTEN);
    const services = await Promise.all(ENGINES.map((engine) => startOn(engine, root, { PLANT_STORE_METRICS: "127.0.0.1:0" })));
    for (const [at, { started }] of services.entries()) watch(`service-${at}`, started["metrics"]!);
    let id = 0;
    async function use(): Promise<void> {
      id += 1;
      for (const { url, token } of services) {
        const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
        await fetch(`${url}/plants`, { method: "POST", headers, body: `{"id":${id},"name":"Rose"}` });
        await fetch(`${url}/plants?q=rose`, { headers });
        await fetch(`${url}/plants/404000`, { headers });
      }
    }
    for (const { title, expr } of queries) {
      const values = await askUntil(
        async () => {
          await use();
          return (await query(fill(expr))).map(({ value }) => Number(value[1]));
        },
        (found) => found.length > 0 && found.every((value) => !Number.isNaN(value)),
      );
      expect([title, values.filter((value) => !Number.isNaN(value)).length]).toEqual([title, Math.max(1, values.length)]);
    }
    await stop();
    await killServices();
  });

  it("has a title and a place for each panel, and no two share either id or place", () => {
    const panels = dashboard.panels;
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const overlaps = panels.flatMap((one) =>
      panels.filter((other) => other.id > one.id && overlap(one.gridPos, other.gridPos)).map(({ title }) => title),
    );
    expect([overlaps, panels.filter(({ title, gridPos: { x, w } }) => title === "" || x + w > 24)]).toEqual([[], []]);
  });

  it("lets its reader choose the Prometheus and the service", () => {
    expect(dashboard.templating.list.map(({ name, type }) => `${name} ${type}`)).toEqual(["datasource datasource", "instance query"]);
    expect(queries.filter(({ expr }) => !expr.includes('instance=~"$instance"') && !expr.startsWith("count(ALERTS"))).toEqual([]);
    const sources = new Set(JSON.stringify(dashboard).match(/"uid":"\$?\{?\w+\}?","?/g));
    expect([...sources].every((uid) => uid.includes("${datasource}"))).toBe(true);
  });
});

function overlap(one: Place, other: Place): boolean {
  return one.x < other.x + other.w && other.x < one.x + one.w && one.y < other.y + other.h && other.y < one.y + one.h;
}
