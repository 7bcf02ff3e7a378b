/** Lengths of the prefixes that the index stores, in characters. First letters are stored as words. */
export const PREFIX_LENGTHS = [2, 4, 6] as const;

/**
 * Most words and prefixes that all words of a search may expand to together: each costs time for every plant visited.
 */
const ALTERNATIVES_MAX = 100;

/** A word plus FIRST is the next possible word. A prefix plus LAST comes after all words that begin with it. */
const FIRST = "\0";
const LAST = "\u{10ffff}";

type Wanted = Readonly<{
  words: readonly string[];
  /** Another token, which must match exactly. */
  token: string | undefined;
  /** The first indexed word at or after a text. */
  wordFrom: (text: string) => string | undefined;
}>;

/**
 * The FTS5 expression (sqlite.org/fts5.html#full_text_query_syntax) for all words of a search, each of which may be a
 * prefix of a longer word. For a whole word, or a prefix of an indexed length, FTS5 visits the plants one by one and
 * stops at the limit. For any other prefix it collects all plants first, which takes seconds in a large store. So we
 * replace such a prefix with the whole words and longer prefixes that it covers; or, when there are too many, with a
 * shorter prefix, which finds too much.
 */
export function expressionOf({ words, token, wordFrom }: Wanted): string {
  // The more words there are, the less it matters if one of them finds too much.
  const max = Math.floor(ALTERNATIVES_MAX / words.length);
  const parts = words.map((word) => `(${alternativesOf(word, { max, wordFrom }).join(" OR ")})`);
  return [...parts, ...(token === undefined ? [] : [`"${token}"`])].join(" AND ");
}

function alternativesOf(start: string, { max, wordFrom }: Pick<Wanted, "wordFrom"> & { max: number }): string[] {
  if (lengthOf(start) === 1) return [`"${start}"`];
  const length = PREFIX_LENGTHS.find((prefix) => prefix >= lengthOf(start)) ?? Infinity;
  if (length === lengthOf(start)) return [prefixTerm(start)];
  const found: string[] = [];
  let from = start;
  for (let word = wordFrom(from); word?.startsWith(start); word = wordFrom(from)) {
    const isWhole = lengthOf(word) < length;
    const head = isWhole ? word : Array.from(word).slice(0, length).join("");
    found.push(isWhole ? `"${word}"` : prefixTerm(head));
    if (found.length > max) return [prefixTerm(indexedPartOf(start))];
    from = head + (isWhole ? FIRST : LAST);
  }
  return found.length > 0 ? found : [`"${start}"`];
}

function prefixTerm(start: string): string {
  return `"${start}" *`;
}

/** The longest prefix that the index stores. */
function indexedPartOf(start: string): string {
  const length = PREFIX_LENGTHS.findLast((prefix) => prefix <= lengthOf(start));
  return Array.from(start).slice(0, length).join("");
}

/** In code points, as FTS5 counts. */
function lengthOf(text: string): number {
  return Array.from(text).length;
}
