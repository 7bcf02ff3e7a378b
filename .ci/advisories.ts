// Asks the registry which packages of the lockfile have known weaknesses. Fails for one of high severity, or a critical one. A registry that
// does not answer fails nothing, and is reported: many networks have a mirror that keeps no advisories.
import { spawnSync } from "node:child_process";

const WAIT_MS_MAX = 60_000;

type Report = Readonly<{
  auditReportVersion?: number;
  message?: string;
  vulnerabilities?: Readonly<Record<string, Readonly<{ severity: string; range: string }>>>;
}>;

const { stdout, stderr } = spawnSync("npm", ["audit", "--json", "--fetch-retries=1"], { encoding: "utf8", timeout: WAIT_MS_MAX });
const report = parseReport(stdout);
if (report.auditReportVersion === undefined) {
  process.stdout.write(`SKIPPED audit of dependencies: the registry did not answer (${report.message ?? stderr.trim()})\n`);
  process.stdout.write("0 checks passed, 0 failed\n");
} else {
  const found = Object.entries(report.vulnerabilities ?? {});
  const severe = found.filter(([, { severity }]) => severity === "high" || severity === "critical");
  process.stdout.write(`${severe.length === 0 ? "ok    " : "FAILED"} audit of dependencies, ${found.length} with known weaknesses\n`);
  for (const [name, { severity, range }] of found) process.stdout.write(`       ${severity}: ${name} ${range}\n`);
  process.stdout.write(severe.length === 0 ? "1 checks passed, 0 failed\n" : "0 checks passed, 1 failed\n");
  process.exitCode = severe.length === 0 ? 0 : 1;
}

function parseReport(text: string): Report {
  try {
    return JSON.parse(text) as Report;
  } catch {
    return {};
  }
}
