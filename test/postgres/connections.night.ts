import { afterAll, describe, expect, it } from "bun:test";
import { Client } from "pg";
import { FIND_ALIVE } from "../../src/store/postgres/engine/requirements.ts";
import { rejectionOf } from "../support/rejection.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import { startFlood } from "../support/flood.ts";
import { killServices, PATIENT } from "../support/service-process.ts";
import { sharedCluster } from "../support/postgres/cluster.ts";
import { startProxy } from "../support/postgres/proxy.ts";
import { serveOn } from "../support/postgres/store.ts";
import { startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

/** No bug: connections grow old within a second. */
const OLD_SOON = { file: "src/store/postgres/engine/database-connection.ts", from: "AGE_MS_MAX = 60 * 60_000", to: "AGE_MS_MAX = 1000" };

afterAll(killServices);

describe("the connections of a service", () => {
  it("are replaced when they are old, at different times, and no request notices", async () => {
    const server = await sharedCluster();
    const database = await server.createDatabase();
    const name = new URL(database).pathname.slice(1);
    const service = await serveOn(database, { root: plantBugs([OLD_SOON]), flags: PATIENT });
    const flood = startFlood({ url: service.url, token: service.token, firstId: 1n, clients: 8 });
    const seen = new Map<string, string>();
    // More than there can be at a time.
    await until("Fifty connections have been opened", async () => {
      const rows = await server.query(`SELECT pid::text, backend_start::text AS since FROM pg_stat_activity WHERE datname = '${name}'`);
      for (const { pid, since } of rows) seen.set(`${String(pid)} ${String(since)}`, String(since));
      return seen.size >= 50;
    });
    const { answered, others } = await flood.stop();
    expect(others).toEqual([]);
    expect(answered.length).toBeGreaterThan(100);
    // To a tenth of a second.
    expect(new Set([...seen.values()].map((since) => since.slice(0, 21))).size).toBeGreaterThan(10);
  });

  it("cancel what was given up on another, and neither what it runs since then nor one that is idle", async () => {
    const [user, other] = [await connect(), await connect()];
    const { rows } = await user.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
    const cancel = async (ms: number) => (await other.query(FIND_ALIVE.text, [[rows[0]!.pid], [ms]])).rowCount;
    expect(await cancel(0)).toBe(0);
    const later = user.query("SELECT pg_sleep(1)");
    await Bun.sleep(300);
    expect(await cancel(60_000)).toBe(0);
    await later;
    const givenUp = rejectionOf(user.query("SELECT pg_sleep(60)"));
    await until("It is cancelled", async () => (await cancel(10)) === 1);
    expect(await givenUp).toMatchObject({ code: "57014" });
    await Promise.all([user.end(), other.end()]);
  });

  for (const [what, forbidden] of [
    ["may not see what others run", "SELECT ON pg_stat_activity"],
    ["may cancel nothing", "EXECUTE ON FUNCTION pg_cancel_backend(int)"],
  ] as const) {
    it(`open again after statements were given up that no cancel could end, though the user ${what}`, async () => {
      const server = await sharedCluster();
      const database = new URL(await server.createDatabase());
      database.username = "modest";
      const name = database.pathname.slice(1);
      await server.query("CREATE ROLE modest LOGIN");
      await server.query(`ALTER DATABASE "${name}" OWNER TO modest`);
      await server.query(`REVOKE ${forbidden} FROM PUBLIC`, name);
      const proxy = await startProxy({ target: server });
      const { post, stop } = await startTestService({ database: proxy.url(database.href), queueWaitMs: "1000" });
      proxy.randomly({ faults: [{ kind: "hold", holdMs: 10_000 }], probability: 1, seed: 1, on: /^INSERT INTO public\.plants/ });
      expect((await post('{"id":1,"name":"Ficus"}')).status).toBe(503);
      // Until its cancel has been waited for. Then no connection is left that was there before.
      await Bun.sleep(1500);
      proxy.clear();
      proxy.cutAll();
      await until("A plant is created", async () => (await post('{"id":1,"name":"Ficus"}')).status === 200);
      await stop();
      await proxy.stop();
      await server.query(`DROP DATABASE "${name}" WITH (FORCE)`);
      await server.query("DROP ROLE modest");
    });
  }
});

async function connect(): Promise<Client> {
  const client = new Client({ connectionString: (await sharedCluster()).url(), application_name: "plant-store" });
  await client.connect();
  return client;
}
