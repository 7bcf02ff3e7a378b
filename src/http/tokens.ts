import type { Schemas } from "../../contract/operations.ts";
import { issueToken } from "../auth/issue.ts";
import type { RandomBytes } from "../auth/token.ts";
import { PlantStoreError } from "../errors.ts";
import type { Token, TokenStore } from "../store/store.ts";
import type { Handlers } from "./router.ts";

type TokenOptions = Readonly<{
  tokens: TokenStore;
  random: RandomBytes;
  /** Milliseconds since 1970. */
  now: () => number;
}>;

const DAY_MS = 24 * 60 * 60 * 1000;

/** The operations on tokens. Whoever may use them may give any scope to anybody. */
export function tokenHandlers({ tokens, random, now }: TokenOptions): Pick<Handlers, "listTokens" | "createToken" | "revokeToken"> {
  return {
    async listTokens() {
      return { status: 200, body: JSON.stringify((await tokens.list()).map(toWire)) };
    },
    async createToken({ body }) {
      const { name, scopes, days } = body as NewToken;
      const lifetime = days === undefined ? {} : { lifetimeMs: Math.ceil(Number(days) * DAY_MS) };
      const { token, secret } = await issueToken({ tokens, random, now, name, scopes, ...lifetime });
      const created: Schemas["CreatedToken"] = { ...toWire(token), token: secret };
      return { status: 200, body: JSON.stringify(created), headers: { "cache-control": "no-store" } };
    },
    async revokeToken({ parameters: { id } }) {
      if (!(await tokens.revoke(id, now()))) throw new PlantStoreError("token_not_found");
      return { status: 204 };
    },
  };
}

/** A body that the contract has checked. A whole number of days comes as a bigint. */
type NewToken = Omit<Schemas["NewToken"], "days"> & Readonly<{ days?: number | bigint }>;

function toWire({ id, name, scopes, created, expires, revoked }: Token): Schemas["Token"] {
  return {
    id,
    name,
    scopes,
    created: toTime(created),
    ...(expires === undefined ? {} : { expires: toTime(expires) }),
    ...(revoked === undefined ? {} : { revoked: toTime(revoked) }),
  };
}

/** RFC 3339, in UTC. */
function toTime(time: number): string {
  return new Date(time).toISOString();
}
