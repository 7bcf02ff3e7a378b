import { PLANT_ID_MAX, PLANT_ID_MIN } from "../../plant.ts";
import { openPage, sizeOf } from "../page.ts";
import type { Page } from "../page.ts";
import type { ListQuery } from "../plants.ts";
import type { Ask } from "./engine/retry.ts";
import { toColumn } from "./engine/text.ts";
import { toPlant, toQuery } from "./plant-columns.ts";
import type { PlantRow } from "./plant-columns.ts";
import { LIST_PLANTS } from "./plant-statements.ts";

const LIST_MS_MAX = 5000;

/** Up to here plants are read whatever their number, so that most pages need one statement, and a cheap one; a thousand of them have a megabyte. */
const SMALL_BYTES = 1000;

/** As a plant comes that has more bytes. */
type BriefRow = [id: bigint, name: null, tag: null];

/** Reads a page of plants. */
export async function list(ask: Ask, query: ListQuery): Promise<Page> {
  if (query.after === PLANT_ID_MAX) return { plants: [], isLast: true };
  const { brief, measured } = statementsOf(query);
  const limits = { statementMs: LIST_MS_MAX, isRepeatable: true };
  const rows = await ask<PlantRow | BriefRow>(brief, valuesOf(query, SMALL_BYTES), limits);
  return toPage(areWhole(rows) ? rows : await ask<PlantRow>(measured, valuesOf(query, query.bytesMax), limits), query);
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
