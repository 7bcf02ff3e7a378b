import { PlantStoreError } from "../errors.ts";
import type { Scope } from "../scope.ts";
import type { Token, TokenStore } from "../store/tokens.ts";
import { hashToken, hasTokenForm } from "./secret.ts";

export type Gate = Readonly<{
  /** Lets a request in, or throws `missing_token`, `invalid_token` or `insufficient_scope`. */
  admit(authorization: string | null, scope: Scope): Token | Promise<Token>;
  /**
   * Throws `invalid_token` when what let a request in does so no more: for work that goes on. It costs as little as `admit`, and bites within
   * `freshMs`. As long as the store cannot be asked, the token counts as it was seen last.
   */
  confirm(authorization: string | null, token: Token): Promise<void>;
}>;

type GateOptions = Readonly<{
  tokens: TokenStore;
  /** How long an answer of the store may be used again: within this time a revocation bites. */
  freshMs: number;
  /** How many tokens, known or not, are remembered. */
  cacheMax: number;
  /** Milliseconds since 1970, for the expiry of tokens and the age of the cache. */
  now: () => number;
  /** Called for each request that is let in. */
  onAdmit: (token: Token, time: number) => void;
}>;

const REALM = 'Bearer realm="plant-store"';

type Remembered = Readonly<{ token: Token | undefined; at: number }>;

/** A longer header is looked up each time, so that the cache is bounded in bytes too. */
const CACHED_LENGTH_MAX = 100;

export function createGate({ tokens, freshMs, cacheMax, now, onAdmit }: GateOptions): Gate {
  // By the header as it came: to parse and hash it for every request would cost more than the rest of the gate.
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
    const token = await tokens.find(hashToken(credentials));
    if (authorization && authorization.length <= CACHED_LENGTH_MAX) remember(authorization, token);
    return token;
  }

  function remember(authorization: string, token: Token | undefined): void {
    remembered.delete(authorization);
    for (const oldest of remembered.keys()) {
      if (remembered.size < cacheMax) break;
      remembered.delete(oldest);
    }
    remembered.set(authorization, { token, at: now() });
  }

  function judge(token: Token | undefined, scope: Scope, time: number): Token {
    if (!token || !isValid(token, time)) throw invalidToken(token);
    if (!token.scopes.includes(scope)) throw insufficientScope(scope, token);
    onAdmit(token, time);
    return token;
  }

  return {
    admit(authorization, scope) {
      const time = now();
      const known = authorization === null ? undefined : remembered.get(authorization);
      // A clock that was set back makes an age negative: such an entry is not trusted either.
      if (known && Math.abs(time - known.at) < freshMs) return judge(known.token, scope, time);
      return findOnce(authorization).then((token) => judge(token, scope, time));
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
  if (authorization === null || !/^bearer(\s|$)/i.test(authorization))
    throw new Refusal("missing_token", undefined, { headers: { "www-authenticate": REALM } });
  return "";
}

function isValid({ expires, revoked }: Token, now: number): boolean {
  return revoked === undefined && (expires === undefined || now < expires);
}

/** Why a request was not let in, and the token that it brought, if that is known. */
export class Refusal extends PlantStoreError {
  readonly token: Token | undefined;

  constructor(code: "missing_token" | "invalid_token" | "insufficient_scope", token: Token | undefined, options: RefusalOptions) {
    super(code, options);
    this.token = token;
  }
}

type RefusalOptions = Readonly<{ message?: string; headers: Record<string, string> }>;

export function invalidToken(token: Token | undefined, headers: Record<string, string> = {}): Refusal {
  return new Refusal("invalid_token", token, { headers: { "www-authenticate": `${REALM}, error="invalid_token"`, ...headers } });
}

export function insufficientScope(scope: Scope, token: Token): Refusal {
  return new Refusal("insufficient_scope", token, {
    message: `The token lacks the scope ${scope}: use one that has it.`,
    headers: { "www-authenticate": `${REALM}, error="insufficient_scope", scope="${scope}"` },
  });
}
