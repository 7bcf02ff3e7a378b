import { createReadStream, openAsBlob, statSync } from "node:fs";
import { HEAD_BYTES } from "../client/client.ts";
import { gunzip } from "../files/gunzip.ts";
import { readAhead } from "../files/bytes.ts";
import { bytesOf } from "../files/bytes.ts";
import type { Bytes } from "../files/bytes.ts";
import type { SheetRows } from "../files/sheet.ts";
import { isGzip } from "../files/packed-file.ts";
import { openTable, PACKING_BYTES } from "../files/table-file.ts";
import { counted } from "./progress.ts";
import type { Progress } from "./progress.ts";

/** What to read, and its size if known: a pipe has none. */
export type Source = Readonly<{ file: string; name: string; size: number | undefined }>;

/** The name of standard input among files. */
export const STDIN = "-";

/** Throws when there is no such file. */
export function toSource(file: string): Source {
  if (file === STDIN) return { file, name: "stdin", size: undefined };
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats) throw new Error(`There is no file ${file}: check its name.`);
  if (stats.isDirectory()) throw new Error(`${file} is a folder: name the files in it.`);
  return { file, name: file, size: stats.isFile() ? stats.size : undefined };
}

/** A table, unpacked: a sheet, or the beginning and all of a file, and its name. `packed`: the same as gzip, if it came as that. */
export type OpenedSource = Readonly<{ notes: readonly string[] }> &
  (Readonly<{ sheet: SheetRows }> | Readonly<{ head: Uint8Array; bytes: Bytes; packed?: Blob; table: string }>);

/** So many bytes of gzip show the beginning of what is in it. */
const PACKED_HEAD_BYTES = 64 * 1024;

/** Unpacks what is packed. Throws a TableError. */
export async function openSource({ file, name, size }: Source, progress: Progress): Promise<OpenedSource> {
  const packed = size === undefined ? undefined : await openAsBlob(file);
  if (packed && isGzip(new Uint8Array(await packed.slice(0, PACKING_BYTES).arrayBuffer()))) {
    const { head } = await peek(gunzip(bytesOf(packed.slice(0, PACKED_HEAD_BYTES).stream())));
    return { head, bytes: gunzip(counted(bytesOf(packed.stream()), progress)), packed, table: name.replace(/\.gz$/i, ""), notes: [] };
  }
  const plain = await peek(counted(file === STDIN ? process.stdin : createReadStream(file), progress));
  if (isGzip(plain.head)) return { ...(await peek(gunzip(plain.bytes))), table: name.replace(/\.gz$/i, ""), notes: [] };
  const whole = () => (packed ? Promise.resolve(packed) : Array.fromAsync(plain.bytes).then((pieces) => new Blob(pieces)));
  const table = await openTable(name, plain.head, { bytes: plain.bytes, whole });
  if (!table) return { ...plain, table: name, notes: [] };
  return "sheet" in table ? table : { ...(await peek(table.bytes)), table: table.name, notes: table.notes };
}

/** Reads at least HEAD_BYTES ahead, if there are as many: a pipe may deliver them one at a time. `bytes` still yields everything. */
async function peek(source: Bytes): Promise<{ head: Uint8Array; bytes: Bytes }> {
  const { start, all } = await readAhead(source, (_, length) => length >= HEAD_BYTES);
  return { head: start, bytes: all() };
}
