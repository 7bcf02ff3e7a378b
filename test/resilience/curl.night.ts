import { spawnSync } from "node:child_process";
import { afterEach, expect } from "bun:test";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { needs } from "../support/program.ts";
import { killServices, PATIENT, startService } from "../support/service-process.ts";

const { it } = needs("curl");

afterEach(killServices);

/** Runs a line like someone who pastes it into a shell, and parses the response. */
function paste(line: string): { status: number; headers: string; body: string } {
  const { stdout, stderr } = spawnSync("sh", ["-c", `${line} -s -S -i`], { encoding: "utf8" });
  const [, status = `none: ${stderr}`, headers = "", body = ""] = /^HTTP\/1\.1 (\d+)[^\n]*\r\n(.*?)\r\n\r\n(.*)$/s.exec(stdout) ?? [];
  return { status: Number(status), headers, body };
}

function edit(line: string, from: string | RegExp, to: string): string {
  const edited = line.replace(from, to);
  if (edited === line) throw new Error(`There is no ${from} in the line: ${line}`);
  return edited;
}

it("the curl command from the start message creates a plant, repeatedly, even after kill -9, and creates no other under its id and none without a token", async () => {
  const data = temporaryFolder();
  const service = await startService({ data, flags: PATIENT });
  const line = service.started["curl"]!;
  const other = edit(line, "Monstera deliciosa", "Ficus lyrata");
  const created = { status: 200, body: '{"name":"Monstera deliciosa","tag":"tropical"}\n' };

  expect(paste(line)).toMatchObject(created);
  expect(paste(line)).toMatchObject(created);
  expect(paste(other)).toMatchObject({ status: 409, body: expect.stringContaining('"error":40900') });
  const refused = paste(edit(line, / -H "Authorization:[^"]*"/, ""));
  expect(refused).toMatchObject({ status: 401, body: expect.stringContaining('"error":40100') });
  expect(refused.headers).toMatch(/^www-authenticate: Bearer realm="plant-store"$/im);

  expect(await service.end("SIGKILL")).toBeNull();
  expect(paste(line).status).toBeNaN();
  // On the same port the same line works again. The other name comes first: a lost plant would be created by its own
  // line.
  const restarted = await startService({ data, flags: [...PATIENT, "--port", new URL(service.url).port] });
  expect(restarted.started["curl"]).toBe(line);
  expect(paste(other).status).toBe(409);
  expect(paste(line)).toMatchObject(created);
});
