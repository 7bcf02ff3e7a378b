import type { SearchWord } from "../../../domain/terms.ts";
import { PREFIX_LENGTHS, startOf } from "./prefixes.ts";

/**
 * Most words and prefixes that all words of a search may expand to together: each costs time for every plant visited.
 *
 * @limit reads: words or prefixes that a search may match in the index
 */
const ALTERNATIVES_MAX = 100;

/** A word plus FIRST is the next possible word. A prefix plus LAST comes after all words that begin with it. */
const FIRST = "\0";
const LAST = "\u{10ffff}";

/** A token that no plant has. */
const NO_TOKEN = "#";

type Wanted = Readonly<{
  words: readonly SearchWord[];
  /** Another token, which must match exactly. */
  token: string | undefined;
  /** The first indexed word at or after a text. */
  wordFrom: (text: string) => string | undefined;
}>;

/**
 * The FTS5 expression (sqlite.org/fts5.html#full_text_query_syntax) for all words of a search, each of which may be a
 * prefix of a longer word. FTS5 visits the plants of a word one by one and stops at the limit; for a prefix it would
 * collect all plants first, which takes seconds in a large store. So the index stores some prefixes as words, and we
 * replace any other with the whole words and longer prefixes that it covers; or, when there are too many, with a shorter
 * prefix, which finds too much.
 */
export function expressionOf({ words, token, wordFrom }: Wanted): string {
  const parts = words.map(({ anyOf, isWhole = false }) => {
    // The more words there are, the less it matters if one of them finds too much.
    const max = Math.floor(ALTERNATIVES_MAX / words.length / anyOf.length);
    const found = anyOf.flatMap((word) => (isWhole ? wholeOf(word, wordFrom) : alternativesOf(word, { max, wordFrom })));
    return `(${(found.length > 0 ? found : [NO_TOKEN]).map(quoted).join(" OR ")})`;
  });
  return [...parts, ...(token === undefined ? [] : [quoted(token)])].join(" AND ");
}

function wholeOf(word: string, wordFrom: Wanted["wordFrom"]): string[] {
  return wordFrom(word) === word ? [word] : [];
}

function alternativesOf(start: string, { max, wordFrom }: Pick<Wanted, "wordFrom"> & { max: number }): string[] {
  const length = PREFIX_LENGTHS.find((prefix) => prefix >= lengthOf(start)) ?? Infinity;
  const found: string[] = [];
  let from = start;
  for (let word = wordFrom(from); word?.startsWith(start); word = wordFrom(from)) {
    if (length === lengthOf(start)) return [start];
    const isWhole = lengthOf(word) < length;
    const head = startOf(word, length);
    found.push(head);
    if (found.length > max) return [indexedPartOf(start)];
    from = head + (isWhole ? FIRST : LAST);
  }
  return found;
}

/** The longest prefix that the index stores. */
function indexedPartOf(start: string): string {
  return startOf(start, PREFIX_LENGTHS.findLast((length) => length < lengthOf(start)) ?? 1);
}

function quoted(term: string): string {
  return `"${term}"`;
}

function lengthOf(text: string): number {
  return Array.from(text).length;
}
