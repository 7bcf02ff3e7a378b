import { PLANT_ID_MAX, PLANT_ID_MIN } from "../../plant.ts";
import type { NewPlant, PlantId } from "../../plant.ts";
import { TAGS_MAX } from "../store.ts";
import { openPage, sizeOf } from "../page.ts";
import type { ListQuery, Page, PlantStore, TagCount } from "../store.ts";
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

/** Up to here plants are read whatever their number, so that most pages need one statement, and a cheap one; a thousand of them have a megabyte. */
const SMALL_BYTES = 1000;

/** As a plant comes that has more bytes. */
type BriefRow = [id: bigint, name: null, tag: null];
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
      if (query.after === PLANT_ID_MAX) return { plants: [], isLast: true };
      const { brief, measured } = statementsOf(query);
      const limits = { statementMs: LIST_MS_MAX, isRepeatable: true };
      const rows = await askSlowly<PlantRow | BriefRow>(brief, valuesOf(query, SMALL_BYTES), limits);
      return toPage(areWhole(rows) ? rows : await askSlowly<PlantRow>(measured, valuesOf(query, query.bytesMax), limits), query);
    },
    countTags: keepCounts(countTags, now),
  };
}

function statementsOf({ tag, words }: ListQuery) {
  if (tag === undefined) return words.length === 0 ? LIST_PLANTS.all : LIST_PLANTS.withWords;
  return words.length === 0 ? LIST_PLANTS.ofTag : LIST_PLANTS.ofTagWithWords;
}

/** A page of rows, of which one more than it takes came, if there is one. They are measured as the database did. */
function toPage(rows: readonly PlantRow[], query: ListQuery): Page {
  const page = openPage(query);
  for (const row of rows) if (!page.take(toPlant(row), sizeOf({ name: row[1], tag: row[2] }))) break;
  return page.close();
}

function areWhole(rows: ReadonlyArray<PlantRow | BriefRow>): rows is PlantRow[] {
  return rows.every(([, name]) => name !== null);
}

function valuesOf({ after, limit, tag, words }: ListQuery, bytes: number): unknown[] {
  const from = after === undefined ? PLANT_ID_MIN : after + 1n;
  return [from, limit + 1, bytes, ...(tag === undefined ? [] : [toColumn(tag)]), ...(words.length === 0 ? [] : [toQuery(words)])];
}
