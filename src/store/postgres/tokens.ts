import { isScope } from "../../scope.ts";
import type { Token, TokenStore } from "../store.ts";
import type { Ask } from "./retry.ts";
import { FIND_TOKEN, INSERT_TOKEN, LIST_TOKENS, REVOKE_TOKEN } from "./statements.ts";
import { fromColumn, toColumn } from "./text.ts";

type TokenRow = [id: string, name: string, scopes: string, created: bigint, expires: bigint | null, revoked: bigint | null];

/** The tokens, of all replicas that share the database. */
export function createTokens(ask: Ask): TokenStore {
  const how = { isRepeatable: true };

  async function find(hash: string): Promise<Token | undefined> {
    const [row] = await ask<TokenRow>(FIND_TOKEN, [hash], how);
    return row && toToken(row);
  }

  return {
    find,
    async create({ id, name, scopes, created, expires, revoked }, hash) {
      const values = [id, toColumn(name), hash, scopes.join(" "), created, expires ?? null, revoked ?? null];
      const isNew = (await ask(INSERT_TOKEN, values, how)).length === 1;
      // Of two tries the first may have succeeded without our knowing.
      return isNew || (await find(hash))?.id === id;
    },
    async list() {
      return (await ask<TokenRow>(LIST_TOKENS, [], how)).map(toToken);
    },
    async revoke(id, at) {
      return (await ask(REVOKE_TOKEN, [toColumn(id), at], how)).length === 1;
    },
  };
}

function toToken([id, name, scopes, created, expires, revoked]: TokenRow): Token {
  return {
    id,
    name: fromColumn(name),
    scopes: scopes.split(" ").filter(isScope),
    created: Number(created),
    ...(expires === null ? {} : { expires: Number(expires) }),
    ...(revoked === null ? {} : { revoked: Number(revoked) }),
  };
}
