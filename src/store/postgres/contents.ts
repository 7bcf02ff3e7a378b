import { PLANT_ID_MAX, PLANT_ID_MIN } from "../../domain/plant.ts";
import { inParts } from "../contents.ts";
import type { Contents, DatedPlant, StoredToken } from "../contents.ts";
import { toToken } from "../tokens.ts";
import type { StoredRow } from "../tokens.ts";
import type { Execute } from "./engine/retry.ts";
import { toPlant } from "./plant-columns.ts";
import type { PlantRow } from "./plant-columns.ts";
import { readRows, createPageReach } from "./plant-lists.ts";
import { LIST_DATED_PLANTS, LIST_DATED_PLANTS_UP_TO } from "./list-statements.ts";
import { LIST_TOKENS } from "./token-statements.ts";
import { toRow } from "./tokens.ts";
import type { TokenColumns } from "./tokens.ts";
import type { Transaction } from "./transaction.ts";

/** A plant with its time. */
type DatedRow = [...PlantRow, added: bigint | null];

const PAGE_PLANTS = 2000;
const PAGE_BYTES = 1_000_000;

/** A statement waits for a busy server: a backup is in no hurry. In milliseconds. */
const OPTIONS = { statementMs: 25_000, isRepeatable: false };

/** All that the database holds at one moment. */
export async function openContents(begin: () => Promise<Transaction>): Promise<Contents> {
  const { execute, close } = await begin();
  async function* read() {
    yield { tokens: await listTokens(execute), plants: [] };
    for await (const plants of walkPlants(execute)) for (const part of inParts(plants)) yield { tokens: [], plants: part };
  }
  return { read, close };
}

export async function listTokens(execute: Execute): Promise<StoredToken[]> {
  return (await listTokenRows(execute)).map((row) => ({ token: toToken(row), hash: row.hash }));
}

/** As they are stored, whatever that is. */
export async function listTokenRows(execute: Execute): Promise<StoredRow[]> {
  return (await execute<TokenColumns>(LIST_TOKENS, [], OPTIONS)).map(toRow);
}

/** All plants by id, in pages that may be short: after empty room the next one reaches further, so few in a row are. */
export async function* walkPlants(execute: Execute): AsyncGenerator<readonly DatedPlant[], void, void> {
  const reach = createPageReach();
  for (let from: bigint = PLANT_ID_MIN; ;) {
    const end = reach.endOf(from, PAGE_PLANTS);
    const near = end === undefined ? [] : await listDated(execute, LIST_DATED_PLANTS_UP_TO, [from, end]);
    const page = near.length > 0 ? near : await listDated(execute, LIST_DATED_PLANTS, [from]);
    const last = page.at(-1)?.id;
    if (last === undefined) return;
    yield page;
    if (last === PLANT_ID_MAX) return;
    reach.learn(from, page);
    from = last + 1n;
  }
}

async function listDated(
  execute: Execute,
  page: typeof LIST_DATED_PLANTS,
  [from, ...more]: readonly bigint[],
): Promise<readonly DatedPlant[]> {
  const valuesFor = (bytes: number) => [from, PAGE_PLANTS, bytes, ...more];
  const { rows } = await readRows<DatedRow>({ execute, page, valuesFor, bytesMax: PAGE_BYTES, how: OPTIONS });
  return rows.map(toDatedPlant);
}

function toDatedPlant(row: DatedRow): DatedPlant {
  const plant = toPlant(row);
  const added = row[3];
  return added === null || added === UNDATED ? plant : { ...plant, added };
}

/** The time of a plant that has none: every row has one here, so that it has a place in the order of the newest. */
export const UNDATED = 0n;
