import { detectFormat, HEAD_BYTES, splitList } from "../../src/client/client.ts";
import type { FileFormat } from "../../src/client/client.ts";
import { toUtf8 } from "../../src/files/encodings.ts";
import { isGzip } from "../../src/files/packed-file.ts";
import { bytesOf } from "../../src/files/bytes.ts";
import type { Bytes } from "../../src/files/bytes.ts";
import type { CellFaults } from "../../src/files/cells.ts";
import { toCsv } from "../../src/files/sheet.ts";
import { fileOf, LIST_NOTE, openTable, PACKING_BYTES } from "../../src/files/table-file.ts";
import type { Table } from "../../src/files/table-file.ts";
import { unpackMembers } from "./gzip-members.ts";
import { bytesIn } from "./slices.ts";

/** A file that can be read and cut: neither packed, nor in UTF-16, nor one JSON list. */
export type OpenedFile = Readonly<{
  file: File;
  format: FileFormat;
  /** What the text of a workbook's cells does not say, by line. */
  faults: ReadonlyMap<number, CellFaults>;
  notes: readonly string[];
}>;

/** Makes CSV or NDJSON of a file that is neither. Throws a TableError or PlantStoreError. */
export async function openFile(file: File): Promise<OpenedFile> {
  const { file: text, format: known, faults, notes } = await openText(file);
  const format = known ?? detectFormat(text.name, await bytesIn(text, 0, HEAD_BYTES));
  if (format !== "list") return { file: text, format, faults, notes };
  const lines = await gather(splitList(bytesOf(text.stream())));
  return { file: new File([lines], text.name), format: "ndjson", faults, notes: [...notes, LIST_NOTE] };
}

/** What tells the encoding of a text. */
const MARK_BYTES = 4;

type TextFile = Omit<OpenedFile, "format"> & Readonly<{ format: FileFormat | undefined }>;

async function openText(file: File): Promise<TextFile> {
  const head = await bytesIn(file, 0, PACKING_BYTES);
  const table: Table | undefined = isGzip(head)
    ? { name: file.name.replace(/\.gz$/i, ""), bytes: unpackMembers(file), notes: [] }
    : await openTable(file.name, head, fileOf(file));
  const faults = new Map<number, CellFaults>();
  const isUtf8 = (await toUtf8(bytesOf(file.slice(0, MARK_BYTES).stream()))).encoding === undefined;
  if (!table && isUtf8) return { file, format: undefined, faults, notes: [] };
  if (table && "sheet" in table) {
    const csv = await gather(toCsv(table.sheet, faults));
    return { file: new File([csv], table.name), format: "csv", faults, notes: table.notes };
  }
  const text = await toUtf8(table?.bytes ?? bytesOf(file.stream()));
  const opened = new File([await gather(text.bytes)], table?.name ?? file.name);
  const read = text.encoding === undefined ? [] : [`read as ${text.encoding.toUpperCase()}`];
  return { file: opened, format: undefined, faults, notes: [...(table?.notes ?? []), ...read] };
}

/** All of it, which a browser may keep on disk. Throws what the bytes throw. */
async function gather(bytes: Bytes): Promise<Blob> {
  const pieces = bytes[Symbol.asyncIterator]();
  let failure: { thrown: unknown } | undefined;
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await pieces.next();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (thrown) {
        failure = { thrown };
        throw thrown;
      }
    },
  });
  try {
    return await new Response(stream).blob();
  } catch (thrown) {
    // The browser's own word for any stream that fails is "Failed to fetch".
    throw failure ? failure.thrown : thrown;
  }
}
