import { PlantStoreError } from "../domain/errors.ts";
import type { Owner } from "../runtime/fair-shares.ts";
import type { Scope } from "../domain/scope.ts";
import type { Token, TokenStore } from "../store/tokens.ts";
import { invalidToken } from "./authenticate.ts";
import { authorize } from "./authorize.ts";
import { createToken, deriveBytes, hashToken, randomText } from "./secret.ts";
import type { RandomBytes } from "./secret.ts";

type IssueOptions = Readonly<{
  tokens: TokenStore;
  random: RandomBytes;
  now: () => number;
  name: string;
  scopes: readonly Scope[];
  /** Milliseconds from now. Without it and `expires`, the token is valid until it is revoked. */
  lifetimeMs?: number | undefined;
  /** Milliseconds since 1970. */
  expires?: number | undefined;
  /**
   * The token that creates this one. The new token gets no scope that its maker lacks, and expires no later than it.
   * Undefined if the owner of the machine creates it.
   */
  maker?: Token | undefined;
  /** Whose share of the queue it takes. */
  owner?: Owner;
  /**
   * Makes the call idempotent: a repeat issues the same token again. `key` identifies the request. The maker's secret
   * is the only thing that no one else knows.
   */
  once?: Readonly<{ key: string; makerSecret: string }> | undefined;
}>;

/** A new token, and the secret that its owner sends. */
export type Issued = Readonly<{ token: Token; secret: string; isRepeated: boolean }>;

/**
 * Creates a token and stores its hash. The secret is returned only here, and again only for a repeat with the same
 * `once`. Rejects with `insufficient_scope`, with `invalid_token` if the maker has just been revoked, and with
 * `idempotency_key_reused`.
 */
export async function issueToken({
  tokens,
  now,
  name,
  scopes,
  lifetimeMs,
  expires,
  maker,
  owner,
  once,
  ...given
}: IssueOptions): Promise<Issued> {
  if (maker) for (const scope of scopes) authorize(maker, scope);
  // A secret derived from the request is the same on every replica and after a restart, and need not be stored.
  const random = once ? deriveBytes(once.makerSecret, once.key) : given.random;
  const secret = createToken(random);
  const token = toToken({ id: randomText(random, 8), name, scopes, created: now(), lifetimeMs, expires, maker });
  const outcome = await tokens.create(token, hashToken(secret), owner);
  if (outcome === "orphaned") throw invalidToken(maker);
  if (outcome === "created" && !once) return { token, secret, isRepeated: false };
  const stored = once && (await tokens.find(hashToken(secret)));
  // Never return a secret that is not stored. The chance that a random id is in use is 1 in 62^8 for each token.
  if (!stored) throw new Error("The random id of the token is in use: try again.");
  // Compare as if both were created at the same time.
  const isSame = isAlike(stored, toToken({ ...token, created: stored.created, lifetimeMs, expires, maker }));
  if (!isSame) throw new PlantStoreError("idempotency_key_reused");
  return { token: stored, secret, isRepeated: stored.created !== token.created };
}

type Wanted = Pick<Token, "id" | "name" | "scopes" | "created"> & Pick<IssueOptions, "lifetimeMs" | "expires" | "maker">;

function toToken({ id, name, scopes, created, lifetimeMs = Infinity, maker, ...wanted }: Wanted): Token {
  const expires = Math.min(wanted.expires ?? created + lifetimeMs, maker?.expires ?? Infinity);
  return { id, name, scopes, created, ...(expires === Infinity ? {} : { expires }), ...(maker ? { parent: maker.id } : {}) };
}

function isAlike(one: Token, other: Token): boolean {
  const hasSameScopes = one.scopes.toSorted().join() === other.scopes.toSorted().join();
  return hasSameScopes && one.name === other.name && one.expires === other.expires;
}
