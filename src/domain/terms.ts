import { normalize } from "./normalization.ts";

/**
 * What a search asks for: plants whose name contains each of the words, or a word that begins with it, and that have
 * the tag. Null finds those without a tag.
 */
export type SearchTerms = Readonly<{ words: readonly string[]; tag: string | null | undefined }>;

/**
 * How many characters of a name are searched, from its start. This bounds the time of all work with words.
 *
 * @limit reads: searched characters of a name
 */
export const SEARCHED_LENGTH_MAX = 1000;

/** Longer words are cut, so that any index can store them. In UTF-16 units. */
const WORD_LENGTH_MAX = 100;

const SEARCHED = new RegExp(`^.{0,${SEARCHED_LENGTH_MAX}}`, "su");

/** The marks of a word beyond 30 in a row, also those that appear when characters are decomposed: they are not searched. */
const LONG_RUN = /([\p{M}\uff9e\uff9f]{30})[\p{M}\uff9e\uff9f]+/gu;

/**
 * Letters, their marks and digits in a row. In scripts that are written without spaces each character is a word. Letters
 * that stand for an apostrophe, as in ʻōhiʻa and мʼята, separate words like any apostrophe.
 */
const WORD = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]|[[\p{L}\p{M}\p{N}]--[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\u02b9-\u02bf]]+/gv;

/**
 * What makes no difference: accents of Latin, Greek and Cyrillic, the points of Hebrew and Arabic, and what no one sees,
 * such as a soft hyphen and the mark that gives an emoji its colours.
 */
const IGNORED = /[\u0300-\u036f\u0640[\p{M}&&[\p{scx=Hebr}\p{scx=Arab}]]\u00ad\u200d\p{VS}]/gv;

/** Letters that are equal in the order by name too, although they do not decompose. */
const SPELLED: Readonly<Record<string, string>> = { æ: "ae", œ: "oe", ø: "o", ł: "l", đ: "d", ð: "d", ħ: "h", ς: "σ", ґ: "г" };

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
 * Decomposes characters, drops what makes no difference, and composes the others again. It goes through upper case,
 * because lower case alone keeps ß from ss. Decomposed, a ™ would be two letters of the word before it.
 */
function foldUnicode(text: string): string {
  const plain = normalize(text.replaceAll("™", " ").replaceAll(LONG_RUN, "$1"), "NFKD").replaceAll(IGNORED, "");
  const folded = plain
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replaceAll(/[æœøłđðħςґ]/g, (letter) => SPELLED[letter]!);
  return normalize(folded, "NFC");
}

/** Never cuts a surrogate pair in half. */
function cut(word: string): string {
  if (word.length <= WORD_LENGTH_MAX) return word;
  return word.slice(0, WORD_LENGTH_MAX).toWellFormed().replaceAll("\ufffd", "");
}
