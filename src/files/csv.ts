import { PlantStoreError } from "../domain/errors.ts";
import { toByteText } from "./byte-text.ts";
import { openCellDecoder } from "./cell-decoder.ts";
import { createSplitter } from "./csv-parser.ts";
import type { Cell, Fault } from "./csv-parser.ts";
import { toUtf8 } from "./encodings.ts";
import { readAhead } from "./read-ahead.ts";
import { inPieces } from "./bytes.ts";
import type { Bytes } from "./bytes.ts";
import { PLAIN } from "./csv-reading.ts";
import { tooLong } from "./row.ts";
import type { ReadOptions, Row, Rows } from "./row.ts";
import { createTableReader } from "./table-reader.ts";

const DELIMITERS = [",", ";", "\t"] as const;

/**
 * Reads CSV (RFC 4180) whose first line names the columns, or is the first row. Splits the bytes undecoded, one character
 * per byte, and decodes cell by cell: a cell that is not UTF-8 is refused with its line instead of being mended. Throws
 * `invalid_csv_header`.
 */
export async function* readCsv(bytes: Bytes, options: ReadOptions): Rows {
  const { csv = PLAIN, onEncoding = () => undefined } = options;
  const file = await toUtf8(bytes);
  if (file.encoding) onEncoding(file.encoding);
  const { head, isOneLine, all } = await peek(file.bytes, options.lineBytesMax);
  let rows: Row[] = [];
  let isBegun = false;
  const delimiter = findDelimiter(head);
  const decode = openCellDecoder(file.isMarked ? "utf-8" : csv.encoding, onEncoding);
  const reader = createTableReader({ delimiter, decode, csv, options, isOneLine });
  const splitter = createSplitter({
    delimiter,
    bytesMax: options.lineBytesMax,
    onRow(cells, line) {
      if (!isBegun && isDelimiterLine(cells)) return;
      isBegun = true;
      const row = reader.read({ line, cells, faults: options.faults?.get(line) });
      if (row) rows.push(row);
    },
    onFault: (fault, line) => rows.push(reader.refuse(line, toRefusal(fault, options.lineBytesMax))),
  });
  for await (const chunk of inPieces(all)) {
    for (const _ of splitter.feed(toByteText(chunk))) {
      yield rows;
      rows = [];
    }
  }
  for (const _ of splitter.end()) {
    yield rows;
    rows = [];
  }
  reader.end();
  yield rows;
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

/** What Excel writes and reads in front of the names: `sep=;`. */
const DELIMITER_LINE = /^"?sep=([,;\t])?"?\s*$/i;

/** What the first line says, or the most frequent one in it outside of quotes. */
function findDelimiter(head: string): string {
  const [, said] = DELIMITER_LINE.exec(head) ?? [];
  if (said !== undefined) return said;
  const plain = head.replaceAll(/"[^"]*"/g, "");
  const counts = DELIMITERS.map((delimiter) => plain.split(delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))]!;
}

function isDelimiterLine([first = "", ...others]: readonly Cell[]): boolean {
  return DELIMITER_LINE.test(first) && others.every((cell) => cell === undefined);
}

function toRefusal(fault: Fault, bytesMax: number): PlantStoreError {
  if (fault === "length") return tooLong(bytesMax);
  return new PlantStoreError("malformed_row", fault === "open_quote" ? { message: OPEN_QUOTE } : {});
}

const OPEN_QUOTE = "The row opens a quote that is not closed where its cell ends: close it, and write each quote inside of a cell twice.";
