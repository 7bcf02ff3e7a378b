import { invalidQuery } from "./errors.ts";
import { tokenize, wordsOfSearch } from "./terms.ts";
import type { SearchTerms } from "./terms.ts";

type FilterParameters = Readonly<{ tag?: string; untagged: boolean; q?: string }>;

/**
 * A longer search would block the search thread for too long.
 *
 * @limit reads: words of a search
 */
const WORDS_MAX = 32;

/** What the parameters select. Throws `invalid_query`. */
export function toFilter({ tag, untagged, q }: FilterParameters): SearchTerms {
  if (untagged && tag !== undefined) throw invalidQuery("The query parameter `untagged` excludes `tag`: send one of them.");
  if (tokenize(q ?? "").length > WORDS_MAX)
    throw invalidQuery(`The query parameter \`q\` has more than ${WORDS_MAX} words: leave some out.`);
  return { words: wordsOfSearch(q ?? ""), tag: untagged ? null : tag };
}
