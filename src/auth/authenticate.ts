import type { Token, TokenStore } from "../store/tokens.ts";
import { Refusal } from "./refusal.ts";
import { hashToken, hasTokenForm } from "./secret.ts";

/** Finds who is asking. What they may do, `authorize` says. */
export type Authenticator = Readonly<{
  /** The valid token in the header Authorization. Throws `missing_token` or `invalid_token`. A promise only when the store has to be asked. */
  authenticate(authorization: string | null): Token | Promise<Token>;
  /**
   * Throws `invalid_token` when what let a request in does so no more: for work that goes on. It costs as little as `authenticate`, and bites within
   * `freshMs`. As long as the store cannot be asked, the token counts as it was seen last.
   */
  confirm(authorization: string | null, token: Token): Promise<void>;
}>;

type AuthenticatorOptions = Readonly<{
  tokens: TokenStore;
  /** How long an answer of the store may be used again: within this time a revocation bites. */
  freshMs: number;
  /** How many tokens, known or not, are remembered. */
  cacheMax: number;
  /** Milliseconds since 1970, for the expiry of tokens and the age of the cache. */
  now: () => number;
}>;

type Remembered = Readonly<{ token: Token | undefined; at: number }>;

/** A longer header is looked up each time, so that the cache is bounded in bytes too. */
const CACHED_LENGTH_MAX = 100;

export function createAuthenticator({ tokens, freshMs, cacheMax, now }: AuthenticatorOptions): Authenticator {
  // By the header as it came: to parse and hash it for every request would cost more than all else here.
  const remembered = new Map<string, Remembered>();
  // One look-up serves all who ask for the same token meanwhile.
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
    // As old as the question: a store that is slow to answer may tell what was so before a revocation.
    const at = now();
    const token = await tokens.find(hashToken(credentials));
    if (authorization && authorization.length <= CACHED_LENGTH_MAX) remember(authorization, { token, at });
    return token;
  }

  function remember(authorization: string, found: Remembered): void {
    remembered.delete(authorization);
    for (const oldest of remembered.keys()) {
      if (remembered.size < cacheMax) break;
      remembered.delete(oldest);
    }
    remembered.set(authorization, found);
  }

  return {
    authenticate(authorization) {
      const time = now();
      const known = authorization === null ? undefined : remembered.get(authorization);
      // A clock that was set back makes an age negative: such an entry is not trusted either.
      if (known && Math.abs(time - known.at) < freshMs) return expectValid(known.token, time);
      return findOnce(authorization).then((token) => expectValid(token, now()));
    },
    async confirm(authorization, token) {
      const known = authorization === null ? undefined : remembered.get(authorization);
      const isFresh = known && Math.abs(now() - known.at) < freshMs;
      const found = isFresh ? known.token : await findOnce(authorization).catch(() => token);
      // What is still to come of the request is not read.
      if (!found || !isValid(found, now())) throw invalidToken(found, { connection: "close" });
    },
  };
}

/** The credentials of the bearer scheme, whose name has no case (RFC 9110, 11.1). */
export function parseBearer(authorization: string | null): string {
  const match = /^bearer +(\S+) *$/i.exec(authorization ?? "");
  if (match?.[1]) return match[1];
  // RFC 6750, 3.1: no error attribute when no bearer token was sent. A bare "Bearer" did try to send one.
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
