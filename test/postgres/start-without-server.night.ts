import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "bun:test";
import { Client } from "pg";
import { parseHosts } from "../../src/store/postgres/engine/hosts.ts";
import { openPool } from "../../src/store/postgres/engine/pool.ts";
import { startUp } from "../../src/store/postgres/engine/startup.ts";
import { until } from "../support/until.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { PROJECT, runCommand } from "../support/process.ts";
import { startCluster } from "../support/postgres/cluster.ts";
import { startProxy } from "../support/postgres/proxy.ts";
import { listenAsStandIn } from "../support/postgres/stand-in.ts";
import { openLog, openStore, serveOn } from "../support/postgres/store.ts";
import { startPatientClock } from "../support/patient-clock.ts";

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

const gone = await startCluster();
await gone.stop();

const data = temporaryFolder();
const primary = await startCluster();
const standby = await primary.addStandby();
const silent = await listenAsStandIn(() => {});
await (await serveOn(primary.url(), { data })).end("SIGTERM");
afterAll(() => silent.stop());

it("a command leaves a slow server time behind one that lets it in late and then says nothing", async () => {
  const letIn = Buffer.from("R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I", "latin1");
  async function letInLate(client: Socket): Promise<void> {
    await once(client, "data");
    await Bun.sleep(1500);
    client.write(letIn);
  }
  async function passOnLate(client: Socket): Promise<void> {
    await Bun.sleep(1000);
    client.pipe(connect(primary.port, primary.host).on("error", () => {})).pipe(client);
  }
  const hanging = await listenAsStandIn((client) => void letInLate(client));
  const slow = await listenAsStandIn((client) => void passOnLate(client));
  const database = withPassword(slow.url(primary.url())).replace("@", `@127.0.0.1:${hanging.port},`);
  const { status, stderr } = await runCommand(["check", "--data", data], { environment: { PLANT_STORE_DATABASE: database } });
  expect([status, stderr]).toEqual([0, expect.not.stringContaining("cannot be used")]);
  await Promise.all([hanging.stop(), slow.stop()]);
});

describe("a command goes on to the next server of its address, past", () => {
  for (const { what, port } of [
    { what: "one that is not running", port: gone.port },
    { what: "one that says nothing", port: silent.port },
    { what: "a standby", port: standby.port },
  ]) {
    for (const words of [["token", "list"], ["check"]]) {
      it(`${what}: ${words.join(" ")}`, async () => {
        const database = withPassword(primary.url()).replace("@", `@127.0.0.1:${port},`);
        const { status, stderr } = await runCommand([...words, "--data", data], { environment: { PLANT_STORE_DATABASE: database } });
        expect([status, stderr]).toEqual([0, expect.not.stringContaining("cannot be used")]);
      });
    }
  }
});

describe("a command does not wait for the database", () => {
  for (const words of [
    ["token", "list"],
    ["export", "-"],
    ["import", join(PROJECT, "package.json")],
  ]) {
    it(`but says at once that no server is there: ${words.slice(0, 2).join(" ").replace(PROJECT, "")}`, async () => {
      const clock = startPatientClock();
      const { status, stdout, stderr } = await runCommand([...words, "--data", temporaryFolder()], {
        environment: { PLANT_STORE_DATABASE: withPassword(gone.url()) },
      });
      expect({ status, stdout, stderr }).toEqual({
        status: 1,
        stdout: "",
        stderr:
          `plant-store: PostgreSQL 127.0.0.1:${gone.port}/postgres cannot be used (nothing listens there).` +
          " Check its address in PLANT_STORE_DATABASE, and whether it is running.\n",
      });
      // A start waits for 30 s.
      expect(clock.ms()).toBeLessThan(10_000);
    });
  }
});
