import type { NewPlant, PlantId } from "../plant.ts";
import type { Scope } from "../scope.ts";

/**
 * Keeps plants. A method that changes something resolves only after the change is on stable storage; what was read before it
 * resolved may be lost by a crash, what is read after it never.
 * Every method may reject with `overloaded`, `store_unavailable`, `store_full` or `draining`: then the outcome is unknown, and repeating is safe.
 */
export type PlantStore = Readonly<{
  /**
   * "created", or "same" when this very plant was there already. Rejects with `id_in_use` when the id names another plant.
   * Of two different plants created under one new id at the same moment exactly one is kept.
   * `whileWriting` may be called once in the meantime, when the disk is at work and the processor is not.
   */
  create(plant: NewPlant, whileWriting?: () => void): Promise<"created" | "same">;
  find(id: PlantId): Promise<NewPlant | undefined>;
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
}>;

/** Keeps tokens, each under the SHA-256 of its secret. What is said above about changes holds here too. */
export type TokenStore = Readonly<{
  create(token: Token, hash: string): Promise<void>;
  find(hash: string): Promise<Token | undefined>;
  /** All of them, the revoked and expired ones too, by the time of their creation. */
  list(): Promise<readonly Token[]>;
  /** False when there is no such token. Revoking twice keeps the first time. */
  revoke(id: string, at: number): Promise<boolean>;
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
