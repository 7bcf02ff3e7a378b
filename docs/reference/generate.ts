// Makes errors.md, limits.md and metrics.md, and the table of settings.md, of what the code says: `npm run reference`. With --check it only compares.
import { spawnSync } from "node:child_process";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { STATUS_CODES } from "node:http";
import { CATALOGUE } from "../../contract/generated/error-catalogue.ts";
import { SETTINGS } from "../../src/app/settings.ts";

const PAGE_BYTES = 4096;
const UNITS = { GiB: 2 ** 30, MiB: 2 ** 20, KiB: 2 ** 10 };

const SOURCES = globSync("src/**/*.ts")
  .toSorted()
  .map((path) => ({ path, text: readFileSync(path, "utf8") }));

/** `@limit TOPIC: what it limits` in the comment of a constant, or of a member of one. */
const LIMIT = /@limit (\w+): (.*?)(?: \*\/)?\n(?:\s*\*\/\n)?\s*(?:export )?(?:const )?(\w+)(?: =|:) ([\d_ *]+)/g;
const LIMIT_TOPICS = {
  connections: "Connections and requests",
  writes: "Writes",
  reads: "Reads",
  files: "Files",
  tokens: "Tokens",
  PostgreSQL: "On PostgreSQL",
  traces: "Traces",
};

const METRIC = /\bmetrics\s*\.(counterOf|counter|gauge|histogram)\(\s*\{\s*name: "(\w+)",\s*help:\s*(?:"([^"]*)"|`([^`]*)`)/g;
/** Which part of the service counts it. */
const METRIC_TOPICS = {
  "src/http": "Requests",
  "src/store/commit-meter": "Writes",
  "src/app": "The service and its store",
  "src/store/sqlite": "On SQLite",
  "src/store/postgres": "On PostgreSQL",
  "src/tracing": "Traces",
  "src/runtime": "The process",
};

const pages = {
  "errors.md": `# Errors

Every error has a number: the HTTP status, times 100, plus a number of its own. A number never changes its meaning. The
body of an error is \`{"error":40900,"message":"…"}\`. Decide by the number, show the message: it says what is wrong and
what to do. Some messages are more precise than the ones below, and name the field or the limit. The contract lists the
errors of each operation, with an example of each: open \`/docs\` on a running service.

${sections(
  Map.groupBy(Object.entries(CATALOGUE), ([, { error }]) => statusOf(error)),
  ([code, { error, message }]) => `- **${error}** \`${code}\`: ${message.replaceAll("<", "\\<")}`,
)}`,
  "limits.md": `# Limits

Everything that waits, and everything that is kept for someone, has a limit. Beyond that of what waits or runs, a
request gets 503 with \`Retry-After\`; beyond that of a size, a 4xx that names the limit. [Settings](settings.md) has
those that an operator may change. [Fairness](../explanation/security.md#fairness) says how tokens share what is limited.

${sections(
  Map.groupBy(limits(), ({ topic }) => topic),
  ({ what, value }) => `- ${what}: **${value}**`,
)}`,
  "metrics.md": `# Metrics

With [\`--metrics\`](settings.md), the service answers \`GET /metrics\` at an address of its own, without a token, as
Prometheus text or OpenMetrics. All of it is numbers and names that the service chose: no token, no address of a client,
no name of a plant. Names and units do not change. Every histogram also has \`_bucket\`, \`_sum\` and \`_count\`. A number
that cannot be read now, as when the database does not answer within two seconds, is left out.

${sections(
  Map.groupBy(metrics(), ({ topic }) => topic),
  ({ name, kind, help }) => `- **\`${name}\`** (${kind}): ${help}`,
)}`,
  "settings.md": readFileSync("docs/reference/settings.md", "utf8").replace(/^\| variable[\s\S]*?\n\n/m, `${settings()}\n\n`),
};

const isCheck = process.argv.includes("--check");
for (const [name, draft] of Object.entries(pages)) {
  const path = `docs/reference/${name}`;
  const { stdout: text } = spawnSync("oxfmt", ["--stdin-filepath", path], { input: draft, encoding: "utf8" });
  if (!isCheck) writeFileSync(path, text);
  else if (readFileSync(path, "utf8") !== text) {
    process.stderr.write(`${path} is not what the code says: run \`npm run reference\`.\n`);
    process.exitCode = 1;
  }
}

function sections<Row>(groups: ReadonlyMap<string, readonly Row[]>, toLine: (row: Row) => string): string {
  return [...groups].map(([topic, rows]) => `## ${topic}\n\n${rows.map(toLine).join("\n")}\n`).join("\n");
}

function statusOf(error: number): string {
  const status = Math.floor(error / 100);
  return `${status} ${STATUS_CODES[status]}`;
}

function limits() {
  const found = SOURCES.flatMap(({ text }) =>
    Array.from(text.matchAll(LIMIT), ([, topic = "", what = "", name = "", factors = ""]) => ({
      topic: topic as keyof typeof LIMIT_TOPICS,
      what,
      value: valueOf(
        name,
        factors.split("*").reduce((product, factor) => product * Number(factor.replaceAll("_", "")), 1),
      ),
    })),
  );
  return inOrder(found, LIMIT_TOPICS);
}

/** In the unit that its name tells. */
function valueOf(name: string, value: number): string {
  if (/_SECONDS/.test(name)) return `${value} s`;
  if (/_MS\b|_MS_|Ms$/.test(name))
    return value >= 60_000 ? `${value / 60_000} minutes` : value >= 1000 ? `${value / 1000} s` : `${value} ms`;
  const bytes = /_PAGES/.test(name) ? value * PAGE_BYTES : /BYTES/.test(name) ? value : 0;
  const unit = Object.entries(UNITS).find(([, size]) => bytes >= size && bytes % size === 0);
  if (unit) return `${bytes / unit[1]} ${unit[0]}`;
  return `${value.toLocaleString("en")}${bytes > 0 ? " bytes" : ""}`;
}

function metrics() {
  const found = SOURCES.flatMap(({ path, text }) => {
    const topic = (Object.keys(METRIC_TOPICS) as Array<keyof typeof METRIC_TOPICS>).find((folder) => path.startsWith(folder));
    return Array.from(text.matchAll(METRIC), ([, kind = "", name = "", quoted, template]) => {
      if (!topic) throw new Error(`${path} counts ${name}: name its topic in METRIC_TOPICS.`);
      return { topic, name, kind: kind.replace("Of", ""), help: (quoted ?? template ?? "").replace(/\.$/, "") };
    });
  });
  return inOrder(found, METRIC_TOPICS);
}

/** By topic, each with its title. */
function inOrder<Row extends Readonly<{ topic: string }>>(rows: readonly Row[], topics: Readonly<Record<string, string>>): Row[] {
  return Object.entries(topics).flatMap(([key, topic]) => rows.filter((row) => row.topic === key).map((row) => ({ ...row, topic })));
}

function settings(): string {
  const rows = Object.values(SETTINGS).map(({ variable, flag, fallback }) => `| \`${variable}\` | \`${flag}\` | \`${fallback}\` |`);
  return ["| variable | flag | default |", "| --- | --- | --- |", ...rows].join("\n");
}
