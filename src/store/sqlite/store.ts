import { PlantStoreError } from "../../errors.ts";
import type { Log } from "../../log.ts";
import type { NewPlant } from "../../plant.ts";
import { createGroupCommit } from "../batch.ts";
import type { Outcome } from "../batch.ts";
import type { Store } from "../store.ts";
import { holdLock } from "./lock.ts";
import { openReader } from "./reader.ts";
import { SqliteError, startWriterThread } from "./thread.ts";
import { OUTCOMES } from "./writer.ts";
import type { PlantColumns, Writer } from "./writer.ts";

type SqliteOptions = Readonly<{
  path: string;
  /** Refuse to open when another process serves this file. A command that only looks after tokens does not mind. */
  isServing: boolean;
  queueMax: number;
  queueWaitMs: number;
  log: Log;
  /** The disk can no longer be trusted, or the writer is gone: end the process at once, answering nobody. */
  onFatal: (reason: Error) => void;
}>;

/** How often a store in trouble tries whether it can write again, in milliseconds. */
const PROBE_MS = 500;

/** Opens, or makes, the store in a file. Rejects when it cannot promise durability. */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const { path, isServing, queueMax, queueWaitMs, log, onFatal } = options;
  const unlock = isServing ? holdLock(`${path}.lock`) : () => {};
  const thread = await startWriterThread(path, onFatal);
  const reader = openReader(path);
  let trouble: PlantStoreError | undefined;
  let probing: ReturnType<typeof setTimeout> | undefined;

  /** Calls the writer, keeps `trouble` true to what is known, and ends everything when a sync failed. */
  async function write<Name extends keyof Writer>(method: Name, ...args: Parameters<Writer[Name]>): Promise<ReturnType<Writer[Name]>> {
    try {
      const result = await thread.call(method, ...args);
      if (trouble) log.info("store_healed");
      trouble = undefined;
      return result;
    } catch (thrown) {
      const error = toStoreError(thrown);
      if (!trouble) log.error("store_trouble", { reason: thrown });
      if (isSyncFailure(thrown)) onFatal(error);
      trouble = error;
      probing ??= setTimeout(probe, PROBE_MS).unref();
      throw error;
    }
  }

  function probe(): void {
    probing = undefined;
    // A failure starts the next probe and is told by check().
    void write("probe").catch(() => {});
  }

  async function commit(plants: readonly NewPlant[]): Promise<Outcome[]> {
    const { outcomes, isCheckpointDue } = await write("createPlants", toColumns(plants));
    // A failure is told by check(); nobody has to wait for it.
    if (isCheckpointDue) void write("checkpoint").catch(() => {});
    return Array.from(outcomes, (outcome) => OUTCOMES[outcome]!);
  }

  const creates = createGroupCommit({ commit, queueMax, waitMs: queueWaitMs, now: () => performance.now() });

  return {
    name: `SQLite ${path}`,
    plants: {
      create: creates.create,
      find: async (id) => read(() => reader.findPlant(id)),
    },
    tokens: {
      create: (token, hash) => write("createToken", token, hash),
      revoke: (id, at) => write("revokeToken", id, at),
      find: async (hash) => read(() => reader.findToken(hash)),
      list: async () => read(() => reader.listTokens()),
    },
    check() {
      if (trouble) throw trouble;
    },
    async close() {
      await creates.close();
      clearTimeout(probing);
      reader.close();
      await thread.call("close");
      unlock();
    },
  };
}

function toColumns(plants: readonly NewPlant[]): PlantColumns {
  const ids = new BigInt64Array(plants.length);
  for (const [at, { id }] of plants.entries()) ids[at] = id;
  return { ids, names: plants.map(({ name }) => name), tags: plants.map(({ tag }) => tag ?? null) };
}

function read<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (thrown) {
    throw toStoreError(thrown);
  }
}

// The primary result codes (sqlite.org/rescode.html) that a sound program meets on an unsound machine.
const SQLITE_FULL = 13;
const OUTSIDE_TROUBLE = new Set([
  5 /* BUSY */, 6 /* LOCKED */, 7 /* NOMEM */, 8 /* READONLY */, 10 /* IOERR */, 11 /* CORRUPT */, 14 /* CANTOPEN */, 26 /* NOTADB */,
]);
const SQLITE_IOERR_FSYNC = 1034;
const SQLITE_IOERR_DIR_FSYNC = 1290;

/** After a failed fsync the kernel may have dropped the data and report success the next time: nothing can be believed any more. */
function isSyncFailure(thrown: unknown): boolean {
  return thrown instanceof SqliteError && (thrown.errcode === SQLITE_IOERR_FSYNC || thrown.errcode === SQLITE_IOERR_DIR_FSYNC);
}

/** What a caller may know of a failure. A code that no machine can cause is a bug and stays what it is. */
function toStoreError(thrown: unknown): PlantStoreError {
  if (thrown instanceof PlantStoreError) return thrown;
  const errcode = thrown instanceof Error && "errcode" in thrown ? Number(thrown.errcode) : Number.NaN;
  const primary = errcode & 0xff;
  if (primary === SQLITE_FULL) return new PlantStoreError("store_full", { cause: thrown });
  if (OUTSIDE_TROUBLE.has(primary)) return new PlantStoreError("store_unavailable", { cause: thrown });
  throw thrown;
}
