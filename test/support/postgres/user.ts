import { chownSync, readFileSync, writeFileSync } from "node:fs";
import { temporaryFolder } from "../temporary-folder.ts";

type User = Readonly<{ uid: number; gid: number }>;

/** The servers' user: PostgreSQL refuses root. `undefined` means the user who runs the tests. */
export function findServerUser(): User | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const users = readFileSync("/etc/passwd", "utf8").split("\n");
  const line = users.find((user) => user.startsWith("postgres:")) ?? users.find((user) => user.startsWith("nobody:"));
  if (line === undefined) throw new Error("PostgreSQL refuses to run as root, and there is no user postgres or nobody.");
  const [, , uid, gid] = line.split(":");
  return { uid: Number(uid), gid: Number(gid) };
}

/** A temporary folder owned by the servers' user. */
export function serverFolder(): string {
  const folder = temporaryFolder();
  giveToServer(folder);
  return folder;
}

/** Writes a file that the server may rename, sync and remove. */
export function writeForServer(path: string, text: string): void {
  writeFileSync(path, text);
  giveToServer(path);
}

/** Makes the servers' user the owner. */
export function giveToServer(path: string): void {
  const user = findServerUser();
  if (user) chownSync(path, user.uid, user.gid);
}
