import { join } from "node:path";
import { startService } from "./contenders.ts";
import { withFolder } from "./scratch.ts";
import { BOTH_CORES } from "./machine.ts";
import { compareSizes } from "./each-operation.ts";
import { makeLargeDatabase } from "./postgres-stock.ts";
import { measure } from "./round.ts";
import { queryDatabase, withDatabase, withServer } from "./plant-store.ts";
import type { Server } from "./plant-store.ts";
import type { Bench } from "./trade-offs.ts";
import { sizesOf } from "./stock.ts";
import { toSpread, toTable, toText } from "./text-table.ts";

/** By the number of plants: a database with that many, and a data folder with its token. */
type Stock = ReadonlyMap<number, Readonly<{ data: string; database: string }>>;

/** The part takes long, and its ratios vary little. */
const ROUNDS_MAX = 3;

/** Whether PostgreSQL stores get slower as they grow, and how much disk they use. */
export async function postgresSize(bench: Bench): Promise<string> {
  return withServer((server) =>
    withFolder(async (folder) => {
      const stock = new Map<number, Readonly<{ data: string; database: string }>>();
      for (const plants of sizesOf(bench)) {
        const data = join(folder, String(plants));
        stock.set(plants, { data, database: await makeLargeDatabase(server, { plants, data, bench }) });
      }
      return `Size of PostgreSQL stores, both cores for all
(${server.name})

${await toByteTable(stock)}

${await toCreateTable(stock, { server, bench })}

${await compareReads(stock, bench)}`;
    }),
  );
}

/** The size of the table and of each of its indexes, in bytes, by name. */
const BYTES = `
  SELECT 'in all' AS name, pg_total_relation_size('plants') AS bytes
  UNION ALL SELECT 'table', pg_table_size('plants')
  UNION ALL (
    SELECT relname, pg_total_relation_size(indexrelid) FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
    WHERE indrelid = 'plants'::regclass ORDER BY relname
  )`;

async function toByteTable(stock: Stock): Promise<string> {
  const rows: string[][] = [];
  for (const [plants, { database }] of stock) {
    const sizes = await queryDatabase<{ name: string; bytes: string }>(database, BYTES);
    if (rows.length === 0) rows.push(["bytes a plant", ...sizes.map(({ name }) => name)]);
    rows.push([`${toText(plants)} plants`, ...sizes.map(({ bytes }) => toText(Number(bytes) / plants))]);
  }
  return toTable(rows);
}

type Measuring = Readonly<{ server: Server; bench: Bench }>;

async function toCreateTable(stock: Stock, { server, bench }: Measuring): Promise<string> {
  const rounds: number[][] = [];
  for (let number = 1; number <= Math.min(bench.rounds, ROUNDS_MAX); number += 1) {
    const round: number[] = [];
    for (const [plants, { data, database }] of stock) {
      // On a copy, because the creates would make a small store large.
      const rate = await withDatabase(
        server,
        (copy) => measureCreates({ data, database: copy, start: plants + 1, server, bench }),
        database,
      );
      round.push(rate);
      bench.note(`postgres-size: round ${number}: ${toText(rate)} creates/s beside ${toText(plants)} plants`);
    }
    rounds.push(round);
  }
  const rows = [...stock.keys()].map((plants, at) => {
    const rates = rounds.map((round) => round[at]!);
    const ratios = rounds.map((round) => round[at]! / round[0]!);
    return [`${toText(plants)} plants`, toSpread(rates), at === 0 ? "1" : toSpread(ratios, 2)];
  });
  return `Creates with rising ids: median [min-max] of ${rounds.length} rounds of ${bench.seconds} s

${toTable([["store", "creates/s", "to the smallest, within a round"], ...rows])}`;
}

type CreateOptions = Measuring & Readonly<{ data: string; database: string; start: number }>;

async function measureCreates({ data, database, start, server, bench }: CreateOptions): Promise<number> {
  const { seconds, signal } = bench;
  const target = await startService({ data, database, cores: BOTH_CORES, signal });
  try {
    return (await measure(target, { ids: "rising", start, seconds, cores: BOTH_CORES, server, signal })).rate;
  } finally {
    await target.program.stop();
  }
}

async function compareReads(stock: Stock, bench: Bench): Promise<string> {
  return compareSizes(
    [...stock.keys()],
    (plants) => startService({ ...stock.get(plants)!, cores: BOTH_CORES, signal: bench.signal }),
    bench,
  );
}
