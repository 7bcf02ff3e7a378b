import { readdirSync, readFileSync, statfsSync } from "node:fs";

/** Why a file system cannot keep what the service promises of a data folder. `todo` says what to do. */
export type Unfit = Readonly<{ fileSystem: string; todo: string }>;

const IN_MEMORY = "It is in memory, and all plants are lost when this machine stops: choose a folder on a disk with --data.";
const IN_CONTAINER = "It belongs to this container, and all plants are lost with it: mount a volume there.";
const SHARED =
  "Its locks may not reach other machines, nor its syncs a disk: two services could lose each other's plants. Choose a folder on a disk of this machine with --data, or a PostgreSQL with --database.";

/** By the numbers of Linux (linux/magic.h). FUSE is any program, such as sshfs or s3fs. */
const UNFIT: ReadonlyMap<number, Unfit> = new Map([
  [0x01021994, { fileSystem: "tmpfs", todo: IN_MEMORY }],
  [0x858458f6, { fileSystem: "ramfs", todo: IN_MEMORY }],
  [0x794c7630, { fileSystem: "overlay", todo: IN_CONTAINER }],
  [0x6969, { fileSystem: "nfs", todo: SHARED }],
  [0x517b, { fileSystem: "smb", todo: SHARED }],
  [0xff534d42, { fileSystem: "cifs", todo: SHARED }],
  [0xfe534d42, { fileSystem: "smb2", todo: SHARED }],
  [0x01021997, { fileSystem: "9p", todo: SHARED }],
  [0x00c36400, { fileSystem: "ceph", todo: SHARED }],
  [0x65735546, { fileSystem: "fuse", todo: SHARED }],
]);

/** The name of the file system, if it is one whose locks and shared memory may not work. */
export function findShared(path: string): string | undefined {
  const unfit = findUnfit(path);
  return unfit?.todo === SHARED ? unfit.fileSystem : undefined;
}

/** Undefined if nothing is known against it, as for every file system of another system than Linux. */
export function findUnfit(path: string): Unfit | undefined {
  if (process.platform !== "linux") return undefined;
  // Some numbers come as negative ones.
  return UNFIT.get(statfsSync(path).type >>> 0);
}

/** How many files and sockets the process has open. Throws where the system does not tell, which only Linux does. */
export function countOpenFiles(): number {
  return readdirSync("/proc/self/fd").length;
}

/** How many files the process may open. The runtime has raised this to what the system allows. */
export function openFilesMax(): number {
  try {
    return Number(/^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1] ?? Infinity);
  } catch {
    return Infinity;
  }
}
