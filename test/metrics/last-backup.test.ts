import { spawnSync } from "node:child_process";
import { chownSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "bun:test";
import { findLastBackup, noteBackup } from "../../src/runtime/last-backup.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const MOMENT = "2026-11-23T03:30:00.000Z";
const isRoot = process.getuid!() === 0;

/** A folder of another user, where root may give it to one. */
function folderOfService(): string {
  const folder = join(temporaryFolder(), "store");
  mkdirSync(folder, { mode: 0o700 });
  if (isRoot) chownSync(folder, 12_345, 12_346);
  return folder;
}

it("a note of a backup is for the owner of the folder alone, also when root makes it", () => {
  const folder = folderOfService();
  noteBackup(folder, MOMENT);
  expect(findLastBackup(folder)).toBe(Date.parse(MOMENT));
  const { mode, uid, gid } = statSync(join(folder, "last-backup"));
  expect([mode & 0o777, uid, gid]).toEqual([0o600, statSync(folder).uid, statSync(folder).gid]);
});

it("a note of a backup follows no link that the owner of the folder has planted", () => {
  const folder = folderOfService();
  const victim = join(temporaryFolder(), "victim");
  writeFileSync(victim, "keep", { mode: 0o640 });
  for (const name of [`last-backup.${process.pid}`, "last-backup"]) symlinkSync(victim, join(folder, name));
  noteBackup(folder, MOMENT);
  expect([readFileSync(victim, "utf8"), statSync(victim).mode & 0o777, statSync(victim).uid]).toEqual(["keep", 0o640, process.getuid!()]);
  expect(findLastBackup(folder)).toBe(Date.parse(MOMENT));
});

it("a note of a backup that was torn, or is no file, is none", () => {
  const folder = folderOfService();
  writeFileSync(join(folder, "last-backup"), "x");
  expect(findLastBackup(folder)).toBeUndefined();
  rmSync(join(folder, "last-backup"));
  expect(spawnSync("sh", ["-c", 'mkfifo "$0"', join(folder, "last-backup")]).status).toBe(0);
  expect(findLastBackup(folder)).toBeUndefined();
});

it("a note of a backup that cannot get its name leaves nothing", () => {
  const folder = folderOfService();
  mkdirSync(join(folder, "last-backup"));
  expect(() => noteBackup(folder, MOMENT)).toThrow("EISDIR");
  expect(readdirSync(folder)).toEqual(["last-backup"]);
});
