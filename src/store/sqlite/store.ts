import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { Log } from "../../runtime/log.ts";
import type { Metrics } from "../../runtime/metrics.ts";
import type { CommitTracer } from "../../tracing/commit-tracer.ts";
import type { Store } from "../store.ts";
import { openContents } from "./contents.ts";
import { translated } from "./engine/failure.ts";
import { findLastingFault, rememberFiles, sizeOfFile, toUnusable } from "./engine/files.ts";
import { createHealth } from "./engine/health.ts";
import { holdLock, isLocked } from "./engine/folder-lock.ts";
import { openReader, openSnapshot } from "./engine/reader.ts";
import { expectOurs, isCurrent, schemaVersion } from "./engine/schema.ts";
import { startThread } from "./engine/thread.ts";
import { addSqliteGauges, createSqliteMeter } from "./metrics.ts";
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
  metrics: Metrics;
  tracer?: CommitTracer | undefined;
  /** The disk cannot be trusted, or a thread has died: end the process at once, without sending any response. */
  onFatal: (reason: Error) => void;
}>;

/** Opens or creates the store in a file. Rejects when it cannot promise durability. */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const lock = `${options.path}.lock`;
  const wasServedHere = existsSync(lock);
  // Refuse a bad copy before creating any file beside it.
  if (!wasServedHere) await checkFiles(options, { wasServedHere });
  const unlock = options.isServing ? holdLock(lock) : () => {};
  if (!options.isServing) expectCurrent(options.path);
  try {
    await checkFiles(options, { wasServedHere });
    if (sizeOfFile(options.path) === 0) options.log.info("store_made", { path: options.path });
    return await openWhileLocked(options, unlock);
  } catch (reason) {
    unlock();
    throw toUnusable(options.path, reason);
  }
}

/** Throws if opening would migrate the tables under a service, which could then not start again. */
function expectCurrent(path: string): void {
  if (sizeOfFile(path) === 0 || !isLocked(`${path}.lock`)) return;
  using db = new DatabaseSync(path, { readOnly: true });
  expectOurs(db);
  // The first start of a service has a file before it has tables.
  if (schemaVersion(db) === 0 || isCurrent(db)) return;
  throw new Error("A service of an older version is using this store: run the command of that version, or upgrade the service first.");
}

/**
 * Throws what is wrong with the files. Where the store has been served before, a missing WAL is only logged: SQLite removes it when a start fails between
 * two steps of a checkpoint.
 */
async function checkFiles({ path, log }: SqliteOptions, { wasServedHere }: { wasServedHere: boolean }): Promise<void> {
  const fault = await findLastingFault(path);
  if (!fault) return;
  if (fault.kind !== "alone" || !wasServedHere) throw new Error(fault.message);
  log.error("wal_missing", { path, todo: fault.message });
}

async function openWhileLocked(options: SqliteOptions, unlock: () => void): Promise<Store> {
  const { path, isServing, queueMax, queueWaitMs, log, metrics, tracer, onFatal } = options;
  const now = () => performance.now();
  const meter = createSqliteMeter(metrics, tracer);
  // The two load their code at the same time.
  const writerThread = startThread("writer", { path, onDeath: onFatal });
  const searchThread = isServing ? startThread("search", { path, onDeath: onFatal }) : undefined;
  const opened: Array<() => unknown> = [() => searchThread?.abandon()];
  try {
    const writer = createHealth({
      thread: await writerThread.open(),
      log,
      checkpoints: meter.checkpoints,
      areFilesThere: rememberFiles(path),
      onFatal,
    });
    opened.unshift(() => writer.close());
    const reader = openReader(path);
    opened.unshift(() => reader.close());
    // Plants that an earlier process left behind must be on disk before anybody reads them. The search is opened after
    // that: while it reads, nothing can be rewritten.
    if (isServing) await writer.call("rewrite");
    const searcher =
      searchThread &&
      createSearcher({
        thread: await searchThread.open(),
        find: reader.plants.find,
        newest: reader.newestChanges,
        log,
        onFatal,
        now,
      });
    if (searcher) opened.unshift(() => searcher.close());
    const { plants, changes } = createPlants({
      writer,
      reader: reader.plants,
      takeSnapshot() {
        writer.expectFiles();
        return openSnapshot(path);
      },
      searcher,
      queueMax,
      queueWaitMs,
      meter,
      now,
    });
    addSqliteGauges(metrics, {
      path,
      countPlants: () => reader.plants.count(),
      schemaVersion: reader.schemaVersion,
      indexLagMs: searcher?.lagMs,
    });
    return {
      name: `SQLite ${path}`,
      plants,
      tokens: createTokens({ reader: reader.tokens, changes }),
      isFull: (_queue, owner) => changes.isFull(owner),
      check() {
        writer.check();
        return undefined;
      },
      contents: async () => translated(() => openContents(path, () => writer.call("countWalPages"))),
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
