import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findFreePort } from "../port.ts";
import { findProgram } from "../program.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { until } from "../until.ts";

/** One sample of the answer to a query. */
type Answered = Readonly<{ metric: Readonly<Record<string, string>>; value: readonly [time: number, value: string] }>;

export type Prometheus = Awaited<ReturnType<typeof startPrometheus>>;

/** What Prometheus' own tool says, and how it ended. */
export async function promtool(words: readonly string[], input = ""): Promise<Readonly<{ said: string; code: number }>> {
  const tool = Bun.spawn([findProgram("promtool"), ...words], { stdin: new Blob([input]), stdout: "pipe", stderr: "pipe" });
  const said = (await new Response(tool.stdout).text()) + (await new Response(tool.stderr).text());
  return { said, code: await tool.exited };
}

const SCRAPE_MS = 500;
/** A service may need two seconds for its metrics while its database is away. */
const SCRAPE_MS_PATIENT = 2500;

/** A Prometheus of our own, which asks often. `rules` is the text of a file of rules. */
export async function startPrometheus({ rules = "groups: []" }: { rules?: string } = {}) {
  const folder = temporaryFolder();
  const targets = join(folder, "targets");
  mkdirSync(targets);
  writeFileSync(join(folder, "rules.yaml"), rules);
  const job = (name: string, ms: number) => ({
    job_name: name,
    scrape_interval: `${ms}ms`,
    scrape_timeout: `${ms}ms`,
    file_sd_configs: [{ files: [join(targets, `${name}-*.json`)], refresh_interval: "1s" }],
  });
  const config = {
    global: { evaluation_interval: `${SCRAPE_MS}ms` },
    rule_files: ["rules.yaml"],
    scrape_configs: [job("eager", SCRAPE_MS), job("patient", SCRAPE_MS_PATIENT)],
  };
  writeFileSync(join(folder, "prometheus.json"), JSON.stringify(config));
  const port = await findFreePort();
  const flags = [`--config.file=${join(folder, "prometheus.json")}`, `--storage.tsdb.path=${join(folder, "data")}`];
  const child = spawn(findProgram("prometheus"), [...flags, `--web.listen-address=127.0.0.1:${port}`, "--log.level=error"], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const exited = once(child, "exit");
  const url = `http://127.0.0.1:${port}`;
  await until("Prometheus is ready", () =>
    fetch(`${url}/-/ready`)
      .then(({ ok }) => ok)
      .catch(() => false),
  );

  /** Rejects if Prometheus finds the query wrong. */
  async function query(text: string): Promise<readonly Answered[]> {
    const response = await fetch(`${url}/api/v1/query`, { method: "POST", body: new URLSearchParams({ query: text }) });
    const { error, data } = (await response.json()) as { error?: string; data: Readonly<{ result: readonly Answered[] }> };
    if (error !== undefined) throw new Error(`${error}: ${text}`);
    return data.result;
  }

  return {
    query,
    /** Scrapes the metrics at this address from now on, as this instance of the job plant-store. */
    watch(instance: string, metricsUrl: string): void {
      const kind = instance.startsWith("patient") ? "patient" : "eager";
      const target = [{ targets: [new URL(metricsUrl).host], labels: { job: "plant-store", instance } }];
      // A file that appears is whole.
      const path = join(targets, `${kind}-${instance}.json`);
      writeFileSync(`${path}.part`, JSON.stringify(target));
      renameSync(`${path}.part`, path);
    },
    /** The alerts of an instance that are firing now. */
    async firing(instance: string): Promise<readonly string[]> {
      const alerts = await query(`ALERTS{alertstate="firing",instance="${instance}"}`);
      return alerts.map(({ metric }) => metric["alertname"]!);
    },
    async stop(): Promise<void> {
      child.kill("SIGKILL");
      await exited;
    },
  };
}
