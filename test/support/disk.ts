import { spawnSync } from "node:child_process";
import { closeSync, openSync, rmSync, truncateSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { needsThat } from "./program.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const EXT4_BYTES = 16 * 1024 * 1024;

const mounted = new Set<string>();

/** Small file systems of two kinds: one of memory, and an ordinary one with a journal, in a file. */
export const DISK_KINDS = ["tmpfs", "ext4"] as const;
type DiskKind = (typeof DISK_KINDS)[number];

/** A small separate file system that can be filled to the last byte. */
type Disk = Readonly<{ folder: string; fill(): void; free(): void }>;

/** Tests that mount such a disk, which needs root and more rights than most containers give. */
export function mayMount(kind: DiskKind) {
  return needsThat(`the right to mount ${kind}`, isMountAllowed(kind));
}

function isMountAllowed(kind: DiskKind): boolean {
  try {
    mountDisk(kind);
    return true;
  } catch {
    return false;
  } finally {
    unmountDisks();
  }
}

/** Mounts a disk that `unmountDisks` removes. */
export function mountDisk(kind: DiskKind): Disk {
  const folder = temporaryFolder();
  if (kind === "tmpfs") run("mount", ["-t", "tmpfs", "-o", "size=4m", "plant-store-test", folder]);
  else {
    const image = join(temporaryFolder(), "image");
    writeFileSync(image, "");
    truncateSync(image, EXT4_BYTES);
    run("mkfs.ext4", ["-q", image]);
    run("mount", ["-o", "loop", image, folder]);
  }
  mounted.add(folder);
  const path = join(folder, "filler");
  return {
    folder,
    fill: () => writeUntilFull(path),
    free: () => rmSync(path),
  };
}

/** Removes all disks, in use or not. */
export function unmountDisks(): void {
  for (const folder of mounted) spawnSync("umount", ["-l", folder]);
  mounted.clear();
}

function run(program: string, words: readonly string[]): void {
  const { status } = spawnSync(program, words);
  if (status !== 0) throw new Error(`This cannot be done here: ${program} ${words.join(" ")}`);
}

function writeUntilFull(path: string): void {
  const file = openSync(path, "w");
  try {
    for (;;) writeSync(file, Buffer.alloc(4096));
  } catch (reason) {
    if (!(reason instanceof Error && "code" in reason && reason.code === "ENOSPC")) throw reason;
  } finally {
    closeSync(file);
  }
}
