import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "bun:test";
import { CATALOGUE } from "../../contract/generated/error-catalogue.ts";
import { OPERATIONS } from "../../contract/generated/operations.ts";
import { CHECKPOINT_OFTEN, plantBugs } from "../support/plant-bugs.ts";
import { ENGINES } from "../support/engines.ts";
import { PROJECT } from "../support/process.ts";
import { needs } from "../support/program.ts";
import { CASES, HARMLESS, HEALTHY } from "../support/prometheus/alert-cases.ts";
import { DASHBOARD_QUERIES, RULES, RULES_FILE, findNamed, readLabels } from "../support/prometheus/deployed.ts";
import { promtool, startPrometheus } from "../support/prometheus/prometheus.ts";
import { killServices, startOn } from "../support/service-process.ts";
import { openStream } from "../support/stream.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { askUntil } from "../support/until.ts";

afterAll(killServices);

needs("promtool").it("the rules and the example of a configuration are valid for Prometheus' own tool", async () => {
  for (const words of [
    ["rules", RULES_FILE],
    ["config", join(PROJECT, "deploy/prometheus/prometheus.yaml")],
  ]) {
    const { said, code } = await promtool(["check", ...words]);
    expect([code, said]).toEqual([0, expect.not.stringMatching(/FAILED|duplicate/)]);
  }
});

/** What fires at a minute, by name and severity. */
const FIRES = 'sum by (alertname, severity) (ALERTS{alertstate="firing"})';
const HAS_FIRED = 'sum by (alertname, severity) (count_over_time(ALERTS{alertstate="firing"}[200m]))';

function severityOf(alert: string): string | undefined {
  return RULES.find((rule) => rule.alert === alert)?.labels["severity"];
}

/** The series of a healthy service with some replaced, and what must fire in which minute. */
function toTest(
  name: string,
  series: Readonly<Record<string, string>>,
  asked: ReadonlyArray<readonly [minute: number, ask: string, labels?: string]>,
) {
  return {
    name,
    interval: "1m",
    input_series: Object.entries({ ...HEALTHY, ...series })
      .filter(([, values]) => values !== "")
      .map(([one, values]) => ({ series: one, values })),
    promql_expr_test: asked.map(([minute, expr, labels]) => ({
      expr,
      eval_time: `${minute}m`,
      exp_samples: labels === undefined ? [] : [{ labels, value: 1 }],
    })),
  };
}

needs("promtool").it(
  "an alert fires when its time is over, not a minute before, no other fires, and none for what is harmless",
  async () => {
    const tests = [
      ...CASES.map(([alert, firesAt, series, why = ""]) =>
        toTest(`${alert} ${why}`, series, [
          [firesAt - 1, FIRES],
          [firesAt, FIRES, `{alertname="${alert}",severity="${severityOf(alert)}"}`],
        ]),
      ),
      ...HARMLESS.map(({ why, series }) => toTest(why, series, [[200, HAS_FIRED]])),
    ];
    const path = join(temporaryFolder(), "test.json");
    writeFileSync(path, JSON.stringify({ rule_files: [RULES_FILE], evaluation_interval: "1m", tests }));
    expect(await promtool(["test", "rules", path])).toEqual({ said: expect.stringContaining("SUCCESS"), code: 0 });
  },
);

/** The values that a label may have, where a service serves only those that have happened. */
const VALUES: Readonly<Record<string, ReadonlySet<string>>> = {
  code: new Set(Object.keys(CATALOGUE)),
  event: new Set(
    Array.from(readFileSync(join(PROJECT, "docs/reference/log-events.md"), "utf8").matchAll(/\*\*`(\w+)`\*\*/g), ([, event = ""]) => event),
  ),
  operation: new Set(OPERATIONS.map(({ id }) => id)),
  outcome: new Set(["created", "same", "in_use", "done", "blocked", "failed"]),
  status: new Set(["5.."]),
};

/** Prometheus itself adds them. */
const ADDED = ["job", "instance"];

/** Services on both engines, whose checkpoints are frequent. */
const root = plantBugs(CHECKPOINT_OFTEN);
const services = await Promise.all(ENGINES.map((engine) => startOn(engine, { root, environment: { PLANT_STORE_METRICS: "127.0.0.1:0" } })));
// Someone follows what changes.
for (const { url, token } of services) await openStream(url, { token });
let id = 0;

/** Lets each service create, search and miss a plant, and read changes: an operation that no one asks for any more has no p99. */
async function use(): Promise<void> {
  id += 1;
  for (const { ask } of services) {
    await ask("POST", "/plants", `{"id":${id},"name":"Rose"}`);
    await ask("GET", "/plants?q=rose");
    await ask("GET", "/plants/404000");
    await ask("GET", "/plants/changes?after=now");
  }
}

it("every rule names only metrics and labels that a service serves, and only values that a label can have", async () => {
  for (let times = 0; times < 30; times += 1) await use();
  const served = new Map<string, Set<string>>([["up", new Set()]]);
  for (const { started } of services)
    for (const [name, labels] of readLabels(await (await fetch(started["metrics"]!)).text())) served.set(name, labels);
  for (const { alert, expr } of RULES) {
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

/** A query as Grafana sends it, for all services. */
function fill(expr: string): string {
  return expr.replaceAll("$instance", ".*").replaceAll("$__rate_interval", "5s");
}

needs("prometheus").it("the dashboard asks nothing that a running Prometheus does not answer with numbers", async () => {
  const { watch, query, stop } = await startPrometheus();
  for (const [at, { started }] of services.entries()) watch(`service-${at}`, started["metrics"]!);
  for (const { title, expr } of DASHBOARD_QUERIES) {
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
});
