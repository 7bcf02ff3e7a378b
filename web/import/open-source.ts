import { bytesOf } from "../../src/files/bytes.ts";
import type { Bytes } from "../../src/files/bytes.ts";
import { openFile } from "../../src/files/open-file.ts";
import type { FileSource } from "../../src/files/read-file.ts";
import { unpackMembers } from "./gzip-members.ts";

/** Opens a file to be read once. `onBytes` hears how much of it was taken, of a text that is not packed. Throws a TableError. */
export function openSource(file: File, onBytes?: (bytes: number) => void): Promise<FileSource> {
  async function* bytes(): Bytes {
    let taken = 0;
    for await (const piece of bytesOf(file.stream())) {
      yield piece;
      onBytes?.((taken += piece.length));
    }
  }
  return openFile({ name: file.name, bytes: bytes(), whole: () => Promise.resolve(file), gunzip: () => unpackMembers(file) });
}
