import { plantEtag } from "../../src/http/etag.ts";
import type { NewPlant, PlantId } from "../../src/domain/plant.ts";

export type Content = Readonly<{ name: string; tag?: string }>;
export type Patch = Readonly<{ name?: string; tag?: string | null }>;
export type Condition = Readonly<{ ifMatch?: string; ifNoneMatch?: string }>;
export type Page = Readonly<{ limit: number; after?: bigint; tag?: string; untagged?: boolean; q?: string }>;

/** The required response: the status and the exact text, if any. */
export type Expected = Readonly<{ status: number; body?: string }>;

/** Plant Store in its simplest form: a map. Where the service differs, one of the two has a bug. */
export function createModel() {
  const plants = new Map<bigint, NewPlant>();
  const sorted = () => [...plants.values()].toSorted((left, right) => (left.id < right.id ? -1 : 1));
  const text = ({ id, ...rest }: NewPlant) => `{"id":${id},${JSON.stringify(rest).slice(1)}`;
  const whole = (plant: NewPlant, status = 200): Expected => ({ status, body: text(plant) });
  const plain = (name: string) => name.normalize("NFD").replaceAll(/\p{M}/gu, "").toLowerCase();

  function isMet({ ifMatch, ifNoneMatch }: Condition, stored: NewPlant | undefined): boolean {
    const names = (header: string) => stored !== undefined && (header === "*" || header === plantEtag(stored));
    return (ifMatch === undefined || names(ifMatch)) && (ifNoneMatch === undefined || !names(ifNoneMatch));
  }
  function put(id: bigint, { name, tag }: Content): NewPlant {
    const plant = { id: id as PlantId, name, ...(tag === undefined ? {} : { tag }) };
    plants.set(id, plant);
    return plant;
  }

  /** Undefined if the query contradicts itself. */
  function find({ after, tag, untagged, q }: Omit<Page, "limit">): NewPlant[] | undefined {
    const words = plain(q ?? "")
      .split(" ")
      .filter(Boolean);
    const isFound = (plant: NewPlant) =>
      words.every((word) =>
        plain(plant.name)
          .split(" ")
          .some((one) => one.startsWith(word)),
      );
    if (untagged === true && tag !== undefined) return undefined;
    return sorted().filter(
      (plant) =>
        (after === undefined || plant.id > after) &&
        (tag === undefined || plant.tag === tag) &&
        (untagged !== true || plant.tag === undefined) &&
        isFound(plant),
    );
  }

  return {
    etag: (id: bigint) => (plants.has(id) ? plantEtag(plants.get(id)!) : '"none"'),
    create(id: bigint, content: Content): Expected {
      const stored = plants.get(id);
      if (stored && (stored.name !== content.name || stored.tag !== content.tag)) return { status: 409 };
      put(id, content);
      return { status: 200, body: JSON.stringify(content) };
    },
    get(id: bigint, { ifMatch, ifNoneMatch }: Condition): Expected {
      const stored = plants.get(id);
      if (!stored) return { status: 404 };
      if (ifMatch !== undefined && !isMet({ ifMatch }, stored)) return { status: 412 };
      const isUnchanged = ifNoneMatch !== undefined && !isMet({ ifNoneMatch }, stored);
      return isUnchanged ? { status: 304, body: "" } : whole(stored);
    },
    put(id: bigint, content: Content, condition: Condition): Expected {
      if (!isMet(condition, plants.get(id))) return { status: 412 };
      const status = plants.has(id) ? 200 : 201;
      return whole(put(id, content), status);
    },
    patch(id: bigint, patch: Patch, condition: Condition): Expected {
      const stored = plants.get(id);
      if (!stored) return { status: 404 };
      if (!isMet(condition, stored)) return { status: 412 };
      const tag = patch.tag === undefined ? stored.tag : (patch.tag ?? undefined);
      return whole(put(id, { name: patch.name ?? stored.name, ...(tag === undefined ? {} : { tag }) }));
    },
    remove(id: bigint, condition: Condition): Expected {
      if (!plants.has(id)) return { status: 404 };
      if (!isMet(condition, plants.get(id))) return { status: 412 };
      plants.delete(id);
      return { status: 204, body: "" };
    },
    list({ limit, ...query }: Page): Expected {
      const found = find(query);
      return found ? { status: 200, body: `[${found.slice(0, limit).map(text).join()}]` } : { status: 400 };
    },
    count(query: Omit<Page, "limit">): Expected {
      const found = find(query);
      return found ? { status: 200, body: JSON.stringify({ plants: found.length, precision: "exact" }) } : { status: 400 };
    },
    tags(query: Omit<Page, "limit"> = {}): Expected {
      const found = find(query);
      if (!found) return { status: 400 };
      const counts = Map.groupBy(
        found.filter(({ tag }) => tag !== undefined),
        ({ tag }) => tag!,
      );
      const tags = [...counts].map(([tag, { length }]) => ({ tag, plants: length }));
      return {
        status: 200,
        body: JSON.stringify(tags.toSorted((left, right) => right.plants - left.plants || (left.tag < right.tag ? -1 : 1))),
      };
    },
    import(rows: ReadonlyArray<readonly [id: bigint, content: Content]>, isReplacing: boolean): Expected {
      const counts = { read: rows.length, created: 0, unchanged: 0, replaced: 0, refused: 0 };
      for (const [id, content] of rows) {
        const stored = plants.get(id);
        const isSame = stored?.name === content.name && stored.tag === content.tag;
        counts[!stored ? "created" : isSame ? "unchanged" : isReplacing ? "replaced" : "refused"] += 1;
        if (!stored || isReplacing) put(id, content);
      }
      return { status: 200, body: JSON.stringify(counts) };
    },
    export(query: Omit<Page, "limit"> = {}): Expected {
      const found = find(query);
      return found ? { status: 200, body: found.map((plant) => `${text(plant)}\n`).join("") } : { status: 400 };
    },
  };
}
