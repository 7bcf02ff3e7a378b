import { ownerOf } from "../auth/principal.ts";
import type { Schemas } from "../../contract/generated/schemas.ts";
import { toFilter } from "../domain/plant-filter.ts";
import { farFrom, furtherFrom, nearTo, partsOf, suggestionsFrom, suspectsOf } from "../domain/suggestions.ts";
import { wordsOfSearch } from "../domain/terms.ts";
import type { SearchWord } from "../domain/terms.ts";
import type { PlantsFor, QueuedPlants } from "../store/queued-plants.ts";
import type { Represent } from "./representation.ts";
import type { Call, Handlers } from "./router.ts";

type SuggestionOptions = Readonly<{ plantsFor: PlantsFor; represent: Represent }>;

/**
 * How many plants are looked at for other spellings, and how many bytes of names and tags.
 *
 * @limit reads: plants that are looked at for suggestions, each time
 */
const LOOKED_AT_MAX = 1000;
const LOOKED_AT_BYTES = 2 ** 14;

export function suggestionHandlers({ plantsFor, represent }: SuggestionOptions): Pick<Handlers, "suggestSearches"> {
  return {
    async suggestSearches({ parameters, headers, principal }) {
      const found = await suggest(plantsFor(ownerOf(principal)), parameters);
      return represent({ status: 200, body: JSON.stringify(found satisfies Schemas["SuggestionList"]) }, headers);
    },
  };
}

/** Searches that find something, where this one finds nothing. Both engines find the same, because it asks with searches alone. */
async function suggest(plants: Pick<QueuedPlants, "list">, parameters: Call<"suggestSearches">["parameters"]): Promise<string[]> {
  const { words, tag } = toFilter(parameters);
  const q = parameters.q ?? "";
  async function namesOf(some: readonly SearchWord[], limit = LOOKED_AT_MAX): Promise<string[]> {
    const page = await plants.list({ words: some, tag, limit, bytesMax: LOOKED_AT_BYTES, after: undefined, isBrief: true });
    return page.plants.map(({ name }) => name);
  }
  const parts = partsOf(q);
  if (words.length === 0 || !parts) return [];
  const found = await plants.list({ words, tag, limit: 1, bytesMax: 1, after: undefined });
  if (found.plants.length > 0) return [];
  const isKnown: boolean[] = [];
  for (const { text } of parts) isKnown.push((await namesOf(wordsOfSearch(text), 1)).length > 0);
  const suspects = suspectsOf(parts, isKnown);
  for (const look of [nearTo, furtherFrom, farFrom]) {
    for (const wrong of suspects) {
      const suggested = suggestionsFrom(q, wrong, await namesOf(look(q, wrong)));
      if (suggested.length > 0) return suggested;
    }
  }
  return [];
}
