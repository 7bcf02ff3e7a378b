import { spawnSync } from "node:child_process";
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../folder.ts";

const mounted = new Set<string>();

/** A small file system of its own that can be filled to the last byte. */
export type Disk = Readonly<{ folder: string; fill(): void; free(): void }>;

/** Whether this process may mount, which takes root and more rights than most containers give. */
export function isMountAllowed(): boolean {
  try {
    mountDisk();
    return true;
  } catch {
    return false;
  } finally {
    unmountDisks();
  }
}

/** Mounts a disk that `unmountDisks` takes away. */
export function mountDisk(): Disk {
  const folder = temporaryFolder();
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=4m", "plant-store-test", folder]);
  if (status !== 0) throw new Error("A tmpfs cannot be mounted here.");
  mounted.add(folder);
  const path = join(folder, "filler");
  return {
    folder,
    fill: () => writeUntilFull(path),
    free: () => rmSync(path),
  };
}

/** Takes all disks away, in use or not. */
export function unmountDisks(): void {
  for (const folder of mounted) spawnSync("umount", ["-l", folder]);
  mounted.clear();
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
