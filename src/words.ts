import type { NewPlant } from "./plant.ts";

/** What a search asks for: plants whose name holds each of the words, or the beginning of each, and that carry the tag. */
export type Search = Readonly<{ words: readonly string[]; tag: string | undefined }>;

/** Longer words are cut, so that an index can keep any. */
const WORD_LENGTH_MAX = 100;

const ALONE = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]`;

/** Letters, their marks and digits in a row; in scripts that are written without spaces each character is a word. */
const WORD = new RegExp(String.raw`${ALONE}|[[\p{L}\p{M}\p{N}]--${ALONE}]+`, "gv");

/**
 * The words of a name or of a search, with letter case and accents folded: "Délicio" gives "delicio". Every engine searches by
 * these, so that all find the same.
 */
export function wordsOf(text: string): string[] {
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
export function isFound({ name, tag }: NewPlant, search: Search): boolean {
  if (search.tag !== undefined && search.tag !== tag) return false;
  if (search.words.length === 0) return true;
  const words = wordsOf(name);
  return search.words.every((start) => words.some((word) => word.startsWith(start)));
}

/**
 * Takes characters apart, drops the accents of European scripts, and puts the others together again. Through upper case, as lower case
 * alone keeps ß from ss, and with one sigma, as lower case makes another at the end of a word.
 */
function foldUnicode(text: string): string {
  const plain = text.normalize("NFKD").replaceAll(/[\u0300-\u036f]/g, "");
  return plain.toLowerCase().toUpperCase().toLowerCase().replaceAll("ς", "σ").normalize("NFC");
}

/** Never between the two halves of a character. */
function cut(word: string): string {
  return word.slice(0, WORD_LENGTH_MAX).toWellFormed().replaceAll("\ufffd", "");
}
