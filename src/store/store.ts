import type { NewPlant, PlantId } from "../plant.ts";
import type { Scope } from "../scope.ts";

/** Plants by id: at most `limit` with an id above `after`, that carry the tag and hold the words. */
export type ListQuery = Readonly<{
  limit: number;
  /** The page ends with the plant with which its names and tags have so many bytes, as the engine keeps them. Little more is ever read for it. */
  bytesMax: number;
  after: PlantId | undefined;
  tag: string | undefined;
  /** As `wordsOf` gives them; without any, every name is found. */
  words: readonly string[];
}>;

/** What was found; `isLast` when there is nothing more behind it. */
export type Page = Readonly<{ plants: readonly NewPlant[]; isLast: boolean }>;

/** One change of one plant, from what it was seen to be to what it shall be; undefined stands for no plant. At least one is a plant, and both have the same id. */
export type Swap = Readonly<{ from: NewPlant | undefined; to: NewPlant | undefined }>;

/** What becomes of a line of an import. */
export type ImportOutcome = "created" | "same" | "replaced" | "in_use";

/** Under what name a change has its share of what may wait; without one it shares with all that have none. */
export type Owner = string;

type CreateOptions = Readonly<{
  owner?: Owner;
  /** May be called once in the meantime, when the disk is at work and the processor is not. */
  whileWriting?: () => void;
}>;

export type ImportOptions = Readonly<{
  /** Whether a plant takes the place of another with its id; otherwise it is "in_use". */
  isReplacing: boolean;
  /** Only tells the outcomes, and changes nothing. */
  isDryRun: boolean;
}>;

export type TagCount = Readonly<{ tag: string; plants: number }>;

/** The tags with the most plants, at most TAGS_MAX, and how long ago they were counted, in milliseconds. */
export type TagCounts = Readonly<{ tags: readonly TagCount[]; ageMs: number }>;

export const TAGS_MAX = 1000;

/**
 * Keeps plants. A method that changes something resolves only after the change is on stable storage; what was read before it
 * resolved may be lost by a crash, what is read after it never.
 * Every method may reject with `overloaded`, `store_unavailable`, `store_full` or `draining`: then the outcome is unknown, and repeating is safe.
 */
export type PlantStore = Readonly<{
  /**
   * "created", or "same" when this very plant was there already. Rejects with `id_in_use` when the id names another plant.
   * Of two different plants created under one new id at the same moment exactly one is kept.
   */
  create(plant: NewPlant, options?: CreateOptions): Promise<"created" | "same">;
  /** Makes the change if the plant is still as `from` says; false, and nothing is changed, when it is not. */
  swap(swap: Swap, owner?: Owner): Promise<boolean>;
  /** Creates many plants; one outcome each, in their order. An id may stand in it more than once: the first comes first. */
  import(plants: readonly NewPlant[], options: ImportOptions): Promise<readonly ImportOutcome[]>;
  /** Whether such a change of this owner would be refused with `overloaded` now. To ask before it is read saves most of its work. */
  isFull(kind: "create" | "swap", owner?: Owner): boolean;
  find(id: PlantId): Promise<NewPlant | undefined>;
  /**
   * A page, by id, as all that was created or swapped before it was asked for has left it. What has words may lack plants of an import, which it
   * follows as fast as it can; what it has is as it is stored now. Rejects with `index_building` as long as names cannot be searched yet.
   */
  list(query: ListQuery): Promise<Page>;
  /** Whether such work is done by a few workers, threads or connections, that all who ask share: then it should be asked for in turns. */
  takesTurns(kind: "search" | "list" | "import"): boolean;
  /** May be some seconds old. */
  countTags(): Promise<TagCounts>;
}>;

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

export type RevokeOptions = Readonly<{ isKeepingChildren: boolean }>;

/** Keeps tokens, each under the SHA-256 of its secret. What is said above about changes holds here too. */
export type TokenStore = Readonly<{
  /** "taken" when there is a token with this id already; "orphaned", and no token is made that is good for anything, when its parent is revoked. */
  create(token: Token, hash: string): Promise<"created" | "taken" | "orphaned">;
  find(hash: string): Promise<Token | undefined>;
  /** All of them, the revoked and expired ones too, by the time of their creation. */
  list(): Promise<readonly Token[]>;
  /**
   * Revokes a token, and all that it made, and they made, unless they are kept. Resolves with the ids of those that were valid before; undefined
   * when there is no such token. Revoking twice keeps the first time.
   */
  revoke(id: string, at: number, options: RevokeOptions): Promise<readonly string[] | undefined>;
  /** Notes when tokens were used. An earlier time than the one that is known changes nothing. */
  touch(uses: TokenUses): Promise<void>;
}>;

export type Store = Readonly<{
  /** What it is and where, for people; without secrets. */
  name: string;
  plants: PlantStore;
  tokens: TokenStore;
  /** Throws why the store cannot take changes now, if so. Tells what is known already: it costs nothing and never waits. */
  check(): void;
  /** Finishes what is under way, refuses what still waits, then lets go of files and connections. */
  close(): Promise<void>;
}>;
