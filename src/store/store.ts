import type { Owner } from "../fair-shares.ts";
import type { PlantStore } from "./plants.ts";
import type { TokenStore } from "./tokens.ts";

/** What a change waits in until its commit begins. Files have limits of their own. */
export type Queue = "creates" | "changes" | "tokens";

export type Store = Readonly<{
  /** What it is and where, for people; without secrets. */
  name: string;
  plants: PlantStore;
  tokens: TokenStore;
  /** Whether a change of this owner would be refused with `overloaded` now. To ask before it is read saves most of its work. */
  isFull(queue: Queue, owner: Owner): boolean;
  /** Throws why the store cannot take changes now, if so. Tells what is known already: it costs nothing and never waits. */
  check(): void;
  /** Finishes what is under way, refuses what still waits, then lets go of files and connections. */
  close(): Promise<void>;
}>;
