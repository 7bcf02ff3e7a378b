import { afterAll, afterEach, beforeAll, describe, expect, it } from "bun:test";
import { PATIENCE } from "../support/patience.ts";
import { startCluster } from "../support/postgres/cluster.ts";
import type { Cluster, Standby } from "../support/postgres/cluster.ts";
import { serveOn } from "../support/postgres/store.ts";
import { killServices } from "../support/service-process.ts";
import { askUntil, until } from "../support/until.ts";

const FLAGS = ["--queue-wait-ms", String(Math.ceil(700 * PATIENCE))];
const PLANT = '{"id":1,"name":"Aloe vera"}';

/**
 * A synchronous standby that hangs. The server waits for it with each commit. Cancelling that wait makes the commit
 * visible, although a failover would undo it (postgresql.org/docs/current/warm-standby.html, "Planning for High
 * Availability").
 */
describe("a service whose standby hangs", () => {
  let primary: Cluster;
  let standby: Standby;
  beforeAll(async () => {
    primary = await startCluster();
    standby = await primary.addStandby();
  });
  afterEach(async () => {
    standby.resume();
    await killServices();
  });
  afterAll(() => standby.resume());

  async function findWaiting(): Promise<number[]> {
    const rows = await primary.query("SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
    return rows.map(({ pid }) => Number(pid));
  }

  /** The statuses of two requests while the standby hangs, and of the first that is not 503 once it goes on. */
  async function sendWhileHanging(send: () => Promise<number>, meanwhile: () => Promise<void> = async () => {}) {
    standby.pause();
    const first = send();
    await meanwhile();
    const statuses = [await first, await send()];
    standby.resume();
    return { statuses, afterwards: await askUntil(send, (status) => status !== 503) };
  }

  for (const how of ["cancel", "terminate"]) {
    it(`answers 200 for a plant only when the standby has it, even if an administrator ends the wait for it (${how})`, async () => {
      const database = await primary.createDatabase();
      // A popular setting, which must not hide the server's warning from us.
      await primary.query(`ALTER DATABASE "${new URL(database).pathname.slice(1)}" SET client_min_messages = error`);
      const { statusOf } = await serveOn(database, { flags: FLAGS });
      // The token is known, so only the plant waits.
      expect(await statusOf("GET", "/plants")).toBe(200);
      const answers = await sendWhileHanging(
        () => statusOf("POST", "/plants", PLANT),
        async () => {
          await until("The commit waits for the standby", async () => (await findWaiting()).length > 0);
          for (const pid of await findWaiting()) await primary.query(`SELECT pg_${how}_backend(${pid})`);
        },
      );
      expect(answers).toEqual({ statuses: [503, 503], afterwards: 200 });
    });
  }

  it("answers that a token is revoked only when the standby has it", async () => {
    const { ask, statusOf } = await serveOn(await primary.createDatabase(), { flags: FLAGS });
    const { id } = (await (await ask("POST", "/tokens", '{"name":"lost","scopes":["plants:read"]}')).json()) as { id: string };
    const answers = await sendWhileHanging(() => statusOf("DELETE", `/tokens/${id}`));
    expect(answers).toEqual({ statuses: [503, 503], afterwards: 204 });
  });

  it("answers 200 for a commit that comes with another warning", async () => {
    const database = await primary.createDatabase();
    const { statusOf } = await serveOn(database);
    const name = new URL(database).pathname.slice(1);
    await primary.query(
      `CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'aphids'; RETURN NULL; END $$;
      CREATE TRIGGER warns AFTER INSERT ON plants EXECUTE FUNCTION warn()`,
      name,
    );
    expect(await statusOf("POST", "/plants", PLANT)).toBe(200);
  });
});
