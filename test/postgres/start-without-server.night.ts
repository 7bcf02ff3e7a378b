import { describe, expect, it } from "bun:test";
import { Client } from "pg";
import { parseHosts } from "../../src/store/postgres/engine/hosts.ts";
import { openPool } from "../../src/store/postgres/engine/pool.ts";
import { startUp } from "../../src/store/postgres/engine/startup.ts";
import { until } from "../support/until.ts";
import { startCluster } from "../support/postgres/cluster.ts";
import { startProxy } from "../support/postgres/proxy.ts";
import { openLog, openStore, serveOn } from "../support/postgres/store.ts";

const PASSWORD = "s3cret";

/** The server asks for no password, so any may be given. It must not be shown. */
function withPassword(url: string): string {
  return Object.assign(new URL(url), { password: PASSWORD }).href;
}

/** A service that starts while its database is missing, and the moment at which it says so. */
function startWaiting(database: string) {
  const told = Promise.withResolvers<void>();
  const onLine = (line: string) => line.includes('"database_waiting"') && told.resolve();
  const starting = serveOn(withPassword(database), { onLine });
  // A start that does not wait is not awaited.
  return { starting, told: Promise.race([told.promise, starting]) };
}

const server = await startCluster();

describe("a start waits for", () => {
  it("a server that is not running yet, says so once and without the password, and becomes ready when it runs", async () => {
    await server.stop();
    const { starting, told } = startWaiting(server.url());
    await told;
    // Long enough for another attempt, which is not reported.
    await Bun.sleep(1200);
    await server.start();
    const service = await starting;
    expect(await service.statusOf("GET", "/readyz")).toBe(200);
    const events = service.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(events.map(({ event }) => event)).toEqual(["database_waiting", "store_made", "settings", "started"]);
    expect(events[0]).toMatchObject({
      level: "warn",
      store: `PostgreSQL 127.0.0.1:${server.port}/postgres`,
      forMs: 30_000,
      reason: "nothing listens there",
    });
    expect(service.lines.join("\n")).not.toContain(PASSWORD);
    expect(await service.end("SIGTERM")).toBe(0);
  });

  it("a server that restarts while the tables are made", async () => {
    const proxy = await startProxy({ target: server });
    proxy.once({ kind: "fatal", sqlstate: "57P01" }, /^CREATE UNIQUE INDEX/);
    const { starting } = startWaiting(proxy.url(await server.createDatabase()));
    const service = await starting;
    expect(proxy.injected.get("fatal 57P01")).toBe(1);
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
    expect(await service.end("SIGTERM")).toBe(0);
    await proxy.stop();
  });

  it("a server that restarts while it builds an index, for longer than a start waits for a server that is away", async () => {
    const url = await server.createDatabase("building");
    await (await openStore(url)).close();
    await server.query("INSERT INTO plants (id, name, words) VALUES (1, 'Ficus', 'ficus'); DROP INDEX plants_by_name", "building");
    // The build waits for its end.
    const writer = new Client({ connectionString: url });
    writer.on("error", () => {});
    await writer.connect();
    await writer.query("BEGIN; UPDATE plants SET tag = 'x'");
    const hosts = parseHosts(url);
    const pool = openPool({ hosts, connectionsMax: 2, serverMs: 30_000 });
    const waitMs = 5000;
    const starting = startUp(pool, { hosts, isNew: false, waitMs, log: openLog() });
    await until("It builds", async () => (await server.query("SELECT FROM pg_stat_progress_create_index")).length > 0);
    await Bun.sleep(waitMs + 1000);
    await server.stop();
    // Not at the next try.
    const restarting = Bun.sleep(600).then(() => server.start());
    await starting;
    await restarting;
    expect(await server.query("SELECT indisvalid FROM pg_index WHERE indexrelid = 'plants_by_name'::regclass", "building")).toEqual([
      { indisvalid: true },
    ]);
    await pool.close();
  });

  it("a standby that is about to be promoted, and then accepts changes", async () => {
    const standby = await server.addStandby();
    const { starting, told } = startWaiting(standby.url());
    await told;
    await standby.promote();
    const service = await starting;
    expect(service.lines[0]).toContain("The database is a standby: name the primary too, or promote it.");
    expect(await standby.query("SELECT id FROM tokens")).toEqual([{ id: "first" }]);
    expect(await service.end("SIGTERM")).toBe(0);
  });
});
