import { inPieces, readAhead } from "./bytes.ts";
import type { Bytes } from "./bytes.ts";
import { openCellDecoder } from "./cell-decoder.ts";
import type { Cell, CellSource } from "./cells.ts";
import { PLAIN } from "./csv-options.ts";
import { CsvParser } from "./csv-parser.ts";
import type { ParsedRow } from "./csv-parser.ts";
import { toByteText, toUtf8 } from "./encodings.ts";
import { createFindings } from "./row.ts";
import type { Findings, ReadOptions, Rows } from "./row.ts";
import { readTable } from "./table.ts";

/** Reads CSV. Throws `invalid_csv_header`. */
export async function* readCsv(bytes: Bytes, options: ReadOptions, findings: Findings = createFindings()): Rows {
  yield* readTable(await openCsv(bytes, options, findings), options, findings);
}

/**
 * The cells of CSV (RFC 4180). Splits the bytes undecoded, one character per byte, and decodes cell by cell: a cell that
 * is not UTF-8 is refused with its line instead of being mended.
 */
async function openCsv(bytes: Bytes, { csv = PLAIN, lineBytesMax, faults }: ReadOptions, findings: Findings): Promise<CellSource> {
  const file = await toUtf8(bytes);
  if (file.encoding) findings.encoding = file.encoding;
  const { head, isOneLine, all } = await peek(file.bytes, lineBytesMax);
  const delimiter = findDelimiter(head);
  const parser = new CsvParser({ delimiter, bytesMax: lineBytesMax });
  let isBegun = false;

  function isRow(row: ParsedRow): boolean {
    return "refusal" in row || isBegun || (isBegun = !isDelimiterLine(row.cells));
  }

  function toRow(row: ParsedRow): ParsedRow {
    return faults && "cells" in row ? { ...row, faults: faults.get(row.line) } : row;
  }

  async function* rows(): CellSource["rows"] {
    for await (const piece of inPieces(all)) for (const split of parser.read(toByteText(piece))) yield split.filter(isRow).map(toRow);
    for (const split of parser.end()) yield split.filter(isRow).map(toRow);
  }

  return { rows: rows(), decode: openCellDecoder(file.isMarked ? "utf-8" : csv.encoding, findings), delimiter, isOneLine };
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

/** What Excel writes and reads in front of the names: `sep=;`. */
const DELIMITER_LINE = /^"?sep=([,;\t])?"?\s*$/i;

/** The delimiter that the first line names, or the most frequent one in it outside of quotes. */
function findDelimiter(head: string): string {
  const [, named] = DELIMITER_LINE.exec(head) ?? [];
  if (named !== undefined) return named;
  const plain = head.replaceAll(/"[^"]*"/g, "");
  const counts = DELIMITERS.map((delimiter) => plain.split(delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))]!;
}

function isDelimiterLine([first = "", ...others]: readonly Cell[]): boolean {
  return DELIMITER_LINE.test(first) && others.every((cell) => cell === undefined);
}
