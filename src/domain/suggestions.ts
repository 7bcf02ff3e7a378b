import { tokenize, wordsOfSearch } from "./terms.ts";
import type { SearchWord } from "./terms.ts";

/**
 * How many words a search may have for which another spelling is looked for, how many of them may be wrong, and how long.
 *
 * @limit reads: words of a search with suggestions
 */
const PARTS_MAX = 8;
const WRONG_MAX = 3;
const LENGTH_MIN = 4;
const LENGTH_MAX = 30;

/** From this length on, two letters may be wrong. */
const LENGTH_OF_TWO = 6;

/** From this length on, the beginning of a longer word is compared too: it may be typed half. */
const LENGTH_OF_HALF = 5;

/** So many letters at the beginning of a word hold at most one of two mistakes. The index has all of this length. */
const HEAD = 5;

/** @limit reads: suggestions for a search */
const SUGGESTIONS_MAX = 3;

/** A part of a text between signs and spaces. `word`: as it is searched, unless it has several words or none. */
export type Part = Readonly<{ text: string; start: number; word: string | undefined }>;

/** The letters that a mistake may have put in place of others, by script. Other scripts have none: letters may be missing or twice. */
const ALPHABETS = ["abcdefghijklmnopqrstuvwxyz", "абвгдежзиклмнопрстуфхцчшщъыьэюя", "αβγδεζηθικλμνξοπρστυφχψω"];

const LETTERS = /[\p{L}\p{M}\p{N}]+/gu;
const CHAINS = /[\p{L}\p{M}\p{N}]+(?:['’‘`´-][\p{L}\p{M}\p{N}]+)*/gu;
const JOINT = /['’‘`´-]/;

/** The parts of a search. Undefined if there are too many. */
export function partsOf(q: string): readonly Part[] | undefined {
  const parts = Array.from(q.matchAll(LETTERS), ({ 0: text, index }) => ({ text, start: index, word: wordOf(text) }));
  return parts.length > PARTS_MAX ? undefined : parts;
}

/** Which parts may be wrong together, likeliest first: all that no name has, or with one that another word begins with. */
export function suspectsOf(parts: readonly Part[], isKnown: readonly boolean[]): ReadonlyArray<readonly Part[]> {
  const canBeWrong = ({ word = "" }: Part) => word.length >= LENGTH_MIN && word.length <= LENGTH_MAX && !/\p{N}/u.test(word);
  const unknown = parts.filter((_, at) => !isKnown[at]);
  const known = parts.filter((part, at) => isKnown[at] && canBeWrong(part));
  if (!unknown.every(canBeWrong)) return [];
  const together = known.map((part) => parts.filter((one) => one === part || unknown.includes(one)));
  return [unknown, ...together].filter(({ length }) => length > 0 && length <= WRONG_MAX);
}

/** What plants have whose names have one letter of these parts otherwise, and the rest of the search as it is. */
export function nearTo(q: string, wrong: readonly Part[]): SearchWord[] {
  return otherwise(q, wrong, () => undefined);
}

/** What plants have whose names may have two letters otherwise: of the first letters one, or any. */
export function furtherFrom(q: string, wrong: readonly Part[]): SearchWord[] {
  return otherwise(q, wrong, headsOf);
}

/** The same, where the first letter alone may be right. In a large store there may be too many of these. */
export function farFrom(q: string, wrong: readonly Part[]): SearchWord[] {
  return otherwise(q, wrong, (word) => Array.from(word).slice(0, 2));
}

/** The searches that these names suggest, nearest first. */
export function suggestionsFrom(q: string, wrong: readonly Part[], names: readonly string[]): string[] {
  const found = new Map<string, { distance: number; names: number }>();
  for (const name of names) {
    const words = wordsWithText(name);
    const nearest = wrong.map((part) => nearestOf(part.word!, words));
    if (!nearest.every((one) => one !== undefined)) continue;
    const distance = nearest.reduce((sum, one) => sum + one.distance, 0);
    const text = replaced(
      q,
      wrong,
      nearest.map((one) => one.text),
    );
    const known = found.get(text);
    if (known) known.names += 1;
    else found.set(text, { distance, names: 1 });
  }
  const nearest = [...found].toSorted(([, left], [, right]) => left.distance - right.distance || right.names - left.names);
  // Of those that differ in case, the most frequent.
  const texts = Map.groupBy(
    nearest.map(([text]) => text),
    (text) => text.toLowerCase(),
  );
  return Array.from(texts.values(), ([text]) => text!).slice(0, SUGGESTIONS_MAX);
}

function wordOf(text: string): string | undefined {
  const words = tokenize(text);
  return words.length === 1 ? words[0] : undefined;
}

function replaced(q: string, parts: readonly Part[], texts: readonly string[]): string {
  let text = "";
  let end = 0;
  parts.forEach((part, at) => {
    text += q.slice(end, part.start) + texts[at]!;
    end = part.start + part.text.length;
  });
  return text + q.slice(end);
}

/** All words that are one letter away: without one, with two exchanged, with another one, with one more. */
function editsOf(word: string): string[] {
  const letters = Array.from(word);
  const alphabet = ALPHABETS.find((one) => letters.some((letter) => one.includes(letter))) ?? "";
  const found = new Set<string>();
  for (let at = 0; at <= letters.length; at += 1) {
    const [head, tail] = [letters.slice(0, at).join(""), letters.slice(at)];
    const rest = tail.slice(1).join("");
    if (tail.length > 0) found.add(head + rest);
    if (tail.length > 1) found.add(head + tail[1]! + tail[0]! + tail.slice(2).join(""));
    for (const letter of alphabet) {
      if (tail.length > 0) found.add(head + letter + rest);
      found.add(head + letter + tail.join(""));
    }
  }
  return [...found];
}

/** The rest of a search, and for each wrong part the beginnings of words or, if it is too short to have two mistakes, whole words. */
function otherwise(q: string, wrong: readonly Part[], beginningsOf: (word: string) => readonly string[] | undefined): SearchWord[] {
  const rest = wordsOfSearch(
    replaced(
      q,
      wrong,
      wrong.map(() => " "),
    ),
  );
  const others = wrong.map(({ word = "" }) => {
    const beginnings = word.length < LENGTH_OF_TWO ? undefined : beginningsOf(word);
    return beginnings ? { anyOf: beginnings } : { anyOf: editsOf(word), isWhole: true };
  });
  return [...rest, ...others];
}

function headsOf(word: string): string[] {
  return [...new Set([word, ...editsOf(word.slice(0, HEAD + 1))].map((one) => one.slice(0, HEAD)))];
}

/** The words of a name with their text, each part and what signs join. */
function wordsWithText(name: string): Map<string, string> {
  const texts = (name.match(CHAINS) ?? []).flatMap((chain) => [chain, ...(JOINT.test(chain) ? (chain.match(LETTERS) ?? []) : [])]);
  // The first counts: in "rubra 'Rubra'" it is the epithet.
  return new Map(texts.toReversed().map((text) => [tokenize(text).join(""), text]));
}

function nearestOf(word: string, words: ReadonlyMap<string, string>): Readonly<{ distance: number; text: string }> | undefined {
  let nearest: { distance: number; text: string } | undefined;
  for (const [other, text] of words) {
    const distance = distanceOf(word, other);
    if (distance <= (word.length < LENGTH_OF_TWO ? 1.5 : 2.5) && distance < (nearest?.distance ?? Infinity)) nearest = { distance, text };
  }
  return nearest;
}

/** How many letters are otherwise (Damerau and Levenshtein, each letter once); half of one more where a word goes on. */
function distanceOf(word: string, other: string): number {
  if (Math.abs(word.length - other.length) > 2 && !(word.length >= LENGTH_OF_HALF && other.length > word.length)) return Infinity;
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let down = 1; down <= word.length; down += 1) {
    const next = [down];
    for (let at = 1; at <= other.length; at += 1) {
      const isSame = word[down - 1] === other[at - 1];
      let least = Math.min(row[at]! + 1, next[at - 1]! + 1, row[at - 1]! + (isSame ? 0 : 1));
      if (down > 1 && at > 1 && word[down - 1] === other[at - 2] && word[down - 2] === other[at - 1])
        least = Math.min(least, before[at - 2]! + 1);
      next.push(least);
    }
    before = row;
    row = next;
  }
  return word.length < LENGTH_OF_HALF ? row.at(-1)! : Math.min(row.at(-1)!, Math.min(...row) + 0.5);
}
