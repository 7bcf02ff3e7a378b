import { crc32, deflateRawSync } from "node:zlib";

/** A cell: text, a number as Excel keeps it, or the XML of a cell without its address. */
type Cell = string | number | Readonly<{ type: string; xml: string }> | undefined;

/** A row, or its number and its cells. */
type Rows = readonly (readonly Cell[])[];

type SheetOptions = Readonly<{
  /** Texts in the cells themselves, as some programs write them, instead of in a list that they share. */
  isInline?: boolean;
  others?: readonly string[];
  /** Whether the ZIP file is one of ZIP64. */
  isLong?: boolean;
}>;

/** An .xlsx file with the parts that Excel needs. Empty rows have no element, as Excel leaves them out. */
export function makeWorkbook(rows: Rows, { isInline = false, others = [], isLong = false }: SheetOptions = {}): Buffer {
  const shared: string[] = [];
  const places = new Map<string, number>();
  function share(text: string): number {
    const known = places.get(text);
    if (known !== undefined) return known;
    places.set(text, shared.length);
    shared.push(`<si><t xml:space="preserve">${escape(text)}</t></si>`);
    return shared.length - 1;
  }

  function toXml(cell: Cell, address: string): string {
    if (cell === undefined) return "";
    if (typeof cell === "object") return `<c r="${address}" t="${cell.type}">${cell.xml}</c>`;
    if (typeof cell === "number") return `<c r="${address}"><v>${cell}</v></c>`;
    if (isInline) return `<c r="${address}" t="inlineStr"><is><t>${escape(cell)}</t></is></c>`;
    return `<c r="${address}" s="1" t="s"><v>${share(cell)}</v></c>`;
  }

  const lines = rows.map((cells, at) => {
    if (cells.length === 0) return "";
    return `<row r="${at + 1}" spans="1:9">${cells.map((cell, place) => toXml(cell, `${letterOf(place)}${at + 1}`)).join("")}</row>`;
  });
  const names = ["Pflanzen & mehr", ...others];
  const sheets = names.map((name, at) => `<sheet name="${escape(name)}" sheetId="${at + 1}" r:id="rId${at + 1}"/>`);
  const relations = names.map((_, at) => `<Relationship Id="rId${at + 1}" Type="worksheet" Target="worksheets/sheet${at + 1}.xml"/>`);
  const main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
  const parts = {
    "[Content_Types].xml": "<Types/>",
    "xl/workbook.xml": `<?xml version="1.0"?><workbook ${main} xmlns:r="r"><sheets>${sheets.join("")}</sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": `<Relationships>${relations.join("")}</Relationships>`,
    "xl/worksheets/sheet1.xml": `<?xml version="1.0"?><worksheet ${main}><cols/><sheetData>${lines.join("")}</sheetData></worksheet>`,
    ...Object.fromEntries(others.map((_, at) => [`xl/worksheets/sheet${at + 2}.xml`, `<worksheet ${main}><sheetData/></worksheet>`])),
    ...(isInline ? {} : { "xl/sharedStrings.xml": `<sst ${main}>${shared.join("")}</sst>` }),
  };
  return makeZip(parts, { isLong });
}

/** A ZIP file of these files. `isLong`: its directory has its numbers where ZIP64 has long ones, as Apache POI writes them. */
export function makeZip(files: Readonly<Record<string, string | Uint8Array>>, { isLong = false } = {}): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(files)) {
    const plain = Buffer.from(text as string);
    const packed = deflateRawSync(plain);
    const head = Buffer.alloc(26);
    head.writeUInt16LE(20, 0);
    head.writeUInt16LE(8, 4);
    head.writeUInt32LE(crc32(plain), 10);
    head.writeUInt32LE(packed.length, 14);
    head.writeUInt32LE(plain.length, 18);
    head.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), head, Buffer.from(name), packed]);
    const where = Buffer.alloc(14);
    where.writeUInt32LE(offset, 10);
    const extra = isLong ? toZip64([plain.length, packed.length, offset]) : Buffer.of();
    const entry = Buffer.from(head);
    if (isLong) {
      entry.fill(0xff, 14, 22);
      entry.writeUInt16LE(extra.length, 24);
      where.fill(0xff, 10);
    }
    directory.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\0"), entry, where, Buffer.from(name), extra]));
    parts.push(local);
    offset += local.length;
  }
  const entries = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(directory.length, 4);
  end.writeUInt16LE(directory.length, 6);
  end.writeUInt32LE(entries.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, entries, Buffer.from("PK\x05\x06"), end]);
}

/** The same workbook, whose first sheet was packed from other bytes: the data itself unpacks well. */
export function damagedEntry(workbook: Buffer, at: number, by: number): Buffer {
  const bytes = Buffer.from(workbook);
  const entry = bytes.lastIndexOf("PK\x01\x02", bytes.lastIndexOf("xl/worksheets/sheet1.xml"), "latin1");
  bytes.writeUInt32LE((bytes.readUInt32LE(entry + at) + by) % 2 ** 32, entry + at);
  return bytes;
}

/** The field of these numbers, behind one of another kind. */
function toZip64(numbers: readonly number[]): Buffer {
  const longs = BigUint64Array.from(numbers, BigInt);
  return Buffer.concat([Buffer.from("UT\x01\0\0", "latin1"), Buffer.of(1, 0, longs.byteLength, 0), Buffer.from(longs.buffer)]);
}

function letterOf(place: number): string {
  const letter = String.fromCharCode(65 + (place % 26));
  return place < 26 ? letter : `${letterOf(Math.floor(place / 26) - 1)}${letter}`;
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
