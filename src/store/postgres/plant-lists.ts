import { PlantStoreError } from "../../domain/errors.ts";
import { PLANT_ID_MAX, PLANT_ID_MIN } from "../../domain/plant.ts";
import { idBehind, openPage, sizeOf } from "../page.ts";
import type { Page } from "../page.ts";
import type { ListQuery } from "../plants.ts";
import type { Statement } from "./engine/pool.ts";
import type { Execute, ExecuteOptions } from "./engine/retry.ts";
import { toPlant } from "./plant-columns.ts";
import type { PlantRow } from "./plant-columns.ts";
import { LISTS, LIST_PLANTS_UP_TO, filterOf, filterValues } from "./list-statements.ts";

/** @limit PostgreSQL: duration of a list or search */
export const LIST_MS_MAX = 5000;

/** Plants of up to this size are read without measuring, so that most pages need one cheap statement: a thousand make a megabyte. */
const SMALL_BYTES = 1000;

/** How often a page is read again of which all plants change meanwhile. */
const TRIES_MAX = 10;

/** The least plants of a page from which others learn how far pages reach. */
const LEARNED_MIN = 20;

/** The row of a larger plant. */
type BriefRow = [id: bigint, name: null, tag: null, ...rest: unknown[]];

type Reading = Readonly<{
  execute: Execute;
  page: Readonly<Record<"brief" | "measured", Statement>>;
  /** The values of both, with so many bytes. */
  valuesFor: (bytes: number) => readonly unknown[];
  bytesMax: number;
  how: ExecuteOptions;
}>;

/** `isCut`: others may follow, although the page is not full. */
type Rows<Row> = Readonly<{ rows: readonly Row[]; isCut: boolean }>;

/**
 * Reads a page: of small plants at once, else of `bytesMax` bytes and a plant more. On Citus, large plants may change
 * between being found and being read. Then the page ends with the last of those that did not, as it could look like the
 * last one otherwise.
 */
export async function readRows<Row extends PlantRow | [...PlantRow, unknown]>({
  execute,
  page,
  valuesFor,
  bytesMax,
  how,
}: Reading): Promise<Rows<Row>> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const rows = await execute<Row | BriefRow>(page.brief, valuesFor(SMALL_BYTES), how);
    if (rows.every((row): row is Row => row[1] !== null)) return { rows, isCut: false };
    const whole = await execute<[found: bigint, ...Row]>(page.measured, valuesFor(bytesMax), how);
    const [first] = whole;
    if (first) return { rows: whole.map(([, ...row]): Row => row), isCut: whole.length < first[0] };
  }
  throw new PlantStoreError("overloaded");
}

/** A search looks further only if one in this many of the wanted plants was near its start: otherwise few match, or far away. */
const FEW = 10;

/** With more alternatives for a word, to look at plants one by one takes longer than to look all of them up in the index. */
const ALTERNATIVES_MAX = 20;

/** `reach`: of the pages before, on Citus. Only lists without a filter use it. */
export async function list(execute: Execute, query: ListQuery, reach?: PageReach): Promise<Page> {
  const { limit, bytesMax, words, descending = false } = query;
  const from = idBehind(query);
  if (from === undefined) return { plants: [], isLast: true };
  const { plants, withWords } = LISTS[descending ? "descending" : "ascending"];
  const filter = filterOf(query).tag;
  async function read(page: Reading["page"], more: readonly unknown[] = filterValues(query)): Promise<Page> {
    const valuesFor = (bytes: number) => [from, limit + 1, bytes, ...more];
    return toPage(
      await readRows<PlantRow>({ execute, page, valuesFor, bytesMax, how: { statementMs: LIST_MS_MAX, isRepeatable: true } }),
      query,
    );
  }
  if (words.length > 0) {
    const isDear = words.some(({ anyOf }) => anyOf.length > ALTERNATIVES_MAX);
    return search((way) => read(withWords[filter][way]), { limit, areWorkers: reach !== undefined, isDear });
  }
  if (filter !== "any" || descending || !reach) return read(plants[filter]);
  const end = reach.endOf(from, limit + 1);
  const near = end === undefined ? undefined : await read(LIST_PLANTS_UP_TO, [end]);
  const page = near && !near.isLast ? near : await read(plants.any);
  // The gap between a few plants says little of others.
  if (page.plants.length >= LEARNED_MIN) reach.learn(from, page.plants);
  return page;
}

type Ways = keyof (typeof LISTS)["ascending"]["withWords"]["any"];

/** `isDear`: to compare a plant with the words. */
type SearchOptions = Readonly<{ limit: number; areWorkers: boolean; isDear: boolean }>;

/** Reads a page of what has some words, in whichever way costs little. */
async function search(read: (way: Ways) => Promise<Page>, { limit, areWorkers, isDear }: SearchOptions) {
  // A limit within a statement makes Citus collect what each shard finds.
  if (areWorkers) return read("planned");
  if (isDear) return read("sorted");
  const near = await read("near");
  if (!near.isLast) return near;
  const far = near.plants.length * FEW < limit ? near : await read("far");
  return far.isLast ? read("sorted") : far;
}

/** Fills a page from rows: one more than it holds, if there are more plants. Measures them as the database did. */
function toPage({ rows, isCut }: Rows<PlantRow>, query: ListQuery): Page {
  const page = openPage(query);
  for (const row of rows) if (!page.add(toPlant(row), sizeOf({ name: row[1], tag: row[2] }))) break;
  if (isCut) page.cut();
  return page.close();
}

export type PageReach = ReturnType<typeof createPageReach>;

type Guess = { ids: bigint; plants: bigint };

/**
 * How far pages reach among the ids, guessed from one before. On Citus every shard sends a whole page, unless it is told
 * where the page probably ends: then each sends its part of it. One PostgreSQL does as much either way.
 */
export function createPageReach() {
  // A first page begins far below the ids that most stores have, and says nothing of the others.
  const first: Guess = { ids: 0n, plants: 0n };
  const others: Guess = { ids: 0n, plants: 0n };
  const guessAt = (from: bigint) => (from === PLANT_ID_MIN ? first : others);
  return {
    /** An id that a page of so many plants probably ends before. Undefined if nothing is known, or no id is that high. */
    endOf(from: bigint, wanted: number): bigint | undefined {
      const { ids, plants } = guessAt(from);
      if (plants === 0n) return undefined;
      // Half as many again: a page that is not full may have to be read once more.
      const end = from + (3n * ids * BigInt(wanted)) / (2n * plants);
      return end < PLANT_ID_MAX ? end : undefined;
    },
    /** A page that was read from there. */
    learn(from: bigint, page: ReadonlyArray<Readonly<{ id: bigint }>>): void {
      const last = page.at(-1);
      if (last) Object.assign(guessAt(from), { ids: last.id - from + 1n, plants: BigInt(page.length) });
    },
  };
}
