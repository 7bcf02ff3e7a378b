/** The lengths of beginnings, in characters, that the index keeps as if they were words. The first letters of words are words in it. */
export const PREFIX_LENGTHS = [2, 4, 6] as const;

/** How many words or beginnings may stand for all words of a search together: each costs time with every plant that is looked at. */
const ALTERNATIVES_MAX = 100;

/** Makes of a word the next one that there can be, and of a beginning one that is behind all words with it. */
const FIRST = "\0";
const LAST = "\u{10ffff}";

type Wanted = Readonly<{
  words: readonly string[];
  /** One more token that must be there as it is. */
  token: string | undefined;
  /** The first indexed word that is not before a text. */
  wordFrom: (text: string) => string | undefined;
}>;

/**
 * The FTS5 expression (sqlite.org/fts5.html#full_text_query_syntax) for all the words of a search, each of which may be the beginning of
 * a longer one. FTS5 goes through the plants of a whole word, or of a beginning of an indexed length, one by one and stops at the
 * limit; for any other beginning it gathers all plants first, which in a large store takes seconds. So such a beginning is
 * replaced by those whole words or longer beginnings that it can stand for; by a shorter one, which finds too much, when they are too many.
 */
export function expressionOf({ words, token, wordFrom }: Wanted): string {
  // The more words there are, the less it matters that one of them finds too much.
  const max = Math.floor(ALTERNATIVES_MAX / words.length);
  const parts = words.map((word) => `(${alternativesOf(word, { max, wordFrom }).join(" OR ")})`);
  return [...parts, ...(token === undefined ? [] : [`"${token}"`])].join(" AND ");
}

function alternativesOf(start: string, { max, wordFrom }: Pick<Wanted, "wordFrom"> & { max: number }): string[] {
  if (lengthOf(start) === 1) return [`"${start}"`];
  const length = PREFIX_LENGTHS.find((prefix) => prefix >= lengthOf(start)) ?? Infinity;
  if (length === lengthOf(start)) return [beginning(start)];
  const found: string[] = [];
  let from = start;
  for (let word = wordFrom(from); word?.startsWith(start); word = wordFrom(from)) {
    const isWhole = lengthOf(word) < length;
    const head = isWhole ? word : Array.from(word).slice(0, length).join("");
    found.push(isWhole ? `"${word}"` : beginning(head));
    if (found.length > max) return [beginning(indexedPartOf(start))];
    from = head + (isWhole ? FIRST : LAST);
  }
  return found.length > 0 ? found : [`"${start}"`];
}

function beginning(start: string): string {
  return `"${start}" *`;
}

/** As much of a beginning as is of an indexed length. */
function indexedPartOf(start: string): string {
  const length = PREFIX_LENGTHS.findLast((prefix) => prefix <= lengthOf(start));
  return Array.from(start).slice(0, length).join("");
}

/** In characters, as FTS5 counts. */
function lengthOf(text: string): number {
  return Array.from(text).length;
}
