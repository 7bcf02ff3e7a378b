import { closeSync, fsyncSync, openSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { syncFolder } from "../folder.ts";
import { SCOPES } from "../scope.ts";
import type { TokenStore } from "../store/store.ts";
import { issueToken } from "./issue.ts";
import type { RandomBytes } from "./token.ts";

type FirstTokenOptions = Readonly<{ tokens: TokenStore; path: string; random: RandomBytes; now: () => number }>;

/**
 * Gives a store that never had a token its first one, with all scopes, and keeps it in a file that its owner alone can read.
 * Returns it, or undefined when the store has had tokens already.
 */
export async function makeFirstToken({ tokens, path, random, now }: FirstTokenOptions): Promise<string | undefined> {
  if ((await tokens.list()).length > 0) return undefined;
  // The file first: a crash between the two leaves a file that the next start writes anew, and never a token that nobody knows.
  return issueToken({ tokens, random, now, name: "first", scopes: SCOPES, keep: (secret) => writeSecret(path, secret) });
}

function writeSecret(path: string, secret: string): void {
  // Made anew, as the mode of a file that is there already would stay.
  rmSync(path, { force: true });
  const file = openSync(path, "wx", 0o600);
  try {
    writeSync(file, `${secret}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  syncFolder(dirname(path));
}
