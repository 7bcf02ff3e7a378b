import { createReadStream, createWriteStream, existsSync, statSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { Command, InvalidArgumentError } from "commander";
import manifest from "../../package.json" with { type: "json" };
import { noteBackup } from "../runtime/last-backup.ts";
import type { Store } from "../store/store.ts";
import { describeFailure } from "../runtime/system-failure.ts";
import { escapeControls } from "../runtime/terminal-text.ts";
import { readBackup, writeBackup } from "../files/backup-file.ts";
import { summarize } from "../files/backup-lines.ts";
import type { BackupEnd, BackupHead } from "../files/backup-lines.ts";
import { datedName, removeLeftBackups, removeOldBackups } from "./backup-folder.ts";
import { withOwnStore } from "./own-store.ts";
import { toTarget, writeWhole } from "./output-file.ts";
import type { PartialFile } from "./output-file.ts";
import { lowerPriority } from "./priority.ts";
import { counted, megabytes, showProgress } from "./progress.ts";
import { addJson, printResult } from "./result.ts";
import { addSettings, configOf } from "./settings.ts";

type Flags = Readonly<{ keep?: number; force?: true }>;

/** The fastest level: a higher one saves a third of the file, and takes twice as long (measured). */
const GZIP = { level: 1 };

export function backupCommand(): Command {
  const command = new Command("backup")
    .argument("<file>", "the file to write, or a folder in which to write one that is named after the time")
    .description(
      "Back up all plants and tokens as they are at one moment. The service may keep running. The file appears only when it is complete and was read back. Restore it with `plant-store restore`, on SQLite or PostgreSQL.",
    )
    .option("--keep <number>", "in a folder: how many backups of this store to keep; older ones are removed", parseKeep)
    .option("--force", "overwrite the file if it exists");
  return addSettings(addJson(command), ["data", "database"]).action(async (file: string) => {
    const { keep, force } = command.opts<Flags>();
    const config = configOf(command);
    const isFolder = statSync(file, { throwIfNoEntry: false })?.isDirectory() ?? false;
    if (keep !== undefined && !isFolder) throw new Error(`${file} is not a folder: --keep needs one, in which it removes old backups.`);
    const began = new Date();
    const target = toTarget(isFolder ? datedName(file, began) : file, { isForced: force ?? false });
    if (target.kind === "device" || file === "-") throw new Error(`${file} is not a file that can be read back: name another one.`);
    lowerPriority();
    if (isFolder) removeLeftBackups(file);
    await withOwnStore(config, async (store) => {
      const { head, end, size } = await writeWhole(target, async (part) => {
        const written = await write(store, part);
        await check(part, written.end);
        return { ...written, size: statSync(part.path).size };
      });
      note(config.data, head);
      const seconds = (Date.now() - began.getTime()) / 1000;
      // A store that was lost and created again must not push out what is left of it.
      const isEmpty = end.plants === 0;
      const removed = keep === undefined || isEmpty ? [] : await removeOld(target.path, { keep, store: store.name });
      const spared = keep !== undefined && isEmpty ? ["no older backup was removed, as this one has no plants"] : [];
      const what = `${summarize(end)}, ${megabytes(size)}, written and checked in ${seconds.toFixed(1)} s`;
      const lines = [`${target.path}: ${what}`, ...removed.map((old) => `removed ${old}`), ...spared];
      const json = { file: target.path, ...head, plants: end.plants, tokens: end.tokens, bytes: size, seconds, removed };
      printResult(command, { json, words: lines.map(escapeControls).join("\n") });
    });
  });
}

/** A backup is good without a note of it. */
function note(folder: string, { at }: BackupHead): void {
  // On PostgreSQL there may be no folder, and then no service that looks into it.
  if (!existsSync(folder)) return;
  try {
    noteBackup(folder, at);
  } catch (reason) {
    process.stderr.write(`The time of this backup is not in the metrics: ${describeFailure(reason)} (${escapeControls(folder)}).\n`);
  }
}

async function removeOld(...[path, options]: Parameters<typeof removeOldBackups>): Promise<string[]> {
  try {
    return await removeOldBackups(path, options);
  } catch (cause) {
    throw new Error(`${path} is written, but an older backup may never be removed (${describeFailure(cause)}): remove it by hand.`, {
      cause,
    });
  }
}

type Written = Readonly<{ head: BackupHead; end: BackupEnd }>;

async function write(store: Store, part: PartialFile): Promise<Written> {
  // Before the moment itself: a token that is revoked in between is one that was revoked after it.
  const head = { version: manifest.version, store: store.name, at: new Date().toISOString() };
  const contents = await store.contents();
  const progress = showProgress("backup", undefined);
  let end: BackupEnd | undefined;
  const lines = writeBackup(head, contents.read(), (reached) => (end = reached));
  try {
    await pipeline(counted(lines, progress), createGzip(GZIP), createWriteStream(part.path, { fd: part.fd, flush: true }));
    return { head, end: end! };
  } catch (reason) {
    if (!(reason instanceof Error && "syscall" in reason)) throw reason;
    throw new Error(`The backup cannot be written (${describeFailure(reason)}): make room, or name a file on another disk.`, {
      cause: reason,
    });
  } finally {
    progress.stop();
    contents.close();
  }
}

/** Reads a file as a restore would. Throws if that would not find what was written. */
async function check({ path }: PartialFile, written: BackupEnd): Promise<void> {
  const progress = showProgress("check", statSync(path).size);
  let end: BackupEnd | undefined;
  try {
    for await (const part of readBackup(counted(createReadStream(path), progress))) end = part.end;
  } catch (cause) {
    throw new Error("The backup cannot be read back: check its disk, and back up again.", { cause });
  } finally {
    progress.stop();
  }
  if (end?.sha256 !== written.sha256) throw new Error("The backup is not what was written: check its disk, and back up again.");
}

function parseKeep(text: string): number {
  const keep = Number(text);
  if (!/^\d{1,6}$/.test(text) || keep === 0) throw new InvalidArgumentError("Use a number of backups greater than 0.");
  return keep;
}
