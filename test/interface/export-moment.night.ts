import { statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "bun:test";
import { ENGINES } from "../support/engines.ts";
import type { Engine } from "../support/engines.ts";
import { holdExport, largeName, largePlants, PLANTS } from "../support/held-export.ts";
import { PATIENCE } from "../support/patience.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import type { PlantedBug } from "../support/plant-bugs.ts";
import { queryOnce } from "../support/postgres/database-server.ts";
import { startProcess } from "../support/process.ts";
import { PATIENT } from "../support/service-process.ts";
import type { ServiceProcess } from "../support/process.ts";
import { readToken } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

/** Snapshots last a second. */
const SHORT: readonly PlantedBug[] = [
  { file: "src/store/snapshots.ts", from: "const SNAPSHOT_MS_MAX = 15 * 60_000;", to: "const SNAPSHOT_MS_MAX = 1000;" },
];

/** Snapshots end when the WAL has 20 MB, and the log says so. */
const SMALL_WAL: readonly PlantedBug[] = [
  {
    file: "src/store/sqlite/engine/wal.ts",
    from: "SNAPSHOT_WAL_PAGES_MAX = 131_072;",
    to: "SNAPSHOT_WAL_PAGES_MAX = 5000;",
  },
];

/** The server waits for the next statement of an export for a second. */
const IMPATIENT_SERVER: readonly PlantedBug[] = [
  {
    file: "src/store/postgres/snapshot.ts",
    from: "'idle_in_transaction_session_timeout', '3min'",
    to: "'idle_in_transaction_session_timeout', '1s'",
  },
];

const services: ServiceProcess[] = [];
afterAll(() => Promise.all(services.map((service) => service.end("SIGKILL"))));

/** A service with many large plants. */
async function open({ openFlags }: Engine, bugs: readonly PlantedBug[] = []) {
  const data = temporaryFolder();
  const flags = await openFlags();
  const words = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
  const service = await startProcess({ data, flags: [...PATIENT, ...words], ...(bugs.length > 0 ? { root: plantBugs(bugs) } : {}) });
  services.push(service);
  const token = await readToken(data);

  async function ask(path: string, method = "GET", body?: string): Promise<Response> {
    const headers = { authorization: `Bearer ${token}`, "content-type": method === "POST" ? "application/x-ndjson" : "application/json" };
    return fetch(`${service.url}${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
  }
  async function put(id: number, version: string): Promise<void> {
    const response = await ask(`/plants/${id}`, "PUT", JSON.stringify({ name: largeName(id, version) }));
    expect([200, 201]).toContain(response.status);
    await response.arrayBuffer();
  }
  expect((await ask("/plants/import", "POST", largePlants())).status).toBe(200);
  return { ask, put, data, url: service.url, token, database: flags["database"], service };
}

for (const engine of ENGINES) {
  describe(`an export on ${engine.engine}`, () => {
    it("breaks off when it has lasted too long, says so in the log, and leaves nothing open", async () => {
      const short = await open(engine, SHORT);
      const { database, service } = short;
      const rest = await holdExport(short);
      await Bun.sleep(1500 * PATIENCE);
      expect((await rest()).isWhole).toBe(false);
      await until("The log says why", () => service.lines.some((line) => line.includes("lasted longer than 15 minutes")));
      if (database !== undefined) await until("No transaction is open", async () => (await countTransactions(database)) === 0);
    });

    it("leaves nothing open when its reader stops or a client sends only HEAD, and neither counts as failed", async () => {
      const { ask, database, service } = await open(engine);
      for (let count = 0; count < 8; count += 1) {
        const response = await ask("/plants/export");
        const reader = response.body!.getReader();
        if (count % 2 > 0) await reader.read();
        await reader.cancel();
      }
      expect((await ask("/plants/export", "HEAD")).status).toBe(200);
      // Of one token, four may be open.
      for (let count = 0; count < 10; count += 1)
        await until("Another may begin", async () => (await ask("/plants/export", "HEAD")).status === 200);
      if (database !== undefined) await until("No transaction is open", async () => (await countTransactions(database)) === 0);
      const ended = () => service.lines.filter((line) => line.includes("export_ended"));
      await until("The log has all of them", () => ended().filter((line) => line.includes("cancelled")).length >= 8);
      expect(service.lines.filter((line) => line.includes("export_failed"))).toEqual([]);
    });
  });
}

async function countTransactions(database: string): Promise<number> {
  const sql = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'";
  return (await queryOnce(database, sql)).length;
}

describe("an export that is not read", () => {
  it("is broken off on SQLite before the WAL is too large, which then starts again", async () => {
    const [sqlite] = ENGINES;
    const opened = await open(sqlite!, SMALL_WAL);
    const { put, data } = opened;
    const rest = await holdExport(opened);
    const walBytes = () => statSync(join(data, "plants.db-wal")).size;
    // 36 MB. The size of the file says nothing yet: the import may have left it larger than that.
    for (let round = 0; round < 600; round += 1) await put(round % PLANTS, `r${round}`);
    expect((await rest()).isWhole).toBe(false);
    // It no longer grows.
    const size = walBytes();
    for (let round = 0; round < 600; round += 1) await put(round % PLANTS, `s${round}`);
    expect(walBytes()).toBeLessThan(size + 20_000_000);
  });

  it("does not hold back vacuum forever on PostgreSQL if the service stops asking", async () => {
    const postgres = ENGINES.find(({ engine }) => engine !== "SQLite");
    const opened = await open(postgres!, IMPATIENT_SERVER);
    const { database, service } = opened;
    await holdExport(opened);
    await until("It is open", async () => (await countTransactions(database!)) === 1);
    process.kill(service.pid, "SIGSTOP");
    await until("The server has ended it", async () => (await countTransactions(database!)) === 0);
    process.kill(service.pid, "SIGCONT");
  });
});
