import { afterAll, afterEach, beforeAll, describe, expect, it } from "bun:test";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { PATIENCE } from "../support/patience.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import type { PlantedBug } from "../support/plant-bugs.ts";
import { startProcess } from "../support/process.ts";
import type { ServiceProcess } from "../support/process.ts";
import { readToken } from "../support/service.ts";
import { startCluster } from "../support/postgres/cluster.ts";
import type { Cluster, Standby } from "../support/postgres/cluster.ts";
import { until } from "../support/until.ts";

/** Treats a plant that is there already, just as sent, as stored. */
const BELIEVE_WHAT_IS_SEEN: readonly PlantedBug[] = [
  {
    file: "src/store/postgres/plant-puts.ts",
    from: "same.length > 0 && !(await tables.confirm(same)) ? same : []",
    to: "same.slice(0, 0)",
  },
];

/** Treats a commit with a warning of the server like any other. */
const BELIEVE_WARNINGS: readonly PlantedBug[] = [
  {
    file: "src/store/postgres/engine/database-connection.ts",
    from: "if (this.#doubt !== undefined) throw new UnconfirmedError(this.#doubt);",
    to: "",
  },
];

/** Treats a token as revoked when it can be seen to be. */
const BELIEVE_A_REVOCATION: readonly PlantedBug[] = [
  {
    file: "src/store/postgres/tokens.ts",
    from: "const [row] = await execute.writes<[wasValid: string]>",
    to: "if (await isRevoked(id)) return [];\n    const [row] = await execute.writes<[wasValid: string]>",
  },
];

const WAIT_MS = Math.ceil(700 * PATIENCE);

/**
 * A synchronous standby that hangs. The server waits for it with each commit. Cancelling that wait makes the commit
 * visible, although a failover would undo it (postgresql.org/docs/current/warm-standby.html, "Planning for High
 * Availability").
 */
describe("a service whose standby hangs", () => {
  let primary: Cluster;
  let standby: Standby;
  let service: ServiceProcess | undefined;
  let lastId = 0;
  beforeAll(async () => {
    primary = await startCluster();
    standby = await primary.addStandby();
  });
  afterEach(async () => {
    standby.resume();
    await service?.end("SIGKILL");
  });
  afterAll(() => standby.resume());

  /**
   * Ends the wait of a plant's commit for the standby by `pg_cancel_backend` or `pg_terminate_backend`. Returns how its
   * creates are answered.
   */
  async function createWhileHanging(how: "cancel" | "terminate", bugs: readonly PlantedBug[]) {
    const data = temporaryFolder();
    const database = await primary.createDatabase();
    // A popular setting, which must not hide the server's warning from us.
    await primary.query(`ALTER DATABASE "${new URL(database).pathname.slice(1)}" SET client_min_messages = error`);
    const flags = ["--database", database, "--queue-wait-ms", String(WAIT_MS)];
    service = await startProcess({ data, flags, ...(bugs.length === 0 ? {} : { root: plantBugs(bugs) }) });
    const { url } = service;
    const headers = { authorization: `Bearer ${await readToken(data)}`, "content-type": "application/json" };
    const body = `{"id":${++lastId},"name":"Aloe vera"}`;
    const create = async () => (await fetch(`${url}/plants`, { method: "POST", headers, body })).status;

    // The token is known, so only the plant waits.
    expect((await fetch(`${url}/plants`, { headers })).status).toBe(200);
    standby.pause();
    const first = create();
    await until("The commit waits for the standby", async () => (await findWaiting()).length > 0);
    for (const pid of await findWaiting()) await primary.query(`SELECT pg_${how}_backend(${pid})`);
    const statuses = [await first, await create()];
    standby.resume();
    let afterwards = await create();
    while (afterwards === 503) afterwards = await create();
    return { statuses, afterwards };
  }

  /** Returns how the revocations of a token are answered, which give up waiting. */
  async function revokeWhileHanging(bugs: readonly PlantedBug[]) {
    const data = temporaryFolder();
    const flags = ["--database", await primary.createDatabase(), "--queue-wait-ms", String(WAIT_MS)];
    service = await startProcess({ data, flags, ...(bugs.length === 0 ? {} : { root: plantBugs(bugs) }) });
    const { url } = service;
    const headers = { authorization: `Bearer ${await readToken(data)}`, "content-type": "application/json" };
    const body = '{"name":"lost","scopes":["plants:read"]}';
    const { id } = (await (await fetch(`${url}/tokens`, { method: "POST", headers, body })).json()) as { id: string };
    const revoke = async () => (await fetch(`${url}/tokens/${id}`, { method: "DELETE", headers })).status;

    standby.pause();
    const statuses = [await revoke(), await revoke()];
    standby.resume();
    let afterwards = await revoke();
    while (afterwards === 503) afterwards = await revoke();
    return { statuses, afterwards };
  }

  async function findWaiting(): Promise<number[]> {
    const rows = await primary.query("SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
    return rows.map(({ pid }) => Number(pid));
  }

  for (const how of ["cancel", "terminate"] as const) {
    it(`answers 200 for a plant only when the standby has it, even if an administrator ends the wait for it (${how})`, async () => {
      expect(await createWhileHanging(how, [])).toEqual({ statuses: [503, 503], afterwards: 200 });
    });
  }

  it("answers that a token is revoked only when the standby has it", async () => {
    expect(await revokeWhileHanging([])).toEqual({ statuses: [503, 503], afterwards: 204 });
  });

  it("is caught answering so too early if it trusts what it reads", async () => {
    expect((await revokeWhileHanging(BELIEVE_A_REVOCATION)).statuses).toContain(204);
  });

  it("answers 200 for a commit that comes with another warning", async () => {
    const data = temporaryFolder();
    const database = await primary.createDatabase();
    service = await startProcess({ data, flags: ["--database", database] });
    const name = new URL(database).pathname.slice(1);
    await primary.query(
      "CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'aphids'; RETURN NULL; END $$",
      name,
    );
    await primary.query("CREATE TRIGGER warns AFTER INSERT ON plants EXECUTE FUNCTION warn()", name);
    const headers = { authorization: `Bearer ${await readToken(data)}`, "content-type": "application/json" };
    const response = await fetch(`${service.url}/plants`, { method: "POST", headers, body: '{"id":1,"name":"Aloe vera"}' });
    expect(response.status).toBe(200);
  });

  it("is caught answering too early if it trusts what it reads", async () => {
    expect((await createWhileHanging("terminate", BELIEVE_WHAT_IS_SEEN)).statuses).toContain(200);
  });

  it("is caught answering too early if it ignores the server's warnings", async () => {
    expect((await createWhileHanging("cancel", BELIEVE_WARNINGS)).statuses).toContain(200);
  });
});
