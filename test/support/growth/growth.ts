import { PlantStoreError } from "../../../src/domain/errors.ts";
import { TableError } from "../../../src/files/table-error.ts";
import { threadMs } from "../processor.ts";

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

/** What is done with a text from outside. A PlantStoreError or TableError refuses it; any other error is one of the test. */
export type Work = (text: string) => unknown;

/**
 * What reads a kind of input. `bytes`: the most that the limits let in. `meant`: the alphabet that is hostile to this
 * work, which it must accept; undefined where no text of such a length is accepted.
 */
export type Input = Readonly<{ what: string; bytes: number; meant: string | undefined; work: Work }>;

/** Twice the text may take this many times the work. Linear work takes 2, quadratic work 4. */
export const GROWTH_MAX = 3;

/** How long any input may keep the event loop, in milliseconds of the processor. */
const STRETCH_MS_MAX = 50;

/** What is measured takes this much processor time at least, in milliseconds; what takes less is repeated. */
const FLOOR_MS = 10;

/** How often a size is measured: the minimum counts, because other load on the machine only adds to it. */
const TRIES = 3;
const TRIES_MAX = 8;
const SPENT_MS_MAX = 400;

/** How the work grew from one size to twice that. `outcome`: "accepted", or the error that refused the text. `ms`: at both sizes. */
export type Growth = Readonly<{ alphabet: string; times: number; outcome: string; ms: readonly [number, number] }>;

/** What a look at an alphabet has shown at the largest size. `stretchMs`: the longest time that it kept the loop. */
type Look = Readonly<{ outcome: string; ms: number; stretchMs: number }>;

/**
 * Measures alphabets, as a rule all, at the largest size, and how the work of those that matter grows up to it: what was
 * meant, and each that takes long enough.
 */
export async function judge({ bytes, meant, work }: Input, alphabets = ALPHABETS) {
  const looks: (Look & Readonly<{ alphabet: Alphabet; name: string }>)[] = [];
  for (const alphabet of alphabets) looks.push({ alphabet, name: alphabet.alphabet, ...(await lookAt(work, alphabet, bytes)) });
  const accepted = looks.filter(({ outcome }) => outcome === "accepted").map(({ name }) => name);
  const faults = looks
    .filter(({ stretchMs }) => stretchMs > STRETCH_MS_MAX)
    .map(({ name, outcome, stretchMs }) => `${name} (${outcome}) keeps the loop for ${stretchMs} ms`);
  if (meant === undefined && accepted.length > 0) faults.push(`accepts ${accepted.join(", ")}`);
  if (meant !== undefined && !accepted.includes(meant)) faults.push(`does not accept ${meant}`);
  const growths: Growth[] = [];
  const slowest = looks.toSorted((one, other) => other.ms - one.ms)[0];
  for (const { name, alphabet } of looks.filter((one) => one.name === meant || (one === slowest && one.ms >= FLOOR_MS))) {
    try {
      growths.push(await growthOf(work, alphabet, bytes / 2));
    } catch (thrown) {
      if (!(thrown instanceof Uneven)) throw thrown;
      if (name === meant) faults.push(thrown.message);
    }
  }
  for (const { alphabet, times } of growths) if (times > GROWTH_MAX) faults.push(`${alphabet} takes ${times.toFixed(1)} times the work`);
  return { growths, longestMs: Math.max(...looks.map(({ stretchMs }) => stretchMs)), faults };
}

/** The outcomes at both sizes differ: then two different works were measured. */
class Uneven extends Error {}

/**
 * How many times the work a text of twice the length takes, in bytes. What seems to grow too fast is measured over two
 * doublings, from half the length on: a garbage collection, which only the longest text triggers, counts half as much
 * there, and real growth as much as before. Rejects if the outcome is not the same at all sizes.
 */
export async function growthOf(work: Work, alphabet: Alphabet, bytes: number): Promise<Growth> {
  const growth = await ratioOf(work, alphabet, { from: bytes, doublings: 1 });
  if (growth.times <= GROWTH_MAX) return growth;
  const longer = await ratioOf(work, alphabet, { from: bytes / 2, doublings: 2 });
  return longer.times < growth.times ? longer : growth;
}

/** How many times the work each doubling takes, on average. */
async function ratioOf(
  work: Work,
  alphabet: Alphabet,
  { from, doublings }: Readonly<{ from: number; doublings: number }>,
): Promise<Growth> {
  const [short, long] = [textOf(alphabet, from), textOf(alphabet, from * 2 ** doublings)];
  const outcomes = [await outcomeOf(work, short), await outcomeOf(work, long)] as const;
  if (outcomes[0] !== outcomes[1]) throw new Uneven(`${alphabet.alphabet}: ${outcomes.join(" at half the size, and then ")}`);
  const once = await measure(work, long, 1);
  const rounds = Math.min(1000, Math.ceil(FLOOR_MS / Math.max(once, 0.001)));
  const started = threadMs();
  let least: readonly [number, number] = [Infinity, Infinity];
  for (let tries = 1; tries <= TRIES_MAX && threadMs() - started < SPENT_MS_MAX; tries += 1) {
    least = [Math.min(least[0], await measure(work, short, rounds)), Math.min(least[1], await measure(work, long, rounds))];
    if (tries >= TRIES && least[1] / least[0] <= GROWTH_MAX ** doublings) break;
  }
  return {
    alphabet: alphabet.alphabet,
    times: (least[1] / least[0]) ** (1 / doublings),
    outcome: outcomes[0],
    ms: [least[0] / rounds, least[1] / rounds],
  };
}

/** A text of the alphabet with at most so many bytes in UTF-8. */
function textOf(alphabet: Alphabet, bytes: number): string {
  const sample = alphabet.textOf(1024);
  const text = alphabet.textOf(Math.floor((bytes * sample.length) / Buffer.byteLength(sample)));
  return Buffer.byteLength(text) <= bytes ? text : alphabet.textOf(Math.floor((bytes * 0.98 * sample.length) / Buffer.byteLength(sample)));
}

/** What is refused at the largest size may be accepted at half of it, and then take longer. */
async function lookAt(work: Work, alphabet: Alphabet, bytes: number): Promise<Look> {
  const whole = await look(work, textOf(alphabet, bytes));
  if (whole.outcome === "accepted") return whole;
  const { stretchMs } = await look(work, textOf(alphabet, bytes / 2));
  return { ...whole, stretchMs: Math.max(whole.stretchMs, stretchMs) };
}

/** Looks again if it takes too long: that may be another's load, or code that is not compiled yet. */
async function look(work: Work, text: string): Promise<Look> {
  let best: Look | undefined;
  for (let tries = 0; tries < TRIES && (best === undefined || isDoubtful(best.stretchMs)); tries += 1) {
    const before = threadMs();
    const { outcome, stretchMs } = await stretchOf(work, text);
    const ms = threadMs() - before;
    if (best === undefined || stretchMs < best.stretchMs) best = { outcome, ms, stretchMs };
  }
  return best!;
}

/** The longest time between two turns of the event loop while the work is done. */
async function stretchOf(work: Work, text: string): Promise<Pick<Look, "outcome" | "stretchMs">> {
  let isDone = false;
  let stretchMs = 0;
  let last = threadMs();
  function turn(): void {
    const now = threadMs();
    stretchMs = Math.max(stretchMs, now - last);
    last = now;
    if (!isDone) setImmediate(turn);
  }
  setImmediate(turn);
  const outcome = await outcomeOf(work, text);
  isDone = true;
  turn();
  return { outcome, stretchMs };
}

/** What chance may have made too long. */
function isDoubtful(stretchMs: number): boolean {
  return stretchMs > STRETCH_MS_MAX && stretchMs < 10 * STRETCH_MS_MAX;
}

async function outcomeOf(work: Work, text: string): Promise<string> {
  try {
    await work(text);
    return "accepted";
  } catch (error) {
    if (error instanceof PlantStoreError) return error.code;
    if (error instanceof TableError) return "table_error";
    throw error;
  }
}

/** In milliseconds of the processor. */
async function measure(work: Work, text: string, rounds: number): Promise<number> {
  const before = threadMs();
  for (let round = 0; round < rounds; round += 1) await outcomeOf(work, text);
  return threadMs() - before;
}
