import { afterEach, beforeAll, expect } from "bun:test";
import { Client } from "pg";
import { needs } from "../support/program.ts";
import { startCluster } from "../support/postgres/cluster.ts";
import type { Cluster } from "../support/postgres/cluster.ts";
import { queryOnce } from "../support/postgres/database-server.ts";
import { findFaults, startLoad } from "../support/postgres/load.ts";
import { startPooler } from "../support/postgres/pooler.ts";
import { serveOn } from "../support/postgres/store.ts";
import { rejectionOf } from "../support/rejection.ts";
import { inForm, tell } from "../support/run-form.ts";
import { killServices, PATIENT } from "../support/service-process.ts";
import { until } from "../support/until.ts";

const { describe, it } = needs("pgbouncer");

const SECONDS = inForm(4, 30);
const CLIENTS = 16;

/** Those of one replica; see src/store/postgres/store.ts. */
const CONNECTIONS_MAX = 26;

/** What another program may leave behind on a connection to the server: to the pooler, it is the same user. */
const LEFT_BEHIND = [
  "SET synchronous_commit = off",
  "SET client_min_messages = error",
  "SET lock_timeout = '1min'",
  "SET search_path = pg_catalog",
  "SET array_nulls = off",
  "PREPARE insert_plants AS SELECT 1",
];

describe("a service behind PgBouncer, as it is by default,", () => {
  let cluster: Cluster;
  const stops: Array<() => Promise<void>> = [];
  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterEach(async () => {
    await killServices();
    for (const stop of stops.splice(0)) await stop();
    await cluster.query("ALTER SYSTEM RESET synchronous_standby_names");
    await cluster.query("SELECT pg_reload_conf()");
  });

  /** Two services on a new database, each behind the pooler. */
  async function start(mode: string) {
    const database = await cluster.createDatabase();
    const pooler = await startPooler({ target: cluster, settings: { pool_mode: mode } });
    stops.push(pooler.stop);
    const address = pooler.url(database);
    const [first, second] = [await serveOn(address, { flags: PATIENT }), await serveOn(address, { flags: PATIENT })];
    return { database, address, first, urls: [first.url, second.url], token: first.token };
  }

  /** Writes down the settings with which each commit of creates runs. */
  async function noteSettings(database: string): Promise<void> {
    await queryOnce(
      database,
      `CREATE TABLE seen (settings TEXT);
      CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$ BEGIN
        INSERT INTO seen SELECT concat_ws(' ', current_setting('synchronous_commit'), current_setting('client_min_messages'),
          current_setting('lock_timeout'), current_setting('array_nulls'), current_setting('statement_timeout'));
        RETURN NULL; END $$;
      CREATE TRIGGER notes AFTER INSERT ON plants EXECUTE FUNCTION note()`,
    );
  }

  /** Others use the same pooler, and clean up nothing. */
  async function disturb(address: string, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const client = new Client({ connectionString: address });
      client.on("error", () => {});
      await client.connect();
      for (const statement of LEFT_BEHIND) await client.query(statement).catch(() => {}); // prepared by an earlier one
      await client.end();
      await Bun.sleep(20);
    }
  }

  for (const mode of ["session", "transaction"]) {
    it(`does all its work in ${mode} mode, with its own settings in each transaction, whatever others leave behind`, async () => {
      const { database, address, first, urls, token } = await start(mode);
      await noteSettings(database);
      let isOver = false;
      const disturbed = disturb(address, () => isOver);
      const load = startLoad({ urls, token, clients: CLIENTS, firstId: 1n });
      await Bun.sleep(SECONDS * 1000);
      const journal = await load.stop();
      isOver = true;
      await disturbed;
      const seen = await queryOnce(database, "SELECT DISTINCT settings FROM seen ORDER BY 1");
      tell(`PgBouncer in ${mode} mode`, `${JSON.stringify(Object.fromEntries(journal.statuses))} in ${SECONDS} s`);
      expect([...journal.statuses.keys()]).toEqual([200]);
      expect(journal.wrong).toEqual([]);
      expect(await findFaults(database, journal)).toEqual({ lost: [], strange: [] });
      expect(seen).toEqual([{ settings: expect.stringMatching(/^on warning 250ms on \d+m?s$/) }]);
      expect(journal.answered.size).toBeGreaterThan(20 * SECONDS);
      const statuses = [
        await first.statusOf("POST", "/plants/import", '{"id":-1,"name":"Aloe","tag":"dry"}\n', "application/x-ndjson"),
        await first.statusOf("GET", "/plants?tag=dry&q=aloe"),
        await first.statusOf("GET", "/tags"),
        await first.statusOf("GET", "/plants/export"),
        await first.statusOf("DELETE", "/plants/-1"),
        await first.statusOf("GET", "/readyz"),
      ];
      expect(statuses).toEqual([200, 200, 200, 200, 204, 200]);
    });
  }

  it("leaves no statements running while a standby is missing, and reads go on", async () => {
    const { database, first, urls, token } = await start("transaction");
    await cluster.query("ALTER SYSTEM SET synchronous_standby_names = 'absent'");
    await cluster.query("SELECT pg_reload_conf()");
    const load = startLoad({ urls, token, clients: CLIENTS, firstId: 1n });
    const name = new URL(database).pathname.slice(1);
    let most = 0;
    const reads = new Set<number>();
    for (let turn = 0; turn < 4 * SECONDS; turn += 1) {
      const [row] = await cluster.query(`SELECT count(*)::int AS all FROM pg_stat_activity WHERE datname = '${name}'`);
      most = Math.max(most, Number(row!["all"]));
      reads.add(await first.statusOf("GET", "/plants"));
      await Bun.sleep(250);
    }
    await cluster.query("ALTER SYSTEM RESET synchronous_standby_names");
    await cluster.query("SELECT pg_reload_conf()");
    await until("Both are ready", async () => (await Promise.all(urls.map((url) => fetch(`${url}/readyz`)))).every(({ ok }) => ok));
    const journal = await load.stop();
    expect(journal.wrong).toEqual([]);
    expect([...reads]).toEqual([200]);
    expect(most).toBeLessThanOrEqual(CONNECTIONS_MAX);
    expect(await findFaults(database, journal)).toEqual({ lost: [], strange: [] });
  });

  it("is refused in session mode if the pooler has no connection left, with what to change", async () => {
    const database = await cluster.createDatabase();
    const pooler = await startPooler({ target: cluster, settings: { pool_mode: "session", default_pool_size: "1" } });
    stops.push(pooler.stop);
    const other = new Client({ connectionString: pooler.url(database) });
    other.on("error", () => {});
    await other.connect();
    await other.query("SELECT 1");
    const reason = await rejectionOf(serveOn(pooler.url(database)));
    expect(String(reason)).toContain("If a pooler accepted the connection, raise its default_pool_size.");
    await other.end();
  });

  it("is refused in statement mode, with what to change", async () => {
    const reason = await rejectionOf(start("statement"));
    expect(String(reason)).toContain("refuses transactions (transaction blocks not allowed in statement pooling mode): set pool_mode =");
  });
});
