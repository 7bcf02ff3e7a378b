import { readdirSync } from "node:fs";
import { describe, expect, it } from "bun:test";
import { Client } from "pg";
import { parseConfig } from "../../src/app/config.ts";
import { start } from "../../src/app/service.ts";
import { createMetrics } from "../../src/runtime/metrics.ts";
import { VERSION, WORDS_VERSION } from "../../src/store/postgres/engine/schema.ts";
import { parseHosts } from "../../src/store/postgres/engine/hosts.ts";
import { openPool } from "../../src/store/postgres/engine/pool.ts";
import { startUp } from "../../src/store/postgres/engine/startup.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import { readToken } from "../support/service.ts";
import { sharedCluster, startCluster } from "../support/postgres/cluster.ts";
import { queryOnce } from "../support/postgres/database-server.ts";
import { openLog, openStore, serveOn } from "../support/postgres/store.ts";
import { until } from "../support/until.ts";
import { startProxy } from "../support/postgres/proxy.ts";

const TOGETHER = 10;
const ROUNDS = 3;

async function expectReady(services: ReadonlyArray<Readonly<{ url: string }>>, token: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  for (const { url } of services) {
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect((await fetch(`${url}/plants`, { headers })).status).toBe(200);
  }
}

function secretsOf(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.startsWith("first-token"));
}

/** In this process, because separate processes would not start at the same moment. */
function startHere(data: string, database: string) {
  function onFatal(reason: Error): never {
    throw reason;
  }
  return start(parseConfig({}, { port: "0", data, database, queueWaitMs: "10000" }), { log: openLog(), metrics: createMetrics(), onFatal });
}

describe(`${TOGETHER} services starting at the same moment on a new database`, () => {
  for (let round = 1; round <= ROUNDS; round += 1) {
    it(`all become ready, on one schema, with one first token in only one of their folders, time ${round} of ${ROUNDS}`, async () => {
      const database = await (await sharedCluster()).createDatabase();
      const folders = Array.from({ length: TOGETHER }, () => temporaryFolder());
      const services = await Promise.all(folders.map((data) => startHere(data, database)));

      expect(await queryOnce(database, "SELECT id, version FROM plant_store_schema ORDER BY id")).toEqual([
        { id: "1", version: String(VERSION) },
        { id: "2", version: String(WORDS_VERSION) },
      ]);
      const indexes = "SELECT indexrelid::regclass::text AS name, indisvalid FROM pg_index WHERE indrelid = 'plants'::regclass ORDER BY 1";
      const expected = ["plants_by_name", "plants_by_newest", "plants_by_tag", "plants_by_word", "plants_pkey", "plants_without_tag"].map(
        (index) => ({ name: index, indisvalid: true }),
      );
      expect(await queryOnce(database, indexes)).toEqual(expected);
      expect(await queryOnce(database, "SELECT id FROM tokens")).toEqual([{ id: "first" }]);
      expect(folders.flatMap(secretsOf)).toEqual(["first-token"]);
      const [token, ...others] = services.flatMap(({ firstToken }) => firstToken ?? []);
      expect(others).toEqual([]);
      expect(await readToken(folders.find((folder) => secretsOf(folder).length > 0)!)).toBe(token!);
      await expectReady(services, token!);
      await Promise.all(services.map((service) => service.stop()));
    });
  }
});

const KEEP = "if (isFirst) keepDraft(draft, path);";

describe("a start", () => {
  it("becomes ready even if another one in its folder overtakes it between the commit of the first token and its file", async () => {
    const database = await (await sharedCluster()).createDatabase();
    const data = temporaryFolder();
    const slowly = `await new Promise((go) => setTimeout(go, 1500)); ${KEEP}`;
    const slow = serveOn(database, { data, root: plantBugs([{ file: "src/auth/first-token.ts", from: KEEP, to: slowly }]) });
    await until("The first token is committed", async () => {
      const [there] = await queryOnce(database, "SELECT to_regclass('tokens_by_hash') IS NOT NULL AS is_there");
      return there?.["is_there"] === true && (await queryOnce(database, "SELECT FROM tokens")).length === 1;
    });
    const quick = await serveOn(database, { data });
    expect(secretsOf(data)).toEqual(["first-token"]);
    const services = [quick, await slow];
    await expectReady(services, await readToken(data));
    for (const service of services) expect(await service.end("SIGTERM")).toBe(0);
  });
});

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
