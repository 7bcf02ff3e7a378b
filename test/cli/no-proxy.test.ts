import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "bun:test";
import { runCommand } from "../support/process.ts";
import { startTestService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

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
