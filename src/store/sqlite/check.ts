import { existsSync } from "node:fs";
import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { look } from "../check.ts";
import type { CheckStep, FirstTokenFile, Look } from "../check.ts";
import { findLastingFault, PAGE_BYTES, pageBytesOf, realPath, sizeOfFile } from "./engine/files.ts";
import { isLocked } from "./engine/folder-lock.ts";
import { SNAPSHOT_WAL_PAGES_MAX, tooMuchWritten } from "./engine/wal.ts";
import { StartedThread } from "./engine/thread.ts";
import type { Thread } from "./engine/thread.ts";
import { countFrames } from "./engine/wal.ts";
import type { Checker } from "./database-check.ts";

/** How often to look whether the WAL has grown too much, in milliseconds. */
const LOOK_MS = 500;

/** Between two looks at a WAL that seems damaged, in milliseconds: someone may be writing it. */
const PAUSE_MS = 200;

/**
 * Looks at a store, even while a service uses it. Throws what a start would be refused for. No one waits for it, but the
 * WAL cannot start again while the plants are read: so it ends with an error when the WAL has grown too much.
 */
export async function* checkSqliteStore(path: string, firstToken: FirstTokenFile): AsyncGenerator<CheckStep, void, void> {
  const fault = await findLastingFault(path);
  if (fault) throw new Error(fault.message);
  yield look("files", "ok", describeFiles(path));
  const lost = await findLostFrames(path);
  if (lost) yield lost;
  // A look at all pages takes minutes, in which this thread shows progress and watches the WAL.
  const starting = new StartedThread("check", { path, onDeath: () => {} });
  const thread = await starting.open();
  try {
    await thread.call("begin", firstToken);
    for (;;) {
      const step = await nextStep(thread, path);
      if (!step) return;
      yield step;
    }
  } finally {
    void starting.abandon();
  }
}

function nextStep(thread: Thread<Checker>, path: string): Promise<CheckStep | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<CheckStep | undefined>();
  const timer = setInterval(() => {
    if (sizeOfWal(path) > SNAPSHOT_WAL_PAGES_MAX * PAGE_BYTES) reject(tooMuchWritten("check again when less is written"));
  }, LOOK_MS);
  thread.call("next").then(resolve, reject);
  return promise.finally(() => clearInterval(timer));
}

/** What is in the WAL of a store that no one serves, but SQLite cannot read. */
async function findLostFrames(path: string): Promise<Look | undefined> {
  const wal = `${realPath(path)}-wal`;
  for (let tries = 1; ; tries += 1) {
    if (!existsSync(wal) || isLocked(`${path}.lock`)) return undefined;
    const { readable, written } = countFrames(wal, pageBytesOf(path));
    if (readable >= written || isLocked(`${path}.lock`)) return undefined;
    if (tries === 1) await sleep(PAUSE_MS);
    else return look("wal", "damaged", describeLoss(basename(wal), written - readable));
  }
}

function describeLoss(name: string, frames: number): string {
  return `${name} cannot be read to its end: ${frames} pages behind the damage are lost. After a power cut that is as it must be: nothing of it was answered, and a start puts it right. Otherwise the newest changes are lost`;
}

function describeFiles(path: string): string {
  const wal = sizeOfWal(path);
  return `${basename(path)} has ${sizeOfFile(path)} bytes${wal > 0 ? `, its WAL ${wal}` : ""}`;
}

function sizeOfWal(path: string): number {
  return sizeOfFile(`${realPath(path)}-wal`);
}
