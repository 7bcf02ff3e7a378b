import { orAbsent } from "./absent.ts";
import type { Client } from "./calls.ts";
import { request } from "./connection.ts";
import type { Connection } from "./connection.ts";
import { ERROR_NUMBERS } from "./errors.ts";
import { parseList } from "./plant.ts";
import { parseCreatedToken, parseToken } from "./token.ts";

type TokenCalls = Pick<Client, "createToken" | "listTokens" | "revokeToken">;

/** The calls for tokens. */
export function tokenCalls(connection: Connection): TokenCalls {
  return {
    async listTokens({ signal } = {}) {
      const outgoing = { method: "GET", path: "/tokens", isRepeatable: true, signal } as const;
      return request(connection, outgoing, ({ body }) => parseList(body, parseToken));
    },
    async createToken({ name, scopes, days }, { signal } = {}) {
      const headers = { "content-type": "application/json" };
      const body = JSON.stringify({ name, scopes, days });
      // A second try would make a second token.
      const outgoing = { method: "POST", path: "/tokens", headers, body, isRepeatable: false, signal } as const;
      return request(connection, outgoing, (answer) => parseCreatedToken(answer.body));
    },
    async revokeToken(id, { signal } = {}) {
      const outgoing = { method: "DELETE", path: `/tokens/${encodeURIComponent(id)}`, isRepeatable: true, signal } as const;
      return (
        (await orAbsent(
          request(connection, outgoing, () => true),
          ERROR_NUMBERS.token_not_found,
        )) ?? false
      );
    },
  };
}
