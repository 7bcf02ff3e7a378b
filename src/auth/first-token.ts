import { closeSync, existsSync, fsyncSync, openSync, readdirSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { PlantStoreError } from "../errors.ts";
import { syncFolder } from "../data-folder.ts";
import type { Log } from "../log.ts";
import { SCOPES } from "../scope.ts";
import type { Token, TokenStore } from "../store/tokens.ts";
import { createToken, hashToken } from "./secret.ts";
import type { RandomBytes } from "./secret.ts";

type FirstTokenOptions = Readonly<{ tokens: TokenStore; path: string; random: RandomBytes; now: () => number; log: Log }>;

/** The token that a store is given with its first start. It and its file are there until another one with all scopes is used. */
export type FirstToken = Readonly<{
  /** When this start made it. */
  secret: string | undefined;
  /** Where it stands; undefined when there is no such file, or its token is none of the store's. */
  file: string | undefined;
  /**
   * Told of each token that lets a request in, with the time in milliseconds since 1970. Another one with all scopes ends the first token, and then
   * its file. One with fewer does not: it could not hand out what it lacks.
   */
  admitted(token: Token, time: number): void;
  /** Removes the file when its token was revoked, whoever did it. Never rejects. */
  check(): Promise<unknown>;
}>;

/** Its public id, so that of several services that start at once on one database only one makes it. */
const ID = "first";

/** How long after a failure it is tried again to end the first token, in milliseconds. */
const RETRY_MS = 60_000;

/** Gives a store that never had a token its first one, with all scopes, and keeps it in a file that its owner alone can read. */
export async function openFirstToken(options: FirstTokenOptions): Promise<FirstToken> {
  const { tokens, path, now, log } = options;
  const secret = await makeFirstToken(options);
  const state = await check();
  if (state === "unknown") log.warn("first_token_unknown", { file: path, todo: "The store does not have this token: remove the file." });
  const isValid = (await tokens.list()).some(({ id, revoked }) => id === ID && revoked === undefined);
  let retireAfter = isValid ? 0 : Infinity;

  /** In this order: what is left by an end in between is a file whose token is revoked, and the next start removes it. */
  async function retire(by: string): Promise<void> {
    try {
      await tokens.revoke(ID, now(), { isKeepingChildren: true });
      log.info("first_token_retired", { by });
      await check();
    } catch {
      // The store tells of its own trouble.
      retireAfter = now() + RETRY_MS;
    }
  }

  async function check(): Promise<FileState | undefined> {
    try {
      return await removeIfRevoked(options);
    } catch (reason) {
      // The store tells of its own trouble.
      if (!(reason instanceof PlantStoreError)) log.warn("first_token_kept", { file: path, reason });
      return undefined;
    }
  }

  return {
    secret,
    file: state === "valid" ? path : undefined,
    admitted(token, time) {
      if (time < retireAfter || token.id === ID || token.scopes.length < SCOPES.length) return;
      retireAfter = Infinity;
      void retire(token.id);
    },
    check,
  };
}

type FileState = "none" | "unknown" | "revoked" | "valid";

type FileOptions = Readonly<{ tokens: TokenStore; path: string; log?: Log }>;

/** What the token in the file is. A file whose token is revoked is removed. */
export async function removeIfRevoked({ tokens, path, log }: FileOptions): Promise<FileState> {
  const secret = readSecret(path);
  if (secret === undefined) return "none";
  const token = await tokens.find(hashToken(secret));
  if (!token) return "unknown";
  if (token.revoked === undefined) return "valid";
  rmSync(path, { force: true });
  syncFolder(dirname(path));
  log?.info("first_token_removed", { file: path });
  return "revoked";
}

/** Returns it, or undefined when the store has had tokens already. */
async function makeFirstToken({ tokens, path, random, now }: FirstTokenOptions): Promise<string | undefined> {
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
    const secret = readSecret(draft);
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

/** The secret; undefined when there is no such file, as the service that wrote it may just have kept or removed it. */
function readSecret(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (reason) {
    if (existsSync(path)) throw reason;
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
