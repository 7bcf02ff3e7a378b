import type { Scope } from "../scope.ts";
import type { Token, TokenStore } from "../store/store.ts";
import { createToken, hashToken, randomText } from "./token.ts";
import type { RandomBytes } from "./token.ts";

type IssueOptions = Readonly<{
  tokens: TokenStore;
  random: RandomBytes;
  now: () => number;
  name: string;
  scopes: readonly Scope[];
  /** Milliseconds from now; without it the token is valid until it is revoked. */
  lifetimeMs?: number;
}>;

/** A new token, with the secret that its owner sends. */
export type Issued = Readonly<{ token: Token; secret: string }>;

/** Makes a token and stores its hash. The secret that it returns is told nowhere else, and never again. */
export async function issueToken(options: IssueOptions): Promise<Issued> {
  const { tokens, random, now, name, scopes, lifetimeMs } = options;
  const secret = createToken(random);
  const created = now();
  const expires = lifetimeMs === undefined ? {} : { expires: created + lifetimeMs };
  const token = { id: randomText(random, 8), name, scopes, created, ...expires };
  // A secret that is not stored must not be told. One id in 62^8 happens to be there already.
  if (!(await tokens.create(token, hashToken(secret)))) throw new Error("The random id of the token names another one: try again.");
  return { token, secret };
}
