import { ALPHABETS } from "../growth/growth.ts";
import { below, partsOf, pick } from "../random.ts";
import type { Random } from "../random.ts";

// Pieces of requests that are mistakes, or meant to do harm. In all of these texts one letter is one byte, so
// that they can contain invalid UTF-8.

/** Numbers around which parsers fail. */
const EDGES = [0n, 2n ** 31n, -(2n ** 31n), 2n ** 53n, -(2n ** 53n), 10n ** 18n, -(10n ** 18n), 2n ** 63n - 1n, -(2n ** 63n)] as const;

/**
 * How far from an edge ids are drawn: near enough that many requests meet at one plant, and that the catalogue stays
 * small.
 */
const EDGE_REACH = 60;

const BAD_NUMBERS =
  partsOf(`9223372036854775808|-9223372036854775809|18446744073709551616|99999999999999999999|1e400|-1e400|1E-400|1e999999999|1e-999999999|
  0.1|1.5|150e-1|0.1e1|0.99999999999999999999|9223372036854775807.5|-0|-0.0|0e400|1e18|1e19|01|-01|+1|.5|5.|1e|1e+|0x10|1_000|NaN|
  Infinity|-Infinity|-|--1|1n|\xd9\xa1|1 2|1,5`);

/** What a JSON string may contain. */
const STRING_PIECES =
  partsOf(`oak|Monstera deliciosa| |\\n|\\t|\\\\|\\"|\\/|\\u0000|\\u0001|\\u001f|\\u007f|\\u00e9|%00|'|\`|$|\\ud83c\\udf35|\\ud800|\\udc00|
  \\udfff\\ud800|\\uD83C|\\u2028|\\ufeff|\\ufffe|\\uffff|\\u202e|\\u0301|\\u0130|\\u00|\\x41|\\|\\u{41}|\x00|\x01|\n|\r|\t|\x7f|
  \x1f|</script>|=1+1|@cmd|{{7*7}}|../..|\${x}`);

/**
 * UTF-8 and what only looks like it: overlong forms, surrogates, beyond U+10FFFF, cut, stray and with a byte order
 * mark.
 */
const BYTE_PIECES = partsOf(`\xc3\xa9|\xe6\xa3\xae|\xf0\x9f\x8c\xb5|\xe2\x80\xa8|\xef\xbb\xbf|\xef\xbf\xbe|\xd7\xa9\xd7\x9c|e\xcc\x81|
  \xf0\x9f\x91\xa9\xe2\x80\x8d|\xc0\x80|\xc1\xbf|\xe0\x80\x80|\xf0\x80\x80\x80|\xed\xa0\x80|\xed\xbf\xbf|\xf4\x90\x80\x80|
  \xf5\x80\x80\x80|\xff|\xfe|\xe2\x82|\xf0\x9f\x8c|\x80|\xbf|\xc3`);

/** Keys with a meaning somewhere. One is `id` in disguise. */
const KEYS = partsOf(`__proto__|constructor|toString|prototype|hasOwnProperty|length||ID|id |\\u0069d|n\\u0061me|tag|0|$ref|\\u0000`);

const BODY_BYTES_MAX = 65_536;

/** A valid id, at an edge. */
export function drawId(random: Random): bigint {
  const id = pick(random, EDGES) + BigInt(below(random, 2 * EDGE_REACH) - EDGE_REACH);
  return BigInt.asIntN(64, id);
}

/** An id as JSON may write it, or something that is not an id. */
function drawIdText(random: Random): string {
  const id = drawId(random);
  const forms = [
    `${id}.0`,
    `${id}e0`,
    `${id}0e-1`,
    `${id}.${"0".repeat(below(random, 50))}E+0`,
    `"${id}"`,
    drawNumber(random),
    drawValue(random),
  ];
  return random() < 0.8 ? String(id) : pick(random, forms);
}

export function drawNumber(random: Random): string {
  const digits = String(below(random, 10)).repeat(pick(random, [1, 17, 20, 400, 5000]));
  return random() < 0.8
    ? pick(random, BAD_NUMBERS)
    : pick(random, [digits, `-${digits}`, `0.${digits}`, `1e${digits}`, `${digits}e-${digits.length}`]);
}

/** The inside of a JSON string; mostly an acceptable one. */
export function drawText(random: Random): string {
  if (random() < 0.02) return drawRow(random, 30_000);
  if (random() < 0.004) return pick(random, ["x", "\xc3\xa9", "\\u0000", "word "]).repeat(below(random, 12_000));
  const pieces = Array.from({ length: below(random, 6) }, () => {
    const lot = random();
    return lot < 0.85 ? `oak-${below(random, 1000)} ` : lot < 0.96 ? pick(random, STRING_PIECES) : pick(random, BYTE_PIECES);
  });
  return pieces.join("");
}

/**
 * Marks have cost quadratic time before, and most texts of them are too short to show it: they come more often than the
 * others.
 */
const MARKS = ALPHABETS.filter(({ alphabet }) => alphabet.includes("marks"));
const MARKS_SHARE = 0.25;

/**
 * A word that searches look for, then a long run of one alphabet: the time to read it may grow faster than its length.
 */
function drawRow(random: Random, lengthMax: number): string {
  const text = `oak ${pick(random, random() < MARKS_SHARE ? MARKS : ALPHABETS).textOf(below(random, lengthMax))}`;
  return Buffer.from(JSON.stringify(text).slice(1, -1)).toString("latin1");
}

function drawString(random: Random): string {
  return pick(random, ['"', '"', '"', '"', '"', '"', '"', '"', '"', "'", ""]) === '"'
    ? `"${drawText(random)}"`
    : pick(random, [`'oak'`, `"oak`, "oak", '""']);
}

/** Any JSON value, or something that is not one. */
export function drawValue(random: Random, depth = 0): string {
  const lot = random();
  if (lot < 0.35) return drawString(random);
  if (lot < 0.55) return drawNumber(random);
  if (lot < 0.75) return pick(random, ["null", "true", "false", "[]", "{}", "undefined", "True", "nul", "/**/1", ""]);
  if (lot < 0.8) return drawNest(random);
  const parts = Array.from({ length: depth > 3 ? 0 : below(random, 4) }, () => drawValue(random, depth + 1));
  if (lot < 0.9) return `[${parts.join()}]`;
  return `{${parts.map((part) => `"${pick(random, KEYS)}":${part}`).join()}}`;
}

/** Nested lists or objects: some just deep enough, some as deep as a body can be, some never closed. */
function drawNest(random: Random): string {
  const depth = pick(random, [29, 30, 31, 32, 33, 500, Math.trunc(BODY_BYTES_MAX / 8)]);
  const [open, close] = pick(random, [["[", "]"] as const, ['{"a":', "}"] as const]);
  return open.repeat(depth) + (random() < 0.8 ? `1${close.repeat(depth)}` : "");
}

/** A plant as JSON, mostly with something wrong. */
export function drawPlant(random: Random, { hasId = true }: { hasId?: boolean } = {}): string {
  const isGood = random() < 0.3;
  const members = [
    ...(hasId || random() < 0.1 ? [`"id":${isGood ? String(drawId(random)) : drawIdText(random)}`] : []),
    `"name":${isGood || random() < 0.6 ? `"${drawText(random)}"` : drawValue(random)}`,
    ...(random() < 0.6 ? [`"tag":${isGood || random() < 0.6 ? `"${drawText(random)}"` : drawValue(random)}`] : []),
  ];
  if (isGood) return `{${members.join()}}`;
  if (random() < 0.3) members.splice(below(random, 4), 0, `"${pick(random, KEYS)}":${drawValue(random)}`);
  if (random() < 0.1) members.push(pick(random, members));
  if (random() < 0.1) members.splice(below(random, members.length), 1);
  if (random() < 0.2) members.reverse();
  return wrap(random, `{${members.join(pick(random, [",", ", ", " ,\n"]))}}`);
}

/** What may surround or replace a JSON text. */
function wrap(random: Random, text: string): string {
  const lot = random();
  if (lot < 0.6) return text;
  if (lot < 0.65) return `\xef\xbb\xbf${text}`;
  if (lot < 0.7)
    return pick(random, [`[${text}]`, `[${text},${text}]`, `"${text}"`, text + text, "", " ", "null", "[]", "1", '"oak"', "\0"]);
  if (lot < 0.75) return text + pick(random, ["x", ",", "}", "\0", "\xef\xbb\xbf", "//", "\n\n", " "]);
  if (lot < 0.8) return drawNest(random);
  if (lot < 0.82) return text.replace(/\}$/, `,"more":"${"y".repeat(below(random, 2 * BODY_BYTES_MAX))}"}`);
  return damage(random, text);
}

/** Cuts the text, or changes a byte of it. */
export function damage(random: Random, text: string): string {
  const at = below(random, text.length + 1);
  if (random() < 0.3) return text.slice(0, at);
  return (
    text.slice(0, at) +
    pick(random, [...BYTE_PIECES, '"', "\\", ",", ":", "0", "-", "\0", "{", "]", ""]) +
    text.slice(at + below(random, 2))
  );
}

const LINE_ENDS = ["\n", "\n", "\n", "\r\n", "\r", "\n\n", "\n \n", "\0\n"];

/** A file with a plant a line. */
export function drawNdjson(random: Random): string {
  const lines = Array.from({ length: below(random, 12) }, () => drawPlant(random).replaceAll("\n", " ") + pick(random, LINE_ENDS));
  return (random() < 0.1 ? "\xef\xbb\xbf" : "") + lines.join("") + (random() < 0.3 ? drawPlant(random) : "");
}

const HEADERS = partsOf(
  `id,name,tag|id;name;tag|tag\tname\tid|catalogNumber,scientificName,vernacularName|"id","name"|ID , Name,x,tag|id,id,name|id||name`,
);

/** A file with a plant a row, as spreadsheets and people write it. */
export function drawCsv(random: Random): string {
  const header = random() < 0.8 ? pick(random, HEADERS.slice(0, 6)) : pick(random, HEADERS);
  const delimiter = /[,;\t]/.exec(header)?.[0] ?? ",";
  const rows = Array.from({ length: below(random, 12) }, () => {
    const cells = [random() < 0.8 ? String(drawId(random)) : drawNumber(random), drawCell(random), drawCell(random)];
    if (random() < 0.1) cells.splice(below(random, 4), below(random, 2), drawCell(random));
    return (header.startsWith("tag") ? cells.toReversed() : cells).join(delimiter) + pick(random, LINE_ENDS);
  });
  const text = `${random() < 0.1 ? "\xef\xbb\xbf" : ""}${header}${pick(random, LINE_ENDS)}${rows.join("")}`;
  return random() < 0.1 ? damage(random, text) : text;
}

const CELLS = partsOf(`=HYPERLINK("x")|+1|-1|@SUM(A1)|\t=1||""|"|a"b|"a""b"|"a"b|"a\nb"|"a\rb"|"a\r\nb"|"never closed| oak |'oak|;|,`);

function drawCell(random: Random): string {
  const lot = random();
  return lot < 0.5 ? `oak ${below(random, 1000)}` : lot < 0.8 ? pick(random, CELLS) : drawText(random);
}
