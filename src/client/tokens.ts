import type { Client } from "./calls.ts";
import { parseNext } from "./page.ts";
import { get, orAbsent, queryText, request } from "./request.ts";
import { parseDeleted } from "./response.ts";
import type { ClientContext } from "./request.ts";
import { ERROR_NUMBERS } from "./error-numbers.ts";
import { parseList } from "./json.ts";
import { parseCreatedToken, parseSession, parseToken } from "./token.ts";
import type { Token } from "./token.ts";

type TokenCalls = Pick<Client, "createToken" | "listTokens" | "revokeToken" | "session">;

export function tokenCalls(context: ClientContext): TokenCalls {
  return {
    session: async ({ signal } = {}) => get(context, "/session", signal, ({ body }) => parseSession(body)),
    async listTokens({ signal } = {}) {
      const all: Token[] = [];
      let cursor: string | undefined;
      do {
        cursor = await get(context, `/tokens${queryText({ cursor })}`, signal, (response) => {
          const next = parseNext(response, cursor);
          all.push(...parseList(response.body, parseToken));
          return next;
        });
      } while (cursor !== undefined);
      return all;
    },
    async createToken({ name, scopes, days, expires }, { signal } = {}) {
      // Identifies this token, so that a second try does not create a second one.
      const headers = { "content-type": "application/json", "idempotency-key": `"${createKey()}"` };
      const body = JSON.stringify({ name, scopes, days, expires });
      const outgoing = { method: "POST", path: "/tokens", headers, body, isRepeatable: true, signal } as const;
      return request(context, outgoing, ({ body: created }) => parseCreatedToken(created));
    },
    async revokeToken(id, { children, signal } = {}) {
      // In a path they lead to what is above.
      if (id === "." || id === "..") throw new TypeError(`${id} is no id of a token: give one that listTokens returns.`);
      const path = `/tokens/${encodeURIComponent(id)}${queryText({ children })}`;
      const outgoing = { method: "DELETE", path, isRepeatable: true, signal } as const;
      return (await orAbsent(request(context, outgoing, parseDeleted), ERROR_NUMBERS.token_not_found)) ?? false;
    },
  };
}

/** 128 random bits. Not `randomUUID`: a page served over plain HTTP from another machine does not have it. */
function createKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
