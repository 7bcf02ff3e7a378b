import { toUtf8 } from "../../src/transfer/encodings.ts";
import type { Bytes, Encoding } from "../../src/transfer/row.ts";
import { fileOf, openTable, PACKING_BYTES } from "../../src/transfer/table-file.ts";
import { bytesOf } from "../../src/transfer/zip.ts";

/** A file that can be read and cut: CSV or NDJSON, neither packed nor in UTF-16. */
export type OpenedFile = Readonly<{
  file: File;
  /** What people should know of it. */
  notes: readonly string[];
}>;

/** Unpacks a file, if it is packed. Throws a TableError or PlantStoreError. */
export async function openFile(file: File): Promise<OpenedFile> {
  const head = new Uint8Array(await file.slice(0, PACKING_BYTES).arrayBuffer());
  const table = await openTable(file.name, head, fileOf(file));
  const isUtf16 = (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff);
  if (!table && !isUtf16) return { file, notes: [] };
  const text = await toUtf8(table?.bytes ?? bytesOf(file.stream()));
  const blob = await new Response(toStream(text.bytes)).blob();
  return { file: new File([blob], table?.name ?? file.name), notes: [...(table?.notes ?? []), ...describe(text.encoding)] };
}

function describe(encoding: Encoding | undefined): string[] {
  return encoding === undefined ? [] : [`read as ${encoding.toUpperCase()}`];
}

function toStream(bytes: Bytes): ReadableStream<Uint8Array> {
  const pieces = bytes[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await pieces.return?.();
    },
  });
}
