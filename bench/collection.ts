import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createLog } from "../src/runtime/log.ts";
import { createMetrics } from "../src/runtime/metrics.ts";
import { openPostgresStore } from "../src/store/postgres/store.ts";
import { openSqliteStore } from "../src/store/sqlite/store.ts";
import type { Store } from "../src/store/store.ts";
import { startService } from "./contenders.ts";
import type { Target } from "./contenders.ts";
import { BOTH_CORES } from "./machine.ts";
import { plantOf } from "./plant-names.ts";
import { queryDatabase } from "./plant-store.ts";
import type { Server } from "./plant-store.ts";
import { toText } from "./text-table.ts";
import type { Bench } from "./trade-offs.ts";

/** A store with many plants. */
export type Collection = Readonly<{
  plants: number;
  /** Starts the service on it. */
  start(): Promise<Target>;
  /** When these plants were created, as the store has it. */
  addedOf(ids: readonly number[]): Promise<ReadonlyMap<number, bigint>>;
}>;

type CollectionOptions = Readonly<{ folder: string; plants: number; bench: Bench }>;

const BATCH = 10_000;
const CREATE = { isReplacing: false, isDryRun: false };

/** Each store has metrics of its own. */
function openOptions() {
  const log = createLog({ level: "error", isTerminal: true, write: print, now: Date.now });
  return { isNew: true, queueMax: 1024, queueWaitMs: 60_000, log, metrics: createMetrics() };
}

/** Those that other statements of a fill would slow down: PostgreSQL builds them in a fraction of the time. */
const LATER_INDEXES = ["plants_by_tag", "plants_by_word", "plants_without_tag", "plants_by_name", "plants_by_newest"];

/** A collection on SQLite in this folder, made if it is not there. */
export async function openSqliteCollection({ folder, plants, bench }: CollectionOptions): Promise<Collection> {
  const path = join(folder, "plants.db");
  const open = () => openSqliteStore({ path, isServing: false, ...openOptions(), onFatal: fail });
  await makeOnce(folder, () => fillStore(open, { plants, bench }));
  return {
    plants,
    start: () => startService({ data: folder, cores: BOTH_CORES, signal: bench.signal }),
    async addedOf(ids) {
      const db = new DatabaseSync(path, { readOnly: true });
      const find = db.prepare("SELECT id, added FROM plants WHERE id IN (SELECT value FROM json_each(?))");
      find.setReadBigInts(true);
      const rows = find.all(`[${ids.join()}]`) as { id: bigint; added: bigint }[];
      db.close();
      return new Map(rows.map(({ id, added }) => [Number(id), added]));
    },
  };
}

/** The same in a database of this server. The folder keeps the token. */
export async function openPostgresCollection(server: Server, { folder, plants, bench }: CollectionOptions): Promise<Collection> {
  const name = `plants_${plants}`;
  const database = await server.openDatabase(name);
  const open = (isServing = false) => openPostgresStore({ url: database, isServing, ...openOptions() });
  await makeOnce(folder, async () => {
    await server.dropDatabase(database);
    await server.openDatabase(name);
    async function openWithoutIndexes(): Promise<Store> {
      const store = await open();
      for (const index of LATER_INDEXES) await queryDatabase(database, `DROP INDEX ${index}`);
      return store;
    }
    await fillStore(openWithoutIndexes, { plants, bench });
    await (await open()).close();
    // As autovacuum would do in time.
    await queryDatabase(database, "VACUUM ANALYZE plants");
  });
  return {
    plants,
    start: () => startService({ data: folder, database, cores: BOTH_CORES, signal: bench.signal }),
    async addedOf(ids) {
      const text = "SELECT id, added FROM plants WHERE id = ANY($1::bigint[])";
      const rows = await queryDatabase<{ id: string; added: string }>(database, text, [ids]);
      return new Map(rows.map(({ id, added }) => [Number(id), BigInt(added)]));
    },
  };
}

/** Does the work unless it was done in this folder before. What a run left half done is made anew. */
async function makeOnce(folder: string, work: () => Promise<void>): Promise<void> {
  const mark = join(folder, "whole");
  if (existsSync(mark)) return;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  await work();
  writeFileSync(mark, "");
}

async function fillStore(open: () => Promise<Store>, { plants, bench }: Pick<CollectionOptions, "plants" | "bench">): Promise<void> {
  const store = await open();
  try {
    for (let first = 1; first <= plants; first += BATCH) {
      const count = Math.min(BATCH, plants - first + 1);
      await store.plants.import(
        Array.from({ length: count }, (_, at) => plantOf(first + at, { plants })),
        CREATE,
      );
      if (first % 500_000 === 1) bench.note(`lists: ${toText(first - 1)} of ${toText(plants)} plants laid in`);
      bench.signal.throwIfAborted();
    }
  } finally {
    await store.close();
  }
}

function print(line: string): void {
  process.stderr.write(line);
}

function fail(reason: Error): never {
  throw reason;
}
