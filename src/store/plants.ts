import type { Owner } from "../runtime/fair-shares.ts";
import type { NewPlant, PlantId } from "../domain/plant.ts";
import type { SearchTerms, SearchWord } from "../domain/terms.ts";
import type { Order, OrderedPage, Page, Place } from "./page.ts";
import type { FoundTags, TagCounts, PlantCount } from "./tags.ts";

/** Selects plants, by id: at most `limit` behind `after`, that have the tag and contain the words. */
export type ListQuery = Readonly<{
  /** From the greatest id down. */
  descending?: boolean;
  limit: number;
  /** The page ends with the plant that brings its names and tags to this many bytes, as stored. Little more is ever read. */
  bytesMax: number;
  after: PlantId | undefined;
  /** Null selects plants without a tag. */
  tag: string | null | undefined;
  /** As `wordsOfSearch` returns them. Without words, every name matches. */
  words: readonly SearchWord[];
  /** Ends where it would have to look at more than the first plants that an index finds, of which some may not match. */
  isBrief?: boolean;
}>;

/** Selects plants in an order, behind a place. */
export type OrderedQuery = Omit<ListQuery, "after" | "descending"> & Readonly<{ order: Order; after: Place | undefined }>;

/** One change of one plant, from the state that was seen to the new one. Undefined is no plant. At least one is a plant; ids are equal. */
export type Swap = Readonly<{ from: NewPlant | undefined; to: NewPlant | undefined }>;

/** The id of the plant that a swap changes. */
export function idOf({ from, to }: Swap): PlantId {
  return (from ?? to)!.id;
}

/** `reached`: the page ends behind this plant, although it is not full and others may follow. */
export type SnapshotPage = Page & Readonly<{ reached?: PlantId }>;

/** A consistent snapshot. Once it is closed, or has lasted too long, lists reject. They take no words, and only tags that are text. */
export type Snapshot = Readonly<{ list(query: ListQuery): Promise<SnapshotPage>; close(): void }>;

/** The outcome of a line of an import. */
export type ImportOutcome = "created" | "same" | "replaced" | "in_use";

type CreateOptions = Readonly<{
  owner?: Owner;
  /** Called at most once, while the disk is busy and the processor is not. What it throws is dropped: the caller must do without it. */
  whileWriting?: () => void;
}>;

export type ImportOptions = Readonly<{
  /** Whether a plant replaces another one with its id. Otherwise it is "in_use". */
  isReplacing: boolean;
  /** Only reports the outcomes, and changes nothing. */
  isDryRun: boolean;
  /** Who imports; by default a command. */
  by?: Owner | undefined;
  /** The id of the import: all that has it is one import for people. By default it belongs to none. */
  import?: string | undefined;
}>;

/**
 * Keeps plants. A method that changes something resolves only after the change is on stable storage. A crash may lose
 * what was read before the method resolved, but never what is read after. Every method may reject with `overloaded`,
 * `store_unavailable`, `store_full` or `draining`. Then the outcome is unknown, and repeating is safe.
 */
export type PlantStore = Readonly<{
  /**
   * "created", or "same" when this very plant was stored already. Rejects with `id_in_use` when the id names another
   * plant. Of two different plants created under one new id at the same moment, exactly one is kept.
   */
  create(plant: NewPlant, options?: CreateOptions): Promise<"created" | "same">;
  /** Makes the change if the plant still equals `from`. Otherwise it changes nothing and resolves with false. */
  compareAndSwap(swap: Swap, owner?: Owner): Promise<boolean>;
  /** Creates many plants, in order. Resolves with one outcome each. An id may occur more than once. */
  import(plants: readonly NewPlant[], options: ImportOptions): Promise<readonly ImportOutcome[]>;
  find(id: PlantId): Promise<NewPlant | undefined>;
  /**
   * A page by id, after all changes that were made before the call, in whatever way. What it finds is as stored now.
   * Rejects with `index_building` while the index cannot be searched yet, and with `overloaded` while it is too far behind.
   */
  list(query: ListQuery): Promise<Page>;
  /** A page in another order. It knows as much as a search, and rejects like one. */
  listOrdered(query: OrderedQuery): Promise<OrderedPage>;
  /** All changes that were answered before the call are in it. May last some minutes, and must be closed. */
  snapshot(): Promise<Snapshot>;
  /** Whether all callers share a few workers (threads or connections) for this work, so that it needs a fair queue. */
  takesTurns(kind: "search" | "list" | "import"): boolean;
  /** Where a count is expensive it may be an older one, and says how old. */
  countTags(): Promise<TagCounts>;
  /** Takes the same time in a large store. Knows as much as a list, and rejects like one. */
  count(terms: SearchTerms): Promise<PlantCount>;
  /** Like `count`, with their tags. There must be words. */
  countFoundTags(terms: SearchTerms): Promise<FoundTags>;
}>;
