import type { Owner } from "../runtime/fair-shares.ts";
import { isScope } from "../domain/scope.ts";
import type { Scope } from "../domain/scope.ts";

/** A bearer token, without its secret. Times are milliseconds since 1970. */
export type Token = Readonly<{
  /** Public: identifies the token in commands and in the log. */
  id: string;
  name: string;
  scopes: readonly Scope[];
  created: number;
  expires?: number;
  revoked?: number;
  /** The id of the token that created it. Without one, it was created on the machine itself. */
  parent?: string;
  /** When it last authenticated a request, to the minute. The last minutes before a crash may be missing. */
  lastUsed?: number;
}>;

/** A token as both engines store it. */
export type TokenRow = Readonly<{
  id: string;
  name: string;
  scopes: string;
  created: bigint;
  expires: bigint | null;
  revoked: bigint | null;
  parent: string | null;
  used: bigint | null;
}>;

/** The same with the SHA-256 of its secret. */
export type StoredRow = TokenRow & Readonly<{ hash: string }>;

export function toToken({ id, name, scopes, created, expires, revoked, parent, used }: TokenRow): Token {
  return {
    id,
    name,
    scopes: scopes.split(" ").filter(isScope),
    created: toTime(created),
    ...(expires === null ? {} : { expires: toTime(expires) }),
    ...(revoked === null ? {} : { revoked: toTime(revoked) }),
    ...(parent === null ? {} : { parent }),
    ...(used === null ? {} : { lastUsed: toTime(used) }),
  };
}

/** The first millisecond of the year 10000. */
export const TIME_MAX = 253_402_300_800_000n;

/** A stored time. In a damaged store it may be one that no date can have: made one, so that tokens can be listed and revoked. */
function toTime(stored: bigint): number {
  if (stored < 0n) return 0;
  return Number(stored < TIME_MAX ? stored : TIME_MAX - 1n);
}

/** When tokens were last used, by id. */
export type TokenUses = ReadonlyMap<string, number>;

export type TokenQuery = Readonly<{ after: string | undefined; limit: number }>;

type RevokeOptions = Readonly<{ cascade: boolean }>;

/** One change of tokens. Its outcome is that of the TokenStore method of the same name. */
export type TokenChange =
  | Readonly<{ kind: "create"; token: Token; hash: string }>
  | Readonly<{ kind: "revoke"; id: string; at: number; cascade: boolean }>
  | Readonly<{ kind: "touch"; uses: TokenUses }>;

export type TokenOutcome = "created" | "taken" | "orphaned" | readonly string[] | undefined;

/** Keeps tokens, each under the SHA-256 of its secret. Its changes are as durable as those of a PlantStore. */
export type TokenStore = Readonly<{
  /**
   * "taken" when a token with this id exists. "orphaned" when the parent is revoked: then no usable token is created.
   */
  create(token: Token, hash: string, owner?: Owner): Promise<"created" | "taken" | "orphaned">;
  find(hash: string): Promise<Token | undefined>;
  /** A page of all tokens by time of creation, even revoked and expired ones, behind the id `after`. Undefined if there is no such one. */
  list(query: TokenQuery): Promise<readonly Token[] | undefined>;
  /** The names of those of these tokens that there are, also of revoked ones, by their ids. */
  names(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /**
   * Revokes a token and, unless they are kept, all its descendants. Resolves with the ids of those that were valid
   * before; undefined when there is no such token. Revoking twice keeps the first time.
   */
  revoke(id: string, at: number, options: RevokeOptions, owner?: Owner): Promise<readonly string[] | undefined>;
  /** Records when tokens were used. A time that is at most USE_AHEAD_MS_MAX earlier than the recorded one changes nothing. */
  touch(uses: TokenUses): Promise<void>;
}>;

/** A recorded use that is further ahead is from a clock that was wrong: else it would stay until that time has come. */
export const USE_AHEAD_MS_MAX = 24 * 60 * 60 * 1000;

/**
 * The most tokens of a page. Thousands at once would hold up all other requests.
 *
 * @limit tokens: tokens of a page of the list
 */
export const TOKENS_PAGE_MAX = 1000;

/** All tokens, page by page. */
export async function* allTokens({ list }: Pick<TokenStore, "list">): AsyncGenerator<Token, void, void> {
  for (let after: string | undefined; ;) {
    const page = (await list({ after, limit: TOKENS_PAGE_MAX })) ?? [];
    yield* page;
    if (page.length < TOKENS_PAGE_MAX) return;
    after = page.at(-1)!.id;
  }
}

/** The methods of a TokenStore that change something, for an engine that commits them together with other changes. */
export function queuedChanges(
  change: (change: TokenChange, owner?: Owner) => Promise<TokenOutcome>,
): Pick<TokenStore, "create" | "revoke" | "touch"> {
  return {
    create: (token, hash, owner) => change({ kind: "create", token, hash }, owner) as ReturnType<TokenStore["create"]>,
    revoke: (id, at, options, owner) => change({ kind: "revoke", id, at, ...options }, owner) as ReturnType<TokenStore["revoke"]>,
    async touch(uses) {
      await change({ kind: "touch", uses });
    },
  };
}
