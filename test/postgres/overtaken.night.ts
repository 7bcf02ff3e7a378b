import { afterEach, describe, expect, it } from "bun:test";
import { runCommand } from "../support/process.ts";
import { killServices } from "../support/service-process.ts";
import { startCluster } from "../support/postgres/cluster.ts";
import { serveOn } from "../support/postgres/store.ts";
import { until } from "../support/until.ts";

afterEach(killServices);

/** A primary, its synchronous standby, and a service whose address names the primary first, with a plant and a token. */
async function openServers() {
  const primary = await startCluster();
  const standby = await primary.addStandby();
  const database = new URL(await primary.createDatabase("plants"));
  const address = database.href.replace(/\/plants$/, `,${standby.host}:${standby.port}/plants`);
  const service = await serveOn(address);
  const { token, data } = service;

  async function ask(
    { url }: { url: string },
    method: string,
    path: string,
    { body, secret = token }: { body?: unknown; secret?: string } = {},
  ) {
    const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
    const response = await fetch(`${url}${path}`, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    return { status: response.status, body: (await response.json().catch(() => undefined)) as { name: string; id: string; token: string } };
  }

  expect(await ask(service, "POST", "/plants", { body: { id: 1, name: "before" } })).toMatchObject({ status: 200 });
  const made = (await ask(service, "POST", "/tokens", { body: { name: "lost", scopes: ["plants:read"] } })).body;
  return {
    primary,
    standby,
    service,
    ask,
    secret: made.token,
    address,
    data,
    start: () => serveOn(address),
    /** Changes the plant and revokes the token, on the server that was promoted. */
    async change() {
      await until("Changes succeed", async () => (await ask(service, "PUT", "/plants/1", { body: { name: "after" } })).status === 200);
      expect(await ask(service, "DELETE", `/tokens/${made.id}`)).toMatchObject({ status: 204 });
    },
  };
}

/** As many at a time as use all connections for reads of single plants and tokens. */
const AT_ONCE = 8;

describe("once a standby was promoted", () => {
  it("no one reads from the old primary that stood still meanwhile, also on connections that were open before", async () => {
    const { primary, standby, ask, secret, start, change } = await openServers();
    const idle = await start();
    const read = (how = {}) => Promise.all(Array.from({ length: AT_ONCE }, () => ask(idle, "GET", "/plants/1", how)));
    await read();
    primary.pause();
    await standby.promote();
    await change();
    await until("The idle one has followed", () => idle.lines.some((line) => line.includes("store_healed")));
    primary.resume();
    expect((await read()).map(({ body }) => body.name)).toEqual(Array.from({ length: AT_ONCE }, () => "after"));
    expect((await read({ secret })).map(({ status }) => status)).toEqual(Array.from({ length: AT_ONCE }, () => 401));
  });

  it("a service leaves a primary that goes on alone, and that waits for its standby", async () => {
    const { standby, service, ask } = await openServers();
    await standby.promote();
    await until("Creates succeed", async () => (await ask(service, "POST", "/plants", { body: { id: 2, name: "after" } })).status === 200);
    expect(await standby.query("SELECT name FROM plants WHERE id = 2", "plants")).toEqual([{ name: "after" }]);
  });

  it("a service leaves a primary that goes on alone and waits for no one, and says so", async () => {
    const { primary, standby, service, ask } = await openServers();
    await primary.query("ALTER SYSTEM SET synchronous_standby_names = ''");
    await primary.query("SELECT pg_reload_conf()");
    await standby.promote();
    const told = () => service.lines.find((line) => line.includes("server_overtaken"));
    await until("The service tells it", () => told() !== undefined);
    expect(await ask(service, "PUT", "/plants/1", { body: { name: "after" } })).toMatchObject({ status: 200 });
    expect(await standby.query("SELECT name FROM plants WHERE id = 1", "plants")).toEqual([{ name: "after" }]);
    expect(JSON.parse(told()!)).toMatchObject({ level: "warn", server: `PostgreSQL ${primary.host}:${primary.port}/plants` });
  });

  it("a start and commands go past the old primary that came back", async () => {
    const { primary, standby, ask, secret, start, change, address, data } = await openServers();
    await primary.kill();
    await standby.promote();
    await change();
    await primary.start();
    const service = await start();
    expect((await ask(service, "GET", "/plants/1")).body.name).toBe("after");
    expect(await ask(service, "GET", "/plants/1", { secret })).toMatchObject({ status: 401 });
    expect(await ask(service, "POST", "/plants", { body: { id: 2, name: "new" } })).toMatchObject({ status: 200 });
    const environment = { PLANT_STORE_DATABASE: address };
    const { stdout } = await runCommand(["export", "-", "--data", data], { environment });
    expect(stdout).toContain("after");
    expect((await runCommand(["check", "--data", data], { environment })).stdout).toMatch(/^ok +plants +2$/m);
  });
});
