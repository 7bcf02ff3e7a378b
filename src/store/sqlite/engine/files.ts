import { existsSync, readSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { findShared } from "../../../runtime/file-system.ts";
import { isOfMachine } from "./failure.ts";
import { pragma } from "./requirements.ts";
import { SCHEMA_VERSION_MAX, schemaVersion } from "./schema.ts";
import { firstPageIn, whileOpen } from "./wal.ts";

/**
 * A database in WAL mode does not record that its WAL is missing: SQLite opens it in an earlier state. So we mark it,
 * in the bits of `user_version` above the schema version. Each checkpoint copies into the database a mark that names
 * its WAL. The next commit, which is only in the WAL, clears the mark. A database without its WAL is therefore marked.
 * One with its WAL is not, nor is anything made from both: a VACUUM INTO copy, or a database into which SQLite has
 * copied the whole WAL. A stopped store is not in WAL mode.
 */
export const UNMARKED = 0;

/**
 * What is wrong with the files of a store. "alone": a database without its WAL, which can still be accepted. "gone": a
 * missing database, of which files are left. A restore can take the place of "gone" and "unfinished".
 */
export type FilesFault = Readonly<{ kind: "alone" | "foreign" | "gone" | "unfinished" | "cut" | "other"; message: string }>;

/** From SQLite's file format (sqlite.org/fileformat2.html, 1.3 and 4.1). */
const MAGIC = "SQLite format 3\0";
const HEADER_BYTES = 100;
const VERSION_AT = 60;
const WAL_HEADER_BYTES = 32;
export const PAGE_BYTES = 4096;
const WAL_MAGIC = 0x377f0682;
const MODE_OF_WAL = 2;

/** A mark is 1 plus the first salt of the WAL modulo this number. */
const MARKS = 2 ** 22;

/**
 * SQLite increments the salt each time it restarts the WAL: once after a checkpoint of ours, by the commit that clears
 * its mark. Where that commit is late, or failed, other programs may do so too, with commits and checkpoints of their
 * own.
 */
const SALT_STEPS_MAX = 1024;

/** The mark that names the current WAL of a database. */
export function walMark(path: string): number {
  const header = readStart(`${realPath(path)}-wal`, WAL_HEADER_BYTES);
  return header.length < WAL_HEADER_BYTES ? UNMARKED : 1 + (header.readUInt32BE(16) % MARKS);
}

/** Combines a schema version with a mark. UNMARKED clears the mark. */
export function markVersion(version: number, mark: number): number {
  return (version & SCHEMA_VERSION_MAX) + mark * (SCHEMA_VERSION_MAX + 1);
}

function markOf(version: number): number {
  return Math.trunc(version / (SCHEMA_VERSION_MAX + 1));
}

/** What is wrong with the files of a store, if anything. Call it before SQLite opens them, while no other process does. */
export function findFilesFault(name: string): FilesFault | undefined {
  const path = realPath(name);
  // Read the WAL first: if another process is closing the store, the WAL goes only once the database is complete.
  const wal = readStart(`${path}-wal`, WAL_HEADER_BYTES);
  const header = readStart(path, HEADER_BYTES);
  if (existsSync(unfinished(path))) return faultOf("unfinished", path);
  if (header.length === 0) return findGone(path, wal);
  if (header.length < HEADER_BYTES || header.toString("latin1", 0, MAGIC.length) !== MAGIC) return faultOf("other", path);
  if (header[18] !== MODE_OF_WAL) return wal.length > 0 ? faultOf("foreign", path) : findCut(path, header);
  const mark = markOf(header.readInt32BE(VERSION_AT));
  if (mark === UNMARKED) return undefined;
  if (wal.length === 0) return faultOf("alone", path);
  const isWal = wal.length === WAL_HEADER_BYTES && (wal.readUInt32BE(0) & ~1) === WAL_MAGIC;
  return isWal && isNext(path, { mark, steps: (1 + (wal.readUInt32BE(16) % MARKS) - mark + MARKS) % MARKS })
    ? undefined
    : faultOf("foreign", path);
}

const MESSAGES = {
  unfinished: (path: string) =>
    `${unfinished(path)} is what a restore has made so far: wait for its end. If none is running, restore again, or remove that file to start without the backup.`,
  other: (path: string) =>
    `${path} is not a database: put the right file there. A file of \`plant-store backup\` goes in with \`plant-store restore\`, into an empty folder.`,
  alone: (path: string) =>
    `${path} was copied without ${basename(path)}-wal, which holds the newest changes: stop the store and copy both. If that file is lost, \`plant-store check --without-wal\` accepts the database as it is.`,
  foreign: (path: string, name = basename(path)) =>
    `${path}-wal does not belong to the ${name} beside it and would damage it: restore the ${name} that it was made with, or move ${name}-wal away.`,
} as const;

function faultOf(kind: keyof typeof MESSAGES, path: string): FilesFault {
  return { kind, message: MESSAGES[kind](path) };
}

/** Whether a WAL belongs to a marked database so many steps behind: what clears a mark changes only version and counts of page 1. */
function isNext(path: string, { mark, steps }: { mark: number; steps: number }): boolean {
  if (steps <= 1) return true;
  const pageBytes = pageBytesOf(path);
  const first = firstPageIn(`${path}-wal`, pageBytes);
  const firstMark = first && markOf(first.readInt32BE(VERSION_AT));
  // A new WAL, of a store that was stopped or lost its WAL with this mark, may have any salt.
  if (firstMark === mark) return true;
  if (steps > SALT_STEPS_MAX) return false;
  return firstMark !== UNMARKED || withoutCounts(first!).equals(withoutCounts(readStart(path, pageBytes)));
}

/** The first page of a database without its version, and what SQLite may change with each commit. */
function withoutCounts(page: Buffer): Buffer {
  return Buffer.concat([
    page.subarray(0, 24),
    page.subarray(28, VERSION_AT),
    page.subarray(VERSION_AT + 4, 92),
    page.subarray(HEADER_BYTES),
  ]);
}

/** How often files that seem wrong are looked at, and the pause between, in milliseconds. */
const TRIES = 4;
const PAUSE_MS = 50;

/** The same while another process may be closing the store: looks more than once. */
export async function findLastingFault(name: string): Promise<FilesFault | undefined> {
  for (let tries = 1; ; tries += 1) {
    const fault = findFilesFault(name);
    if (!fault || tries === TRIES) return fault;
    await sleep(PAUSE_MS);
  }
}

/** Remembers the files of an open store. Returns whether their names lead to the same ones, as far as can be seen. */
export function rememberFiles(name: string): () => boolean {
  const files = [name, `${realPath(name)}-wal`].map((file) => ({ file, identity: identify(file) }));
  return () => {
    try {
      return files.every(({ file, identity }) => identify(file) === identity);
    } catch {
      return true;
    }
  };
}

/** Undefined if there is no such file. */
function identify(file: string): string | undefined {
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stat && `${stat.dev}:${stat.ino}`;
}

/** Throws when there is no store, so that a mistyped folder does not become one. */
export function expectSqliteStore(path: string): void {
  if (readStart(path, 1).length > 0) return;
  throw new Error(findFilesFault(path)?.message ?? `There is no store in ${dirname(path)}: name its folder with --data.`);
}

/** Accepts a database without its WAL as complete. Throws when it is damaged. */
export function takeAlone(path: string): void {
  using db = new DatabaseSync(path);
  if (pragma(db, "PRAGMA quick_check(1)") !== "ok") throw new Error(`${path} is damaged without its WAL: restore a backup.`);
  db.exec(`PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL; PRAGMA user_version = ${schemaVersion(db)}`);
}

/** SQLite's limit of a path, without what it adds for a journal (MAX_PATHNAME in os_unix.c). */
const PATH_BYTES_MAX = 504;

/** What to do about a file that SQLite cannot use because of the machine. Another failure stays as it is. */
export function toUnusable(path: string, cause: unknown): unknown {
  if (!isOfMachine(cause)) return cause;
  const shared = findShared(dirname(path));
  const why =
    Buffer.byteLength(realPath(path)) > PATH_BYTES_MAX
      ? "its path is too long for SQLite: choose a folder with a shorter one with --data"
      : `check whether its disk is full, read-only or failing${shared === undefined ? "" : `, or choose a folder on a disk of this machine with --data: SQLite may not be able to use this file system (${shared})`}`;
  return new Error(`${path} cannot be used (${cause.message}): ${why}.`, { cause });
}

/** The name of a database that a restore has not completed. */
export function unfinished(path: string): string {
  return `${path}.restoring`;
}

/** How many bytes a page of a database has. Its header may be wrong: then as many as those that we make. */
export function pageBytesOf(path: string): number {
  const header = readStart(path, HEADER_BYTES);
  const bytes = header.length < HEADER_BYTES ? PAGE_BYTES : pageBytesIn(header);
  return bytes >= 512 && Number.isInteger(Math.log2(bytes)) ? bytes : PAGE_BYTES;
}

function pageBytesIn(header: Buffer): number {
  return header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16);
}

/** A database that is not in WAL mode has all pages that its header counts, if the header is valid (1.3.7). */
function findCut(path: string, header: Buffer): FilesFault | undefined {
  const bytes = header.readUInt32BE(28) * pageBytesIn(header);
  const isValid = header.readUInt32BE(24) === header.readUInt32BE(92);
  if (!isValid || statSync(path).size >= bytes) return undefined;
  const message = `${path} has ${statSync(path).size} of its ${bytes} bytes: it was copied in part. Copy it again, or restore a backup.`;
  return { kind: "cut", message };
}

/** A missing or empty database is a new one, unless a file beside it shows that there was a store. */
function findGone(path: string, wal: Uint8Array): FilesFault | undefined {
  const others = [`${path}.search`, join(dirname(path), "first-token"), join(dirname(path), "last-backup")].filter((one) =>
    existsSync(one),
  );
  const signs = [...(wal.length > 0 ? [`${path}-wal`] : []), ...others].map((one) => basename(one));
  if (signs.length === 0) return undefined;
  const message = `${path} is missing or empty, but beside it there is ${signs.join(", ")} of a store: restore the database, or remove ${signs.length === 1 ? "that file" : "those files"} too to start with an empty store.`;
  return { kind: "gone", message };
}

/** A link's WAL is beside the file that the link leads to. */
export function realPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}

/** In bytes; 0 when there is no such file. */
export function sizeOfFile(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** The first bytes of a file; empty when there is no such file. */
function readStart(path: string, bytes: number): Buffer {
  if (!statSync(path, { throwIfNoEntry: false })) return Buffer.alloc(0);
  const start = Buffer.alloc(bytes);
  const length = whileOpen(path, (file) => readSync(file, start, 0, bytes, 0));
  return start.subarray(0, length);
}
