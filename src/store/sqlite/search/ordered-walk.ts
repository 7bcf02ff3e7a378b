import type { DatabaseSync, StatementSync } from "node:sqlite";
import { nameKey } from "../../../domain/name-order.ts";
import { asPlantId, PLANT_ID_MIN } from "../../../domain/plant.ts";
import { isFound } from "../../../domain/terms.ts";
import type { SearchTerms } from "../../../domain/terms.ts";
import { ORDERS } from "../../page.ts";
import type { Order, Place } from "../../page.ts";
import { timeKey } from "./plant-tokens.ts";
import { prepareBigInts } from "../engine/requirements.ts";
import { INDEXED_COLUMNS } from "./changes.ts";
import type { PlantRow } from "../log-row.ts";
import type { WalkQuery, WordIndex } from "./word-index.ts";

export type OrderedWalk = WalkQuery &
  SearchTerms &
  Readonly<{
    /** Those that match are put into order, if there are no more than this. Otherwise plants are looked at in order. */
    sortedMax: number;
  }>;

/** Places in an order. `reached`: up to here nothing was left out; undefined when nothing follows. */
export type Walked = Readonly<{ places: readonly Place[]; reached: Place | undefined }>;

/** How many plants are looked at in order in one call. */
const LOOKED_AT_MAX = 1000;

/** The most to read in one call, in characters: ten thousand usual plants have half of that. */
const CHARACTERS_MAX = 1_000_000;

/** The same for each plant that may be put into order: longer ones are read in vain. */
const CHARACTERS_A_SORTED_PLANT = 100;

/** What reading a plant costs besides its text, in characters. */
const CHARACTERS_A_PLANT = 20;

type Looked = Readonly<{ found: readonly PlantRow[]; lookedAt: number }>;

/** Walks through plants in an order, with bounded work. */
export class OrderedWalker {
  readonly #row: StatementSync;

  constructor(plants: DatabaseSync) {
    this.#row = prepareBigInts(plants, `SELECT ${INDEXED_COLUMNS} FROM plants WHERE id = ?`);
  }

  walk(index: WordIndex, query: OrderedWalk): Walked {
    const { words, tag, order, after, limit, sortedMax } = query;
    // A tag has its own order.
    if (words.length === 0) return toWalked(index.walk({ tag, order, after, limit }), limit);
    const few = sortedMax > 0 ? this.#sortFew(index, query) : undefined;
    if (few) return few;
    const next = index.walk({ tag, order, after, limit: LOOKED_AT_MAX });
    const { found, lookedAt } = this.findAll(
      next.map(({ id }) => id),
      { words, tag },
    );
    const ids = new Set(found.map(({ id }) => id));
    const isEnd = lookedAt === next.length && next.length < LOOKED_AT_MAX;
    return { places: next.slice(0, lookedAt).filter(({ id }) => ids.has(id)), reached: isEnd ? undefined : next[lookedAt - 1] };
  }

  /** Those of these plants that match, and how many were looked at: at least one. */
  findAll(ids: ArrayLike<bigint>, terms: SearchTerms, charactersMax = CHARACTERS_MAX): Looked {
    const found: PlantRow[] = [];
    let work = 0;
    let lookedAt = 0;
    for (; lookedAt < ids.length && work < charactersMax; lookedAt += 1) {
      const plant = this.#row.get(ids[lookedAt]!) as PlantRow | undefined;
      work += CHARACTERS_A_PLANT;
      if (!plant) continue;
      work += plant.name.length + (plant.tag?.length ?? 0);
      if (isFound(plant, terms)) found.push(plant);
    }
    return { found, lookedAt };
  }

  /** Those that match, in order; undefined if there are too many, or their names and tags are too long. */
  #sortFew(index: WordIndex, { words, tag, order, after, limit, sortedMax }: OrderedWalk): Walked | undefined {
    const ids = index.find({ words, tag, from: PLANT_ID_MIN, limit: sortedMax + 1 });
    if (ids.length > sortedMax) return undefined;
    const { found, lookedAt } = this.findAll(ids, { words, tag }, CHARACTERS_A_SORTED_PLANT * sortedMax);
    if (lookedAt < ids.length) return undefined;
    const places = found
      .map((plant) => placeOf(order, plant))
      .filter((place) => after === undefined || isBefore(order, after, place))
      .toSorted((left, right) => (isBefore(order, left, right) ? -1 : 1));
    return toWalked(places.slice(0, limit), limit);
  }
}

function toWalked(places: readonly Place[], limit: number): Walked {
  return { places, reached: places.length < limit ? undefined : places.at(-1) };
}

function placeOf(order: Order, { id, name, added }: PlantRow): Place {
  return { key: ORDERS[order].by === "name" ? nameKey(name) : timeKey(added), id: asPlantId(id) };
}

/** Whether one place is before another. */
function isBefore(order: Order, left: Place, right: Place): boolean {
  const { by, ascending } = ORDERS[order];
  if (!ascending) [left, right] = [right, left];
  if (left.key === right.key) return left.id < right.id;
  return by === "name" ? left.key < right.key : BigInt(left.key) < BigInt(right.key);
}
