import { PLANT_ID_MAX, PLANT_ID_MIN } from "../../plant.ts";
import type { NewPlant, PlantId } from "../../plant.ts";
import { TAGS_MAX } from "../store.ts";
import type { ListQuery, PlantStore, TagCount } from "../store.ts";
import { keepCounts } from "../tags.ts";
import { readTogether } from "../together.ts";
import { toPlant, toQuery } from "./columns.ts";
import type { PlantRow } from "./columns.ts";
import type { Ask } from "./retry.ts";
import { COUNT_TAGS, FIND_PLANTS, LIST_PLANTS } from "./statements.ts";
import { fromColumn, toColumn } from "./text.ts";

type ReaderOptions = Readonly<{
  /** For single plants, and for all that may take longer. */
  ask: Ask;
  askSlowly: Ask;
  now: () => number;
}>;

/** How many readings of single plants run at a time, each on a connection of its own. */
const FINDS_IN_FLIGHT = 2;

const LIST_MS_MAX = 5000;
const COUNT_MS_MAX = 30_000;

/** All that reads plants. */
export function createReader({ ask, askSlowly, now }: ReaderOptions): Pick<PlantStore, "find" | "list" | "countTags"> {
  async function findAll(ids: readonly PlantId[]): Promise<Array<NewPlant | undefined>> {
    const rows = await ask<PlantRow>(FIND_PLANTS, [ids], { isRepeatable: true });
    const plants = new Map(rows.map(toPlant).map((plant) => [plant.id, plant]));
    return ids.map((id) => plants.get(id));
  }

  async function countTags(): Promise<TagCount[]> {
    const rows = await askSlowly<[tag: string, plants: bigint]>(COUNT_TAGS, [TAGS_MAX], { statementMs: COUNT_MS_MAX, isRepeatable: true });
    return rows.map(([tag, plants]) => ({ tag: fromColumn(tag), plants: Number(plants) }));
  }

  return {
    find: readTogether({ readAll: findAll, inFlightMax: FINDS_IN_FLIGHT }),
    async list(query) {
      if (query.after === PLANT_ID_MAX) return [];
      const rows = await askSlowly<PlantRow>(statementOf(query), valuesOf(query), { statementMs: LIST_MS_MAX, isRepeatable: true });
      return rows.map(toPlant);
    },
    countTags: keepCounts(countTags, now),
  };
}

function statementOf({ tag, words }: ListQuery) {
  if (tag === undefined) return words.length === 0 ? LIST_PLANTS.all : LIST_PLANTS.withWords;
  return words.length === 0 ? LIST_PLANTS.ofTag : LIST_PLANTS.ofTagWithWords;
}

function valuesOf({ after, limit, tag, words }: ListQuery): unknown[] {
  const from = after === undefined ? PLANT_ID_MIN : after + 1n;
  return [from, limit, ...(tag === undefined ? [] : [toColumn(tag)]), ...(words.length === 0 ? [] : [toQuery(words)])];
}
