// The signature of a release: one over its sums, which holds for all of its files. Made and checked by minisign.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run, withFolder } from "./archive.ts";
import { PROJECT, VERSION } from "./project.ts";
import { SUMS } from "./release.ts";

/** The other half of the key, which users have from the repository. */
const PUBLIC_KEY = join(PROJECT, "deploy/release.pub");

type SignOptions = Readonly<{ folder: string; key: string; publicKey?: string }>;

/** Signs with a secret key without a password, and checks that users will take it. */
export function sign({ folder, key, publicKey = PUBLIC_KEY }: SignOptions): void {
  if (!existsSync(publicKey)) throw new Error(`${publicKey} is missing: users check the signature with it.`);
  const sums = join(folder, SUMS);
  run("minisign", ["-S", "-W", "-s", key, "-m", sums, "-t", `Plant Store ${VERSION}`]);
  run("minisign", ["-V", "-q", "-p", publicKey, "-m", sums]);
}

/** Throws if a release could not be signed with this key, or users would not take it. */
export async function trySigning(key: string): Promise<void> {
  await withFolder((folder) => {
    writeFileSync(join(folder, SUMS), "");
    sign({ folder, key });
  });
}
