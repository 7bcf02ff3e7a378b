import { PlantStoreError } from "../../errors.ts";
import { isScope } from "../../scope.ts";
import { queuedChanges } from "../tokens.ts";
import type { Token, TokenChange, TokenOutcome, TokenStore, TokenUses } from "../tokens.ts";
import { createGroupCommit } from "../group-commit.ts";
import type { Changes, GroupCommit, Outcomes } from "../group-commit.ts";
import type { Ask } from "./engine/retry.ts";
import {
  FIND_TOKEN,
  INSERT_TOKEN,
  IS_TOKEN_REVOKED,
  LIST_TOKENS,
  REVOKE_CHILDREN,
  REVOKE_TOKEN,
  TOUCH_TOKENS,
} from "./token-statements.ts";
import { fromColumn, toColumn } from "./engine/text.ts";

type TokenRow = [
  id: string,
  name: string,
  scopes: string,
  created: bigint,
  expires: bigint | null,
  revoked: bigint | null,
  parent: string | null,
  used: bigint | null,
];

/** How often children may be made while their parents are being revoked. */
const GENERATIONS_MAX = 100;

/** The tokens, of all replicas that share the database, and what their changes wait in. */
export type Tokens = Readonly<{ tokens: TokenStore; queue: Pick<GroupCommit, "isFull" | "close"> }>;

type TokensOptions = Readonly<{
  ask: Ask;
  limits: Readonly<{ gatherTurns: number; enough: number; queueMax: number; waitMs: number; now: () => number }>;
}>;

/** How many commits of changes run at a time, each on a connection of its own; a change is some statements. */
const CHANGES_IN_FLIGHT = 2;

export function createTokens({ ask, limits }: TokensOptions): Tokens {
  const how = { isRepeatable: true };

  async function find(hash: string): Promise<Token | undefined> {
    const [row] = await ask<TokenRow>(FIND_TOKEN, [hash], how);
    return row && toToken(row);
  }

  /** Undefined when there is no such token. */
  async function isRevoked(id: string): Promise<boolean | undefined> {
    const [row] = await ask<[isRevoked: string]>(IS_TOKEN_REVOKED, [toColumn(id)], how);
    return row && row[0] === "t";
  }

  /** Until none is left: a child that was not revoked yet may have made one that the statement did not see. */
  async function revokeChildren(id: string, at: number): Promise<string[]> {
    const revoked: string[] = [];
    for (let tries = 0; tries < GENERATIONS_MAX; tries += 1) {
      const rows = await ask<[id: string]>(REVOKE_CHILDREN, [id, at], how);
      if (rows.length === 0) return revoked;
      revoked.push(...rows.map(([child]) => child));
    }
    throw new PlantStoreError("overloaded");
  }

  async function create({ id, name, scopes, created, expires, revoked, parent, lastUsed }: Token, hash: string): Promise<TokenOutcome> {
    const dates = [created, expires ?? null, revoked ?? null];
    const values = [id, toColumn(name), hash, scopes.join(" "), ...dates, parent ?? null, lastUsed ?? null];
    const isNew = (await ask(INSERT_TOKEN, values, how)).length === 1;
    // Of two tries the first may have succeeded without our knowing.
    const isThere = isNew || (await find(hash))?.id === id;
    // Whoever revokes the parent marks it before looking for its children: one of the two sees the other.
    if (parent !== undefined && (await isRevoked(parent)) !== false) {
      if (isThere) await ask(REVOKE_TOKEN, [id, created], how);
      return "orphaned";
    }
    return isThere ? "created" : "taken";
  }

  async function revoke({ id, at, isKeepingChildren }: TokenChange & { kind: "revoke" }): Promise<TokenOutcome> {
    const isValid = (await ask(REVOKE_TOKEN, [toColumn(id), at], how)).length === 1;
    if (!isValid && (await isRevoked(id)) === undefined) return undefined;
    const children = isKeepingChildren ? [] : await revokeChildren(toColumn(id), at);
    return [...(isValid ? [id] : []), ...children];
  }

  async function touch(uses: TokenUses): Promise<TokenOutcome> {
    // In one order everywhere, so that no two replicas wait for each other.
    const ids = [...uses.keys()].toSorted();
    await ask(TOUCH_TOKENS, [ids, ids.map((id) => uses.get(id))], how);
    return undefined;
  }

  function make(change: TokenChange): Promise<TokenOutcome> {
    if (change.kind === "create") return create(change.token, change.hash);
    return change.kind === "revoke" ? revoke(change) : touch(change.uses);
  }

  async function commit({ tokens }: Changes): Promise<Outcomes> {
    const outcomes: TokenOutcome[] = [];
    for (const change of tokens) outcomes.push(await make(change));
    return { tokens: outcomes };
  }

  const queue = createGroupCommit({ commit, inFlightMax: CHANGES_IN_FLIGHT, ...limits });

  return {
    tokens: {
      ...queuedChanges(queue.changeToken),
      find,
      list: async () => (await ask<TokenRow>(LIST_TOKENS, [], how)).map(toToken),
    },
    queue,
  };
}

function toToken([id, name, scopes, created, expires, revoked, parent, used]: TokenRow): Token {
  return {
    id,
    name: fromColumn(name),
    scopes: scopes.split(" ").filter(isScope),
    created: Number(created),
    ...(expires === null ? {} : { expires: Number(expires) }),
    ...(revoked === null ? {} : { revoked: Number(revoked) }),
    ...(parent === null ? {} : { parent }),
    ...(used === null ? {} : { lastUsed: Number(used) }),
  };
}
