import { ownerOf } from "../auth/principal.ts";
import type { Schemas } from "../../contract/generated/schemas.ts";
import { toFilter } from "../domain/plant-filter.ts";
import type { PlantStore } from "../store/plants.ts";
import type { PlantsFor } from "../store/queued-plants.ts";
import { TAGS_MAX } from "../store/tags.ts";
import type { SearchTerms } from "../domain/terms.ts";
import type { Represent } from "./representation.ts";
import type { Handlers } from "./router.ts";
import type { Fields } from "./wire/fields.ts";

type TagOptions = Readonly<{ plants: PlantStore; plantsFor: PlantsFor; represent: Represent }>;

type Counted = Readonly<{ tags: Schemas["TagList"]; ageMs: number }>;

export function tagHandlers({ plants, plantsFor, represent }: TagOptions): Pick<Handlers, "listTags"> {
  return {
    async listTags({ parameters, headers, principal }) {
      const terms = toFilter(parameters);
      const isFiltered = terms.tag !== undefined || terms.words.length > 0;
      const { tags, ageMs } = isFiltered ? await countFound(plantsFor(ownerOf(principal)), terms) : await plants.countTags();
      const body = JSON.stringify(tags.slice(0, Math.min(parameters.limit, TAGS_MAX)));
      const response = { status: 200, body, headers: { age: String(Math.ceil(ageMs / 1000)) } };
      return represent(response, ageMs > 0 ? unconditional(headers) : headers);
    },
  };
}

/** Without a condition: an older count does not show that nothing has changed, so it is no reason for a 304. */
function unconditional(headers: Pick<Fields, "get">): Pick<Fields, "get"> {
  return { get: (name) => (name === "if-none-match" ? null : headers.get(name)) };
}

async function countFound(store: Pick<PlantStore, "count" | "countFoundTags">, terms: SearchTerms): Promise<Counted> {
  const { tag } = terms;
  if (tag === null) return { tags: [], ageMs: 0 };
  const { tags, precision } = tag === undefined ? await store.countFoundTags(terms) : await countTag(store, tag, terms);
  return { tags: precision === "exact" ? tags : tags.map((count) => ({ ...count, precision: "atLeast" as const })), ageMs: 0 };
}

async function countTag(store: Pick<PlantStore, "count">, tag: string, terms: SearchTerms) {
  const { plants, precision } = await store.count(terms);
  return { tags: plants === 0 ? [] : [{ tag, plants }], precision };
}
