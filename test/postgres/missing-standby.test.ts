import { afterAll, afterEach, beforeAll, describe, expect, it } from "bun:test";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { PATIENCE } from "../support/patience.ts";
import { startPatientClock } from "../support/patient-clock.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import type { PlantedBug } from "../support/plant-bugs.ts";
import { startProcess } from "../support/process.ts";
import type { ServiceProcess } from "../support/process.ts";
import { startCluster } from "../support/postgres/cluster.ts";
import type { Cluster } from "../support/postgres/cluster.ts";
import { queryOnce } from "../support/postgres/database-server.ts";
import { inForm, tell } from "../support/run-form.ts";
import { readToken } from "../support/service.ts";
import { askUntil } from "../support/until.ts";

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

/** Gives up so often that these are used up if nothing ends what is given up. */
const HASTY = ["--queue-wait-ms", "300"];

/** Has time to read on a busy machine. */
const PATIENT = ["--queue-wait-ms", "3000"];

/** A planted bug has this long to show. */
const LONG_SECONDS = 60;

const READS = ["/plants/1", "/plants", "/plants?q=aloe", "/tags"];

const CANCEL = "src/store/postgres/engine/cancel.ts";
const POOL = "src/store/postgres/engine/pool.ts";

/** No bug: no cancel reaches its server, as when there are several poolers behind one address. */
const LOSE_CANCELS: PlantedBug = {
  file: CANCEL,
  from: "else wire.connect(port, host);",
  to: "else { clearTimeout(timer); resolve(true); }",
};

/** Leaves to themselves the statements that were given up. */
const FORGET_WHAT_IS_GIVEN_UP: PlantedBug = { file: POOL, from: "if (!isEnded) leftBehind.set(connection.backend, at);", to: "" };

const LIST_WITH_IMPORTS: PlantedBug = {
  file: "src/store/postgres/pooled-server.ts",
  from: "withRetries({ database: pools.lists,",
  to: "withRetries({ database: pools.imports,",
};

type Counts = Record<string, number>;
/** `refusals`: how often an administrator could not log in. `most`: the most connections of the service at a time. */
type Seen = Readonly<{ writes: Counts; reads: Counts }> & { refusals: number; most: number };
type RunOptions = Readonly<{
  seconds: number;
  flags: readonly string[];
  bugs?: readonly PlantedBug[];
  isEnough?: (seen: Seen) => boolean;
}>;

/** A server that waits for a standby which does not exist, while clients create, change, import, make tokens, read and list. */
describe("a service whose synchronous standby is missing", () => {
  let cluster: Cluster;
  let service: ServiceProcess | undefined;
  let lastId = 1;
  beforeAll(async () => {
    cluster = await startCluster({ settings: { max_connections: String(CONNECTIONS_MAX + 3) } });
    // No superusers, for whom the server keeps three connections more.
    await cluster.query("CREATE ROLE gardener LOGIN");
    await cluster.query("CREATE ROLE administrator LOGIN IN ROLE pg_monitor");
  });
  afterEach(async () => {
    await service?.end("SIGKILL");
    await callStandby();
    // What a planted bug has left.
    await cluster.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname LIKE 'plants%' AND pid <> pg_backend_pid()");
  });
  afterAll(async () => void (await service?.end("SIGKILL")));

  async function setStandbys(names: string): Promise<void> {
    await cluster.query(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
    await cluster.query("SELECT pg_reload_conf()");
  }
  const callStandby = () => setStandbys("");

  async function start(bugs: readonly PlantedBug[], more: readonly string[]) {
    const data = temporaryFolder();
    const database = await cluster.createDatabase();
    await cluster.query(`ALTER DATABASE "${new URL(database).pathname.slice(1)}" OWNER TO gardener`);
    const flags = ["--database", database.replace("//plants@", "//gardener@"), ...more];
    service = await startProcess({ data, flags, ...(bugs.length === 0 ? {} : { root: plantBugs(bugs) }) });
    const { url } = service;
    const authorization = `Bearer ${await readToken(data)}`;
    return (method: string, path: string, body?: string, type = "application/json") =>
      fetch(`${url}${path}`, { method, headers: { authorization, "content-type": type }, ...(body === undefined ? {} : { body }) });
  }

  /** Until it has seen enough, or the time is over. */
  async function runWithoutStandby({ seconds, flags, bugs = [], isEnough = () => false }: RunOptions) {
    const send = await start(bugs, flags);
    const create = (id: number) => send("POST", "/plants", `{"id":${id},"name":"Aloe vera"}`);
    expect((await create(1)).status).toBe(200);
    for (const path of READS) expect((await send("GET", path)).status).toBe(200);
    await setStandbys("nobody");

    const seen = { writes: {} as Counts, reads: {} as Counts, refusals: 0, most: 0 };
    let isOver = false;
    async function repeat(counts: Counts, ask: () => Promise<Response>): Promise<void> {
      while (!isOver) {
        const response = await ask();
        await response.arrayBuffer();
        const outcome = `${response.status}${response.status === 503 && !response.headers.has("retry-after") ? " without Retry-After" : ""}`;
        counts[outcome] = (counts[outcome] ?? 0) + 1;
        await Bun.sleep(PAUSE_MS);
      }
    }
    const writers = [
      ...Array.from({ length: CREATORS }, () => () => create(++lastId)),
      ...Array.from({ length: OTHERS }, () => () => send("PUT", "/plants/2", `{"name":"${++lastId}"}`)),
      ...Array.from({ length: OTHERS }, () => () => send("POST", "/tokens", `{"name":"mine","scopes":["plants:read"]}`)),
      ...Array.from(
        { length: OTHERS },
        () => () => send("POST", "/plants/import", `{"id":${++lastId},"name":"Aloe"}\n`, "application/x-ndjson"),
      ),
    ];
    const clients = [
      ...writers.map((write) => repeat(seen.writes, write)),
      ...READS.map((path) => repeat(seen.reads, () => send("GET", path))),
    ];
    const watch = watchConnections(seen, () => isOver);
    const running = startPatientClock();
    while (running.ms() < seconds * 1000 && !isEnough(seen)) await Bun.sleep(PAUSE_MS);
    const readiness = (await send("GET", "/readyz")).status;
    await callStandby();
    const clock = startPatientClock();
    await askUntil(
      () => send("GET", "/readyz"),
      ({ status }) => status === 200,
    );
    const readyMs = clock.ms();
    isOver = true;
    await Promise.all([...clients, watch]);
    const afterwards = (await create(++lastId)).status;
    return { ...seen, readiness, readyMs, afterwards };
  }

  /** As an administrator who is no superuser. */
  async function watchConnections(seen: Seen, isOver: () => boolean): Promise<void> {
    const administrator = cluster.url().replace("//plants@", "//administrator@");
    const count = "SELECT count(*)::int AS all FROM pg_stat_activity WHERE application_name = 'plant-store'";
    while (!isOver()) {
      try {
        const [row] = await queryOnce(administrator, count);
        seen.most = Math.max(seen.most, Number(row!["all"]));
      } catch {
        seen.refusals += 1;
      }
      await Bun.sleep(10 * PAUSE_MS);
    }
  }

  it(`goes on to read, list and be administered for ${SECONDS} s, answers creates 503, and is ready within a second of its return`, async () => {
    const { writes, reads, readiness, readyMs, afterwards, refusals, most } = await runWithoutStandby({ seconds: SECONDS, flags: PATIENT });
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

  it("is caught refusing lists if they share the connections of imports", async () => {
    const run = { seconds: LONG_SECONDS, flags: PATIENT, isEnough: ({ reads }: Seen) => "503" in reads };
    expect(Object.keys((await runWithoutStandby({ ...run, bugs: [LIST_WITH_IMPORTS] })).reads)).toContain("503");
  });

  it("leaves few statements running even if no cancel reaches the server", async () => {
    const { refusals, most } = await runWithoutStandby({ seconds: SECONDS, flags: HASTY, bugs: [LOSE_CANCELS] });
    expect(refusals).toBe(0);
    expect(most).toBeLessThanOrEqual(2 * CONNECTIONS);
  });

  it("is caught using up the connections of the server if it then forgets what it gave up", async () => {
    const run = { seconds: LONG_SECONDS, flags: HASTY, isEnough: ({ refusals }: Seen) => refusals > 0 };
    expect((await runWithoutStandby({ ...run, bugs: [LOSE_CANCELS, FORGET_WHAT_IS_GIVEN_UP] })).refusals).toBeGreaterThan(0);
  });
});
