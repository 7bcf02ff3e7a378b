import { createReadStream, openAsBlob, statSync } from "node:fs";
import { detectFormat, HEAD_BYTES, splitList } from "../client/client.ts";
import { bytesOf, readAhead } from "../files/bytes.ts";
import type { Bytes } from "../files/bytes.ts";
import { gunzip } from "../files/gunzip.ts";
import type { FileFormat, RowSource } from "../files/import.ts";
import { isGzip } from "../files/packed-file.ts";
import { LIST_NOTE, openTable, PACKING_BYTES } from "../files/table-file.ts";
import { counted } from "./progress.ts";
import type { Progress } from "./progress.ts";

/** What to read, and its size if known: a pipe has none. */
export type Source = Readonly<{ file: string; name: string; size: number | undefined }>;

export const STDIN = "-";

/** Throws when there is no such file. */
export function toSource(file: string): Source {
  if (file === STDIN) return { file, name: "stdin", size: undefined };
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats) throw new Error(`There is no file ${file}: check its name.`);
  if (stats.isDirectory()) throw new Error(`${file} is a folder: name the files in it.`);
  return { file, name: file, size: stats.isFile() ? stats.size : undefined };
}

/** What is imported of a file, and what people should know of it. `packed`: the same as gzip, if it came as that. */
type OpenedSource = Readonly<{ source: RowSource; packed?: Blob | undefined; notes: readonly string[] }>;

type OpenOptions = Readonly<{
  /** Undefined if the name and the first bytes show it. */
  format: FileFormat | undefined;
  progress: Progress;
}>;

/** Unpacks what is packed, and finds its format. Throws a TableError. */
export async function openSource(from: Source, { format, progress }: OpenOptions): Promise<OpenedSource> {
  const { notes, ...text } = await unpack(from, progress);
  if ("sheet" in text) return { source: { format: "sheet", sheet: text.sheet }, notes };
  const { name, head, bytes, packed } = text;
  const found = format ?? detectFormat(name, head);
  if (found === "list") return { source: { format: "ndjson", bytes: splitList(bytes) }, notes: [...notes, LIST_NOTE] };
  const isLong = found === "ndjson" && /^\s*\{\s*\n/.test(new TextDecoder().decode(head));
  return { source: { format: found, bytes }, packed, notes: isLong ? [...notes, OBJECT_NOTE] : notes };
}

const OBJECT_NOTE =
  "it begins with an object over several lines: `jq .plants` takes a list of that name out of it, `jq --compact-output .` writes objects on one line each";

/** So many bytes of gzip show the beginning of what is in it. */
const PACKED_HEAD_BYTES = 64 * 1024;

async function unpack({ file, name, size }: Source, progress: Progress) {
  const packed = size === undefined ? undefined : await openAsBlob(file);
  const unpackedName = name.replace(/\.gz$/i, "");
  if (packed && isGzip(new Uint8Array(await packed.slice(0, PACKING_BYTES).arrayBuffer()))) {
    const { head } = await peek(gunzip(bytesOf(packed.slice(0, PACKED_HEAD_BYTES).stream())));
    return { head, bytes: gunzip(counted(bytesOf(packed.stream()), progress)), packed, name: unpackedName, notes: [] };
  }
  const plain = await peek(counted(file === STDIN ? process.stdin : createReadStream(file), progress));
  if (isGzip(plain.head)) return { ...(await peek(gunzip(plain.bytes))), name: unpackedName, notes: [] };
  const whole = () => (packed ? Promise.resolve(packed) : Array.fromAsync(plain.bytes).then((pieces) => new Blob(pieces)));
  const table = await openTable(name, plain.head, { bytes: plain.bytes, whole });
  if (!table) return { ...plain, name, notes: [] };
  return "sheet" in table ? table : { ...table, ...(await peek(table.bytes)) };
}

/** Reads at least HEAD_BYTES ahead, if there are as many: a pipe may deliver them one at a time. `bytes` still yields everything. */
async function peek(source: Bytes): Promise<{ head: Uint8Array; bytes: Bytes; packed?: undefined }> {
  const { start, all } = await readAhead(source, (_, length) => length >= HEAD_BYTES);
  return { head: start, bytes: all() };
}
