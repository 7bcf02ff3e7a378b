import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "bun:test";
import { parse } from "yaml";
import { CATALOGUE } from "../../contract/generated/error-catalogue.ts";
import { OPERATIONS } from "../../contract/generated/operations.ts";
import { CHECKPOINT_OFTEN } from "../support/bugs.ts";
import { ENGINES } from "../support/engines.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import { CASES, HARMLESS, HEALTHY } from "../support/prometheus/alert-cases.ts";
import { findNamed, readLabels } from "../support/prometheus/query.ts";
import { PROJECT } from "../support/process.ts";
import { findProgram, needs } from "../support/program.ts";
import { killServices, startOn } from "../support/service-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const RULES = join(PROJECT, "deploy/prometheus/alerts.yaml");
const LOG_EVENTS = readFileSync(join(PROJECT, "docs/reference/log-events.md"), "utf8");
const GUIDE = readFileSync(join(PROJECT, "docs/how-to/watch.md"), "utf8");

type Rule = Readonly<{
  alert: string;
  expr: string;
  labels: Readonly<Record<string, string>>;
  annotations: Readonly<Record<string, string>>;
}>;
const { groups } = parse(readFileSync(RULES, "utf8")) as { groups: ReadonlyArray<Readonly<{ rules: readonly Rule[] }>> };
const rules = groups.flatMap((group) => group.rules);

async function promtool(...words: readonly string[]): Promise<{ said: string; code: number }> {
  const tool = Bun.spawn([findProgram("promtool"), ...words], { stdout: "pipe", stderr: "pipe" });
  const said = (await new Response(tool.stdout).text()) + (await new Response(tool.stderr).text());
  return { said, code: await tool.exited };
}

/** What fires at a minute, by name and severity. */
const FIRES = 'sum by (alertname, severity) (ALERTS{alertstate="firing"})';
const HAS_FIRED = 'sum by (alertname, severity) (count_over_time(ALERTS{alertstate="firing"}[200m]))';
type Asked = Readonly<{ minute: number; ask: string; alerts: ReadonlyArray<readonly [alert: string, severity: string]> }>;

/** What promtool says about the rules when the series of a healthy service are replaced by these; empty if all is so. */
async function complaints(series: Readonly<Record<string, string>>, asked: readonly Asked[]): Promise<string> {
  const all = Object.entries({ ...HEALTHY, ...series }).filter(([, values]) => values !== "");
  const test = {
    rule_files: [RULES],
    evaluation_interval: "1m",
    tests: [
      {
        interval: "1m",
        input_series: all.map(([name, values]) => ({ series: name, values })),
        promql_expr_test: asked.map(({ minute, ask, alerts }) => ({
          expr: ask,
          eval_time: `${minute}m`,
          exp_samples: alerts.map(([alertname, severity]) => ({ labels: `{alertname="${alertname}",severity="${severity}"}`, value: 1 })),
        })),
      },
    ],
  };
  const path = join(temporaryFolder(), "test.json");
  writeFileSync(path, JSON.stringify(test));
  const { said, code } = await promtool("test", "rules", path);
  return code === 0 ? "" : said;
}

needs("promtool").it("the rules and the example of a configuration are valid for Prometheus' own tool", async () => {
  for (const words of [
    ["rules", RULES],
    ["config", join(PROJECT, "deploy/prometheus/prometheus.yaml")],
  ]) {
    const { said, code } = await promtool("check", ...words);
    expect([code, said]).toEqual([0, expect.not.stringMatching(/FAILED|duplicate/)]);
  }
});

describe("an alert fires when its time is over, not a minute before, and no other fires", () => {
  for (const { alert, severity, why, firesAt, series } of CASES) {
    needs("promtool").it(why === undefined ? alert : `${alert}: ${why}`, async () => {
      expect(
        await complaints(series, [
          { minute: firesAt - 1, ask: FIRES, alerts: [] },
          { minute: firesAt, ask: FIRES, alerts: [[alert, severity]] },
        ]),
      ).toBe("");
    });
  }

  it("and each alert is among them", () => {
    expect([...new Set(CASES.map(({ alert }) => alert))]).toEqual(rules.map(({ alert }) => alert));
  });
});

describe("no alert ever fires for", () => {
  for (const { why, series } of HARMLESS) {
    needs("promtool").it(why, async () => expect(await complaints(series, [{ minute: 200, ask: HAS_FIRED, alerts: [] }])).toBe(""));
  }
});

describe("each alert", () => {
  it("says whom it is for, what is wrong, what to do, and where to read more", () => {
    for (const { alert, labels, annotations } of rules) {
      expect(["page", "ticket"]).toContain(labels["severity"]!);
      expect(Object.keys(annotations)).toEqual(["summary", "description", "runbook"]);
      expect(annotations["runbook"]).toBe(`docs/how-to/watch.md#${alert.toLowerCase()}`);
    }
  });

  it("has a section in docs/how-to/watch.md, in the same order, and no section is for another", () => {
    expect(Array.from(GUIDE.matchAll(/^### (PlantStore\w+)$/gm), ([, alert]) => alert)).toEqual(rules.map(({ alert }) => alert));
  });
});

/** The values that a label may have, where a service serves only those that have happened. */
const VALUES: Readonly<Record<string, ReadonlySet<string>>> = {
  code: new Set(Object.keys(CATALOGUE)),
  event: new Set(Array.from(LOG_EVENTS.matchAll(/\*\*`(\w+)`\*\*/g), ([, event = ""]) => event)),
  operation: new Set(OPERATIONS.map(({ id }) => id)),
  outcome: new Set(["created", "same", "in_use", "done", "blocked", "failed"]),
  status: new Set(["5.."]),
};

/** Prometheus itself adds them. */
const ADDED = ["job", "instance"];

describe("every rule", () => {
  const served = new Map<string, Set<string>>([["up", new Set()]]);
  afterAll(killServices);

  it("names only metrics and labels that a service serves, and only values that a label can have", async () => {
    const root = plantBugs(CHECKPOINT_OFTEN);
    for (const engine of ENGINES) {
      const { url, started, token } = await startOn(engine, root, { PLANT_STORE_METRICS: "127.0.0.1:0" });
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      for (let id = 1; id <= 30; id += 1) await fetch(`${url}/plants`, { method: "POST", headers, body: `{"id":${id},"name":"Rose"}` });
      await fetch(`${url}/plants/404`, { headers });
      for (const [name, labels] of readLabels(await (await fetch(started["metrics"]!)).text())) served.set(name, labels);
    }
    for (const { alert, expr } of rules) {
      const { metrics, matchers, grouped } = findNamed(expr);
      const labels = new Set([...ADDED, ...metrics.flatMap((metric) => [...(served.get(metric) ?? [])])]);
      expect([alert, metrics.filter((metric) => !served.has(metric))]).toEqual([alert, []]);
      expect([alert, grouped.filter((label) => !labels.has(label))]).toEqual([alert, []]);
      const odd = matchers.filter(({ metric, label }) => ![...ADDED, ...(served.get(metric) ?? [])].includes(label));
      expect([alert, odd]).toEqual([alert, []]);
      const unknown = matchers.filter(({ label, value }) => VALUES[label] && value.split("|").some((one) => !VALUES[label]!.has(one)));
      expect([alert, unknown]).toEqual([alert, []]);
    }
  });

  it("with a typo in a metric, a label or a value would be noticed", () => {
    expect(findNamed('sum by (jobb) (rate(plant_store_redy{cod="x|y",event!~"z"}[5m])) > 0.5 and on (job) up')).toEqual({
      metrics: ["plant_store_redy", "up"],
      matchers: [
        { metric: "plant_store_redy", label: "cod", value: "x|y" },
        { metric: "plant_store_redy", label: "event", value: "z" },
      ],
      grouped: ["jobb", "job"],
    });
  });
});
