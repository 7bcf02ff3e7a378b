import { inPieces, readAhead } from "./bytes.ts";
import type { Bytes } from "./bytes.ts";
import { openCellDecoder } from "./encoding/cell-decoder.ts";
import type { Cell, CellSource } from "./cells.ts";
import { CsvParser } from "./csv-parser.ts";
import type { ParsedRow } from "./csv-parser.ts";
import { CSV_HEADER } from "./csv-writer.ts";
import { guessEncoding } from "./encoding/encoding-guess.ts";
import { openTextDecoder, readMark, toByteText, transcode } from "./encoding/encodings.ts";
import type { Asked, Quotes } from "./reading/reading.ts";
import { addDoubt } from "./row.ts";
import type { Findings } from "./row.ts";
import { isLikelyWindows1252 } from "./encoding/western-letters.ts";
import { guessSplitting, SEPARATOR_LINE, SPLIT_LENGTH } from "./reading/separator.ts";
import { UnclearEncoding } from "./table-error.ts";

/*
 * CSV is split undecoded, as UTF-8 with one character for each byte, and decoded cell by cell: a cell that is broken is refused
 * with its line instead of being mended, and does not matter in a column that is not imported.
 */

/** The cells of CSV (RFC 4180) in UTF-8, UTF-16 with a mark, or Windows-1252. Its first line shows what separates them. */
export async function openPlainCsv(
  bytes: Bytes,
  { encoding, lineBytesMax }: Readonly<{ encoding: string; lineBytesMax: number }>,
  findings: Findings,
): Promise<CellSource> {
  const { marked, bytes: unmarked } = await readMark(bytes);
  const said = marked ?? encoding;
  const { head, isOneLine, all } = await peek(toUtf8(unmarked, said, findings), lineBytesMax);
  const delimiter = findDelimiter(head);
  return { rows: toRows(all, { delimiter, bytesMax: lineBytesMax }), decode: openCellDecoder(said), delimiter, isOneLine };
}

/** How much of a text a guess is made from. */
const SAMPLE_BYTES = 256 * 1024;

/** The cells of CSV as people have it. Throws an UnclearEncoding. */
export async function openCsv(bytes: Bytes, asked: Asked, lineBytesMax: number, findings: Findings): Promise<CellSource> {
  const { marked, bytes: unmarked } = await readMark(bytes);
  const { start, all } = await readAhead(unmarked, (_, length) => length >= SAMPLE_BYTES);
  const encoding = marked ?? asked.encoding ?? toCertain(start);
  const isGuessed = marked === undefined && asked.encoding === undefined && encoding === "windows-1252";
  if (isGuessed) addDoubt(findings, "The file is read as Windows-1252, as older spreadsheets write it: check letters with accents.");
  const ahead = await readAhead(toUtf8(all(), encoding, findings), (_, length) => length >= SPLIT_LENGTH);
  const sample = toByteText(ahead.start.subarray(0, SPLIT_LENGTH));
  const isExport = encoding === "utf-8" && { ...EXPORTED, ...asked }.separator === "," && asked.quotes !== "none" && beginsAsExport(sample);
  const splitting = isExport ? EXPORTED : guessSplitting(sample, asked);
  if (!splitting.isCertain) addDoubt(findings, "Each line is taken for one name: if something separates columns in it, choose that.");
  const { separator: delimiter, quotes } = splitting;
  findings.text = { encoding, separator: delimiter, quotes };
  const isOneLine = ahead.start.length < SPLIT_LENGTH && /^[\r\n]*[^\r\n]+$/.test(sample);
  const rows = toRows(ahead.all(), { delimiter, quotes, isLenient: true, bytesMax: lineBytesMax });
  const decode = openCellDecoder(encoding);
  return {
    ...(isGuessed ? watchLetters({ rows, decode }, findings) : { rows, decode }),
    delimiter,
    isOneLine,
    isExport,
  };
}

/** So many cells with letters beyond ASCII show together whether they are of Windows-1252: a single one often does not. */
const WATCHED_CELLS = 50;

type Watched = Pick<CellSource, "rows" | "decode">;

/** Notes a file whose first letters were those of Windows-1252, and later ones are not. */
function watchLetters({ rows, decode }: Watched, findings: Findings): Watched {
  let [before, texts]: [readonly string[], string[]] = [[], []];
  let isNoted = false;
  function judge(some: readonly string[]): void {
    if (isNoted || isLikelyWindows1252(some.join("\n"))) return;
    isNoted = true;
    addDoubt(findings, `Letters such as in ${some.at(-1)!.slice(0, WORD_SHOWN)} may be of another encoding: choose it.`);
  }
  async function* watched(): CellSource["rows"] {
    yield* rows;
    // The last ones are too few to be judged without some before them.
    if (texts.length > 0) judge([...before, ...texts]);
  }
  return {
    rows: watched(),
    decode(cell) {
      const text = decode(cell);
      if (/[^\0-\x7f]/.test(text)) texts.push(text);
      if (texts.length < WATCHED_CELLS) return text;
      judge(texts);
      [before, texts] = [texts, []];
      return text;
    },
  };
}

/** In characters. */
const WORD_SHOWN = 40;

const EXPORTED = { separator: ",", quotes: "double", isCertain: true } as const;

function beginsAsExport(sample: string): boolean {
  return Object.values(CSV_HEADER).some((header) => sample.startsWith(header));
}

function toCertain(sample: Uint8Array): string {
  const { encoding, isCertain, others } = guessEncoding(sample);
  // Few letters, or control characters, as UTF-16 has them, are no reason to ask about our own export.
  if (/^utf-(8|16)/.test(encoding) && beginsAsExport(toByteText(sample.subarray(0, SPLIT_LENGTH)))) return "utf-8";
  if (!isCertain) throw new UnclearEncoding([encoding, ...others].map((likely) => ({ encoding: likely, words: wordsOf(sample, likely) })));
  return encoding;
}

const WORDS_SHOWN = 3;

/** The first words with a letter beyond ASCII, as people know them. Each is cut: a sample may be one word. */
function wordsOf(sample: Uint8Array, encoding: string): string {
  const text = openTextDecoder(encoding).decode(sample);
  const words = text.matchAll(/[^\s,;|"]{0,30}[^\0-\x7f][^\s,;|"]{0,30}/gu);
  return Array.from(words.take(WORDS_SHOWN), ([word]) => word).join(", ");
}

function toUtf8(bytes: Bytes, encoding: string, findings: Findings): Bytes {
  if (encoding === "utf-8") return bytes;
  findings.encoding = encoding;
  return transcode(bytes, encoding);
}

type Splitting = Readonly<{ delimiter: string; quotes?: Quotes; isLenient?: boolean; bytesMax: number }>;

async function* toRows(bytes: Bytes, splitting: Splitting): CellSource["rows"] {
  const parser = new CsvParser(splitting);
  let isBegun = false;
  const isRow = (row: ParsedRow) => "refusal" in row || isBegun || (isBegun = !isSeparatorLine(row.cells));
  for await (const piece of inPieces(bytes)) for (const split of parser.read(toByteText(piece))) yield split.filter(isRow);
  for (const split of parser.end()) yield split.filter(isRow);
}

/** The first line that is not empty, whether it has no end within the length that a line may have, and everything from the start on. */
async function peek(bytes: Bytes, bytesMax: number): Promise<{ head: string; isOneLine: boolean; all: Bytes }> {
  // Only once: a file may come byte by byte, and begin with any number of empty lines.
  let isBegun = false;
  const { start, all } = await readAhead(bytes, (piece, length) => {
    const begin = isBegun ? 0 : piece.findIndex((byte) => byte !== LF && byte !== CR);
    isBegun ||= begin !== -1;
    return length >= bytesMax || (isBegun && piece.includes(LF, begin));
  });
  const [, head = "", end] = HEAD.exec(toByteText(start)) ?? [];
  return { head, isOneLine: head !== "" && end === "", all: all() };
}

const LF = 0x0a;
const CR = 0x0d;

/** A line with something in it. */
const HEAD = /([^\r\n]+)([\r\n]?)/;

const DELIMITERS = [",", ";", "\t"] as const;

/** The delimiter that the first line names, or the most frequent one in it outside of quotes. */
function findDelimiter(head: string): string {
  const [, named] = SEPARATOR_LINE.exec(head) ?? [];
  if (named !== undefined) return named;
  const plain = head.replaceAll(/"[^"]*"/g, "");
  const counts = DELIMITERS.map((delimiter) => plain.split(delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))]!;
}

function isSeparatorLine([first = "", ...others]: readonly Cell[]): boolean {
  return SEPARATOR_LINE.test(first) && others.every((cell) => cell === undefined);
}
