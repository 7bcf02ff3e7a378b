import { makeTables } from "./contenders.ts";
import { queryDatabase } from "./plant-store.ts";
import type { Server } from "./plant-store.ts";
import type { Bench } from "./trade-offs.ts";
import { COMMON_WORD, NAME_OF_NUMBER, PLANTS_PER_TRANSACTION, RARE_WORD, TAG_OF_NUMBER } from "./stock.ts";
import { toText } from "./text-table.ts";

/** These names are ASCII without marks, so their words are what is between the spaces, in lower case. */
const FILL = `
  INSERT INTO plants (id, name, tag, words)
    SELECT number, name, ${TAG_OF_NUMBER}, lower(name)::tsvector
    FROM generate_series($1::bigint, $2::bigint) AS numbers (number), LATERAL (SELECT ${NAME_OF_NUMBER} AS name) AS names`;

const MAKE_RARE = `UPDATE plants SET name = $2::text, words = lower($2::text)::tsvector WHERE id = $1::bigint`;

type StockOptions = Readonly<{
  plants: number;
  /** The data folder, which gets the first token. */
  data: string;
  bench: Bench;
}>;

/**
 * Creates a database with many plants, and returns its URL. The service creates only the tables: creating the plants
 * through it would take minutes.
 */
export async function makeLargeDatabase(server: Server, { plants, data, bench }: StockOptions): Promise<string> {
  const database = await server.createDatabase();
  await makeTables({ data, database, signal: bench.signal });
  // With the indexes in place, as for creates: built afterwards, they would be smaller.
  for (let first = 1; first <= plants; first += PLANTS_PER_TRANSACTION) {
    const last = Math.min(first + PLANTS_PER_TRANSACTION - 1, plants);
    await queryDatabase(database, FILL, [first, last]);
    bench.note(`stock: ${toText(last)} of ${toText(plants)} plants laid in`);
    bench.signal.throwIfAborted();
  }
  await queryDatabase(database, MAKE_RARE, [Math.ceil(plants / 2), `${RARE_WORD} ${COMMON_WORD}`]);
  // As autovacuum would do in time.
  await queryDatabase(database, "VACUUM ANALYZE plants");
  return database;
}
