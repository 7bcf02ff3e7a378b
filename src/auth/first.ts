import { closeSync, existsSync, fsyncSync, openSync, readdirSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { syncFolder } from "../folder.ts";
import { SCOPES } from "../scope.ts";
import type { TokenStore } from "../store/store.ts";
import { createToken, hashToken } from "./token.ts";
import type { RandomBytes } from "./token.ts";

type FirstTokenOptions = Readonly<{ tokens: TokenStore; path: string; random: RandomBytes; now: () => number }>;

/** Its public id, so that of several services that start at once on one database only one makes it. */
const ID = "first";

/**
 * Gives a store that never had a token its first one, with all scopes, and keeps it in a file that its owner alone can read.
 * Returns it, or undefined when the store has had tokens already.
 */
export async function makeFirstToken({ tokens, path, random, now }: FirstTokenOptions): Promise<string | undefined> {
  if ((await tokens.list()).length > 0) return adoptDraft(tokens, path);
  const secret = createToken(random);
  // Written down before the store knows it, so that there never is a token that nobody knows; under a name of its own, as another
  // service in this folder may be about to do the same.
  const draft = `${path}.${secret.slice(-6)}`;
  writeSecret(draft, secret);
  const isFirst = (await tokens.create({ id: ID, name: "first", scopes: SCOPES, created: now() }, hashToken(secret))) === "created";
  if (isFirst) keepDraft(draft, path);
  else rmSync(draft);
  syncFolder(dirname(path));
  return isFirst ? secret : undefined;
}

/** A start that was cut off between the two has left its draft. */
async function adoptDraft(tokens: TokenStore, path: string): Promise<undefined> {
  if (existsSync(path)) return;
  const folder = dirname(path);
  for (const name of readdirSync(folder).filter((one) => one.startsWith(`${basename(path)}.`))) {
    const draft = join(folder, name);
    const secret = readDraft(draft);
    if (secret === undefined) continue;
    const token = await tokens.find(hashToken(secret));
    if (token?.id === ID) keepDraft(draft, path);
  }
}

/** Another service in this folder may do the same at this moment. */
function keepDraft(draft: string, path: string): void {
  try {
    renameSync(draft, path);
  } catch (reason) {
    if (!existsSync(path)) throw reason;
  }
}

/** The secret; undefined when the service that wrote it has just kept or removed it. */
function readDraft(draft: string): string | undefined {
  try {
    return readFileSync(draft, "utf8").trim();
  } catch (reason) {
    if (existsSync(draft)) throw reason;
    return undefined;
  }
}

function writeSecret(path: string, secret: string): void {
  const file = openSync(path, "wx", 0o600);
  try {
    writeSync(file, `${secret}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  syncFolder(dirname(path));
}
