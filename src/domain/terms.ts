import { normalize } from "./normalization.ts";
import { isAscii, readingsOf, spellingsOf, WORD } from "./spellings.ts";

/** What a name must have: a word that begins with one of these or, if `isWhole`, that is one of them. */
export type SearchWord = Readonly<{ anyOf: readonly string[]; isWhole?: boolean }>;

/** What a search asks for: plants whose name has each of the words, and that have the tag. Null finds those without a tag. */
export type SearchTerms = Readonly<{ words: readonly SearchWord[]; tag: string | null | undefined }>;

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
 * What makes no difference: accents of Latin, Greek and Cyrillic, the points of Hebrew and Arabic, and what no one sees,
 * such as a soft hyphen and the mark that gives an emoji its colours.
 */
const IGNORED = /[\u0300-\u036f\u0640[\p{M}&&[\p{scx=Hebr}\p{scx=Arab}]]\u00ad\u200d\p{VS}]/gv;

/** Apostrophes that would be an accent or a letter. */
const APOSTROPHES = /[\u00b4\ua78b\ua78c]/g;

/** Letters that are equal in the order by name too, although they do not decompose. */
const SPELLED: Readonly<Record<string, string>> = { æ: "ae", œ: "oe", ø: "o", ł: "l", đ: "d", ð: "d", ħ: "h", ς: "σ", ґ: "г" };

/**
 * The words of the first SEARCHED_LENGTH_MAX characters of a name or a search, with letter case and accents folded:
 * "Délicio" gives "delicio".
 */
export function tokenize(whole: string): string[] {
  return wordsIn(fold(whole));
}

/** What a name is found by: its words, and the other ways to write them. Every engine searches by these, so that all find the same plants. */
export function wordsOfName(name: string): string[] {
  const text = fold(name);
  const isPlain = isAscii(text);
  const words = wordsIn(text, isPlain);
  const more = spellingsOf(text, words, isPlain);
  return more.length > 0 ? [...words, ...more.map(cut)] : words;
}

/**
 * What a search asks for, with the ways in which a name may have it. Left out is what another word implies: what contains
 * "monstera" contains "mon". Beside other words, x is how people type the sign of hybrids, which no keyboard has: "Salix x
 * sepulcralis" is asked for as "Salix × sepulcralis", where the sign is no word.
 */
export function wordsOfSearch(text: string): SearchWord[] {
  const words = readingsOf(fold(text)).map((anyOf) => shortest(anyOf.map(cut)));
  const unique = [...new Map(words.map((word) => [word.anyOf.join(" "), word])).values()];
  return unique.filter((word) => !unique.some((other) => other !== word && (isHybridSign(word) || implies(other, word))));
}

/** Whether a search finds a plant with this name and tag. */
export function isFound({ name, tag }: Readonly<{ name: string; tag?: string | null }>, search: SearchTerms): boolean {
  if (search.tag !== undefined && search.tag !== (tag ?? null)) return false;
  if (search.words.length === 0) return true;
  const words = wordsOfName(name);
  return search.words.every(({ anyOf, isWhole }) =>
    isWhole ? hasAny(words, anyOf) : anyOf.some((start) => words.some((word) => word.startsWith(start))),
  );
}

/** Of both there may be hundreds. */
function hasAny(words: readonly string[], anyOf: readonly string[]): boolean {
  const there = new Set(words);
  return anyOf.some((word) => there.has(word));
}

/** Without those that begin with another of them. */
function shortest(anyOf: readonly string[]): SearchWord {
  return { anyOf: [...new Set(anyOf)].filter((word, _, all) => !all.some((other) => other !== word && word.startsWith(other))).toSorted() };
}

/** Whether a name that has one of these words has the other one too. */
function implies({ anyOf }: SearchWord, other: SearchWord): boolean {
  return anyOf.every((word) => other.anyOf.some((start) => word.startsWith(start)));
}

function isHybridSign({ anyOf }: SearchWord): boolean {
  return anyOf.includes("x") || anyOf.includes("х");
}

/** The start of a text as it is compared. Most names are ASCII, which needs no Unicode tables. */
function fold(whole: string): string {
  const text = whole.length > SEARCHED_LENGTH_MAX ? SEARCHED.exec(whole)![0] : whole;
  return isAscii(text) ? text.toLowerCase() : foldUnicode(text);
}

function wordsIn(text: string, isPlain = isAscii(text)): string[] {
  const words = text.match(isPlain ? /[a-z0-9]+/g : WORD) ?? [];
  return words.some((word) => word.length > WORD_LENGTH_MAX) ? words.map(cut) : words;
}

/**
 * Decomposes characters, drops what makes no difference, and composes the others again. It goes through upper case,
 * because lower case alone keeps ß from ss. Decomposed, a ™ would be two letters of the word before it.
 */
function foldUnicode(text: string): string {
  const plain = normalize(text.replaceAll("™", " ").replaceAll(APOSTROPHES, "'").replaceAll(LONG_RUN, "$1"), "NFKD").replaceAll(
    IGNORED,
    "",
  );
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
