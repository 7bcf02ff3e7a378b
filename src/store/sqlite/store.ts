import type { Log } from "../../log.ts";
import type { NewPlant } from "../../plant.ts";
import { createGroupCommit } from "../batch.ts";
import type { Outcome } from "../batch.ts";
import type { Store } from "../store.ts";
import { toStoreError } from "./failure.ts";
import { createGuard } from "./guard.ts";
import type { Guard } from "./guard.ts";
import { holdLock } from "./lock.ts";
import { openReader } from "./reader.ts";
import type { Reader } from "./reader.ts";
import { startWriterThread } from "./thread.ts";
import { OUTCOMES } from "./writer.ts";
import type { PlantColumns } from "./writer.ts";

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

/** Opens, or makes, the store in a file. Rejects when it cannot promise durability. */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const unlock = options.isServing ? holdLock(`${options.path}.lock`) : () => {};
  try {
    return await openWhileLocked(options, unlock);
  } catch (reason) {
    unlock();
    throw reason;
  }
}

async function openWhileLocked(options: SqliteOptions, unlock: () => void): Promise<Store> {
  const { path, isServing, queueMax, queueWaitMs, log, onFatal } = options;
  const writer = createGuard({ thread: await startWriterThread(path, onFatal), log, onFatal });
  const reader = await openReaderOrClose(path, writer);
  try {
    // Nobody is told of a plant that an earlier process left behind before it is surely on the disk.
    if (isServing) await writer.call("rewrite");
  } catch (reason) {
    reader.close();
    await writer.call("close");
    throw reason;
  }

  async function commit(plants: readonly NewPlant[]): Promise<Outcome[]> {
    const { outcomes, isCheckpointDue } = await writer.call("createPlants", toColumns(plants));
    if (isCheckpointDue) writer.checkpoint();
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
      create: (token, hash) => writer.call("createToken", token, hash),
      revoke: (id, at) => writer.call("revokeToken", id, at),
      find: async (hash) => read(() => reader.findToken(hash)),
      list: async () => read(() => reader.listTokens()),
    },
    check: writer.check,
    async close() {
      await creates.close();
      writer.close();
      reader.close();
      await writer.call("close");
      unlock();
    },
  };
}

async function openReaderOrClose(path: string, writer: Guard): Promise<Reader> {
  try {
    return openReader(path);
  } catch (reason) {
    await writer.call("close");
    throw reason;
  }
}

function toColumns(plants: readonly NewPlant[]): PlantColumns {
  const ids = new BigInt64Array(plants.length);
  for (let at = 0; at < plants.length; at += 1) ids[at] = plants[at]!.id;
  return { ids, names: plants.map(({ name }) => name), tags: plants.map(({ tag }) => tag ?? null) };
}

function read<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (thrown) {
    throw toStoreError(thrown);
  }
}
