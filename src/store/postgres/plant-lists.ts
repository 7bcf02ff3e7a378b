import { PLANT_ID_MAX, PLANT_ID_MIN } from "../../plant.ts";
import { openPage, sizeOf } from "../page.ts";
import type { Page } from "../page.ts";
import type { ListQuery } from "../plants.ts";
import type { Execute } from "./engine/retry.ts";
import { toColumn } from "./engine/text.ts";
import { toPlant, toQuery } from "./plant-columns.ts";
import type { PlantRow } from "./plant-columns.ts";
import { LIST_PLANTS } from "./plant-statements.ts";

export const LIST_MS_MAX = 5000;

/**
 * Plants of up to this size are read without measuring, so that most pages need one cheap statement: a thousand of them
 * make a megabyte.
 */
export const SMALL_BYTES = 1000;

/** The row of a larger plant. */
type BriefRow = [id: bigint, name: null, tag: null];

export async function list(execute: Execute, query: ListQuery): Promise<Page> {
  if (query.after === PLANT_ID_MAX) return { plants: [], isLast: true };
  const { brief, measured } = statementsOf(query);
  const limits = { statementMs: LIST_MS_MAX, isRepeatable: true };
  const rows = await execute<PlantRow | BriefRow>(brief, valuesOf(query, SMALL_BYTES), limits);
  return toPage(areWhole(rows) ? rows : await execute<PlantRow>(measured, valuesOf(query, query.bytesMax), limits), query);
}

function statementsOf({ tag, words }: ListQuery) {
  const [alone, withWords] =
    tag === undefined
      ? [LIST_PLANTS.all, LIST_PLANTS.withWords]
      : tag === null
        ? [LIST_PLANTS.withoutTag, LIST_PLANTS.withoutTagWithWords]
        : [LIST_PLANTS.ofTag, LIST_PLANTS.ofTagWithWords];
  return words.length === 0 ? alone : withWords;
}

/** Fills a page from rows: one more than it holds, if there are more plants. Measures them as the database did. */
function toPage(rows: readonly PlantRow[], query: ListQuery): Page {
  const page = openPage(query);
  for (const row of rows) if (!page.add(toPlant(row), sizeOf({ name: row[1], tag: row[2] }))) break;
  return page.close();
}

function areWhole(rows: ReadonlyArray<PlantRow | BriefRow>): rows is PlantRow[] {
  return rows.every(([, name]) => name !== null);
}

function valuesOf({ after, limit, tag, words }: ListQuery, bytes: number): unknown[] {
  const from = after === undefined ? PLANT_ID_MIN : after + 1n;
  return [from, limit + 1, bytes, ...(typeof tag === "string" ? [toColumn(tag)] : []), ...(words.length === 0 ? [] : [toQuery(words)])];
}
