import { hashFirstToken } from "../auth/first-token.ts";
import type { Config } from "./config.ts";
import { expectAccess, firstTokenFile, makeFolder } from "../runtime/data-folder.ts";
import type { PlantId } from "../domain/plant.ts";
import type { Log } from "../runtime/log.ts";
import type { CheckStep, Look } from "../store/check.ts";
import type { ContentsPart, Filled } from "../store/contents.ts";
import { checkSqliteStore } from "../store/sqlite/check.ts";
import { expectSqliteStore, findFilesFault, takeAlone } from "../store/sqlite/engine/files.ts";
import { holdLock } from "../store/sqlite/engine/folder-lock.ts";
import { forgetSqliteChanges } from "../store/sqlite/forget.ts";
import { repairSqliteStore } from "../store/sqlite/repair.ts";
import { restoreSqliteStore } from "../store/sqlite/restore.ts";
import { openSqliteStore } from "../store/sqlite/store.ts";
import type { OpenOptions, Store } from "../store/store.ts";

export type StoreOptions = Omit<OpenOptions, "changesDays" | "queueMax" | "queueWaitMs"> &
  Readonly<{
    /** Whether to create a store if the folder has none. */
    isNew: boolean;
    /** Called with the reason when no response can be trusted any more: end the process at once. */
    onFatal: (reason: Error) => void;
  }>;

/** Opens the store that the settings name. Commands that need no service use it directly. */
export async function openStore({ data, database, changesDays, queueMax, queueWaitMs }: Config, options: StoreOptions): Promise<Store> {
  if (database.kind === "sqlite" && !options.isNew) expectOwnStore(data, database.path);
  if (database.kind === "sqlite" || options.isServing) {
    makeFolder(data);
    expectAccess(data);
  }
  if (database.kind === "postgres") {
    // Loading this takes a tenth of the start time, and SQLite does not need it.
    const { openPostgresStore } = await import("../store/postgres/store.ts");
    return openPostgresStore({ url: database.url, changesDays, queueMax, queueWaitMs, ...options });
  }
  return openSqliteStore({ path: database.path, changesDays, queueMax, queueWaitMs, ...options });
}

/** Throws if there is no store, or this user may not use it. */
function expectOwnStore(data: string, path: string): void {
  expectAccess(data);
  expectSqliteStore(path);
}

type RestoreOptions = Readonly<{ contents: AsyncIterable<ContentsPart>; log: Log }>;

/** Puts the contents of a backup into a store that is new or unused: all of them or none. */
export async function restoreStore({ data, database }: Config, { contents, log }: RestoreOptions): Promise<Filled> {
  if (database.kind === "postgres") {
    const { restorePostgresStore } = await import("../store/postgres/restore.ts");
    return restorePostgresStore({ url: database.url, log }, contents);
  }
  makeFolder(data);
  expectAccess(data);
  return whileLocked(database.path, () => restoreSqliteStore(database.path, contents));
}

/** Erases what a plant was from the changes that are kept, even while a service uses the store. Returns how many states. */
export async function forgetChanges({ data, database }: Config, { id, log }: Readonly<{ id: PlantId; log: Log }>): Promise<number> {
  if (database.kind === "postgres") {
    const { forgetPostgresChanges } = await import("../store/postgres/forget.ts");
    return forgetPostgresChanges({ url: database.url, log }, id);
  }
  expectOwnStore(data, database.path);
  return forgetSqliteChanges(database.path, id);
}

/** Looks at all that a store holds, and changes nothing. Throws if there is no store, or it cannot be looked at. */
export async function* checkStore({ data, database }: Config): AsyncGenerator<CheckStep, void, void> {
  const file = firstTokenFile(data);
  if (database.kind === "postgres") {
    const { checkPostgresStore } = await import("../store/postgres/check.ts");
    yield* checkPostgresStore({ url: database.url, firstToken: { file, hash: hashFirstToken(file) } });
  } else {
    expectAccess(data, { isReading: true });
    expectSqliteStore(database.path);
    yield* checkSqliteStore(database.path, { file, hash: hashFirstToken(file) });
  }
}

/** Rebuilds these parts of a store, which a check found wrong, from what is there. */
export async function repairStore({ data, database }: Config, { wrong, log }: { wrong: readonly Look[]; log: Log }): Promise<void> {
  if (database.kind === "postgres") {
    const { repairPostgresStore } = await import("../store/postgres/check.ts");
    return repairPostgresStore({ url: database.url, log });
  }
  expectOwnStore(data, database.path);
  await whileLocked(database.path, () => repairSqliteStore(database.path, wrong));
}

/** Accepts a SQLite database without its lost WAL. Throws if its WAL is not missing, or it is damaged besides. */
export async function acceptWithoutWal({ data, database }: Config): Promise<void> {
  if (database.kind !== "sqlite") throw new Error("Only SQLite has a WAL that can be lost.");
  expectOwnStore(data, database.path);
  await whileLocked(database.path, () => {
    const fault = findFilesFault(database.path);
    if (!fault) throw new Error(`The WAL of the database in ${data} is not missing.`);
    if (fault.kind !== "alone") throw new Error(fault.message);
    takeAlone(database.path);
  });
}

async function whileLocked<Result>(path: string, work: () => Result): Promise<Awaited<Result>> {
  const unlock = holdLock(`${path}.lock`);
  try {
    return await work();
  } finally {
    unlock();
  }
}
