/**
 * A number of plants. "exact": all were counted. "about": rounded, from statistics. "atLeast": counting ended early, at
 * COUNTED_MAX at the latest.
 */
export type PlantCount = Readonly<{ plants: number; precision: "exact" | "about" | "atLeast" }>;

/** How many of the plants that match are counted: the work for one call is the same in a large store. */
export const COUNTED_MAX = 10_000;

/** The count of what was found when at most one more than `max` was looked for. */
export function toCount(found: number, max = COUNTED_MAX): PlantCount {
  return found > max ? { plants: max, precision: "atLeast" } : { plants: found, precision: "exact" };
}
