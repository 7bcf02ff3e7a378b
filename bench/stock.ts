import { closeSync, fsyncSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { createClient, ServiceError } from "../src/client/client.ts";
import { makeTables, startService } from "./contenders.ts";
import { BOTH_CORES } from "./machine.ts";
import type { Bench } from "./trade-offs.ts";
import { toText } from "./text-table.ts";

type StockOptions = Readonly<{
  plants: number;
  /** The distance from one id to the next. */
  step: bigint;
  bench: Bench;
}>;

const PLANTS_PER_TRANSACTION = 500_000;

const FILL = `
  WITH RECURSIVE numbers (number) AS (SELECT :first UNION ALL SELECT number + 1 FROM numbers WHERE number < :last)
  INSERT INTO plants (id, name, tag)
    SELECT number * :step, 'Planta g' || (number * 7919 % 1999) || ' s' || (number * 104729 % 19997), 'tag ' || (number % 50) FROM numbers`;

/**
 * Creates a data folder with many plants. The service creates only the tables: creating the plants through it would
 * take minutes.
 */
export async function makeLargeStore(data: string, options: StockOptions): Promise<void> {
  await makeTables({ data, signal: options.bench.signal });
  const path = join(data, "plants.db");
  const db = new DatabaseSync(path);
  try {
    await fill(db, options);
  } finally {
    db.close();
  }
  // The plants bypassed the service, so it must rebuild its index.
  for (const suffix of ["", "-wal", "-shm"]) rmSync(`${path}.search${suffix}`, { force: true });
  await buildIndex(data, options.bench);
  // Otherwise the kernel would write it back during the first rounds.
  sync(path);
}

async function buildIndex(data: string, { note, signal }: Bench): Promise<void> {
  const { program, token } = await startService({ data, cores: BOTH_CORES, signal });
  try {
    const client = createClient({ url: program.url, token, retries: 0 });
    for (let isBuilt = false; !isBuilt; await sleep(500, undefined, { signal })) {
      isBuilt = await client.page({ q: "planta", limit: 1 }).then(() => true, isOther);
    }
    note("stock: the index is built");
  } finally {
    await program.stop();
  }
}

/** False if the index is still being built; throws any other error. */
function isOther(reason: unknown): false {
  if (reason instanceof ServiceError && reason.error === 50304) return false;
  throw reason;
}

async function fill(db: DatabaseSync, { plants, step, bench }: StockOptions): Promise<void> {
  db.exec("PRAGMA synchronous = OFF");
  const insert = db.prepare(FILL);
  for (let first = 1; first <= plants; first += PLANTS_PER_TRANSACTION) {
    const last = Math.min(first + PLANTS_PER_TRANSACTION - 1, plants);
    // Numbers would be bound as REAL, and the names would end in ".0".
    insert.run({ first: BigInt(first), last: BigInt(last), step });
    bench.note(`stock: ${toText(last)} of ${toText(plants)} plants laid in`);
    await nextTurn();
    bench.signal.throwIfAborted();
  }
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
}

function sync(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
