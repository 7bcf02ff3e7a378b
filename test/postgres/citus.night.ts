import { expect, it } from "bun:test";
import { asPlantId } from "../../src/domain/plant.ts";
import type { NewPlant } from "../../src/domain/plant.ts";
import type { Snapshot } from "../../src/store/plants.ts";
import { CONFIRM_PLANTS, DELETE_PLANTS, FIND_PLANTS, insertRows, UPDATE_PLANTS } from "../../src/store/postgres/plant-statements.ts";
import { checkPostgresStore } from "../../src/store/postgres/check.ts";
import { ESTIMATE_SHARDS } from "../../src/store/postgres/counts.ts";
import { inPublic, queryOnce } from "../support/postgres/database-server.ts";
import { openStore } from "../support/postgres/store.ts";
import { needsThat } from "../support/program.ts";
import { testOrders } from "../support/order-suite.ts";
import { testStore } from "../support/store-suite.ts";
import { until } from "../support/until.ts";

/**
 * A database on a coordinator of Citus whose workers have it too, which these tests may use up: its tables are dropped.
 */
const CITUS = process.env["PLANT_STORE_TEST_CITUS"] ?? "";
const { describe, beforeAll } = needsThat("PLANT_STORE_TEST_CITUS", CITUS !== "");

const ID = 42n;
const SINGLE: Readonly<Record<string, string>> = {
  "a create": bind(insertRows(1).text, `${ID}`, "'a'", "NULL", "'a'", "'38'"),
  "a repeated create": bind(CONFIRM_PLANTS.text, `'{${ID}}'`, "'{a}'", "'{b}'"),
  "a change": bind(UPDATE_PLANTS.text, `'{${ID}}'`, "'{a}'", "'{b}'", "'{c}'", "'{d}'", "'{c}'", "'{3a}'"),
  "a delete": bind(DELETE_PLANTS.text, `'{${ID}}'`, "'{a}'", "'{b}'"),
  "a read": bind(FIND_PLANTS.text, `'{${ID}}'`),
};

function bind(text: string, ...values: readonly string[]): string {
  return inPublic(text).replaceAll(/\$(\d+)/g, (_, at) => values[Number(at) - 1]!);
}

async function distribute(url: string, shards = 32): Promise<void> {
  await queryOnce(url, "DROP TABLE IF EXISTS plants, tokens, plant_store_schema, plant_changes");
  await (await openStore(url)).close();
  await queryOnce(url, `SELECT create_distributed_table('plants', 'id', shard_count := ${shards})`);
  // As the guide says: otherwise a page takes several times as long.
  await queryOnce(url, `ALTER DATABASE "${new URL(url).pathname.slice(1)}" SET citus.max_adaptive_executor_pool_size = 1`);
}

const plantsFrom = (first: number, count: number): NewPlant[] =>
  Array.from({ length: count }, (_, at) => ({ id: asPlantId(BigInt(first + at)), name: `plant ${at}` }));

/** The address for a user who does not own the tables. */
async function guestOf(user: string, setting = ""): Promise<string> {
  await queryOnce(CITUS, `CREATE ROLE ${user} LOGIN`).catch(() => {});
  await queryOnce(CITUS, `GRANT SELECT, INSERT, UPDATE, DELETE ON plants, tokens, plant_store_schema, plant_changes TO ${user}`);
  if (setting !== "") await queryOnce(CITUS, `ALTER ROLE ${user} SET ${setting}`);
  return Object.assign(new URL(CITUS), { username: user, password: "" }).href;
}

/** How many plants are in the table of another shard than their own. */
async function countMisplaced(url: string): Promise<number> {
  const rows = await queryOnce(
    url,
    `SELECT result FROM run_command_on_shards('plants', $sql$SELECT count(*) FROM %1$s
      WHERE '%1$s' NOT LIKE '%%\\_' || get_shard_id_for_distribution_column('plants', id)$sql$)`,
  );
  expect(rows.map(({ result }) => Number(result))).not.toContain(Number.NaN);
  return rows.reduce((sum, { result }) => sum + Number(result), 0);
}

/** Transactions that Citus prepared on any node and has not cleared away yet, which it does once a minute. */
async function countPrepared(url: string): Promise<number> {
  const rows = await queryOnce(url, "SELECT result FROM run_command_on_all_nodes('SELECT count(*) FROM pg_dist_transaction')");
  return rows.reduce((sum, { result }) => sum + Number(result), 0);
}

for (const testSuite of [testStore, testOrders]) {
  describe("with a table of its own", () => {
    beforeAll(() => distribute(CITUS));
    testSuite("Citus", { open: () => openStore(CITUS) });
  });
}

describe("on Citus", () => {
  for (const [what, sql] of Object.entries(SINGLE)) {
    it(`${what} asks one shard`, async () => {
      const plan = (await queryOnce(CITUS, `EXPLAIN (COSTS off) ${sql}`)).map((row) => String(row["QUERY PLAN"]));
      expect(plan.find((line) => line.includes("Task Count"))?.trim()).toBe("Task Count: 1");
    });
  }

  it("a backup and an export are one moment of all workers, and keep no one waiting for long", async () => {
    const { plants, contents, close } = await openStore(CITUS);
    let [made, slowestMs, isOver] = [0, 0, false];
    async function create(id: bigint): Promise<void> {
      const began = performance.now();
      await plants.create({ id: asPlantId(id), name: "pair" });
      slowestMs = Math.max(slowestMs, performance.now() - began);
    }
    // The second of a pair only once the first is answered, half of them on another worker.
    const creating = Array.from({ length: 16 }, async () => {
      while (!isOver) {
        const at = BigInt((made += 1));
        await create(30_000_000n + at);
        await create(-30_000_000n - at);
      }
    });
    /** Of the last pairs, the seconds whose first is not there. */
    async function findAlone({ list }: Snapshot, last: number): Promise<readonly bigint[]> {
      const [before, behind] = [BigInt(Math.max(last - 1000, 0)), BigInt(last + 10_000)];
      const ids = async (after: bigint): Promise<bigint[]> => {
        const page = await list({ limit: 11_000, bytesMax: 2 ** 30, after: asPlantId(after), tag: undefined, words: [] });
        return page.plants.map(({ id }) => id);
      };
      const firsts = new Set(await ids(30_000_000n + before));
      const seconds = (await ids(-30_000_000n - behind)).filter((id) => id < -30_000_000n - before);
      expect(seconds).not.toEqual([]);
      return seconds.filter((id) => !firsts.has(-id));
    }
    try {
      await until("some pairs are made", () => made > 1000);
      for (let round = 0; round < 100; round += 1) {
        const snapshot = await plants.snapshot();
        expect(await findAlone(snapshot, made)).toEqual([]);
        snapshot.close();
      }
      const backup = await contents();
      const saved = new Set<bigint>();
      for await (const part of backup.read()) for (const { id } of part.plants) saved.add(id);
      backup.close();
      expect([...saved].filter((id) => id < -30_000_000n && id > -40_000_000n && !saved.has(-id))).toEqual([]);
    } finally {
      isOver = true;
      await Promise.all(creating);
      await close();
    }
    expect(made).toBeGreaterThan(1000);
    expect(slowestMs).toBeLessThan(5000);
    console.log(`figure: moments on Citus: the slowest of ${2 * made} creates took ${Math.round(slowestMs)} ms`);
  });

  it("the estimate of all plants is the sum of what the statistics of each shard say", async () => {
    await queryOnce(CITUS, "ANALYZE plants");
    const [counted] = await queryOnce(CITUS, "SELECT count(*)::text AS plants FROM plants");
    expect(Number(counted!["plants"])).toBeGreaterThan(10_000);
    await until("The workers have counted", async () => {
      const [estimated] = await queryOnce(CITUS, `SELECT (${inPublic(ESTIMATE_SHARDS.text)})::text AS plants`);
      return estimated!["plants"] === counted!["plants"];
    });
  });

  it("many creates, repeats, changes and deletes at once are prepared on no node", async () => {
    await queryOnce(CITUS, "SELECT recover_prepared_transactions()");
    const { plants, close } = await openStore(CITUS);
    const before = await countPrepared(CITUS);
    const all = plantsFrom(10_000_000, 500);
    for (const _ of ["created", "repeated"]) await Promise.all(all.map((plant) => plants.create(plant)));
    const changed = await Promise.all(all.map((from) => plants.compareAndSwap({ from, to: { ...from, tag: "changed" } })));
    expect(changed.every(Boolean)).toBe(true);
    expect((await Promise.all(all.map(({ id }) => plants.find(id)))).every((plant) => plant?.tag === "changed")).toBe(true);
    const gone = await Promise.all(all.map((plant) => plants.compareAndSwap({ from: { ...plant, tag: "changed" }, to: undefined })));
    expect(gone.every(Boolean)).toBe(true);
    expect(await countPrepared(CITUS)).toBe(before);
    await close();
  });

  for (const mode of ["block_writes", "force_logical"]) {
    it(`loses nothing that was answered while shards move (${mode}), and reads what it wrote`, async () => {
      await distribute(CITUS);
      const { plants, close } = await openStore(CITUS);
      const written: NewPlant[] = [];
      const wrong: unknown[] = [];
      let isOver = false;
      const writing = Array.from({ length: 16 }, async (_, lane) => {
        for (let at = 0; !isOver; at += 1) {
          const id = asPlantId(BigInt(at * 16 + lane));
          const [created, changed] = ["first", "second"].map((name) => ({ id, name })) as [NewPlant, NewPlant];
          // What is late during a move is tried again.
          const create = (): Promise<unknown> => plants.create(created).catch(create);
          await create();
          const isChanged = await plants.compareAndSwap({ from: created, to: changed }).catch(() => undefined);
          const read = await plants.find(id).catch(() => changed);
          if (isChanged === false || (isChanged && read?.name !== "second")) wrong.push({ id, isChanged, read });
          written.push(isChanged ? changed : created);
        }
      });
      try {
        const shards = (await queryOnce(CITUS, "SELECT shardid, nodeport FROM citus_shards ORDER BY 1 LIMIT 6")).map((row) =>
          Object.values(row).map(Number),
        );
        const nodes = (await queryOnce(CITUS, "SELECT DISTINCT nodeport FROM citus_shards")).map(({ nodeport }) => Number(nodeport));
        for (const isBack of [false, true])
          for (const [shardid, nodeport] of shards) {
            const other = nodes.find((node) => node !== nodeport);
            const [from, to] = isBack ? [other, nodeport] : [nodeport, other];
            await queryOnce(CITUS, `SELECT citus_move_shard_placement(${shardid}, '127.0.0.1', ${from}, '127.0.0.1', ${to}, '${mode}')`);
          }
      } finally {
        isOver = true;
      }
      await Promise.all(writing);
      expect(wrong).toEqual([]);
      const lost: unknown[] = [];
      for (const plant of written) {
        const found = await plants.find(plant.id);
        // A change whose outcome no one knows may have been made.
        if (found?.name !== plant.name && found?.name !== "second") lost.push({ plant, found });
      }
      expect(written.length).toBeGreaterThan(300);
      expect(lost).toEqual([]);
      await close();
    });
  }

  it("fails no create, change or read while shards are split, and no read while the table is undistributed", async () => {
    await distribute(CITUS);
    const { plants, close } = await openStore(CITUS);
    const failed: Record<"create" | "change" | "read", unknown[]> = { create: [], change: [], read: [] };
    let [made, isOver] = [0, false];
    const using = Array.from({ length: 16 }, async () => {
      while (!isOver) {
        const from = { id: asPlantId(BigInt((made += 1))), name: "first" };
        const note = (what: keyof typeof failed) => (reason: unknown) => void failed[what].push(reason);
        const isCreated = await plants.create(from).catch(note("create"));
        if (isCreated) await plants.compareAndSwap({ from, to: { ...from, name: "second" } }).catch(note("change"));
        if (isCreated) await plants.find(from.id).catch(note("read"));
      }
    });
    try {
      const splits = await queryOnce(
        CITUS,
        `SELECT format('SELECT citus_split_shard_by_split_points(%s, ARRAY[%L], ARRAY[%s, %s], ''block_writes'')', shardid,
            (shardminvalue::bigint + shardmaxvalue::bigint) / 2, nodeid, nodeid) AS split
          FROM pg_dist_shard JOIN pg_dist_placement USING (shardid) JOIN pg_dist_node USING (groupid)
          WHERE logicalrelid = 'plants'::regclass LIMIT 4`,
      );
      for (const { split } of splits) await queryOnce(CITUS, String(split));
      await Bun.sleep(1500);
      expect(made).toBeGreaterThan(100);
      expect(failed).toEqual({ create: [], change: [], read: [] });
      await queryOnce(CITUS, "BEGIN; LOCK TABLE plants IN EXCLUSIVE MODE; SELECT undistribute_table('plants'); COMMIT");
      await Bun.sleep(1500);
    } finally {
      isOver = true;
      await Promise.all(using);
      await close();
      await distribute(CITUS);
    }
    expect(failed.read).toEqual([]);
  });

  it("each plant is in the table of its own shard, in whatever order plants come, where a worker has 64", async () => {
    await distribute(CITUS, 128);
    const { plants, close } = await openStore(CITUS);
    const all = Array.from({ length: 6000 }, (_, at) => ({ id: asPlantId(BigInt(at) * 7_777_777n), name: `plant ${at}` }));
    const inOrder = async (some: readonly NewPlant[], act: (plant: NewPlant) => Promise<unknown>) => {
      for (let at = 0; at < some.length; at += 500) await Promise.all(some.slice(at, at + 500).map(act));
    };
    // Each file has plants of all shards.
    for (const file of [all.slice(0, 2000), all.slice(2000, 4000).toReversed()])
      await plants.import(file, { isReplacing: false, isDryRun: false });
    await inOrder(all.slice(4000).toReversed(), (plant) => plants.create(plant));
    expect(await countMisplaced(CITUS)).toBe(0);
    await inOrder(all, async (from) => expect(await plants.compareAndSwap({ from, to: { ...from, tag: "t" } })).toBe(true));
    await inOrder(all.toReversed(), async ({ id, name }) => expect(await plants.find(id)).toEqual({ id, name, tag: "t" }));
    await inOrder(all.toReversed(), async (plant) => {
      expect(await plants.compareAndSwap({ from: { ...plant, tag: "t" }, to: undefined })).toBe(true);
    });
    expect(await queryOnce(CITUS, "SELECT id FROM plants")).toEqual([]);
    await close();
    await distribute(CITUS);
  });

  it("serves a user who does not own the tables", async () => {
    const { plants, close } = await openStore(await guestOf("guest"));
    const all = plantsFrom(50_000_000, 100);
    for (const outcome of ["created", "same"])
      expect(new Set(await Promise.all(all.map((plant) => plants.create(plant))))).toEqual(new Set([outcome]) as never);
    expect(await Promise.all(all.map((from) => plants.compareAndSwap({ from, to: { ...from, tag: "t" } })))).not.toContain(false);
    expect((await Promise.all(all.map(({ id }) => plants.find(id)))).every((plant) => plant?.tag === "t")).toBe(true);
    await close();
  });

  it("an export waits for its reader, though the user's transactions may not be silent for that long on the workers", async () => {
    const { plants, close } = await openStore(await guestOf("hasty", "idle_in_transaction_session_timeout = '1s'"));
    await plants.create({ id: asPlantId(60_000_000n), name: "Ficus" });
    const { list, close: end } = await plants.snapshot();
    await Bun.sleep(1500);
    const page = await list({ limit: 1, bytesMax: 1000, after: undefined, tag: undefined, words: [] });
    expect(page.plants).toHaveLength(1);
    end();
    await close();
  });

  it("a check sees indexes of shards that are not valid or missing, and says how to mend them", async () => {
    const lookAtShards = async () => {
      const looks = await Array.fromAsync(checkPostgresStore({ url: CITUS, firstToken: { file: "first-token", hash: undefined } }));
      return looks.filter((step) => step.kind === "look").find(({ part }) => part === "shards");
    };
    expect(await lookAtShards()).toMatchObject({ state: "ok" });
    await queryOnce(
      CITUS,
      `SELECT run_command_on_shards('plants', 'UPDATE pg_index SET indisvalid = false
        WHERE indrelid = ''%s''::regclass AND indexrelid::regclass::text LIKE ''plants_by_name%%''')`,
    );
    expect(await lookAtShards()).toMatchObject({
      state: "wrong",
      text: expect.stringContaining("run REINDEX INDEX CONCURRENTLY plants_by_name_"),
    });
    await queryOnce(
      CITUS,
      `SELECT run_command_on_shards('plants', 'DO $$ DECLARE name text := (SELECT indexrelid::regclass FROM pg_index
        WHERE indrelid = ''%s''::regclass AND NOT indisvalid); BEGIN SET LOCAL citus.enable_manual_changes_to_shards TO on; EXECUTE ''DROP INDEX '' || name; END $$')`,
    );
    expect(await lookAtShards()).toMatchObject({ state: "wrong", text: expect.stringMatching(/plants_by_name_\d+ is missing on/) });
    await distribute(CITUS);
    expect(await lookAtShards()).toMatchObject({ state: "ok" });
  });
});
