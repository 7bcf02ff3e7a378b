import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { existsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "bun:test";
import manifest from "../../package.json" with { type: "json" };
import { temporaryFolder } from "../support/temporary-folder.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import { cleanEnvironment, PROJECT, runCommand, startProcess } from "../support/process.ts";
import { PATIENT } from "../support/service-process.ts";
import type { ServiceProcess } from "../support/process.ts";
import { readToken, startTestService } from "../support/service.ts";

function post({ url }: ServiceProcess, token: string, id = 1): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  return fetch(`${url}/plants`, { method: "POST", body: JSON.stringify({ id, name: "x" }), headers });
}

describe("plant-store serve", () => {
  it("creates a token with all scopes on the first start, in a file that only its owner can read, and never in the log", async () => {
    const data = join(temporaryFolder(), "new", "data");
    const service = await startProcess({ data, flags: PATIENT });
    const token = await readToken(data);
    expect(statSync(join(data, "first-token")).mode & 0o777).toBe(0o600);
    expect(statSync(join(data, "plants.db")).mode & 0o777).toBe(0o600);
    expect(statSync(data).mode & 0o777).toBe(0o700);
    expect((await post(service, token)).status).toBe(200);
    expect(await service.end("SIGTERM")).toBe(0);
    expect(service.lines.join("\n")).not.toContain(token);

    const list = await runCommand(["token", "list", "--data", data]);
    expect(list.stdout).toMatch(/valid\s+first\s+plants:read,plants:write,admin/);

    const again = await startProcess({ data, flags: PATIENT });
    expect(await readToken(data)).toBe(token);
    expect((await post(again, token)).status).toBe(200);
    await again.end("SIGTERM");
  });

  it("says where it listens, where it keeps plants, where the token is, and how to create a plant", async () => {
    const data = temporaryFolder();
    const service = await startProcess({ data, flags: PATIENT });
    expect(service.started).toMatchObject({
      version: manifest.version,
      address: service.url,
      store: `SQLite ${data}/plants.db`,
      tokenFile: `${data}/first-token`,
    });
    expect(service.started["curl"]).toBe(
      `curl -H "Authorization: Bearer $(cat ${data}/first-token)" -H 'Content-Type: application/json' ` +
        `-d '{"id":1,"name":"Monstera deliciosa","tag":"tropical"}' ${service.url}/plants`,
    );
    await service.end("SIGTERM");
  });

  it("names every wrong setting at once and does not touch the disk", async () => {
    const data = join(temporaryFolder(), "never");
    const { status, stderr } = await runCommand(["serve", "--data", data, "--port", "x", "--colour=red", "--secret", "s3cret"], {
      environment: { PLANT_STORE_WHAT: "1" },
    });
    expect(status).toBe(1);
    for (const name of ["PLANT_STORE_WHAT", "--port", "--colour", "--secret"]) expect(stderr).toContain(`- ${name} `);
    expect(stderr).not.toContain("s3cret");
    expect(existsSync(data)).toBe(false);
  });
});

describe("npm start", () => {
  it("passes on SIGTERM: the service drains and frees port and data", async () => {
    const data = temporaryFolder();
    const npm = spawn("npm", ["start", "--silent", "--", "--port", "0", "--data", data], {
      cwd: PROJECT,
      stdio: ["ignore", "pipe", "inherit"],
      env: cleanEnvironment(),
    });
    const lines: string[] = [];
    const reader = createInterface({ input: npm.stdout });
    const closed = once(reader, "close");
    reader.on("line", (line) => lines.push(line));
    while (!lines.some((line) => line.includes('"event":"started"')) && npm.exitCode === null) await Bun.sleep(10);
    npm.kill("SIGTERM");
    await closed;
    const events = lines.map((line) => (JSON.parse(line) as { event: string }).event);
    // The temporary folder may be in memory.
    expect(events.filter((event) => event !== "data_at_risk")).toEqual(["store_made", "settings", "started", "stopping", "stopped"]);
  });
});

describe("plant-store token", () => {
  it("creates tokens that work at once in a running service, and revokes them within a second", async () => {
    const data = temporaryFolder();
    const service = await startProcess({ data, flags: PATIENT });
    const expires = new Date(Date.now() + 1e9).toISOString();
    const flags = ["--name", "Anna's phone", "--scopes", "plants:write", "--expires", expires];
    const made = await runCommand(["token", "create", ...flags, "--data", data]);
    expect(made.stdout).toMatch(/^plant_[0-9A-Za-z]{38}\n$/);
    const token = made.stdout.trim();
    expect((await post(service, token)).status).toBe(200);

    const line = (await runCommand(["token", "list", "--data", data])).stdout.split("\n").find((row) => row.includes("Anna's phone"))!;
    expect(line).toMatch(/^\w{8} +valid +Anna's phone +plants:write +- +\d{4}-\d\d-\d\d \d\d:\d\d +\d{4}-/);
    const revoked = await runCommand(["token", "revoke", line.slice(0, 8), "--data", data]);
    expect(revoked.status).toBe(0);
    await Bun.sleep(1000);
    expect((await post(service, token)).status).toBe(401);
    expect((await runCommand(["token", "list", "--data", data])).stdout).toMatch(/revoked +Anna's phone/);
    await service.end("SIGTERM");
  });
});

// A proxy that the environment names is not asked for what is on this machine: it would look on its own, and see the token.

const service = await startTestService();
afterAll(() => service.stop());

const seen: string[] = [];
const proxy = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch({ headers }) {
    seen.push(headers.get("authorization") ?? "");
    return new Response("no", { status: 502 });
  },
});
afterAll(() => proxy.stop(true));

const file = join(temporaryFolder(), "plants.ndjson");
writeFileSync(file, '{"id":1,"name":"Aloe"}\n');

function importWith(environment: Record<string, string>) {
  const own = { PLANT_STORE_URL: service.url, PLANT_STORE_TOKEN: service.token };
  return runCommand(["import", file], { environment: { ...own, ...environment } });
}

describe("a service on this machine", () => {
  for (const environment of [
    { HTTP_PROXY: `http://127.0.0.1:${proxy.port}` },
    { http_proxy: `http://127.0.0.1:${proxy.port}` },
    { HTTP_PROXY: `http://127.0.0.1:${proxy.port}`, no_proxy: "other.example" },
    { HTTP_PROXY: `http://127.0.0.1:${proxy.port}`, NO_PROXY: "other.example" },
  ])
    it(`is reached without the proxy of ${Object.keys(environment).join(", ")}`, async () => {
      const { status, stderr } = await importWith(environment);
      expect([status, seen]).toEqual([0, []]);
      expect(stderr).not.toContain("failed");
    });

  it("is reached with a token and an address that have the line end of Windows behind them", async () => {
    const windows = { PLANT_STORE_URL: `${service.url}\r`, PLANT_STORE_TOKEN: `${service.token}\r` };
    expect((await importWith(windows)).status).toBe(0);
    expect((await importWith({ PLANT_STORE_TOKEN: `"${service.token}"` })).stderr).toContain(
      "PLANT_STORE_TOKEN is not a token: it has spaces, quotes",
    );
  });
});

describe("plant-store token create", () => {
  it("prints the new token even if its store fails to close: it is shown once", async () => {
    const data = temporaryFolder();
    await (await startProcess({ data, flags: PATIENT })).end("SIGTERM");
    const root = plantBugs([
      { file: "src/store/sqlite/store.ts", from: "await store.close();", to: 'await store.close(); throw new Error("It fails.");' },
    ]);
    const { status, stdout } = await runCommand(["token", "create", "--name", "me", "--json", "--data", data], { root });
    expect([status, JSON.parse(stdout)]).toMatchObject([1, { name: "me", token: expect.any(String) }]);
  });
});
