import { createReadStream, openAsBlob, statSync } from "node:fs";
import type { Bytes } from "../files/bytes.ts";
import { gunzip } from "../files/gunzip.ts";
import { openFile } from "../files/open-file.ts";
import type { FileFormat, FileSource } from "../files/read-file.ts";
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

type OpenOptions = Readonly<{
  /** Undefined if the name and the first bytes show it. */
  format: FileFormat | undefined;
  progress: Progress;
}>;

/** Unpacks what is packed, and finds its format. Throws a TableError. */
export async function openSource({ file, name, size }: Source, { format, progress }: OpenOptions): Promise<FileSource> {
  const bytes = counted(file === STDIN ? process.stdin : createReadStream(file), progress);
  const whole = async (all: Bytes) => (size === undefined ? new Blob((await Array.fromAsync(all)).map(Buffer.from)) : openAsBlob(file));
  return openFile({ name, format, bytes, whole, gunzip });
}
