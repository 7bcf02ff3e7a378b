import { detectFormat, HEAD_BYTES } from "../client/file-format.ts";
import { splitList } from "../client/json-list.ts";
import { readAhead } from "./bytes.ts";
import type { Bytes } from "./bytes.ts";
import { readArchive } from "./darwin-core.ts";
import { openOds } from "./workbook/ods.ts";
import { isGzip } from "./packed-file.ts";
import type { FileFormat, FileSource } from "./read-file.ts";
import { TableError } from "./table-error.ts";
import { isXlsx, openWorkbook } from "./workbook/xlsx.ts";
import { isZip, openZip, textOf, unpack } from "./zip.ts";
import type { Pause, Zip } from "./zip.ts";

/** A file of any kind, as it comes. */
export type AnyFile = Readonly<{
  /** Its extension counts more than what it begins with. */
  name?: string;
  /** Its format, if that was said. */
  format?: FileFormat | undefined;
  bytes: Bytes;
  /** Collects a file that does not arrive as one: of a ZIP file, the end comes first. */
  whole: (bytes: Bytes) => Promise<Blob>;
  gunzip: (bytes: Bytes) => Bytes;
  /** Of a service: what is unpacked may take seconds. */
  pause?: Pause;
}>;

const LIST_NOTE = "The file is one JSON list: its plants are counted as lines.";
const OBJECT_NOTE =
  "The file begins with an object over several lines: `jq .plants` takes a list of that name out of it, `jq --compact-output .` writes objects on one line each.";

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

/** How many bytes of a file show whether it is one of these. */
const PACKING_BYTES = 12;

/** Spreadsheets that are ZIP files too, and the part by which they are known. */
const FOREIGN = [
  ["xl/workbook.bin", "Excel in its binary format (.xlsb)"],
  ["Index/Document.iwa", "Apple (.numbers)"],
] as const;

const TABLE = /\.(csv|tsv|txt|ndjson|jsonl)$/i;

/** What macOS puts beside each file of an archive, under the same name. */
const OF_MACOS = /^__MACOSX\//;

/** The tables of an archive of Darwin Core that does not describe itself, the better one first. */
const DARWIN_CORE = ["taxon.txt", "occurrence.txt"];

/** Finds out what a file is, and unpacks it. Throws a TableError if it is nothing that can be read. */
export async function openFile(file: AnyFile): Promise<FileSource> {
  const { start, all } = await readAhead(file.bytes, (_, length) => length >= HEAD_BYTES);
  if (isGzip(start)) return openText({ ...file, name: (file.name ?? "").replace(/\.gz$/i, ""), bytes: file.gunzip(all()) });
  const head = String.fromCharCode(...start.subarray(0, PACKING_BYTES));
  const [, refusal] = OTHERS.find(([signature]) => signature.test(head)) ?? [];
  if (refusal !== undefined) throw new TableError(refusal);
  if (isZip(start)) return openPacked(file, await file.whole(all()));
  return openText({ ...file, bytes: all() });
}

async function openText({ name, format, bytes }: Pick<AnyFile, "name" | "format" | "bytes">): Promise<FileSource> {
  const { start, all } = await readAhead(bytes, (_, length) => length >= HEAD_BYTES);
  const found = format ?? detectFormat(name, start);
  if (found === "csv") return { format: "csv", bytes: all() };
  if (found === "list") return { format: "ndjson", bytes: splitList(all()), notes: [LIST_NOTE] };
  const isLong = /^\s*\{\s*\n/.test(new TextDecoder().decode(start.subarray(0, HEAD_BYTES)));
  return { format: "ndjson", bytes: all(), notes: isLong ? [OBJECT_NOTE] : [] };
}

async function openPacked(file: AnyFile, whole: Blob): Promise<FileSource> {
  const zip = await openZip(whole, file.pause);
  if (isXlsx(zip)) return { format: "workbook", ...(await openWorkbook(whole, zip)) };
  if (await isOpenDocument(whole, zip)) return { format: "workbook", ...(await openOds(whole, zip)) };
  const kind = FOREIGN.find(([part]) => zip.has(part))?.[1];
  if (kind !== undefined) throw new TableError(`The file is a spreadsheet of ${kind}: save it as .xlsx or as CSV.`);
  const archive = await readArchive(whole, zip);
  if (archive) {
    const notes = archive.extensions.map((extension) => `The table ${extension} of the archive is not imported.`);
    return { format: "csv", bytes: archive.bytes(), archive, notes: [`The table is ${archive.name} in the archive.`, ...notes] };
  }
  const name = tableIn(zip);
  const text = await openText({ name, format: file.format, bytes: unpack(whole, zip.get(name)!) });
  return { ...text, notes: [`The table is ${name} in the archive.`, ...(text.notes ?? [])] };
}

/** Whether it says that it is a spreadsheet (OpenDocument 1.3, part 2, 3.3), or a template of one. */
async function isOpenDocument(file: Blob, zip: Zip): Promise<boolean> {
  const packed = zip.get("mimetype");
  if (!packed) return false;
  return (await textOf(unpack(file, packed), TYPE_LENGTH_MAX)).startsWith("application/vnd.oasis.opendocument.spreadsheet");
}

/** In characters. */
const TYPE_LENGTH_MAX = 1_000;

function tableIn(zip: Zip): string {
  const tables = Array.from(zip.keys()).filter((name) => TABLE.test(name) && !OF_MACOS.test(name));
  const name = DARWIN_CORE.find((known) => tables.includes(known)) ?? (tables.length === 1 ? tables[0] : undefined);
  if (name === undefined) throw new TableError("The file is an archive without a single table: import the tables in it.");
  return name;
}
