import { PlantStoreError } from "../errors.ts";
import type { Owner } from "../fair-shares.ts";
import type { Scope } from "../scope.ts";
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
  /** Milliseconds from now; without it the token is valid until it is revoked. */
  lifetimeMs?: number | undefined;
  /** Who makes it: the token has none of the scopes that its maker lacks, and expires with it at the latest. Without one, it is the owner of the machine. */
  maker?: Token | undefined;
  /** Who has the place in the queue. */
  owner?: Owner;
  /** To issue the same token again, and not another: a name of the request, and the secret of the maker, as nothing else is known to the maker alone. */
  once?: Readonly<{ key: string; makerSecret: string }> | undefined;
}>;

/** A new token, with the secret that its owner sends. */
export type Issued = Readonly<{ token: Token; secret: string; isRepeated: boolean }>;

/**
 * Makes a token and stores its hash. The secret that it returns is told nowhere else, and never again unless the same is issued `once` more.
 * Rejects with `insufficient_scope`, `invalid_token` when the maker has just been revoked, and `idempotency_key_reused`.
 */
export async function issueToken({ tokens, now, name, scopes, lifetimeMs, maker, owner, once, ...given }: IssueOptions): Promise<Issued> {
  if (maker) for (const scope of scopes) authorize(maker, scope);
  // A secret that follows from the request is the same on every replica and after a restart, and stands nowhere.
  const random = once ? deriveBytes(once.makerSecret, once.key) : given.random;
  const secret = createToken(random);
  const token = toToken({ id: randomText(random, 8), name, scopes, created: now(), lifetimeMs, maker });
  const outcome = await tokens.create(token, hashToken(secret), owner);
  if (outcome === "orphaned") throw invalidToken(maker);
  if (outcome === "created" && !once) return { token, secret, isRepeated: false };
  const stored = once && (await tokens.find(hashToken(secret)));
  // A secret that is not stored must not be told. One id in 62^8 happens to be there already.
  if (!stored) throw new Error("The random id of the token is in use: try again.");
  // Compared as if it were made at the time of the first.
  const isSame = isAlike(stored, toToken({ ...token, created: stored.created, lifetimeMs, maker }));
  if (!isSame) throw new PlantStoreError("idempotency_key_reused");
  return { token: stored, secret, isRepeated: stored.created !== token.created };
}

type Wanted = Pick<Token, "id" | "name" | "scopes" | "created"> & Pick<IssueOptions, "lifetimeMs" | "maker">;

function toToken({ id, name, scopes, created, lifetimeMs = Infinity, maker }: Wanted): Token {
  const expires = Math.min(created + lifetimeMs, maker?.expires ?? Infinity);
  return { id, name, scopes, created, ...(expires === Infinity ? {} : { expires }), ...(maker ? { parent: maker.id } : {}) };
}

function isAlike(one: Token, other: Token): boolean {
  const hasSameScopes = one.scopes.toSorted().join() === other.scopes.toSorted().join();
  return hasSameScopes && one.name === other.name && one.expires === other.expires && one.parent === other.parent;
}
