import { openPauses } from "../../runtime/event-loop.ts";
import { nameKey } from "../../domain/name-order.ts";
import { asPlantId, PLANT_ID_MAX, PLANT_ID_MIN } from "../../domain/plant.ts";
import type { NewPlant } from "../../domain/plant.ts";
import { idBehind, openOrderedPage, ORDERS, sizeOf } from "../page.ts";
import type { Order, OrderedPage, Place } from "../page.ts";
import type { OrderedQuery } from "../plants.ts";
import { countUpTo } from "./counts.ts";
import type { Execute } from "./engine/retry.ts";
import { filterOf, filterValues } from "./list-statements.ts";
import type { Filter } from "./list-statements.ts";
import { toPlant } from "./plant-columns.ts";
import type { PlantRow } from "./plant-columns.ts";
import { LIST_MS_MAX, readRows } from "./plant-lists.ts";
import { lastAhead, LOOKED_AT_MAX, orderedAhead, orderedMatching, orderedPlants, SORTED_MAX } from "./order-statements.ts";

type Row = [...PlantRow, key: string];

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
  const { order, limit, bytesMax } = query;
  const filter = filterOf(query);
  const wanted = filterValues(query);
  const page = openOrderedPage({ limit, bytesMax });
  const start = behind(order, query.after);
  if (start === undefined) return page.close(undefined);
  let from: Place = start;

  /** Fills the page from rows: one more than it holds, if there are more. False when it ends there. */
  async function fill(plants: ReturnType<typeof orderedPlants>, values: readonly unknown[] = []): Promise<boolean> {
    const valuesFor = (bytes: number) => [from.key, limit + 1, bytes, from.id, ...values];
    const { rows, isCut } = await readRows<Row>({ execute, page: plants, valuesFor, bytesMax, how: LIMITS });
    const stale = ORDERS[order].by === "name" ? await findStale(rows) : [];
    if (stale.length > 0) onStale(stale);
    const isFilling = rows.every((row) =>
      page.add(toPlant(row), { key: row[3], id: asPlantId(row[0]) }, sizeOf({ name: row[1], tag: row[2] })),
    );
    if (isCut) page.cut();
    return isFilling && !isCut;
  }

  if (filter.tag === "any" && !filter.hasWords) {
    await fill(orderedPlants(order));
    return page.close(undefined);
  }
  let last: Place | undefined;
  for (const sortedMax of sortedBeforeLooks(filter)) {
    if (sortedMax > 0 && (await countUpTo(execute, query, sortedMax + 1)) <= sortedMax) {
      await fill(orderedMatching(order, filter), wanted);
      return page.close(undefined);
    }
    const [ahead] = await execute<[key: string, id: bigint, count: bigint]>(lastAhead(order), [from.key, from.id], LIMITS);
    if (!ahead) return page.close(undefined);
    const [key, id, count] = ahead;
    const reached = count < LOOKED_AT_MAX ? undefined : { key, id: asPlantId(id) };
    // Where no more are ahead, a plant may have moved behind the last place since.
    const to = reached ?? edgeOf(order, "end");
    const isFilling = await fill(orderedAhead(order, filter), [to.key, to.id, ...wanted]);
    if (!isFilling || reached === undefined) return page.close(reached);
    last = reached;
    const next = behind(order, reached);
    if (next === undefined) return page.close(undefined);
    from = next;
  }
  return page.close(last);
}

/** The plants whose key is that of another name. Yields to other requests: a thousand keys can take a second. */
async function findStale(rows: readonly Row[]): Promise<NewPlant[]> {
  const stale: NewPlant[] = [];
  const pauses = openPauses();
  for (const row of rows) {
    const plant = toPlant(row);
    if (nameKey(plant.name) !== row[3]) stale.push(plant);
    await pauses();
  }
  return stale;
}

/** The first place behind another one, or of all. Undefined when there can be none. */
function behind(order: Order, after: Place | undefined): Place | undefined {
  const { by, ascending } = ORDERS[order];
  const first = edgeOf(order, "start");
  if (after === undefined) return first;
  const id = idBehind({ after: after.id, descending: !ascending });
  if (id !== undefined) return { key: after.key, id };
  const key = by === "name" ? nameKeyBehind(after.key, ascending) : timeBehind(after.key, ascending);
  return key === undefined ? undefined : { key, id: first.id };
}

/** A place before all others, or behind them. */
function edgeOf(order: Order, edge: "start" | "end"): Place {
  const { by, ascending } = ORDERS[order];
  const isLow = ascending === (edge === "start");
  const id = isLow ? PLANT_ID_MIN : PLANT_ID_MAX;
  return { key: { name: isLow ? "" : LAST_KEY, time: String(id) }[by], id };
}

function timeBehind(time: string, ascending: boolean): string | undefined {
  const next = BigInt(time) + (ascending ? 1n : -1n);
  return BigInt.asIntN(64, next) === next ? String(next) : undefined;
}

/** Behind the keys of all names, which have 300 bytes at most. */
const LAST_KEY = "ff".repeat(301);

/** A key that is behind this one, with none of a name in between. */
function nameKeyBehind(key: string, ascending: boolean): string | undefined {
  if (ascending) return `${key}00`;
  if (key === "") return undefined;
  const [head, last] = [key.slice(0, -2), Number.parseInt(key.slice(-2), 16)];
  return last === 0 ? head : head + (last - 1).toString(16).padStart(2, "0") + LAST_KEY;
}
