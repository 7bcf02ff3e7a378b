import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { PlantStoreError } from "../domain/errors.ts";
import { syncFolder } from "../runtime/data-folder.ts";
import type { Log } from "../runtime/log.ts";
import { SCOPES } from "../domain/scope.ts";
import type { Token, TokenStore } from "../store/tokens.ts";
import { FIRST_TOKEN_ID as ID } from "../store/contents.ts";
import { createToken, hashToken } from "./secret.ts";
import type { RandomBytes } from "./secret.ts";

type FirstTokenOptions = Readonly<{ tokens: TokenStore; path: string; random: RandomBytes; now: () => number; log: Log }>;

/** How long to wait before trying again to retire the first token after a failure, in milliseconds. */
const RETRY_MS = 60_000;

/** What is refused with when it waited too long, in the queue, for its commit, or for an answer. */
const LATE = ["overloaded", "store_unavailable"];

/** How long a start waits for a slow store, in milliseconds. */
const START_MS_MAX = 30_000;

export type FirstToken = Awaited<ReturnType<typeof openFirstToken>>;

/**
 * Creates the first token of a store that never had one, with all scopes, in a file that only its owner can read. It and
 * its file exist until someone uses another token with all scopes.
 */
export async function openFirstToken(options: FirstTokenOptions) {
  const { tokens, path, now, log } = options;
  const secret = await makeFirstToken(options);
  const state = await check();
  if (state === "unknown") log.warn("first_token_unknown", { file: path, todo: "The store does not have this token: remove the file." });
  let retireAfter = 0;

  /** Revokes first: if the process ends in between, the file holds a revoked token, and the next start removes it. */
  async function retire(by: string): Promise<void> {
    try {
      const revoked = await tokens.revoke(ID, now(), { cascade: false });
      // None if it was retired long ago.
      if (revoked?.includes(ID)) log.info("first_token_retired", { by });
      await check();
    } catch {
      // The store logs its own failures.
      retireAfter = now() + RETRY_MS;
    }
  }

  /** Removes the file if its token was revoked, by this process or another. Never rejects. */
  async function check(): Promise<FileState | undefined> {
    try {
      return await removeIfRevoked(options);
    } catch (reason) {
      // The store logs its own failures.
      if (!(reason instanceof PlantStoreError)) log.warn("first_token_kept", { file: path, reason });
      return undefined;
    }
  }

  return {
    /** Undefined unless this start created it. */
    secret,
    /** The file that holds it; undefined if there is no such file, or the store does not have its token. */
    file: state === "valid" ? path : undefined,
    /**
     * Call it with the token of each authorized request, and the time in milliseconds since 1970. Another token with all
     * scopes retires the first one and removes its file. A token with fewer scopes does not, since it could not grant
     * those that it lacks.
     */
    admitted(token: Token, time: number): void {
      if (time < retireAfter || token.id === ID || token.scopes.length < SCOPES.length) return;
      retireAfter = Infinity;
      void retire(token.id);
    },
    check,
  };
}

type FileState = "none" | "unknown" | "revoked" | "valid";

type FileOptions = Readonly<{ tokens: TokenStore; path: string; log?: Log }>;

/** The state of the token in the file. Removes the file if the token is revoked. */
export async function removeIfRevoked({ tokens, path, log }: FileOptions): Promise<FileState> {
  const secret = readSecret(path);
  if (secret === undefined) return "none";
  const token = await tokens.find(hashToken(secret));
  if (!token) return "unknown";
  if (token.revoked === undefined) return "valid";
  removeFile(path);
  log?.info("first_token_removed", { file: path });
  return "revoked";
}

/** Removes the file if it holds the token with this hash, which the store no longer has. */
export function removeFirstToken(path: string, hash: string | undefined): void {
  if (hash !== undefined && hashFirstToken(path) === hash) removeFile(path);
}

/** The hash of the token in the file; undefined if there is none. */
export function hashFirstToken(path: string): string | undefined {
  const secret = readSecret(path);
  return secret === undefined ? undefined : hashToken(secret);
}

/** Returns the token, or undefined if the store has ever had one. */
async function makeFirstToken({ tokens, path, random, now }: FirstTokenOptions): Promise<string | undefined> {
  if ((await patiently(() => tokens.list({ after: undefined, limit: 1 })))?.length !== 0) return adoptDraft(tokens, path);
  const secret = createToken(random);
  // Write the file before the store gets the token: otherwise a crash could leave a token that is in no file. The file
  // name is unique, because another service in this folder may be doing the same.
  const draft = `${path}.${secret.slice(-6)}`;
  writeSecret(draft, secret);
  const isFirst = await createPatiently(tokens, { id: ID, name: "first", scopes: SCOPES, created: now() }, hashToken(secret));
  if (isFirst) keepDraft(draft, path);
  else rmSync(draft);
  syncFolder(dirname(path));
  return isFirst ? secret : undefined;
}

/** Whether the store has this token now, and not another one with its id. */
async function createPatiently(tokens: TokenStore, token: Token, hash: string): Promise<boolean> {
  const isStored = async () => (await tokens.find(hash))?.id === token.id;
  // A commit that no one waits for any more goes on.
  return patiently(async () => (await isStored()) || (await tokens.create(token, hash)) === "created" || (await isStored()));
}

/** Asks again while the store is late: a slow disk, or a database that has just started, is no reason not to start. */
async function patiently<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  for (const end = performance.now() + START_MS_MAX; ;) {
    try {
      return await ask();
    } catch (reason) {
      // A store that is in trouble, and not merely slow, gives a cause.
      const isLate = reason instanceof PlantStoreError && LATE.includes(reason.code) && reason.cause === undefined;
      if (!isLate || performance.now() > end) throw reason;
    }
  }
}

/** Finishes a start that was interrupted after it created the token and before it renamed the draft. */
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

/** Another service in this folder may do the same at the same time. */
function keepDraft(draft: string, path: string): void {
  try {
    renameSync(draft, path);
  } catch (reason) {
    if (!existsSync(path)) throw reason;
  }
}

/** The secret; undefined if the file is gone: the service that wrote it may have just renamed or removed it. */
function readSecret(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (reason) {
    if (existsSync(path)) throw reason;
    return undefined;
  }
}

function writeSecret(path: string, secret: string): void {
  writeFileSync(path, `${secret}\n`, { flag: "wx", mode: 0o600, flush: true });
  syncFolder(dirname(path));
}

function removeFile(path: string): void {
  rmSync(path, { force: true });
  syncFolder(dirname(path));
}
