import type { Plant } from "../../src/client/client.ts";

/** A plant before and after a change; undefined is no plant. */
export type NotedChange = Readonly<{ before: Plant | undefined; after: Plant | undefined }>;

/** What became of each plant, by its id: of one that comes twice, the last. */
export function aftersOf(changes: readonly NotedChange[]): Map<bigint, Plant | undefined> {
  return new Map(changes.map(({ before, after }) => [(before ?? after)!.id, after]));
}

/** Takes over what became of plants that are kept elsewhere. Returns whether one of them is among those. */
export function takeOver(plants: Map<bigint, Plant>, afters: ReadonlyMap<bigint, Plant | undefined>): boolean {
  const kept = [...afters].filter(([id]) => plants.has(id));
  for (const [id, after] of kept) void (after ? plants.set(id, after) : plants.delete(id));
  return kept.length > 0;
}
