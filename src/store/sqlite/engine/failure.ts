import { PlantStoreError } from "../../../errors.ts";

/** A failed call, in a form that can cross threads. `errcode` is SQLite's extended result code (sqlite.org/rescode.html). */
export type Failure = Readonly<{ message: string; errcode?: number }>;

/** What SQLite said when a call of the writer failed. */
export class SqliteError extends Error {
  readonly errcode: number | undefined;

  constructor({ message, errcode }: Failure) {
    super(message);
    this.name = "SqliteError";
    this.errcode = errcode;
  }
}

// The primary result codes that a sound program meets on an unsound machine.
const PERM = 3;
const BUSY = 5;
const LOCKED = 6;
const NOMEM = 7;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const PROTOCOL = 15;
const NOTADB = 26;
const UNAVAILABLE: readonly number[] = [PERM, BUSY, LOCKED, NOMEM, READONLY, IOERR, CORRUPT, CANTOPEN, PROTOCOL, NOTADB];

const IOERR_FSYNC = 1034;
const IOERR_DIR_FSYNC = 1290;

/** What a caller may know of a failure. Throws one that no machine can cause as it is: it is a bug. */
export function toStoreError(thrown: unknown): PlantStoreError {
  if (thrown instanceof PlantStoreError) return thrown;
  const errcode = thrown instanceof Error && "errcode" in thrown ? Number(thrown.errcode) : Number.NaN;
  const primary = errcode & 0xff;
  if (primary === FULL) return new PlantStoreError("store_full", { cause: thrown });
  if (UNAVAILABLE.includes(primary)) return new PlantStoreError("store_unavailable", { cause: thrown });
  throw thrown;
}

/** Whether SQLite met trouble of the machine when it opened or read a file: a full disk, say, in which it cannot share what it knows of the WAL. */
export function isOfMachine(thrown: unknown): thrown is Error & { errcode: number } {
  return thrown instanceof Error && "errcode" in thrown && [READONLY, IOERR, FULL, CANTOPEN].includes(Number(thrown.errcode) & 0xff);
}

/** After a failed fsync the kernel may have dropped the data and report success the next time: nothing can be believed any more. */
export function isSyncFailure(thrown: unknown): boolean {
  return thrown instanceof Error && "errcode" in thrown && (thrown.errcode === IOERR_FSYNC || thrown.errcode === IOERR_DIR_FSYNC);
}
