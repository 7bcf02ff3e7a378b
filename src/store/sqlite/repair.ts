import { existsSync, linkSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { syncFolder } from "../../runtime/data-folder.ts";
import { describeFailure } from "../../runtime/system-failure.ts";
import type { Look } from "../check.ts";
import { openContents } from "./contents.ts";
import { isBusy, isOfMachine } from "./engine/failure.ts";
import { realPath } from "./engine/files.ts";
import { pragma } from "./engine/requirements.ts";
import { build } from "./restore.ts";
import { removeWordIndex } from "./search/index-file.ts";

/** Rebuilds what a check found wrong: the search index, at the next start, or all from its tables. Hold the lock of the store. */
export async function repairSqliteStore(name: string, wrong: readonly Look[]): Promise<void> {
  if (wrong.some(({ part }) => part !== "search")) await rebuild(realPath(name));
  // It follows the changes of a database that is gone.
  removeWordIndex(`${name}.search`);
}

async function rebuild(path: string): Promise<void> {
  expectNoneLeft(path);
  const built = `${path}.repairing`;
  rmSync(built, { force: true });
  try {
    await buildFrom(path, built);
    leaveOneFile(path);
  } catch (reason) {
    rmSync(built, { force: true });
    if (!isOfMachine(reason)) throw reason;
    throw new Error(`${path} cannot be repaired (${describeFailure(reason)}): make room for a second one beside it. Nothing was changed.`, {
      cause: reason,
    });
  }
  replace(path, built);
}

async function buildFrom(path: string, built: string): Promise<void> {
  const old = openContents(path, () => Promise.resolve(0));
  try {
    await build(built, old.read());
    expectWhole(built);
  } finally {
    old.close();
  }
}

function expectWhole(path: string): void {
  using db = new DatabaseSync(path, { readOnly: true });
  const found = pragma(db, "PRAGMA integrity_check(1)");
  if (found !== "ok")
    throw new Error(`What was rebuilt is damaged too (${String(found)}): see whether the disk fails. Nothing was changed.`);
}

/** A WAL would belong to no other database. */
function leaveOneFile(path: string): void {
  using db = new DatabaseSync(path);
  try {
    if (pragma(db, "PRAGMA journal_mode = DELETE") === "delete") return;
  } catch (reason) {
    if (!isBusy(reason)) throw reason;
  }
  throw new Error(`Another program uses ${path}: end it. Nothing was changed.`);
}

/** What an earlier repair left may be the only copy of what that one could not read. */
function expectNoneLeft(path: string): void {
  if (existsSync(`${path}.damaged`))
    throw new Error(`${path}.damaged, which a repair before has left, is still there: move it away first. Nothing was changed.`);
}

/** Keeps the old database under another name. Killed at any moment, this leaves a complete one. */
function replace(path: string, built: string): void {
  linkSync(path, `${path}.damaged`);
  renameSync(built, path);
  syncFolder(dirname(path));
}
