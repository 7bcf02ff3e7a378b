import { openPauses } from "../../event-loop.ts";
import { nameKey } from "../../name-order.ts";
import { asPlantId, PLANT_ID_MAX, PLANT_ID_MIN } from "../../plant.ts";
import type { NewPlant } from "../../plant.ts";
import { openOrderedPage, sizeOf } from "../page.ts";
import type { Order, OrderedPage, Place } from "../page.ts";
import type { OrderedQuery } from "../plants.ts";
import type { Execute } from "./engine/retry.ts";
import { toColumn } from "./engine/text.ts";
import { toPlant, toQuery } from "./plant-columns.ts";
import { LIST_MS_MAX, readRows } from "./plant-lists.ts";
import { countMatching, lastAhead, LOOKED_AT_MAX, orderedAhead, orderedMatching, orderedPlants, SORTED_MAX } from "./order-statements.ts";
import type { Filter } from "./order-statements.ts";

type Row = [id: bigint, name: string, tag: string | null, key: string];

type ListOptions = Readonly<{
  execute: Execute;
  /** Called with plants that have the key of another name. */
  onStale: (plants: readonly NewPlant[]) => void;
}>;

/**
 * How many plants that match may be put into order before each look ahead. Where few have a tag, that is the page; where
 * many match, the first looks find enough. If neither is so, more are put into order; if that is too much, the page stays
 * short. With words it is not tried first, and with a tag besides last: the server notes where all that have them are, and
 * all of the tag, however many.
 */
function sortedBeforeLooks({ tag, hasWords }: Filter): readonly number[] {
  if (!hasWords) return [1000, 0, SORTED_MAX, 0, 0];
  return tag === "any" ? [0, 0, SORTED_MAX, 0, 0] : [0, 0, 0, 0, SORTED_MAX];
}

const LIMITS = { statementMs: LIST_MS_MAX, isRepeatable: true } as const;

/** A page in an order, with bounded work. */
export async function listOrdered({ execute, onStale }: ListOptions, query: OrderedQuery): Promise<OrderedPage> {
  const { order, tag, words, limit, bytesMax } = query;
  const filter: Filter = { tag: tag === undefined ? "any" : tag === null ? "none" : "given", hasWords: words.length > 0 };
  const wanted = [...(typeof tag === "string" ? [toColumn(tag)] : []), ...(words.length === 0 ? [] : [toQuery(words)])];
  const page = openOrderedPage({ limit, bytesMax });
  let from = behind(order, query.after);

  /** Fills the page from rows: one more than it holds, if there are more. False when it ends there. */
  async function fill(plants: ReturnType<typeof orderedPlants>, values: readonly unknown[] = []): Promise<boolean> {
    const valuesFor = (bytes: number) => [from.key, limit + 1, bytes, from.id, ...values];
    const { rows, isCut } = await readRows<Row>({ execute, page: plants, valuesFor, bytesMax, how: LIMITS });
    const stale = order === "name" ? await findStale(rows) : [];
    if (stale.length > 0) onStale(stale);
    const isFilling = rows.every((row) =>
      page.add(toRowPlant(row), { key: row[3], id: asPlantId(row[0]) }, sizeOf({ name: row[1], tag: row[2] })),
    );
    if (isCut) page.cut();
    return isFilling && !isCut;
  }

  async function hasFew(max: number): Promise<boolean> {
    if (max === 0) return false;
    const [[count] = [0n]] = await execute<[bigint]>(countMatching(filter, max), wanted, LIMITS);
    return count <= max;
  }

  if (filter.tag === "any" && !filter.hasWords) {
    await fill(orderedPlants(order));
    return page.close(undefined);
  }
  let last: Place | undefined;
  for (const sortedMax of sortedBeforeLooks(filter)) {
    if (await hasFew(sortedMax)) {
      await fill(orderedMatching(order, filter), wanted);
      return page.close(undefined);
    }
    const [ahead] = await execute<[key: string, id: bigint, count: bigint]>(lastAhead(order), [from.key, from.id], LIMITS);
    if (!ahead) return page.close(undefined);
    const [key, id, count] = ahead;
    const isFilling = await fill(orderedAhead(order, filter), wanted);
    const reached = count < LOOKED_AT_MAX ? undefined : { key, id: asPlantId(id) };
    if (!isFilling || reached === undefined) return page.close(reached);
    last = reached;
    from = behind(order, reached);
  }
  return page.close(last);
}

/** The plants whose key is that of another name. Yields to other requests: a thousand keys can take a second. */
async function findStale(rows: readonly Row[]): Promise<NewPlant[]> {
  const stale: NewPlant[] = [];
  const pauses = openPauses();
  for (const row of rows) {
    const plant = toRowPlant(row);
    if (nameKey(plant.name) !== row[3]) stale.push(plant);
    await pauses();
  }
  return stale;
}

/** The first place behind another one, or of all. */
function behind(order: Order, after: Place | undefined): Place {
  if (order === "newest") {
    if (after === undefined) return { key: String(PLANT_ID_MAX), id: PLANT_ID_MAX };
    if (after.id > PLANT_ID_MIN) return { key: after.key, id: asPlantId(after.id - 1n) };
    const time = BigInt(after.key);
    return time === PLANT_ID_MIN ? { key: after.key, id: PLANT_ID_MIN } : { key: String(time - 1n), id: PLANT_ID_MAX };
  }
  if (after === undefined) return { key: "", id: PLANT_ID_MIN };
  return after.id < PLANT_ID_MAX ? { key: after.key, id: asPlantId(after.id + 1n) } : { key: `${after.key}00`, id: PLANT_ID_MIN };
}

function toRowPlant([id, name, tag]: Row): NewPlant {
  return toPlant([id, name, tag]);
}
