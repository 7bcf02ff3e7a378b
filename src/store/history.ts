import { PlantStoreError } from "../domain/errors.ts";
import type { ChangeKind } from "../domain/change.ts";
import type { NewPlant, PlantId } from "../domain/plant.ts";
import type { Owner } from "../runtime/fair-shares.ts";

/** A place in the log: behind an entry. Opaque text in base64url, with the position and the time of that entry, and of the newest one then. */
export type LogCursor = string;

/** That a plant changed, and what it is when this is read: undefined if it is not there. */
export type Change = Readonly<{
  id: PlantId;
  kind: ChangeKind;
  /** When, in microseconds since 1970. No change of the log has an earlier time than the one before it, on SQLite. */
  at: number;
  plant: NewPlant | undefined;
  /** Its tag before this change: null for none, undefined if there was no plant. */
  tagBefore: string | null | undefined;
  /** `tagBefore` was erased. */
  isForgotten: boolean;
  /** Behind this change: the same `placeText`, whatever was read to get there. */
  cursor: LogCursor;
}>;

/**
 * A page ends with the change that brings its names and tags to this many bytes. A page of a thousand large plants would
 * take 60 MB.
 */
export const CHANGES_BYTES_MAX = 2 ** 20;

/** `cursor`: behind all that was looked at, also what did not match. `isEnd`: nothing more can be read now. */
export type ChangePage = Readonly<{ changes: readonly Change[]; cursor: LogCursor; isEnd: boolean }>;

export type ChangeQuery = Readonly<{
  /** Undefined begins with the oldest change that is kept. */
  after: LogCursor | undefined;
  limit: number;
  /** Only changes that `concern` this tag. Null: plants without one. */
  tag: string | null | undefined;
}>;

/** Whether the plant has the tag now, or had it before the change. A change whose tag was erased may have had it. */
export function concerns({ plant, tagBefore, isForgotten }: Change, tag: string | null): boolean {
  return isForgotten || tagBefore === tag || (plant !== undefined && (plant.tag ?? null) === tag);
}

/** One change of one plant as people see it: from what to what. Undefined is no plant. */
export type PastChange = Readonly<{
  id: PlantId;
  kind: ChangeKind;
  at: number;
  /** The id of the token; "" for a command on the store itself. */
  by: Owner;
  /** The import that it belongs to. */
  import: string | undefined;
  from: NewPlant | undefined;
  to: NewPlant | undefined;
  /** `from` or `to` was a plant whose text was erased. */
  isForgotten: boolean;
}>;

/** The newest first. `next`: where the next page begins; undefined at the end. */
export type PastPage = Readonly<{ changes: readonly PastChange[]; next: LogCursor | undefined }>;
export type PastQuery = Readonly<{ before: LogCursor | undefined; limit: number }>;

/** What one file brought, in one request or many. Times in microseconds since 1970. */
export type PastImport = Readonly<{ id: string; by: Owner; began: number; ended: number; created: number; replaced: number }>;

/**
 * What is kept of changes, for those who follow the store and for people. Every method may reject with `changes_off`,
 * `changes_unsupported`, `store_unavailable` or `overloaded`; those with a cursor with `changes_gone`.
 */
export type History = Readonly<{
  /** Behind all changes that were answered before the call. */
  newest(): Promise<LogCursor>;
  /** One who has read up to a cursor misses no later change. May look at more than it returns: an empty page need not be the end. */
  read(query: ChangeQuery): Promise<ChangePage>;
  /** Calls `onMore` when there may be more to read. Returns what ends that. */
  watch(onMore: () => void): () => void;
  ofPlant(id: PlantId, query: PastQuery): Promise<PastPage>;
  /** The deletions of plants that are not there now, the newest first. One that was deleted twice may come twice. */
  deleted(query: PastQuery): Promise<PastPage>;
  /** All that are kept, the one that changed something last first, at most so many. */
  imports(limit: number): Promise<readonly PastImport[]>;
  /** What an import changed. To take it back, make the swap from `to` to `from` for each, in this order. */
  ofImport(id: string, query: PastQuery): Promise<PastPage>;
}>;

/** That of a store which keeps none: all of it rejects with the reason. */
export function noHistory(why: "changes_off" | "changes_unsupported"): History {
  const refuse = () => Promise.reject(new PlantStoreError(why));
  return { newest: refuse, read: refuse, watch: () => () => {}, ofPlant: refuse, deleted: refuse, imports: refuse, ofImport: refuse };
}
