import type { Plant } from "../../src/client/client.ts";
import type { View } from "../view.ts";

/** Whether a plant stands before another one in an order by id or name. */
export function isBefore(plant: Plant, other: Plant, sort: View["sort"]): boolean {
  const isLess = sort === "name" || sort === "-name" ? isLessByName : isLessById;
  return sort === "id" || sort === "name" ? isLess(plant, other) : isLess(other, plant);
}

/** English has the root collation, by which the service orders names; only rare signs and scripts are elsewhere until the list is asked for again. */
const NAMES = new Intl.Collator("en", { sensitivity: "base" });

function isLessByName(left: Plant, right: Plant): boolean {
  const order = NAMES.compare(left.name, right.name);
  return order === 0 ? isLessById(left, right) : order < 0;
}

function isLessById(left: Plant, right: Plant): boolean {
  return left.id < right.id;
}
