import type { Owner } from "../fair-shares.ts";
import type { NewPlant, PlantId } from "../plant.ts";
import type { Page } from "./page.ts";
import type { TagCounts } from "./tags.ts";

/** Plants by id: at most `limit` with an id above `after`, that carry the tag and hold the words. */
export type ListQuery = Readonly<{
  limit: number;
  /** The page ends with the plant with which its names and tags have so many bytes, as the engine keeps them. Little more is ever read for it. */
  bytesMax: number;
  after: PlantId | undefined;
  tag: string | undefined;
  /** As `tokenize` gives them; without any, every name is found. */
  words: readonly string[];
}>;

/** One change of one plant, from what it was seen to be to what it shall be; undefined stands for no plant. At least one is a plant, and both have the same id. */
export type Swap = Readonly<{ from: NewPlant | undefined; to: NewPlant | undefined }>;

/** What becomes of a line of an import. */
export type ImportOutcome = "created" | "same" | "replaced" | "in_use";

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
  compareAndSwap(swap: Swap, owner?: Owner): Promise<boolean>;
  /** Creates many plants; one outcome each, in their order. An id may stand in it more than once: the first comes first. */
  import(plants: readonly NewPlant[], options: ImportOptions): Promise<readonly ImportOutcome[]>;
  find(id: PlantId): Promise<NewPlant | undefined>;
  /**
   * A page, by id, as all that was created or changed before it was asked for has left it. What has words may lack plants of an import, which it
   * follows as fast as it can; what it has is as it is stored now. Rejects with `index_building` as long as names cannot be searched yet.
   */
  list(query: ListQuery): Promise<Page>;
  /** Whether such work is done by a few workers, threads or connections, that all who ask share: then it should be asked for in turns. */
  takesTurns(kind: "search" | "list" | "import"): boolean;
  /** May be some seconds old. */
  countTags(): Promise<TagCounts>;
}>;
