import type { Client, ListQuery, Page, Plant } from "../../src/client/client.ts";
import { normalize } from "../../src/domain/normalization.ts";

/** Plants of one name, by id. */
export type SameName = readonly Plant[];

type Query = Parameters<Client["page"]>[0];

const PAGE = 1000;

/** More of one name are not kept: no one merges them one by one. */
const OF_ONE_MAX = 100;

/**
 * Reads the plants in the order of their names, page by page, and yields after each the names that it has found more than once, and how many
 * plants it has read. What is equal but for letter case and spaces is near to each other in this order, at most a page away.
 */
export async function* findSameNames(
  client: Pick<Client, "page">,
  query: Query,
): AsyncGenerator<Readonly<{ found: SameName[]; read: number }>> {
  let near = new Map<string, Plant[]>();
  let read = 0;
  let next: ListQuery | undefined = { ...query, sort: "name", limit: PAGE };
  while (next !== undefined) {
    const page: Page = await client.page({ ...query, ...next });
    const here = new Map<string, Plant[]>();
    for (const plant of page.plants) {
      const key = keyOf(plant.name);
      const same = here.get(key) ?? near.get(key) ?? [];
      if (same.length < OF_ONE_MAX) same.push(plant);
      here.set(key, same);
    }
    read += page.plants.length;
    next = page.next;
    // A page further on may have more of those that are here.
    const over = next === undefined ? [...near, ...here] : [...near].filter(([key]) => !here.has(key));
    near = here;
    yield { found: [...new Map(over).values()].filter((same) => same.length > 1), read };
  }
}

function keyOf(name: string): string {
  return normalize(name, "NFKC").toLowerCase().replaceAll(/\s+/g, " ").trim();
}

/** What makes one plant of several: the others go, and one that has no tag takes the first of theirs. */
export function toMerge(keep: Plant, same: SameName): ReadonlyArray<Readonly<{ from: Plant; to: Plant | undefined }>> {
  const others = same.filter(({ id }) => id !== keep.id);
  const tag = keep.tag ?? others.find((other) => other.tag !== undefined)?.tag;
  const tagged = tag === keep.tag || tag === undefined ? [] : [{ from: keep, to: { ...keep, tag } }];
  return [...tagged, ...others.map((from) => ({ from, to: undefined }))];
}
