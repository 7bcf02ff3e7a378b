import { bytesOf } from "./bytes.ts";
import type { Bytes } from "./bytes.ts";
import type { SheetRows } from "./sheet.ts";
import { isXlsx, openSheet } from "./xlsx.ts";
import { TableError } from "./table-error.ts";
import { isZip, openZip, textOf, unpack } from "./zip.ts";
import type { Zip } from "./zip.ts";

/** What is in a file: CSV or NDJSON, in any encoding that the readers know, or the sheet of a workbook. */
export type Table = Readonly<{
  /** Its name, which tells its format if nothing else does. */
  name: string;
  /** What people should know of it, such as the sheets that are not read. */
  notes: readonly string[];
}> &
  (Readonly<{ bytes: Bytes }> | Readonly<{ sheet: SheetRows }>);

/** What people should know of a JSON list, which is read as lines of NDJSON. */
export const LIST_NOTE = "one JSON list: its plants are counted as lines";

/** How many bytes at the start of a file show whether it is packed, or no table. */
export const PACKING_BYTES = 12;

/**
 * What begins like this is no table, and what to do. Each byte is a letter here. As much is compared as each format has, because a text may
 * begin with RIFF or GIF8 too.
 */
const OTHERS: readonly (readonly [RegExp, string])[] = [
  // Both come in the same container, and only its directory tells which.
  [/^\xd0\xcf.\xe0/, "The file is of an old Excel (.xls), or has a password: save it as .xlsx without one, or as CSV."],
  // Also what web pages offer as .xls, and what Excel and LibreOffice call flat or 2003.
  [
    /^(\xef\xbb\xbf)?\s*<(\?xml|!|html|head|meta|style|div|table)/i,
    "The file is HTML or XML: open it in a spreadsheet, and save it as .xlsx or as CSV.",
  ],
  [/^(SQLite f|PGDMP)/, "The file is a database: save its table as CSV."],
  [/^%PDF-/, "The file is a PDF: save the table that it was made from as .xlsx or as CSV."],
  [
    // PNG, JPEG, GIF, WebP and its kind, TIFF of both byte orders; HEIC, as phones make it, begins with its length.
    /^(\x89PNG|\xff\xd8\xff|GIF8[79]a|RIFF[^]{4}(WEBP|WAVE|AVI )|II\*\0|MM\0\*|\0\0\0)/,
    "The file is an image or a video, not a table: copy what it shows into a spreadsheet.",
  ],
];

/** Spreadsheets that are ZIP files too, and the part by which they are known. */
const FOREIGN = [
  ["xl/workbook.bin", "Excel in its binary format (.xlsb)"],
  ["Index/Document.iwa", "Apple (.numbers)"],
] as const;

const TABLE = /\.(csv|tsv|txt|ndjson|jsonl)$/i;

/** What macOS puts beside each file of an archive, under the same name. */
const OF_MACOS = /^__MACOSX\//;

/** The tables of an archive of Darwin Core, the better one first. */
const DARWIN_CORE = ["taxon.txt", "occurrence.txt"];

/**
 * Opens a table that is packed in ZIP, or is a workbook of Excel. Undefined if it is neither, by its first
 * PACKING_BYTES. `whole` collects a file that does not arrive as one. Throws a TableError.
 */
export async function openTable(
  name: string,
  head: Uint8Array,
  file: Readonly<{ bytes: Bytes; whole: () => Promise<Blob> }>,
): Promise<Table | undefined> {
  const start = String.fromCharCode(...head.subarray(0, PACKING_BYTES));
  const [, refusal] = OTHERS.find(([signature]) => signature.test(start)) ?? [];
  if (refusal !== undefined) throw new TableError(refusal);
  if (!isZip(head)) return undefined;
  const whole = await file.whole();
  const zip = await openZip(whole);
  if (isXlsx(zip)) return openWorkbook(name, whole, zip);
  const kind =
    FOREIGN.find(([part]) => zip.has(part))?.[1] ?? ((await isOpenDocument(whole, zip)) ? "LibreOffice or OpenOffice (.ods)" : undefined);
  if (kind !== undefined) throw new TableError(`The file is a spreadsheet of ${kind}: save it as .xlsx or as CSV.`);
  return openArchive(whole, zip);
}

async function openWorkbook(name: string, file: Blob, zip: Zip): Promise<Table> {
  const sheet = await openSheet(file, zip);
  const notes = sheet.others.length === 0 ? [] : [`only the sheet ${sheet.name} is read, not ${sheet.others.join(", ")}`];
  return { name, sheet: sheet.rows, notes };
}

/** Whether it says that it is a spreadsheet (OpenDocument 1.3, part 2, 3.3), or a template of one. */
async function isOpenDocument(file: Blob, zip: Zip): Promise<boolean> {
  const packed = zip.get("mimetype");
  if (!packed) return false;
  return (await textOf(unpack(file, packed), TYPE_LENGTH_MAX)).startsWith("application/vnd.oasis.opendocument.spreadsheet");
}

/** In characters. */
const TYPE_LENGTH_MAX = 1_000;

function openArchive(file: Blob, zip: Zip): Table {
  const tables = Array.from(zip.keys()).filter((name) => TABLE.test(name) && !OF_MACOS.test(name));
  const name = DARWIN_CORE.find((known) => tables.includes(known)) ?? (tables.length === 1 ? tables[0] : undefined);
  const packed = name === undefined ? undefined : zip.get(name);
  if (name === undefined || !packed) throw new TableError("The file is an archive without a single table: import the tables in it.");
  return { name, bytes: unpack(file, packed), notes: [`read from ${name} in the archive`] };
}

/** A Blob as a file of which all is there. */
export function fileOf(blob: Blob): Readonly<{ bytes: Bytes; whole: () => Promise<Blob> }> {
  return { bytes: bytesOf(blob.stream()), whole: () => Promise.resolve(blob) };
}
