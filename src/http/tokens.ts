import type { Schemas } from "../../contract/generated/schemas.ts";
import { mayBeMade } from "../auth/audit.ts";
import type { Audit } from "../auth/audit.ts";
import { parseBearer } from "../auth/authenticate.ts";
import { issueToken } from "../auth/issue.ts";
import { ownerOf, tokenOf } from "../auth/principal.ts";
import type { RandomBytes } from "../auth/secret.ts";
import { parseEnd, toSession, toTime, toTokenJson } from "../auth/token-json.ts";
import type { Usage } from "../auth/usage.ts";
import { PlantStoreError } from "../domain/errors.ts";
import { TOKENS_PAGE_MAX } from "../store/tokens.ts";
import type { TokenStore } from "../store/tokens.ts";
import { linkTo, unknownCursor } from "./cursor.ts";
import type { Call, Handlers } from "./router.ts";
import type { HttpResponse } from "./wire/response.ts";

type TokenOptions = Readonly<{
  tokens: TokenStore;
  usage: Usage;
  audit: Audit;
  random: RandomBytes;
  /** Milliseconds since 1970. */
  now: () => number;
  /** Called after each revocation, because it may have revoked the first token. */
  onRevoke: () => Promise<unknown>;
}>;

/** How many of the tokens revoked along with another to name in the log. All are counted. */
const CHILDREN_LOGGED_MAX = 100;

type TokenHandlers = Pick<Handlers, "getSession" | "listTokens" | "createToken" | "revokeToken">;

const NO_STORE = { "cache-control": "no-store" };

/**
 * The operations on tokens, and what a token may know of itself. A token can only create tokens with no more scopes and
 * no longer life than its own.
 */
export function tokenHandlers(options: TokenOptions): TokenHandlers {
  const { tokens, usage, audit, now, onRevoke } = options;
  return {
    getSession: ({ principal }) => ({ status: 200, body: JSON.stringify(toSession(tokenOf(principal))), headers: NO_STORE }),
    async listTokens({ parameters: { limit, cursor } }) {
      const size = Math.min(limit, TOKENS_PAGE_MAX);
      const found = await tokens.list({ after: cursor, limit: size + 1 });
      if (!found) throw unknownCursor();
      const page: Schemas["TokenList"] = found.slice(0, size).map((token) => toTokenJson(usage.complete(token)));
      const next = found.length <= size ? {} : linkTo({ limit: size, cursor: page.at(-1)!.id });
      return { status: 200, body: JSON.stringify(page), headers: { ...NO_STORE, ...next } };
    },
    createToken: (call) => create(call, options),
    async revokeToken(call) {
      const { id, children } = call.parameters;
      const revoking = tokens.revoke(id, now(), { cascade: children !== "keep" }, ownerOf(call.principal));
      const revoked = await revoking.catch((reason: unknown) => {
        if (mayBeMade(reason)) audit.note("token_revoked", call, { token: id, outcome: "unknown" });
        throw reason;
      });
      if (!revoked) throw new PlantStoreError("token_not_found");
      const others = revoked.filter((one) => one !== id);
      const logged = { children: others.slice(0, CHILDREN_LOGGED_MAX), childrenRevoked: others.length };
      if (revoked.length > 0) audit.note("token_revoked", call, { token: id, ...logged, outcome: "done" });
      await onRevoke();
      return { status: 204 };
    },
  };
}

async function create(call: Call<"createToken">, { tokens, audit, random, now }: TokenOptions): Promise<HttpResponse> {
  const { body, headers, principal } = call;
  const { name, scopes } = body;
  const end = parseEnd(body, now());
  const key = parseKey(headers.get("idempotency-key"));
  const once = key === undefined ? undefined : { key, makerSecret: parseBearer(headers.get("authorization")) };
  const by = { maker: tokenOf(principal), owner: ownerOf(principal), once };
  const issuing = issueToken({ tokens, random, now, name, scopes, ...end, ...by });
  const { token, secret, isRepeated } = await issuing.catch((reason: unknown) => {
    // The response is lost, and the secret with it. If the token was created, its name is how to find it.
    if (mayBeMade(reason)) audit.note("token_created", call, { tokenName: name, scopes, outcome: "unknown" });
    throw reason;
  });
  const expires = token.expires === undefined ? {} : { expires: toTime(token.expires) };
  if (!isRepeated) audit.note("token_created", call, { token: token.id, tokenName: name, scopes, ...expires, outcome: "done" });
  const created: Schemas["CreatedToken"] = { ...toTokenJson(token), token: secret };
  return { status: 200, body: JSON.stringify(created), headers: NO_STORE };
}

/** Parses a String of RFC 9651, 3.3.3, as draft-ietf-httpapi-idempotency-key-header-07, 2.1, requires. */
function parseKey(header: string | null): string | undefined {
  if (header === null) return undefined;
  if (!/^"(?:[ !#-[\]-~]|\\["\\]){1,255}"$/.test(header)) throw new PlantStoreError("invalid_idempotency_key");
  return header;
}
