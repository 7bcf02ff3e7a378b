import type { Scope } from "../scope.ts";
import type { TokenStore } from "../store/store.ts";
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

/** Makes a token and stores its hash. The secret that it returns is told nowhere else, and never again. */
export async function issueToken(options: IssueOptions): Promise<string> {
  const { tokens, random, now, name, scopes, lifetimeMs } = options;
  const secret = createToken(random);
  const created = now();
  const expires = lifetimeMs === undefined ? {} : { expires: created + lifetimeMs };
  await tokens.create({ id: randomText(random, 8), name, scopes, created, ...expires }, hashToken(secret));
  return secret;
}
