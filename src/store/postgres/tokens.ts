import { PlantStoreError } from "../../errors.ts";
import { isScope } from "../../scope.ts";
import type { Token, TokenStore } from "../store.ts";
import type { Ask } from "./retry.ts";
import { FIND_TOKEN, INSERT_TOKEN, IS_TOKEN_REVOKED, LIST_TOKENS, REVOKE_CHILDREN, REVOKE_TOKEN, TOUCH_TOKENS } from "./statements.ts";
import { fromColumn, toColumn } from "./text.ts";

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

/** The tokens, of all replicas that share the database. */
export function createTokens(ask: Ask): TokenStore {
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

  return {
    find,
    async create({ id, name, scopes, created, expires, revoked, parent, lastUsed }, hash) {
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
    },
    async list() {
      return (await ask<TokenRow>(LIST_TOKENS, [], how)).map(toToken);
    },
    async revoke(id, at, { isKeepingChildren }) {
      const isValid = (await ask(REVOKE_TOKEN, [toColumn(id), at], how)).length === 1;
      if (!isValid && (await isRevoked(id)) === undefined) return undefined;
      const children = isKeepingChildren ? [] : await revokeChildren(toColumn(id), at);
      return [...(isValid ? [id] : []), ...children];
    },
    async touch(uses) {
      // In one order everywhere, so that no two replicas wait for each other.
      const ids = [...uses.keys()].toSorted();
      await ask(TOUCH_TOKENS, [ids, ids.map((id) => uses.get(id))], how);
    },
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
