import { PlantStoreError } from "../../src/errors.ts";
import { threadMs } from "./processor.ts";

/** Texts that are cheap to send and may be expensive to read: each gives one of a length, in UTF-16 units. */
export type Alphabet = Readonly<{ alphabet: string; textOf: (length: number) => string }>;

/** Marks of several combining classes, which normalization has to put into order. */
const MARKS = ["\u0301", "\u0316", "\u0327", "\u0334", "\u05b0", "\u064b", "\u3099"];

const UNITS: Readonly<Record<string, string>> = {
  "a letter": "a",
  words: "ab ",
  zeros: "0",
  nines: "9",
  "digits and points": "9.",
  exponents: "1e",
  signs: "-",
  quotes: '"',
  apostrophes: "'",
  backslashes: "\\",
  "escaped quotes": '\\"',
  "escapes of JSON": "\\u0041",
  "opened lists": "[",
  "opened and closed lists": "[]",
  "opened objects": '{"a":',
  "closed objects": "}",
  "the same key": '"a":1,',
  prototypes: '"__proto__":1,',
  "empty texts": '"",',
  commas: ",",
  semicolons: ";",
  colons: ":",
  equals: "=",
  ampersands: "&",
  "empty parameters": "a=&",
  "the same parameter": "q=a&",
  pluses: "+",
  percents: "%",
  "encoded letters": "%61",
  "encoded slashes": "%2f",
  slashes: "/",
  "folders above": "../",
  dots: ".",
  stars: "*",
  spaces: " ",
  tabs: "\t",
  "line feeds": "\n",
  "carriage returns": "\r",
  "both line ends": "\r\n",
  "lines of a letter": "a\n",
  "quoted line ends": '"\n',
  "cells of quotes": '"",',
  "U+0000": "\0",
  "U+0001": "\u0001",
  "byte order marks": "\ufeff",
  "no-break spaces": "\u00a0",
  "one mark": "\u0301",
  "two marks": "\u0316\u0301",
  "marks of seven classes": MARKS.join(""),
  "marks that are letters": "\uff9e\u0316",
  "marks that are several": "\u0f77\u0344",
  "letters with marks": `a${MARKS.join("").repeat(4)}`,
  "composed letters": "\u1ec7",
  "ligatures of eighteen": "\ufdfa",
  "squares of six": "\u3316",
  Hangul: "\uac00",
  Jamo: "\u1100\u1161\u11a8",
  Han: "\u9280",
  "letters that grow in upper case": "\u0390\u00df\ufb03",
  "letters beyond U+FFFF": "\u{1e922}",
  "emoji that are joined": "\u{1f469}\u200d",
  "first halves of surrogates": "\ud800",
  "second halves of surrogates": "\udc00",
  "replacement characters": "\ufffd",
  "from right to left": "\u05e9\u202e",
  "weak tags": 'W/"a",',
  codings: "gzip;q=0.1,",
  types: "a/b+json",
  tokens: "plant_0",
  bearers: "bearer ",
  charsets: ";charset=",
  "ports of hosts": "[:1]:1",
  "chunks of a byte": "1\r\na\r\n",
  "empty fields": "a:\r\n",
  "ids of requests": "x-request-id: a\r\n",
  "cells of XML": "<c>",
  "texts of XML": "<t>",
  "hints of XML": "<rPh>",
  "sheets of XML": "<worksheet ",
};

/** The pieces in separate runs: the first one repeated, then the next one. */
function inRows(pieces: readonly string[]): (length: number) => string {
  return (length) => pieces.map((piece) => piece.repeat(Math.ceil(length / pieces.length))).join("");
}

/** A different piece each time. */
function counted(pieceOf: (at: number) => string): (length: number) => string {
  return (length) => {
    const pieces: string[] = [];
    for (let size = 0, at = 0; size < length; at += 1) {
      const piece = pieceOf(at);
      pieces.push(piece);
      size += piece.length;
    }
    return pieces.join("");
  };
}

export const ALPHABETS: readonly Alphabet[] = [
  ...Object.entries(UNITS).map(([alphabet, unit]) => ({
    alphabet,
    textOf: (length: number) => unit.repeat(Math.ceil(length / unit.length)),
  })),
  { alphabet: "rows of seven marks", textOf: inRows(MARKS) },
  { alphabet: "rows of seven marks, the other way", textOf: inRows(MARKS.toReversed()) },
  { alphabet: "low quotes and another one of Windows-1252", textOf: (length) => `${"a\u0084".repeat(length / 2)}\u0094` },
  { alphabet: "spaces before a letter", textOf: (length) => `${" ".repeat(length)}a` },
  { alphabet: "spaces between letters", textOf: (length) => `a${" ".repeat(length)}a` },
  { alphabet: "zeros before a nine", textOf: (length) => `${"0".repeat(length)}9` },
  { alphabet: "zeros behind a point", textOf: (length) => `0.${"0".repeat(length)}9` },
  { alphabet: "zeros on both sides of a point", textOf: (length) => `9${"0".repeat(length / 2)}.${"0".repeat(length / 2)}9e9` },
  { alphabet: "an exponent of nines", textOf: (length) => `1e${"9".repeat(length)}` },
  { alphabet: "lists in lists", textOf: (length) => "[".repeat(length / 2) + "]".repeat(length / 2) },
  { alphabet: "a quote that stays open", textOf: (length) => `"${"a,b\n".repeat(length / 4)}` },
  { alphabet: "other keys", textOf: counted((at) => `"k${at}":${at},`) },
  { alphabet: "keys that are numbers", textOf: counted((at) => `"${at}":0,`) },
  { alphabet: "keys that are far numbers", textOf: counted((at) => `"${(at * 2_654_435_761) % 4_294_967_295}":0,`) },
  { alphabet: "other parameters", textOf: counted((at) => `p${at}=${at}&`) },
  { alphabet: "other words", textOf: counted((at) => `${at.toString(36)} `) },
  { alphabet: "other letters of Han", textOf: counted((at) => String.fromCodePoint(0x4e00 + (at % 20_000))) },
];

/** What is done with a text from outside. A refusal, which is a PlantStoreError, is a result like any other. */
export type Work = (text: string) => unknown;

/** Twice the text may take this many times the work. Linear work takes 2, quadratic work 4. */
export const GROWTH_MAX = 2.5;

/** If the longer text takes less processor time, in milliseconds, its growth cannot be told from chance. */
const FLOOR_MS = 10;

/** How often both lengths are measured: the minimum counts, because other load on the machine only adds to it. */
const TRIES = 3;
const TRIES_MAX = 12;
const SPENT_MS_MAX = 1000;

/**
 * How many times the work a text of twice the length takes; 0 if it takes next to nothing. What seems to grow too fast
 * is measured over two doublings, from half the length on: a garbage collection, which only the longest text triggers,
 * counts half as much there, and real growth as much as before. Rejects with an error of the work other than a refusal:
 * then it has measured something else.
 */
export async function growthOf(work: Work, alphabet: Alphabet, length: number): Promise<number> {
  const growth = await ratioOf(work, alphabet, { from: length, doublings: 1 });
  return growth > GROWTH_MAX ? Math.min(growth, await ratioOf(work, alphabet, { from: length / 2, doublings: 2 })) : growth;
}

/** How many times the work twice the text of an alphabet takes. */
export type Growth = Readonly<{ alphabet: string; times: number }>;

/** The alphabet whose work grows fastest, as text. */
export function worstOf(growths: readonly Growth[]): string {
  const worst = growths.reduce((most, one) => (one.times > most.times ? one : most));
  return worst.times === 0 ? "too little to measure" : `${worst.times.toFixed(1)} times the work for ${worst.alphabet}`;
}

type Stretch = Readonly<{ from: number; doublings: number }>;

/** How many times the work each doubling takes, on average. */
async function ratioOf(work: Work, { textOf }: Alphabet, { from, doublings }: Stretch): Promise<number> {
  const texts = [textOf(from), textOf(from * 2 ** doublings)] as const;
  const started = threadMs();
  let least: readonly [number, number] = [Infinity, Infinity];
  for (let tries = 1; tries <= TRIES_MAX && threadMs() - started < SPENT_MS_MAX; tries += 1) {
    const long = await measure(work, texts[1]);
    if (long < FLOOR_MS) return 0;
    least = [Math.min(least[0], await measure(work, texts[0])), Math.min(least[1], long)];
    if (tries >= TRIES && least[1] / least[0] <= GROWTH_MAX ** doublings) break;
  }
  return (least[1] / least[0]) ** (1 / doublings);
}

/** In milliseconds of the processor. */
async function measure(work: Work, text: string): Promise<number> {
  const before = threadMs();
  try {
    await work(text);
  } catch (error) {
    if (!(error instanceof PlantStoreError)) throw error;
  }
  return threadMs() - before;
}
