import { nameKey } from "../src/domain/name-order.ts";
import { makeTables } from "./contenders.ts";
import { queryDatabase } from "./plant-store.ts";
import type { Server } from "./plant-store.ts";
import type { Bench } from "./trade-offs.ts";
import { COMMON_WORD, NAME_OF_NUMBER, PLANTS_PER_TRANSACTION, RARE_WORD, TAG_OF_NUMBER } from "./stock.ts";
import { toText } from "./text-table.ts";

/** What names are made of, and the byte that each has in a key. */
const CHARACTERS = " 0123456789abcdefghijklmnopqrstuvwxyz";
const BYTES = Buffer.from(nameKey(CHARACTERS), "hex").toString("latin1").replaceAll("'", "''");

/** These names are ASCII without marks, so their words are what is between the spaces, in lower case. */
const FOUND_BY = {
  words: (name: string) => `lower(${name})::tsvector`,
  key: (name: string) => `convert_to(translate(lower(${name}), '${CHARACTERS}', '${BYTES}'), 'UTF8')`,
};

/** Lays in plants as creates would. Takes the first number and the last. */
export const FILL = `
  INSERT INTO plants (id, name, tag, words, name_key)
    SELECT number, name, ${TAG_OF_NUMBER}, ${FOUND_BY.words("name")}, ${FOUND_BY.key("name")}
    FROM generate_series($1::bigint, $2::bigint) AS numbers (number), LATERAL (SELECT ${NAME_OF_NUMBER} AS name) AS names`;

/** Takes the id of a plant, and its new name. */
export const RENAME = `UPDATE plants SET name = $2::text, words = ${FOUND_BY.words("$2::text")}, name_key = ${FOUND_BY.key("$2::text")}
  WHERE id = $1::bigint`;

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
  await queryDatabase(database, RENAME, [Math.ceil(plants / 2), `${RARE_WORD} ${COMMON_WORD}`]);
  // As autovacuum would do in time.
  await queryDatabase(database, "VACUUM ANALYZE plants");
  return database;
}
