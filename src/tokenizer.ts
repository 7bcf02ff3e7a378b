/**
 * What a search asks for: plants whose name contains each of the words, or a word that begins with it, and that have
 * the tag. Null finds those without a tag.
 */
export type SearchTerms = Readonly<{ words: readonly string[]; tag: string | null | undefined }>;

/** How many characters of a name are searched, from its start. This bounds the time of all work with words. */
export const SEARCHED_LENGTH_MAX = 1000;

/** Longer words are cut, so that any index can store them. In UTF-16 units. */
const WORD_LENGTH_MAX = 100;

const SEARCHED = new RegExp(`^.{0,${SEARCHED_LENGTH_MAX}}`, "su");

/**
 * A mark, also one that appears when characters are decomposed. Putting a run of marks into order takes time quadratic
 * in its length. No language needs 30 in a row (UAX #15, 13: Stream-Safe Text Format).
 */
const MARK = String.raw`[\p{M}\uff9e\uff9f]`;
const LONG_RUN = new RegExp(`(${MARK}{30})${MARK}+`, "gu");

const ALONE = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]`;

/** Letters, their marks and digits in a row. In scripts that are written without spaces each character is a word. */
const WORD = new RegExp(String.raw`${ALONE}|[[\p{L}\p{M}\p{N}]--${ALONE}]+`, "gv");

/**
 * The words of the first SEARCHED_LENGTH_MAX characters of a name or a search, with letter case and accents folded:
 * "Délicio" gives "delicio". Every engine searches by these words, so that all find the same plants.
 */
export function tokenize(whole: string): string[] {
  const text = whole.length > SEARCHED_LENGTH_MAX ? SEARCHED.exec(whole)![0] : whole;
  // Most names are ASCII, which needs no Unicode tables.
  const isAscii = !/[^\0-\x7f]/.test(text);
  const words = (isAscii ? text.toLowerCase().match(/[a-z0-9]+/g) : foldUnicode(text).match(WORD)) ?? [];
  return words.some((word) => word.length > WORD_LENGTH_MAX) ? words.map(cut) : words;
}

/**
 * The words of a search, without those that another one implies: what contains "monstera" contains "mon". Beside other
 * words, x is how people type the sign of hybrids, which no keyboard has: "Salix x sepulcralis" is asked for as "Salix ×
 * sepulcralis", where the sign is no word.
 */
export function withoutImplied(words: readonly string[]): string[] {
  return [...new Set(words)].filter((word) => !words.some((other) => other !== word && (word === "x" || other.startsWith(word))));
}

/** Whether a search finds a plant with this name and tag. */
export function isFound({ name, tag }: Readonly<{ name: string; tag?: string | null }>, search: SearchTerms): boolean {
  if (search.tag !== undefined && search.tag !== (tag ?? null)) return false;
  if (search.words.length === 0) return true;
  const words = tokenize(name);
  return search.words.every((start) => words.some((word) => word.startsWith(start)));
}

/**
 * Decomposes characters, drops the accents of European scripts, and composes the others again. It goes through upper
 * case, because lower case alone keeps ß from ss. It uses one sigma, because lower case has another one at the end of a
 * word.
 */
function foldUnicode(text: string): string {
  const plain = text
    .replaceAll(LONG_RUN, "$1")
    .normalize("NFKD")
    .replaceAll(/[\u0300-\u036f]/g, "");
  return plain.toLowerCase().toUpperCase().toLowerCase().replaceAll("ς", "σ").normalize("NFC");
}

/** Never cuts a surrogate pair in half. */
function cut(word: string): string {
  if (word.length <= WORD_LENGTH_MAX) return word;
  return word.slice(0, WORD_LENGTH_MAX).toWellFormed().replaceAll("\ufffd", "");
}
