import { closeSync, fsyncSync, openSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as breathe } from "node:timers/promises";
import { startService } from "./contenders.ts";
import type { Bench } from "./settings.ts";
import { toText } from "./table.ts";

type StockOptions = Readonly<{
  /** From one id to the next. */
  step: bigint;
  bench: Bench;
}>;

const PLANTS_PER_TRANSACTION = 500_000;

const FILL = `
  WITH RECURSIVE numbers (number) AS (SELECT :first UNION ALL SELECT number + 1 FROM numbers WHERE number < :last)
  INSERT INTO plants (id, name, tag) SELECT number * :step, 'Plant ' || number, 'tag ' || (number % 100) FROM numbers`;

/** Makes a data folder with many plants. The service makes the tables; through it, the plants would take minutes. */
export async function makeLargeStore(data: string, { step, bench }: StockOptions): Promise<void> {
  const { program } = await startService({ data, signal: bench.signal });
  await program.stop();
  const path = join(data, "plants.db");
  const db = new DatabaseSync(path);
  try {
    await fill(db, { step, bench });
  } finally {
    db.close();
  }
  // Or the kernel would write it back during the first rounds.
  sync(path);
}

async function fill(db: DatabaseSync, { step, bench }: StockOptions): Promise<void> {
  db.exec("PRAGMA synchronous = OFF");
  const insert = db.prepare(FILL);
  for (let first = 1; first <= bench.plants; first += PLANTS_PER_TRANSACTION) {
    const last = Math.min(first + PLANTS_PER_TRANSACTION - 1, bench.plants);
    // Numbers would be bound as REAL, and the names would end in ".0".
    insert.run({ first: BigInt(first), last: BigInt(last), step });
    bench.note(`size: ${toText(last)} of ${toText(bench.plants)} plants laid in`);
    await breathe();
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
