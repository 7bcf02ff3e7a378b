import { afterAll, afterEach, beforeAll, describe, expect, it } from "bun:test";
import { PATIENCE } from "../support/patience.ts";
import { startCluster } from "../support/postgres/cluster.ts";
import type { Cluster, Standby } from "../support/postgres/cluster.ts";
import { serveOn } from "../support/postgres/store.ts";
import { killServices } from "../support/service-process.ts";
import { askUntil, until } from "../support/until.ts";
import { startPatientClock } from "../support/patient-clock.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import type { PlantedBug } from "../support/plant-bugs.ts";
import { queryOnce } from "../support/postgres/database-server.ts";
import { inForm, tell } from "../support/run-form.ts";

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

const SECONDS = inForm(6, 60);
const CREATORS = 64;
const OTHERS = 4;
const PAUSE_MS = 20;
const READY_MS_MAX = 1000;

/** Those of the pools in src/store/postgres/store.ts. */
const CONNECTIONS = 18;
/** What the server allows users. */
const CONNECTIONS_MAX = 40;

/** What part of the reads may get 503: none, but where other programs keep the machine busy a few of thousands come too late. */
const LATE_READS_MAX = PATIENCE > 1 ? 0.05 : 0;

const READS = ["/plants/1", "/plants", "/plants?q=aloe", "/tags"];

/** No bug: no cancel reaches its server, as when there are several poolers behind one address. */
const LOSE_CANCELS: PlantedBug = {
  file: "src/store/postgres/engine/left-behind.ts",
  from: "else wire.connect(port, host);",
  to: "else { clearTimeout(timer); resolve(true); }",
};

type Counts = Record<string, number>;

/** A server that waits for a standby which does not exist, while clients create, change, import, make tokens, read and list. */
describe("a service whose synchronous standby is missing", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster({ settings: { max_connections: String(CONNECTIONS_MAX + 3) } });
    // No superusers, for whom the server keeps three connections more.
    await cluster.query("CREATE ROLE gardener LOGIN");
    await cluster.query("CREATE ROLE administrator LOGIN IN ROLE pg_monitor");
  });
  afterEach(async () => {
    await killServices();
    await setStandbys("");
  });

  async function setStandbys(names: string): Promise<void> {
    await cluster.query(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
    await cluster.query("SELECT pg_reload_conf()");
  }

  async function runWithoutStandby(waitMs: number, root?: string) {
    const database = await cluster.createDatabase();
    await cluster.query(`ALTER DATABASE "${new URL(database).pathname.slice(1)}" OWNER TO gardener`);
    const { ask, statusOf } = await serveOn(Object.assign(new URL(database), { username: "gardener" }).href, {
      flags: ["--queue-wait-ms", String(waitMs)],
      root,
    });
    let lastId = 0;
    const create = () => ask("POST", "/plants", `{"id":${++lastId},"name":"Aloe vera"}`);
    expect((await create()).status).toBe(200);
    for (const path of READS) await statusOf("GET", path);
    await setStandbys("absent");

    const [writes, reads]: [Counts, Counts] = [{}, {}];
    let isOver = false;
    async function repeat(counts: Counts, send: () => Promise<Response>): Promise<void> {
      while (!isOver) {
        const response = await send();
        await response.arrayBuffer();
        const outcome = `${response.status}${response.status === 503 && !response.headers.has("retry-after") ? " without Retry-After" : ""}`;
        counts[outcome] = (counts[outcome] ?? 0) + 1;
        await Bun.sleep(PAUSE_MS);
      }
    }
    const others = [
      () => ask("PUT", "/plants/2", `{"name":"${++lastId}"}`),
      () => ask("POST", "/tokens", '{"name":"mine","scopes":["plants:read"]}'),
      () => ask("POST", "/plants/import", `{"id":${++lastId},"name":"Aloe"}\n`, "application/x-ndjson"),
    ];
    const writers = [...Array<typeof create>(CREATORS).fill(create), ...others.flatMap((write) => Array<typeof write>(OTHERS).fill(write))];
    const clients = [...writers.map((write) => repeat(writes, write)), ...READS.map((path) => repeat(reads, () => ask("GET", path)))];
    // As an administrator who is no superuser.
    let [refusals, most] = [0, 0];
    const administrator = cluster.url().replace("//plants@", "//administrator@");
    const running = startPatientClock();
    while (running.ms() < SECONDS * 1000) {
      const count = "SELECT count(*)::int AS all FROM pg_stat_activity WHERE application_name = 'plant-store'";
      const rows = await queryOnce(administrator, count).catch(() => undefined);
      if (rows === undefined) refusals += 1;
      else most = Math.max(most, Number(rows[0]!["all"]));
      await Bun.sleep(10 * PAUSE_MS);
    }
    const readiness = await statusOf("GET", "/readyz");
    await setStandbys("");
    const clock = startPatientClock();
    await askUntil(
      () => statusOf("GET", "/readyz"),
      (status) => status === 200,
    );
    const readyMs = clock.ms();
    isOver = true;
    await Promise.all(clients);
    return { writes, reads, refusals, most, readiness, readyMs, afterwards: (await create()).status };
  }

  it(`goes on to read, list and be administered for ${SECONDS} s, answers creates 503, and is ready within a second of its return`, async () => {
    // It has time to read on a busy machine.
    const { writes, reads, readiness, readyMs, afterwards, refusals, most } = await runWithoutStandby(3000);
    tell("a missing standby", `${JSON.stringify({ writes, reads })}, at most ${most} connections, ready after ${readyMs} ms`);
    expect(Object.keys(reads).filter((status) => status !== "200" && status !== "503")).toEqual([]);
    expect((reads["503"] ?? 0) / reads["200"]!).toBeLessThanOrEqual(LATE_READS_MAX);
    expect(reads["200"]).toBeGreaterThan(10 * SECONDS);
    // Those under way when it returns get 200 or 201.
    expect(Object.keys(writes).filter((outcome) => !["200", "201", "503"].includes(outcome))).toEqual([]);
    expect(writes["503"]).toBeGreaterThan(CREATORS);
    expect({ readiness, afterwards, refusals }).toEqual({ readiness: 503, afterwards: 200, refusals: 0 });
    expect(most).toBeLessThanOrEqual(CONNECTIONS);
    expect(readyMs).toBeLessThanOrEqual(READY_MS_MAX);
  });

  it("leaves few statements running even if no cancel reaches the server", async () => {
    // It gives up so often that the connections of the server are used up if nothing ends what is given up.
    const { refusals, most } = await runWithoutStandby(300, plantBugs([LOSE_CANCELS]));
    expect(refusals).toBe(0);
    expect(most).toBeLessThanOrEqual(2 * CONNECTIONS);
  });
});
