import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../../log.ts";
import type { Store } from "../store.ts";
import { isOfMachine } from "./engine/failure.ts";
import { findFilesFault } from "./engine/files.ts";
import { createHealth } from "./engine/health.ts";
import { holdLock } from "./engine/lock.ts";
import { openReader, openSnapshot } from "./engine/reader.ts";
import { startThread } from "./engine/thread.ts";
import { createPlants } from "./plants.ts";
import { createSearcher } from "./search/searcher.ts";
import { createTokens } from "./tokens.ts";

type SqliteOptions = Readonly<{
  path: string;
  /** Refuse to open when another process serves this file. Commands that only manage tokens do not need this. */
  isServing: boolean;
  queueMax: number;
  queueWaitMs: number;
  log: Log;
  /** The disk cannot be trusted, or a thread has died: end the process at once, without sending any response. */
  onFatal: (reason: Error) => void;
}>;

/** How often files that seem wrong are checked, and the pause between checks. */
const FILES_TRIES = 4;
const FILES_PAUSE_MS = 50;

/** Opens or creates the store in a file. Rejects when it cannot promise durability. */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const lock = `${options.path}.lock`;
  const wasServedHere = existsSync(lock);
  // Refuse a bad copy before creating any file beside it.
  if (!wasServedHere) await checkFiles(options, { wasServedHere });
  const unlock = options.isServing ? holdLock(lock) : () => {};
  try {
    await checkFiles(options, { wasServedHere });
    if (!existsSync(options.path)) options.log.info("store_made", { path: options.path });
    return await openWhileLocked(options, unlock);
  } catch (reason) {
    unlock();
    throw isOfMachine(reason)
      ? new Error(`${options.path} cannot be used (${reason.message}): check whether its disk is full, read-only or failing.`, {
          cause: reason,
        })
      : reason;
  }
}

/**
 * Throws what is wrong with the files. Another process may be closing the store right now, so it checks more than once.
 * Where the store has been served before, a missing WAL is only logged: SQLite removes it when a start fails between
 * two steps of a checkpoint.
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
  // The two load their code at the same time.
  const writerThread = startThread("writer", { path, onDeath: onFatal });
  const searchThread = isServing ? startThread("search", { path, onDeath: onFatal }) : undefined;
  const opened: Array<() => unknown> = [() => searchThread?.abandon()];
  try {
    const writer = createHealth({ thread: await writerThread.open(), log, onFatal });
    opened.unshift(() => writer.close());
    const reader = openReader(path);
    opened.unshift(() => reader.close());
    // Plants that an earlier process left behind must be on disk before anybody reads them. The search is opened after
    // that: while it reads, nothing can be rewritten.
    if (isServing) await writer.call("rewrite");
    const searcher = searchThread && createSearcher({ thread: await searchThread.open(), find: reader.plants.find, log, onFatal, now });
    if (searcher) opened.unshift(() => searcher.close());
    const { plants, changes } = createPlants({
      writer,
      reader: reader.plants,
      takeSnapshot: () => openSnapshot(path),
      searcher,
      queueMax,
      queueWaitMs,
      now,
    });
    return {
      name: `SQLite ${path}`,
      plants,
      tokens: createTokens({ reader: reader.tokens, changes }),
      isFull: (_queue, owner) => changes.isFull(owner),
      check: writer.check,
      async close() {
        await changes.close();
        for (const close of opened) await close();
        unlock();
      },
    };
  } catch (reason) {
    for (const close of opened) await close();
    throw reason;
  }
}
