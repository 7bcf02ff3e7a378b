import { detectFormat, HEAD_BYTES, splitList } from "../../src/client/client.ts";
import type { FileFormat } from "../../src/client/client.ts";
import { toUtf8 } from "../../src/files/encodings.ts";
import type { Encoding } from "../../src/files/encodings.ts";
import { isGzip } from "../../src/files/packed-file.ts";
import { bytesOf } from "../../src/files/bytes.ts";
import type { Bytes } from "../../src/files/bytes.ts";
import type { CellFaults } from "../../src/files/cells.ts";
import { toCsv } from "../../src/files/sheet.ts";
import { fileOf, LIST_NOTE, openTable, PACKING_BYTES } from "../../src/files/table-file.ts";
import type { Table } from "../../src/files/table-file.ts";
import { unpackMembers } from "./gzip-members.ts";

/** A file that can be read and cut: neither packed, nor in UTF-16, nor one JSON list. */
export type OpenedFile = Readonly<{
  file: File;
  format: FileFormat;
  /** What the text of a workbook's cells does not say, by line. */
  faults: ReadonlyMap<number, CellFaults>;
  /** What people should know of it. */
  notes: readonly string[];
}>;

/** Makes CSV or NDJSON of a file that is neither. Throws a TableError or PlantStoreError. */
export async function openFile(file: File): Promise<OpenedFile> {
  const { file: text, format: known, faults, notes } = await openText(file);
  const format = known ?? detectFormat(text.name, await headOf(text, HEAD_BYTES));
  if (format !== "list") return { file: text, format, faults, notes };
  const lines = await gather(splitList(bytesOf(text.stream())));
  return { file: new File([lines], text.name), format: "ndjson", faults, notes: [...notes, LIST_NOTE] };
}

type TextFile = Omit<OpenedFile, "format"> & Readonly<{ format: FileFormat | undefined }>;

/** Unpacks a file, if it is packed. */
async function openText(file: File): Promise<TextFile> {
  const head = await headOf(file, PACKING_BYTES);
  const table = isGzip(head) ? openGzip(file) : await openTable(file.name, head, fileOf(file));
  const isUtf16 = (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff);
  const faults = new Map<number, CellFaults>();
  if (!table && !isUtf16) return { file, format: undefined, faults, notes: [] };
  if (table && "sheet" in table) {
    const csv = await gather(toCsv(table.sheet, faults));
    return { file: new File([csv], table.name), format: "csv", faults, notes: table.notes };
  }
  const text = await toUtf8(table?.bytes ?? bytesOf(file.stream()));
  const blob = await gather(text.bytes);
  const opened = new File([blob], table?.name ?? file.name);
  return { file: opened, format: undefined, faults, notes: [...(table?.notes ?? []), ...describe(text.encoding)] };
}

async function headOf(file: Blob, length: number): Promise<Uint8Array> {
  return new Uint8Array(await file.slice(0, length).arrayBuffer());
}

function openGzip(file: File): Table {
  return { name: file.name.replace(/\.gz$/i, ""), bytes: unpackMembers(file), notes: [] };
}

function describe(encoding: Encoding | undefined): string[] {
  return encoding === undefined ? [] : [`read as ${encoding.toUpperCase()}`];
}

/** All of it, which a browser may keep on disk. Throws what the bytes throw. */
async function gather(bytes: Bytes): Promise<Blob> {
  let failure: { thrown: unknown } | undefined;
  async function* watched(): AsyncGenerator<Uint8Array, void, void> {
    try {
      yield* bytes;
    } catch (thrown) {
      failure = { thrown };
      throw thrown;
    }
  }
  try {
    return await new Response(toStream(watched())).blob();
  } catch (thrown) {
    // The browser's own word for any stream that fails is "Failed to fetch".
    throw failure ? failure.thrown : thrown;
  }
}

function toStream(pieces: AsyncGenerator<Uint8Array, void, void>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await pieces.return();
    },
  });
}
