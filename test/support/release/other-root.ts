// Another machine, as far as files and packages go: what this one has installed, in a root of its own where anything can be
// installed and removed. It needs the right to mount.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cleanEnvironment } from "../process.ts";
import { needsThat } from "../program.ts";
import type { Program } from "../program.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { until } from "../until.ts";

export type OtherRoot = Readonly<{
  /** Runs a program in it as root, to its end. */
  run(...words: readonly string[]): Readonly<{ status: number | null; output: string }>;
  /** The same, without waiting for it here: resolves with its status. */
  start(...words: readonly string[]): Promise<number | null>;
  /** Where a file of it can be read and written from here. */
  pathOf(path: string): string;
  /** A program here that runs one of it as one of its users, with the folder that follows `--data` owned by that. */
  programOf(path: string, user: string): string;
  close(): void;
}>;

const MOUNTS = `
  mount -t tmpfs tmpfs "$0"
  mkdir "$0/upper" "$0/work" "$0/root"
  mount -t overlay overlay -o "lowerdir=/,upperdir=$0/upper,workdir=$0/work" "$0/root"
  mount -t proc proc "$0/root/proc"
  mount --bind /dev "$0/root/dev"
  mount --bind /tmp "$0/root/tmp"
  if [ -n "$1" ]; then mkdir "$0/root/var/lib/plant-store"; mount --bind "$1" "$0/root/var/lib/plant-store"; fi
  touch "$0/ready"
  exec sleep infinity`;

/** Its files are in memory, but for those of the store if that gets a folder here. */
export async function openRoot(store = ""): Promise<OtherRoot> {
  const top = temporaryFolder();
  // The mounts are in a namespace of their own: they end with this process, and nothing here can delete through them.
  const words = ["--pdeathsig", "KILL", "unshare", "--mount", "--propagation", "private", "sh", "-euc", MOUNTS, top, store];
  const holder = spawn("setpriv", words, { stdio: ["ignore", "ignore", "inherit"] });
  const root = `/proc/${holder.pid}/root${top}/root`;
  await until("the root is mounted", () => existsSync(join(root, "../ready")));
  const enter = ["nsenter", `--mount=/proc/${holder.pid}/ns/mnt`, "chroot", join(top, "root")];
  return {
    run(...asked) {
      const { status, stdout, stderr } = spawnSync(enter[0]!, [...enter.slice(1), ...asked], { encoding: "utf8", env: cleanEnvironment() });
      return { status, output: stdout + stderr };
    },
    async start(...asked) {
      const child = spawn(enter[0]!, [...enter.slice(1), ...asked], { stdio: ["ignore", "ignore", "inherit"], env: cleanEnvironment() });
      return ((await once(child, "close")) as [number | null])[0];
    },
    pathOf: (path) => join(root, path),
    programOf(path, user) {
      const program = join(temporaryFolder(), "program");
      const as = `setpriv --reuid ${user} --regid ${user} --clear-groups`;
      const inside = `for word; do if [ "$last" = --data ]; then chown -R ${user} "$word"; fi; last=$word; done; exec ${as} ${path} "$@"`;
      writeFileSync(program, `#!/bin/sh\nexec ${enter.join(" ")} sh -c '${inside}' sh "$@"\n`, { mode: 0o755 });
      return program;
    },
    close: () => void holder.kill("SIGKILL"),
  };
}

const TRIAL = `mount -t tmpfs tmpfs /mnt && mkdir /mnt/upper /mnt/work /mnt/root &&
  mount -t overlay overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work /mnt/root`;

const isAllowed = spawnSync("unshare", ["--mount", "--propagation", "private", "sh", "-c", TRIAL]).status === 0;

/** Tests that open one, which needs root and more rights than most containers give. */
export function needsRoot(...programs: readonly Program[]) {
  return needsThat("the right to mount an overlay", isAllowed, ...programs);
}
