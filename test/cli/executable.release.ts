import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "bun:test";
import { buildExecutable } from "../../deploy/executable.ts";
import { loadContract } from "../../src/domain/contract.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { startProcess } from "../support/process.ts";
import { PATIENT } from "../support/service-process.ts";
import { readToken } from "../support/service.ts";
import { startCollector } from "../support/test-collector.ts";
import { until } from "../support/until.ts";

const program = join(temporaryFolder(), "plant-store");
beforeAll(() => buildExecutable(program));

describe("the executable", () => {
  it("serves pages, contracts and plants from an empty folder, searches them, sends traces, and stops within its time", async () => {
    const cwd = temporaryFolder();
    const data = join(cwd, "data");
    const collector = startCollector();
    const service = await startProcess({ program, cwd, data, flags: PATIENT, environment: collector.environment });
    const headers = { authorization: `Bearer ${await readToken(data)}` };
    async function get(path: string): Promise<string> {
      const response = await fetch(`${service.url}${path}`, { headers });
      expect([path, response.status]).toEqual([path, 200]);
      return response.text();
    }

    for (const page of ["/", "/docs"]) {
      const html = await get(page);
      for (const [, asset] of html.matchAll(/(?:src|href)="\.(\/assets\/[^"]+)"/g)) {
        const text = await get(asset!);
        expect(text.length).toBeGreaterThan(0);
        const imported = [...text.matchAll(/import\("\.(\/[^"]+)"\)/g)].map(([, name]) => name!);
        const later = await Promise.all(imported.map((name) => get(`/assets${name}`)));
        const isWhole = later.some((code) => code.includes("Drop a file here")) || page === "/docs";
        if (asset!.endsWith(".js")) expect([page, isWhole, later.length > 0]).toEqual([page, true, page === "/"]);
      }
      expect(html).toContain('<script type="module"');
    }
    const contract = loadContract();
    expect([await get("/openapi.json"), await get("/openapi/1.0.0.json")]).toEqual([contract.served, contract.base]);

    const body = '{"id":9223372036854775807,"name":"Monstera deliciosa"}';
    expect((await fetch(`${service.url}/plants`, { method: "POST", body, headers })).status).toBe(200);
    await until("The search finds it", async () => (await get("/plants?q=deli")) === `[${body}]`);
    expect(await service.end("SIGTERM")).toBe(0);
    expect(readdirSync(cwd)).toEqual(["data"]);
    expect(collector.spans().map(({ name }) => name)).toContain("COMMIT");
    await collector.stop();
  });

  it("has the commands, and reads no settings from its working directory", () => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, ".env"), "PLANT_STORE_PORT=none\n");
    const run = (...words: string[]) => spawnSync(program, words, { cwd, encoding: "utf8", env: { PATH: process.env["PATH"] } });
    const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string };
    expect(run("--version").stdout.trim()).toBe(version);
    expect(run("config")).toMatchObject({ status: 0, stderr: "" });
    writeFileSync(join(cwd, "plants.csv"), "id,name\n1,Acer\n");
    expect(run("import", "plants.csv").status).toBe(0);
    expect(run("token", "create").stdout).toStartWith("plant_");
    expect(run("token", "list").stdout.split("\n")).toHaveLength(3);
  });
});
