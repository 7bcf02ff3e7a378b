import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../../log.ts";
import { PlantStoreError } from "../../errors.ts";
import type { PlantId } from "../../plant.ts";
import type { Store } from "../store.ts";
import { readTogether } from "../together.ts";
import { createCommits } from "./commits.ts";
import { isOfMachine, toStoreError } from "./failure.ts";
import { findFilesFault } from "./files.ts";
import { createFinder } from "./finder.ts";
import type { Finder } from "./finder.ts";
import { createGuard } from "./guard.ts";
import { holdLock } from "./lock.ts";
import { createPace } from "../../pace.ts";
import { openReader } from "./reader.ts";
import { startThread } from "./thread.ts";

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

/** How often, and with what pause, files are looked at that seem wrong. */
const FILES_TRIES = 4;
const FILES_PAUSE_MS = 50;

/** Opens, or makes, the store in a file. Rejects when it cannot promise durability. */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const lock = `${options.path}.lock`;
  const wasServedHere = existsSync(lock);
  // A copy is refused before anything is made beside it.
  if (!wasServedHere) await checkFiles(options, { wasServedHere });
  const unlock = options.isServing ? holdLock(lock) : () => {};
  try {
    await checkFiles(options, { wasServedHere });
    if (!existsSync(options.path)) options.log.info("store_made", { path: options.path });
    return await openWhileLocked(options, unlock);
  } catch (reason) {
    unlock();
    throw isOfMachine(reason)
      ? new Error(`${options.path} cannot be used (${reason.message}): see whether its disk is full, read-only or fails.`, {
          cause: reason,
        })
      : reason;
  }
}

/**
 * Throws what is wrong with the files. Another process may close the store at this moment: then it is right a moment later. Where the store has been
 * served, a WAL that is missing is told and no more: SQLite takes it away itself when a start fails between two steps of a checkpoint.
 */
async function checkFiles({ path, log }: SqliteOptions, { wasServedHere }: { wasServedHere: boolean }): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const fault = findFilesFault(path);
    if (!fault) return;
    if (tries < FILES_TRIES) await sleep(FILES_PAUSE_MS);
    else if (fault.kind === "alone" && wasServedHere) return log.error("wal_missing", { path, todo: fault.message });
    else throw new Error(fault.message);
  }
}

async function openWhileLocked(options: SqliteOptions, unlock: () => void): Promise<Store> {
  const { path, isServing, queueMax, queueWaitMs, log, onFatal } = options;
  const now = () => performance.now();
  const pace = createPace(now);
  const writer = createGuard({ thread: await startThread("writer", { path, onDeath: onFatal }), log, onFatal });
  const opened: Array<() => unknown> = [() => writer.close()];
  try {
    const reader = openReader(path);
    opened.unshift(() => reader.close());
    const findTogether = readTogether({ readAll: (ids: readonly PlantId[]) => read(() => reader.findPlants(ids)), inFlightMax: 1 });
    const finder = isServing
      ? createFinder({ thread: await startThread("search", { path, onDeath: onFatal }), find: reader.findPlants, log, onFatal, now })
      : undefined;
    if (finder) opened.unshift(() => finder.close());
    // Nobody is told of a plant that an earlier process left behind before it is surely on the disk.
    if (isServing) await writer.call("rewrite");
    const commits = createCommits({ writer, finder, queueMax, queueWaitMs, now });
    return {
      name: `SQLite ${path}`,
      plants: {
        create: commits.create,
        swap: commits.swap,
        import: commits.import,
        isFull: commits.isFull,
        find: findTogether,
        async list(query) {
          if (query.words.length > 0) return need(finder).list(query);
          await pace();
          return read(() => reader.listPlants(query));
        },
        // One thread searches; all else that takes long has its own limits before it comes here.
        takesTurns: (kind) => kind === "search",
        countTags: async () => need(finder).countTags(),
      },
      tokens: {
        create: (token, hash) => writer.call("createToken", token, hash),
        revoke: (id, at, how) => writer.call("revokeToken", id, at, how),
        touch: (uses) => writer.call("touchTokens", uses),
        find: async (hash) => read(() => reader.findToken(hash)),
        list: async () => read(() => reader.listTokens()),
      },
      check: writer.check,
      async close() {
        await commits.close();
        for (const close of opened) await close();
        unlock();
      },
    };
  } catch (reason) {
    for (const close of opened) await close();
    throw reason;
  }
}

/** Only a store that is open to serve knows how to search. */
function need(finder: Finder | undefined): Finder {
  if (!finder) throw new PlantStoreError("index_building");
  return finder;
}

function read<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (thrown) {
    throw toStoreError(thrown);
  }
}
