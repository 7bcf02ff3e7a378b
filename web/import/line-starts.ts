import type { FileFormat } from "../../src/client/client.ts";

/** Where the lines of a file begin, in bytes. Lines are counted from 1. */
export type Lines = Readonly<{
  /** Takes the next bytes of the file. */
  see: (bytes: Uint8Array) => void;
  /** Where a line begins that was seen and not forgotten. */
  at: (line: number) => number;
  /** Lines before this one are not asked for any more. */
  forget: (line: number) => void;
}>;

const LF = 0x0a;
const CR = 0x0d;

/** Forgotten lines are let go of in as large lots. */
const LOT = 4_096;

/** NDJSON ends a line with LF, CSV also with CRLF or CR: as the service's readers count them. */
export function countLines(format: FileFormat): Lines {
  let starts = [0];
  let first = 1;
  let offset = 0;
  let isAfterCr = false;
  return {
    see(bytes) {
      for (let at = 0; at < bytes.length; at += 1) {
        const byte = bytes[at];
        if (byte === LF) {
          const start = offset + at + 1;
          if (isAfterCr) starts[starts.length - 1] = start;
          else starts.push(start);
        } else if (byte === CR && format === "csv") starts.push(offset + at + 1);
        isAfterCr = byte === CR && format === "csv";
      }
      offset += bytes.length;
    },
    at(line) {
      const start = starts[line - first];
      if (start === undefined) throw new RangeError(`line ${line} was not seen, or is forgotten`);
      return start;
    },
    forget(line) {
      const over = line - first;
      if (over < LOT) return;
      starts = starts.slice(over);
      first = line;
    },
  };
}
