import { afterEach, beforeAll, expect } from "bun:test";
import { Client } from "pg";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { needs } from "../support/program.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import { startCluster } from "../support/postgres/cluster.ts";
import type { Cluster } from "../support/postgres/cluster.ts";
import { queryOnce } from "../support/postgres/database-server.ts";
import { findFaults, startLoad } from "../support/postgres/load.ts";
import { startPooler } from "../support/postgres/pooler.ts";
import { rejectionOf } from "../support/rejection.ts";
import { inForm, tell } from "../support/run-form.ts";
import { readToken } from "../support/service.ts";
import { killServices, PATIENT, startService } from "../support/service-process.ts";
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

type Outcome = Readonly<{
  statuses: readonly number[];
  wrong: readonly string[];
  faults: Awaited<ReturnType<typeof findFaults>>;
  settings: readonly string[];
}>;

const UNDISTURBED: Outcome = { statuses: [200], wrong: [], faults: { lost: [], strange: [] }, settings: ["on warning 250ms on 5s"] };

/** Trusts that nobody else uses the connection to the server. */
const TRUST_THE_POOLER = {
  file: "src/store/postgres/engine/database-connection.ts",
  from: "return !this.#isCockroach &&",
  to: "return false &&",
};

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
  async function start(mode: string, root?: string) {
    const database = await cluster.createDatabase();
    const pooler = await startPooler({ target: cluster, settings: { pool_mode: mode } });
    stops.push(pooler.stop);
    const address = pooler.url(database);
    const data = temporaryFolder();
    const flags = [...PATIENT, "--database", address];
    const first = await startService({ data, flags, ...(root === undefined ? {} : { root }) });
    const second = await startService({ data: temporaryFolder(), flags, ...(root === undefined ? {} : { root }) });
    return { database, address, urls: [first.url, second.url], token: await readToken(data) };
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

  async function runDisturbed(mode: string, root?: string) {
    const { database, address, urls, token } = await start(mode, root);
    await noteSettings(database);
    let isOver = false;
    const disturbed = disturb(address, () => isOver);
    const load = startLoad({ urls, token, clients: CLIENTS, firstId: 1n });
    await Bun.sleep(SECONDS * 1000);
    const journal = await load.stop();
    isOver = true;
    await disturbed;
    const seen = await queryOnce(database, "SELECT DISTINCT settings FROM seen ORDER BY 1");
    const outcome: Outcome = {
      statuses: [...journal.statuses.keys()],
      wrong: journal.wrong,
      faults: await findFaults(database, journal),
      settings: seen.map(({ settings }) => String(settings)),
    };
    return { urls, token, journal, outcome };
  }

  for (const mode of ["session", "transaction"]) {
    it(`does all its work in ${mode} mode, with its own settings in each transaction, whatever others leave behind`, async () => {
      const { urls, token, journal, outcome } = await runDisturbed(mode);
      tell(`PgBouncer in ${mode} mode`, `${JSON.stringify(Object.fromEntries(journal.statuses))} in ${SECONDS} s`);
      expect(outcome).toEqual(UNDISTURBED);
      expect(journal.answered.size).toBeGreaterThan(20 * SECONDS);
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" };
      const ask = async (method: string, path: string, body?: string) =>
        (await fetch(`${urls[1]}${path}`, { method, headers, ...(body === undefined ? {} : { body }) })).status;
      const statuses = [
        await ask("POST", "/plants/import", '{"id":-1,"name":"Aloe","tag":"dry"}\n'),
        await ask("GET", "/plants?tag=dry&q=aloe"),
        await ask("GET", "/tags"),
        await ask("GET", "/plants/export"),
        await ask("DELETE", "/plants/-1"),
        await ask("GET", "/readyz"),
      ];
      expect(statuses).toEqual([200, 200, 200, 200, 204, 200]);
    });
  }

  it("is caught disturbed by others if it trusts the pooler", async () => {
    // What it trips over first is left to chance: settings, or a statement of the same name.
    const root = plantBugs([TRUST_THE_POOLER]);
    await until("It is disturbed", async () => {
      const { outcome } = await runDisturbed("transaction", root).catch((reason: unknown) => ({ outcome: reason }));
      await killServices();
      return !Bun.deepEquals(outcome, UNDISTURBED);
    });
  });

  it("leaves no statements running while a standby is missing, and reads go on", async () => {
    const { database, urls, token } = await start("transaction");
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    await cluster.query("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
    await cluster.query("SELECT pg_reload_conf()");
    const load = startLoad({ urls, token, clients: CLIENTS, firstId: 1n });
    const name = new URL(database).pathname.slice(1);
    let most = 0;
    const reads = new Set<number>();
    for (let turn = 0; turn < 4 * SECONDS; turn += 1) {
      const [row] = await cluster.query(`SELECT count(*)::int AS all FROM pg_stat_activity WHERE datname = '${name}'`);
      most = Math.max(most, Number(row!["all"]));
      reads.add((await fetch(`${urls[0]}/plants`, { headers })).status);
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
    const reason = await rejectionOf(startService({ data: temporaryFolder(), flags: ["--database", pooler.url(database)] }));
    expect(String(reason)).toContain("If a pooler accepted the connection, raise its default_pool_size.");
    await other.end();
  });

  it("is refused in statement mode, with what to change", async () => {
    const reason = await rejectionOf(start("statement"));
    expect(String(reason)).toContain("refuses transactions (transaction blocks not allowed in statement pooling mode): set pool_mode =");
  });
});
