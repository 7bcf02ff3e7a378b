import { PlantStoreError } from "../../domain/errors.ts";
import { queuedChanges, toToken, USE_AHEAD_MS_MAX } from "../tokens.ts";
import type { StoredRow, Token, TokenChange, TokenOutcome, TokenStore, TokenUses } from "../tokens.ts";
import type { CommitMeter } from "../commit-meter.ts";
import { GroupCommit } from "../group-commit.ts";
import type { Changes, Outcomes } from "../batch.ts";
import type { QueueLimits } from "../group-commit.ts";
import type { Execute } from "./engine/retry.ts";
import {
  CONFIRM_TOKEN,
  FIND_TOKEN,
  INSERT_TOKEN,
  IS_TOKEN_REVOKED,
  LIST_FIRST_TOKENS,
  LIST_TOKENS_BEHIND,
  NAME_TOKENS,
  REVOKE_CHILDREN,
  REVOKE_TOKEN,
  TOUCH_TOKENS,
} from "./token-statements.ts";
import { fromColumn, toColumn } from "./engine/text.ts";

/** A token as the statements take and return it. */
export type TokenColumns = [
  id: string,
  name: string,
  hash: string,
  scopes: string,
  created: bigint,
  expires: bigint | null,
  revoked: bigint | null,
  parent: string | null,
  used: bigint | null,
];

/** How often to look again for children that were made while their parents were being revoked. */
const GENERATIONS_MAX = 100;

/** The tokens, which all replicas of the database share, and the queue of their changes. */
export type Tokens = Readonly<{ tokens: TokenStore; queue: Pick<GroupCommit, "isFull" | "close"> }>;

type TokensOptions = Readonly<{
  /** Each has connections of its own. */
  execute: Readonly<Record<"writes" | "reads", Execute>>;
  limits: QueueLimits;
  meter: CommitMeter;
}>;

/** How many commits run at a time, each on its own connection. A change takes several statements. */
const CHANGES_IN_FLIGHT = 2;

const HOW = { isRepeatable: true };

export function createTokens({ execute: { reads, writes }, limits, meter }: TokensOptions): Tokens {
  async function commit({ tokens }: Changes): Promise<Outcomes> {
    const outcomes: TokenOutcome[] = [];
    for (const change of tokens) outcomes.push(await apply(writes, change));
    return { tokens: outcomes };
  }

  const queue = new GroupCommit({ commit, inFlightMax: CHANGES_IN_FLIGHT, meter, ...limits });
  return {
    tokens: {
      ...queuedChanges(queue.changeToken),
      async find(hash) {
        const [row] = await reads<TokenColumns>(FIND_TOKEN, [hash], HOW);
        return row && toToken(toRow(row));
      },
      async list({ after, limit }) {
        const isFirst = after === undefined;
        const values = isFirst ? [limit] : [limit, toColumn(after)];
        const rows = await reads<TokenColumns>(isFirst ? LIST_FIRST_TOKENS : LIST_TOKENS_BEHIND, values, HOW);
        if (rows.length === 0 && !isFirst && (await isRevoked(reads, after)) === undefined) return undefined;
        return rows.map(toRow).map(toToken);
      },
      async names(ids) {
        const rows = await reads<[id: string, name: string]>(NAME_TOKENS, [ids.map(toColumn)], HOW);
        return new Map(rows.map(([id, name]) => [id, fromColumn(name)]));
      },
    },
    queue,
  };
}

function apply(execute: Execute, change: TokenChange): Promise<TokenOutcome> {
  if (change.kind === "create") return create(execute, change);
  return change.kind === "revoke" ? revoke(execute, change) : touch(execute, change.uses);
}

async function create(execute: Execute, { token, hash }: TokenChange & { kind: "create" }): Promise<TokenOutcome> {
  const { id, created, parent } = token;
  const isNew = (await execute(INSERT_TOKEN, valuesOf(token, hash), HOW)).length === 1;
  // After a retry, the first try may have succeeded without our knowing.
  const isThere = isNew || (await execute(CONFIRM_TOKEN, [id, hash], HOW)).length === 1;
  // A revocation marks the parent before it looks for children, so that one of the two sees the other.
  if (parent !== undefined && (await isRevoked(execute, parent)) !== false) {
    if (isThere) await execute(REVOKE_TOKEN, [id, created], HOW);
    return "orphaned";
  }
  return isThere ? "created" : "taken";
}

/** Undefined when there is no such token. */
async function isRevoked(execute: Execute, id: string): Promise<boolean | undefined> {
  const [row] = await execute<[isRevoked: string]>(IS_TOKEN_REVOKED, [toColumn(id)], HOW);
  return row && row[0] === "t";
}

async function revoke(execute: Execute, { id, at, cascade }: TokenChange & { kind: "revoke" }): Promise<TokenOutcome> {
  const [row] = await execute<[wasValid: string]>(REVOKE_TOKEN, [toColumn(id), at], HOW);
  if (!row) return undefined;
  const children = cascade ? await revokeChildren(execute, toColumn(id), at) : [];
  return [...(row[0] === "t" ? [id] : []), ...children];
}

/** Repeats until none is left: a child that was not revoked yet may have made one that the statement did not see. */
async function revokeChildren(execute: Execute, id: string, at: number): Promise<string[]> {
  const revoked: string[] = [];
  for (let tries = 0; tries < GENERATIONS_MAX; tries += 1) {
    const rows = await execute<[id: string]>(REVOKE_CHILDREN, [id, at], HOW);
    if (rows.length === 0) return revoked;
    revoked.push(...rows.map(([child]) => child));
  }
  throw new PlantStoreError("overloaded");
}

async function touch(execute: Execute, uses: TokenUses): Promise<TokenOutcome> {
  // Write in one order everywhere, so that two replicas cannot deadlock.
  const ids = [...uses.keys()].toSorted();
  await execute(TOUCH_TOKENS, [ids, ids.map((id) => uses.get(id)), USE_AHEAD_MS_MAX], HOW);
  return undefined;
}

export function toRow([id, name, hash, scopes, created, expires, revoked, parent, used]: TokenColumns): StoredRow {
  return { id, name: fromColumn(name), hash, scopes, created, expires, revoked, parent, used };
}

export function valuesOf({ id, name, scopes, created, expires, revoked, parent, lastUsed }: Token, hash: string): unknown[] {
  const dates = [created, expires ?? null, revoked ?? null];
  return [id, toColumn(name), hash, scopes.join(" "), ...dates, parent ?? null, lastUsed ?? null];
}
