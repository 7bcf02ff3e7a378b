import { PLANT_ID_MAX, PLANT_ID_MIN } from "../../plant.ts";
import type { PlantId } from "../../plant.ts";
import { inParts } from "../contents.ts";
import type { Contents, DatedPlant, StoredToken } from "../contents.ts";
import type { Database } from "./engine/pool.ts";
import type { Execute } from "./engine/retry.ts";
import { toPlant } from "./plant-columns.ts";
import type { PlantRow } from "./plant-columns.ts";
import { readRows } from "./plant-lists.ts";
import { LIST_DATED_PLANTS } from "./list-statements.ts";
import { SNAPSHOT_STATEMENTS } from "./snapshot.ts";
import { LIST_STORED_TOKENS } from "./token-statements.ts";
import { toToken } from "./tokens.ts";
import type { TokenRow } from "./tokens.ts";
import { beginTransaction } from "./transaction.ts";

/** A plant with its time. */
type DatedRow = [...PlantRow, added: bigint | null];
type StoredRow = [...TokenRow, hash: string];

const PAGE_PLANTS = 2000;
const PAGE_BYTES = 1_000_000;

/** A statement waits for a busy server: a backup is in no hurry. In milliseconds. */
const HOW = { statementMs: 25_000, isRepeatable: false };

/** All that the database holds at one moment; on Citus, each shard has a moment of its own. */
export async function openContents(database: Database): Promise<Contents> {
  const { execute, close } = await beginTransaction(database, SNAPSHOT_STATEMENTS);
  async function* read() {
    yield { tokens: await listTokens(execute), plants: [] };
    for (let from: bigint = PLANT_ID_MIN; ;) {
      const plants = await listFrom(execute, from);
      for (const part of inParts(plants)) yield { tokens: [], plants: part };
      const last = plants.at(-1)?.id;
      if (last === undefined || last === PLANT_ID_MAX) return;
      from = last + 1n;
    }
  }
  return { read, close };
}

export async function listTokens(execute: Execute): Promise<StoredToken[]> {
  const rows = await listTokenRows(execute);
  return rows.map(([id, name, scopes, created, expires, revoked, parent, used, hash]) => ({
    token: toToken([id, name, scopes, created, expires, revoked, parent, used]),
    hash,
  }));
}

export function listTokenRows(execute: Execute): Promise<readonly StoredRow[]> {
  return execute<StoredRow>(LIST_STORED_TOKENS, [], HOW);
}

/** The next plants from an id on; none after the last one. */
export async function listFrom(execute: Execute, from: bigint): Promise<readonly DatedPlant[]> {
  const valuesFor = (bytes: number) => [from, PAGE_PLANTS, bytes];
  const { rows } = await readRows<DatedRow>({ execute, page: LIST_DATED_PLANTS, valuesFor, bytesMax: PAGE_BYTES, how: HOW });
  return rows.map(toDatedPlant);
}

function toDatedPlant([id, name, tag, added]: DatedRow): DatedPlant & { id: PlantId } {
  const plant = toPlant([id, name, tag]);
  return added === null || added === UNDATED ? plant : { ...plant, added };
}

/** The time of a plant that has none: every row has one here, so that it has a place in the order of the newest. */
export const UNDATED = 0n;
