import type { Owner } from "../fair-shares.ts";
import type { Scope } from "../scope.ts";

/** A bearer token, without its secret. Times are milliseconds since 1970. */
export type Token = Readonly<{
  /** Public: names the token in commands and in the log. */
  id: string;
  name: string;
  scopes: readonly Scope[];
  created: number;
  expires?: number;
  revoked?: number;
  /** The id of the token that made it. Without one, it was made on the machine itself. */
  parent?: string;
  /** When it last let a request in, to the minute; the minutes before a crash may be missing. */
  lastUsed?: number;
}>;

/** When tokens were used last, by their ids. */
export type TokenUses = ReadonlyMap<string, number>;

type RevokeOptions = Readonly<{ isKeepingChildren: boolean }>;

/** One change of tokens; what it comes to is what the method of the store of that name resolves with. */
export type TokenChange =
  | Readonly<{ kind: "create"; token: Token; hash: string }>
  | Readonly<{ kind: "revoke"; id: string; at: number; isKeepingChildren: boolean }>
  | Readonly<{ kind: "touch"; uses: TokenUses }>;

export type TokenOutcome = "created" | "taken" | "orphaned" | readonly string[] | undefined;

/** Keeps tokens, each under the SHA-256 of its secret. What is said above about changes holds here too. */
export type TokenStore = Readonly<{
  /** "taken" when there is a token with this id already; "orphaned", and no token is made that is good for anything, when its parent is revoked. */
  create(token: Token, hash: string, owner?: Owner): Promise<"created" | "taken" | "orphaned">;
  find(hash: string): Promise<Token | undefined>;
  /** All of them, the revoked and expired ones too, by the time of their creation. */
  list(): Promise<readonly Token[]>;
  /**
   * Revokes a token, and all that it made, and they made, unless they are kept. Resolves with the ids of those that were valid before; undefined
   * when there is no such token. Revoking twice keeps the first time.
   */
  revoke(id: string, at: number, options: RevokeOptions, owner?: Owner): Promise<readonly string[] | undefined>;
  /** Notes when tokens were used. An earlier time than the one that is known changes nothing. */
  touch(uses: TokenUses): Promise<void>;
}>;

/** The changes of a TokenStore as single values, for an engine that commits them with others. */
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
