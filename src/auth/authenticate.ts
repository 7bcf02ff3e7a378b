import type { Token, TokenStore } from "../store/tokens.ts";
import { Refusal } from "./authorize.ts";
import { hashToken, hasTokenForm } from "./secret.ts";

type AuthenticatorOptions = Readonly<{
  tokens: TokenStore;
  /** How many look-ups to remember, of known and unknown tokens. */
  cacheMax: number;
  /** Milliseconds since 1970, for the expiry of tokens and the age of the cache. */
  now: () => number;
}>;

/**
 * How long a look-up is used again, in milliseconds: a revocation takes effect within this time.
 *
 * @limit tokens: time for which authentication remembers a token
 */
const FRESH_MS = 500;

type Remembered = Readonly<{ token: Token | undefined; at: number }>;

/** Longer headers are not cached, so that the cache is bounded in bytes too. */
const CACHED_LENGTH_MAX = 100;

export type Authenticator = ReturnType<typeof createAuthenticator>;

/** Finds out who is asking. `authorize` decides what they may do. */
export function createAuthenticator({ tokens, cacheMax, now }: AuthenticatorOptions) {
  const remembered = createMemory(cacheMax);
  // Concurrent requests with the same token share one look-up.
  const asked = new Map<string, Promise<Token | undefined>>();

  function findOnce(authorization: string | null): Promise<Token | undefined> {
    const key = authorization ?? "";
    const running = asked.get(key) ?? find(authorization).finally(() => asked.delete(key));
    asked.set(key, running);
    return running;
  }

  async function find(authorization: string | null): Promise<Token | undefined> {
    const credentials = parseBearer(authorization);
    if (!hasTokenForm(credentials)) return undefined;
    // The age counts from the start of the look-up: a slow store may return what was true before a revocation.
    const at = now();
    const token = await tokens.find(hashToken(credentials));
    if (authorization && authorization.length <= CACHED_LENGTH_MAX) remembered.keep(authorization, { token, at });
    return token;
  }

  return {
    /**
     * The valid token in the Authorization header. Throws `missing_token` or `invalid_token`. Returns a promise only when
     * it has to ask the store.
     */
    authenticate(authorization: string | null): Token | Promise<Token> {
      const time = now();
      const known = remembered.find(authorization);
      // If the clock was set back, an age is negative: do not trust that entry either.
      if (known && Math.abs(time - known.at) < FRESH_MS) return expectValid(known.token, time);
      return findOnce(authorization).then((token) => expectValid(token, now()));
    },
    /**
     * For long-running work: throws `invalid_token` once the token that authenticated the request is no longer valid,
     * otherwise resolves with it. It is as cheap as `authenticate` and notices a revocation within `FRESH_MS`. While the
     * store cannot be reached, it uses the token as last seen.
     */
    async confirm(authorization: string | null, token: Token): Promise<Token> {
      const known = remembered.find(authorization);
      const isFresh = known && Math.abs(now() - known.at) < FRESH_MS;
      const found = isFresh ? known.token : await findOnce(authorization).catch(() => token);
      // Do not read the rest of the request.
      if (!found || !isValid(found, now())) throw invalidToken(found, { connection: "close" });
      return found;
    },
  };
}

/** The last look-ups, by the raw header: parsing and hashing it for every request would cost more than everything else here. */
function createMemory(max: number) {
  const remembered = new Map<string, Remembered>();
  return {
    find: (authorization: string | null) => (authorization === null ? undefined : remembered.get(authorization)),
    keep(authorization: string, found: Remembered): void {
      remembered.delete(authorization);
      for (const oldest of remembered.keys()) {
        if (remembered.size < max) break;
        remembered.delete(oldest);
      }
      remembered.set(authorization, found);
    },
  };
}

/** The credentials of the bearer scheme, whose name is case-insensitive (RFC 9110, 11.1). */
export function parseBearer(authorization: string | null): string {
  const match = /^bearer +(\S+) *$/i.exec(authorization ?? "");
  if (match?.[1]) return match[1];
  // RFC 6750, 3.1: no error attribute if no bearer token was sent. A bare "Bearer" is an attempt to send one.
  if (authorization === null || !/^bearer(\s|$)/i.test(authorization)) throw new Refusal("missing_token");
  return "";
}

function expectValid(token: Token | undefined, time: number): Token {
  if (!token || !isValid(token, time)) throw invalidToken(token);
  return token;
}

function isValid({ expires, revoked }: Token, now: number): boolean {
  return revoked === undefined && (expires === undefined || now < expires);
}

export function invalidToken(token: Token | undefined, headers: Readonly<Record<string, string>> = {}): Refusal {
  return new Refusal("invalid_token", { token, challenge: 'error="invalid_token"', headers });
}
