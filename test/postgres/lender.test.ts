import { afterEach, beforeEach, describe, expect, it } from "bun:test";
import { Client } from "pg";
import { parseHosts } from "../../src/store/postgres/engine/hosts.ts";
import { openPool } from "../../src/store/postgres/engine/pool.ts";
import type { Statement } from "../../src/store/postgres/engine/pool.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import { sharedCluster } from "../support/postgres/cluster.ts";
import { queryOnce } from "../support/postgres/database-server.ts";
import { startLender } from "../support/postgres/lender.ts";
import { startProcess } from "../support/process.ts";
import type { ServiceProcess } from "../support/process.ts";
import { rejectionOf } from "../support/rejection.ts";
import { PATIENT } from "../support/service-process.ts";
import { readToken } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

const CONNECTION = "src/store/postgres/engine/database-connection.ts";
/** Takes a connection for its own, whatever its process is. */
const TRUST_THE_POOLER = [
  { file: CONNECTION, from: "await this.#lookForPooler();", to: "" },
  { file: CONNECTION, from: "if (!isOurs && !this.isShared)", to: "if (false)" },
  { file: CONNECTION, from: "if (isNamed && isMissing(thrown))", to: "if (false)" },
];

/** What another program leaves behind on a connection to the server. */
const LEAVE = "SET synchronous_commit = off; SET client_encoding = LATIN1; SET lock_timeout = '1min'";
const NAME = "Grüner Ahorn 楓";
const LIMITS = { connectMs: 15_000, statementMs: 15_000 };
const SHOW: Statement = {
  name: "show",
  text: `SELECT current_setting('synchronous_commit'), current_setting('lock_timeout'), $1::text`,
};

describe("behind a pooler that lends each transaction another connection, and tells the numbers of the server,", () => {
  let database: string;
  let lender: Awaited<ReturnType<typeof startLender>>;
  const ends: Array<() => Promise<unknown>> = [];
  beforeEach(async () => {
    const server = await sharedCluster();
    database = await server.createDatabase();
    lender = await startLender({ target: server });
  });
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end();
    await lender.stop();
  });

  async function connect(): Promise<Client> {
    const client = new Client({ connectionString: lender.url(database), application_name: "plant-store" });
    client.on("error", () => {});
    await client.connect();
    ends.push(() => client.end());
    return client;
  }

  function open() {
    const pool = openPool({ hosts: parseHosts(lender.url(database)), connectionsMax: 2, serverMs: 5000 });
    ends.push(pool.close);
    return pool;
  }

  /** Creates a plant while another program uses the pooler. Resolves with its name, and how it was committed. */
  async function createDisturbed(root?: string): Promise<string> {
    const data = temporaryFolder();
    const flags = [...PATIENT, "--database", lender.url(database)];
    const service: ServiceProcess = await startProcess({ data, flags, ...(root === undefined ? {} : { root }) });
    ends.push(() => service.end("SIGKILL"));
    await queryOnce(
      database,
      `CREATE TABLE seen (settings TEXT);
      CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO public.seen VALUES (current_setting('synchronous_commit') || ' ' || current_setting('lock_timeout')); RETURN NULL; END $$;
      CREATE TRIGGER notes AFTER INSERT ON plants EXECUTE FUNCTION note()`,
    );
    const other = await connect();
    const headers = { authorization: `Bearer ${await readToken(data)}`, "content-type": "application/json" };
    for (let id = 1; id <= 20; id += 1) {
      // The first create has the service connect before: later it would see at once what the other program has set.
      if (id > 1) await other.query(LEAVE);
      const body = JSON.stringify({ id, name: NAME });
      const { status } = await fetch(`${service.url}/plants`, { method: "POST", headers, body });
      // With the bug, the look of each second may meet the settings of the other program, and refuse the server.
      expect(root === undefined ? [200] : [200, 503]).toContain(status);
    }
    const rows = await queryOnce(database, "SELECT DISTINCT settings, name FROM seen, plants");
    return rows.map(({ settings, name }) => `${String(settings)} ${String(name)}`).join(", ");
  }

  it("a service commits with its own settings, and keeps each letter, whatever another program has set", async () => {
    expect(await createDisturbed()).toBe(`on 250ms ${NAME}`);
  });

  it("would lose its settings or a letter if it took a connection for its own", async () => {
    // Which of them is chance.
    expect(await createDisturbed(plantBugs(TRUST_THE_POOLER))).toMatch(/off|1min|GrÃ¼ner/);
  });

  it("a statement that was prepared fails on the first other connection, and later ones begin with their own settings", async () => {
    const pool = open();
    expect(await pool.query<string[]>(SHOW, ["é"], LIMITS)).toEqual([["on", "250ms", "é"]]);
    const [holder, other] = [await connect(), await connect()];
    await holder.query("BEGIN");
    await other.query(LEAVE);
    expect(await rejectionOf(pool.query(SHOW, ["é"], LIMITS))).toMatchObject({ code: "26000" });
    await other.query(LEAVE);
    expect(await pool.query<string[]>(SHOW, ["é"], LIMITS)).toEqual([["on", "250ms", "é"]]);
  });

  it("a statement that is given up is cancelled, and nothing else", async () => {
    const pool = open();
    const other = await connect();
    await Bun.sleep(50); // so that the connection to the server is older than the next one to the pooler
    await pool.query({ text: "SELECT 1" }, [], LIMITS);
    const sleep = (seconds: number): Statement => ({ text: `SELECT pg_sleep(${seconds}), 'ours'` });
    const theirs = other.query("SELECT pg_sleep(1)").then(() => "done", String);
    const late = await rejectionOf(pool.query(sleep(60), [], { ...LIMITS, statementMs: 300 }));
    expect(String(late)).toContain("did not answer within 300 ms");
    await until("What was given up has ended", async () => {
      await pool.query({ text: "SELECT 1" }, [], LIMITS);
      const rows = await queryOnce(
        database,
        "SELECT FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%''ours''%' AND pid <> pg_backend_pid()",
      );
      return rows.length === 0;
    });
    expect(await theirs).toBe("done");
  });
});
