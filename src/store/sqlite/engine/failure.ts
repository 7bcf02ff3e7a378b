import { PlantStoreError } from "../../../domain/errors.ts";

/** A failed call, as it crosses threads. `errcode` is SQLite's extended result code (sqlite.org/rescode.html). */
export type Failure = Readonly<{ message: string; errcode?: number }>;

/** An error that SQLite reported in a Worker. */
export class SqliteError extends Error {
  readonly errcode: number | undefined;

  constructor({ message, errcode }: Failure) {
    super(message);
    this.name = "SqliteError";
    this.errcode = errcode;
  }
}

// Primary result codes that a failing machine can cause: they are not bugs of this program.
const OK = 0;
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

/** Maps a failure to an error that a caller may see. Rethrows what no machine can cause: that is a bug. */
export function toStoreError(thrown: unknown): PlantStoreError {
  if (thrown instanceof PlantStoreError) return thrown;
  const primary = isSqliteFailure(thrown) ? thrown.errcode & 0xff : OK;
  if (primary === FULL) return new PlantStoreError("store_full", { cause: thrown });
  if (UNAVAILABLE.includes(primary)) return new PlantStoreError("store_unavailable", { cause: thrown });
  throw thrown;
}

/** Does something with SQLite. Throws what a caller may know of a failure. */
export function translated<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (thrown) {
    throw toStoreError(thrown);
  }
}

/** Whether the machine kept SQLite from a file. On a full disk it cannot even create the shared memory of the WAL. */
export function isOfMachine(thrown: unknown): thrown is Error & { errcode: number } {
  return isSqliteFailure(thrown) && [READONLY, IOERR, FULL, CANTOPEN].includes(thrown.errcode & 0xff);
}

const ERROR = 1;
const IOERR_READ = 266;
const IOERR_SHORT_READ = 522;
/** What SQLite makes of an EIO when it reads. */
const IOERR_CORRUPTFS = 8458;

export function isSqliteFailure(thrown: unknown): thrown is Error & { errcode: number } {
  return thrown instanceof Error && "errcode" in thrown && typeof thrown.errcode === "number";
}

/** Whether SQLite has read what is no whole database. */
export function isCorrupt(thrown: unknown): boolean {
  return isSqliteFailure(thrown) && [CORRUPT, NOTADB].includes(thrown.errcode & 0xff);
}

/** The same, or the disk cannot read it. */
export function isDamage(thrown: unknown): boolean {
  return isCorrupt(thrown) || (isSqliteFailure(thrown) && [IOERR_READ, IOERR_SHORT_READ, IOERR_CORRUPTFS].includes(thrown.errcode));
}

/** Whether another connection holds what a statement needs. */
export function isBusy(thrown: unknown): boolean {
  return isSqliteFailure(thrown) && (thrown.errcode & 0xff) === BUSY;
}

/** Whether a statement names what is not there. */
export function isSqlError(thrown: unknown): boolean {
  return isSqliteFailure(thrown) && (thrown.errcode & 0xff) === ERROR;
}

/**
 * After a failed fsync the kernel may drop the data and report success the next time, so no later sync can be trusted.
 */
export function isSyncFailure(thrown: unknown): boolean {
  return isSqliteFailure(thrown) && [IOERR_FSYNC, IOERR_DIR_FSYNC].includes(thrown.errcode);
}

/** After such a failure no response can be trusted. `onFatal` ends the process at once, without sending any. */
export function endIfSyncFailed(thrown: unknown, onFatal: (reason: Error) => void): void {
  if (isSyncFailure(thrown)) onFatal(toStoreError(thrown));
}
