import type { NewPlant } from "./plant.ts";

/** What a search asks for: plants whose name holds each of the words, or the beginning of each, and that carry the tag. */
export type SearchTerms = Readonly<{ words: readonly string[]; tag: string | undefined }>;

/** Only so many characters of a name are searched, its first: whatever is done with words then takes a bounded time. */
export const SEARCHED_LENGTH_MAX = 1000;

/** Longer words are cut, so that an index can keep any. In UTF-16 units. */
const WORD_LENGTH_MAX = 100;

const SEARCHED = new RegExp(`^.{0,${SEARCHED_LENGTH_MAX}}`, "su");

/**
 * What may stand in a run of marks, after characters are taken apart too: to put a run into its order takes a time quadratic in its length.
 * No language needs 30 in a row (UAX #15, 13: Stream-Safe Text Format).
 */
const MARK = String.raw`[\p{M}\uff9e\uff9f]`;
const LONG_RUN = new RegExp(`(${MARK}{30})${MARK}+`, "gu");

const ALONE = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]`;

/** Letters, their marks and digits in a row; in scripts that are written without spaces each character is a word. */
const WORD = new RegExp(String.raw`${ALONE}|[[\p{L}\p{M}\p{N}]--${ALONE}]+`, "gv");

/**
 * The words of a name or of a search, of its first SEARCHED_LENGTH_MAX characters, with letter case and accents folded: "Délicio" gives
 * "delicio". Every engine searches by these, so that all find the same.
 */
export function tokenize(whole: string): string[] {
  const text = whole.length > SEARCHED_LENGTH_MAX ? SEARCHED.exec(whole)![0] : whole;
  // Most names are ASCII, which needs no tables of Unicode.
  const isAscii = !/[^\0-\x7f]/.test(text);
  const words = isAscii ? text.toLowerCase().match(/[a-z0-9]+/g) : foldUnicode(text).match(WORD);
  return (words ?? []).map((word) => (word.length > WORD_LENGTH_MAX ? cut(word) : word));
}

/** The words of a search without those that another one implies, as whatever holds "monstera" holds "mon". */
export function withoutImplied(words: readonly string[]): string[] {
  return [...new Set(words)].filter((word) => !words.some((other) => other !== word && other.startsWith(word)));
}

/** Whether a search finds this plant. */
export function isFound({ name, tag }: NewPlant, search: SearchTerms): boolean {
  if (search.tag !== undefined && search.tag !== tag) return false;
  if (search.words.length === 0) return true;
  const words = tokenize(name);
  return search.words.every((start) => words.some((word) => word.startsWith(start)));
}

/**
 * Takes characters apart, drops the accents of European scripts, and puts the others together again. Through upper case, as lower case
 * alone keeps ß from ss, and with one sigma, as lower case makes another at the end of a word.
 */
function foldUnicode(text: string): string {
  const plain = text
    .replaceAll(LONG_RUN, "$1")
    .normalize("NFKD")
    .replaceAll(/[\u0300-\u036f]/g, "");
  return plain.toLowerCase().toUpperCase().toLowerCase().replaceAll("ς", "σ").normalize("NFC");
}

/** Never between the two halves of a character. */
function cut(word: string): string {
  return word.slice(0, WORD_LENGTH_MAX).toWellFormed().replaceAll("\ufffd", "");
}
