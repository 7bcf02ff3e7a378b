import type { Bytes } from "../../src/files/bytes.ts";
import { FIELDS } from "../../src/files/reading/columns.ts";
import { quote, SPREADSHEET_MARK } from "../../src/files/csv-writer.ts";
import { readMark, toBytes, toByteText, transcode } from "../../src/files/encoding/encodings.ts";
import type { CheckedFile } from "./check-file.ts";
import { openSource } from "./open-source.ts";

/**
 * The refused rows of a file that is read again, under a line that names the columns: to be mended and imported again. Rows of a
 * text stand as they do in the file, as what is wrong may be their quotes; those of a workbook become CSV.
 */
export async function refusedFile(checked: CheckedFile, refusedLines: readonly number[]): Promise<Blob> {
  const { file, findings, lines } = checked;
  const { sheet, encoding, reading } = findings;
  const source = await openSource(file);
  const heading = reading?.heading ?? 0;
  const picked = new Set(refusedLines);
  if (source.format === "workbook") {
    let csv = SPREADSHEET_MARK + (heading === 0 ? namesOf(checked) : "");
    for await (const rows of source.sheets.find(({ name }) => name === sheet)!.rows())
      for (const { line, cells } of rows)
        if (line === heading || picked.has(line)) csv += `${cells.map((cell = "") => quote(cell)).join(",")}\n`;
    return new Blob([csv]);
  }
  const begins = new Set([...lines, heading]);
  // Excel reads what had another encoding as such again, unless a mark says that it is UTF-8.
  const parts: (Uint8Array<ArrayBuffer> | string)[] = encoding === undefined ? [] : [SPREADSHEET_MARK];
  if (source.format === "csv" && heading === 0) parts.push(namesOf(checked));
  let isPicked = false;
  for await (const [at, text] of numbered(
    linesOf(await toUtf8(source.bytes, encoding), source.format === "csv" ? /\r\n|[\r\n]/g : /\n/g),
  )) {
    if (begins.has(at)) isPicked = at === heading || picked.has(at);
    if (isPicked) parts.push(new Uint8Array(toBytes(text)));
  }
  return new Blob(parts);
}

/** A line that names columns which have no names so that they are taken for the same. */
function namesOf({ findings: { layout, reading } }: CheckedFile): string {
  const { names = [], ...places } = layout ?? {};
  const isName = (at: number) => (field: (typeof FIELDS)[number]) => (places as Partial<typeof layout>)?.[field]?.[0] === at;
  const named = names.map((name, at) => (name === "" ? (FIELDS.find(isName(at)) ?? `column ${at + 1}`) : name));
  return `${named.map(quote).join(reading?.separator ?? ",")}\n`;
}

async function toUtf8(bytes: Bytes, encoding: string | undefined): Promise<Bytes> {
  const { bytes: unmarked } = await readMark(bytes);
  return encoding === undefined ? unmarked : transcode(unmarked, encoding);
}

/** The lines of a text with one letter for each byte. The last one gets an end, if it has none. */
async function* linesOf(bytes: Bytes, ends: RegExp): AsyncGenerator<string, void, void> {
  let rest = "";
  for await (const piece of bytes) {
    const text = rest + toByteText(piece);
    let from = 0;
    for (const { 0: end, index } of text.matchAll(ends)) {
      // Its LF may come with the next piece.
      if (end === "\r" && index === text.length - 1) break;
      yield text.slice(from, index + end.length);
      from = index + end.length;
    }
    rest = text.slice(from);
  }
  if (rest !== "") yield /[\r\n]$/.test(rest) ? rest : `${rest}\n`;
}

async function* numbered(lines: AsyncGenerator<string, void, void>): AsyncGenerator<readonly [number, string], void, void> {
  let line = 0;
  for await (const text of lines) yield [(line += 1), text];
}
