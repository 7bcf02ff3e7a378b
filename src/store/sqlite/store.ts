import { existsSync } from "node:fs";
import { createPace } from "../../runtime/event-loop.ts";
import { ThreadPriority } from "../../runtime/thread-priority.ts";
import { noHistory } from "../history.ts";
import type { OpenOptions, Store } from "../store.ts";
import { openContents } from "./contents.ts";
import { translated } from "./engine/failure.ts";
import { findLastingFault, rememberFiles, sizeOfFile, toUnusable } from "./engine/files.ts";
import { Health } from "./engine/health.ts";
import { holdLock } from "./engine/folder-lock.ts";
import { expectCurrent } from "./engine/in-use.ts";
import { openReader, openSnapshot } from "./engine/reader.ts";
import type { Reader } from "./engine/reader.ts";
import { StartedThread } from "./engine/thread.ts";
import { createHistory } from "./history.ts";
import { addSqliteGauges, createSqliteMeter } from "./metrics.ts";
import type { SqliteMeter } from "./metrics.ts";
import { createPlants } from "./plants.ts";
import { NOTHING_INDEXED } from "./search/changes.ts";
import { Searcher } from "./search/searcher.ts";
import { startRetention } from "./retention.ts";
import { createTokens } from "./tokens.ts";

/** `isServing`: refuse to open when another process serves this file. */
type SqliteOptions = OpenOptions &
  Readonly<{
    path: string;
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

/** Throws what is wrong with the files. A missing WAL is only logged where a service ran: a failed start may have removed it. */
async function checkFiles({ path, log }: SqliteOptions, { wasServedHere }: { wasServedHere: boolean }): Promise<void> {
  const fault = await findLastingFault(path);
  if (!fault) return;
  if (fault.kind !== "alone" || !wasServedHere) throw new Error(fault.message);
  log.error("wal_missing", { path, todo: fault.message });
}

async function openWhileLocked(options: SqliteOptions, unlock: () => void): Promise<Store> {
  const { path, isServing, metrics, tracer, onFatal } = options;
  const now = () => performance.now();
  const meter = createSqliteMeter(metrics, tracer);
  // The two load their code at the same time.
  const writerThread = new StartedThread("writer", { path, onDeath: onFatal });
  const searchThread = isServing ? new StartedThread("search", { path, onDeath: onFatal }) : undefined;
  const opened: Array<() => unknown> = [() => searchThread?.abandon()];
  async function closeAll(): Promise<void> {
    for (const close of opened) await close();
  }
  try {
    const thread = await writerThread.open();
    await thread.call("keepChanges", options.changesDays);
    const writer = new Health({ ...options, thread, checkpoints: meter.checkpoints, areFilesThere: rememberFiles(path) });
    let indexed: number = NOTHING_INDEXED;
    opened.unshift(() => writer.close(indexed));
    const reader = openReader(path);
    opened.unshift(() => reader.close());
    // Plants that an earlier process left behind must be on disk before anyone reads them. The search is opened after
    // that: while it reads, nothing can be rewritten.
    if (isServing) await writer.call("rewrite");
    const searching = await searchThread?.open();
    const searcher =
      searching &&
      new Searcher({
        ...options,
        thread: searching,
        priority: new ThreadPriority(await searching.call("threadId")),
        find: reader.plants.find,
        newest: reader.newestChanges,
        now,
      });
    if (searcher) opened.unshift(async () => (indexed = await searcher.close()));
    const store = assemble(options, { writer, reader, searcher, meter, now });
    return {
      ...store,
      async close() {
        await store.close();
        await closeAll();
        unlock();
      },
    };
  } catch (reason) {
    await closeAll();
    throw reason;
  }
}

type Opened = Readonly<{ writer: Health; reader: Reader; searcher: Searcher | undefined; meter: SqliteMeter; now: () => number }>;

/** Makes a store of what is open, and leaves that to the caller to close. */
function assemble(options: SqliteOptions, { writer, reader, searcher, meter, now }: Opened): Store {
  const { path, changesDays, queueMax, queueWaitMs, metrics } = options;
  const pace = createPace(now);
  const { plants, commits } = createPlants({
    writer,
    reader: reader.plants,
    pace,
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
  addSqliteGauges(metrics, { path, reader, index: searcher?.index });
  const endRetention = searcher ? startRetention({ commits, index: searcher.index, onFatal: options.onFatal }) : () => {};
  return {
    name: `SQLite ${path}`,
    plants,
    history: changesDays === 0 ? noHistory("changes_off") : createHistory({ reader, searcher, pace, watch: commits.watch, now }),
    tokens: createTokens({ reader: reader.tokens, changes: commits.group }),
    isFull: (_queue, owner) => commits.group.isFull(owner),
    check() {
      writer.check();
      return undefined;
    },
    contents: async () => translated(() => openContents(path, () => writer.call("countWalPages"))),
    async close() {
      endRetention();
      await commits.close();
    },
  };
}
