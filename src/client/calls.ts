import type { ChangeOutcome, PlantChange } from "./bulk-change.ts";
import type { ChangesQuery, FollowedChange, PastImport, PastPage, PastQuery } from "./change.ts";
import type { ExportedFile, ExportedPlants, ExportQuery } from "./export.ts";
import type { FileFormat } from "./file-format.ts";
import type { ImportProgress, ImportQuery, ImportSource, ImportSummary } from "./import.ts";
import type { ListQuery, Page, PlantFilter } from "./page.ts";
import type { Plant, PlantContent, PlantCount, PlantPatch, PutPlant, StoredPlant, Tags } from "./plant.ts";
import type { CreatedToken, NewToken, Session, Token } from "./token.ts";

/** Options of every call. Aborting `signal` makes the call throw the signal's reason. */
export type CallOptions = Readonly<{ signal?: AbortSignal | undefined }>;

/**
 * `ifMatch`: the ETag that the plant must have, or `*` if it only has to exist. `ifNoneMatch`: `*` if it must not
 * exist. If the condition fails, nothing changes and the error is 41200.
 */
export type ConditionOptions = CallOptions & Readonly<{ ifMatch?: string | undefined; ifNoneMatch?: string | undefined }>;

export type ImportOptions = CallOptions &
  ImportQuery &
  Readonly<{
    /**
     * Default: what the name or first bytes of a whole file say; NDJSON for a stream or other iterable. `any`, and with a
     * `reading`: the service finds out what it is, such as a workbook.
     */
    format?: FileFormat | "any";
    /** Called as bytes move; only once in a browser, which does not report progress. */
    onProgress?: (progress: ImportProgress) => void;
  }>;

/**
 * A typed client of Plant Store. A refusal by the service is thrown as a ServiceError with its number, a lost
 * connection as a ConnectionError, a timeout as a TimeoutError, and a response that is not Plant Store's as an
 * UnexpectedAnswerError. Ids are bigint and exact.
 */
export type Client = Readonly<{
  /**
   * Resolves once the plant is on stable storage. Creating the same plant again resolves too and changes nothing;
   * a different plant with the same id is error 40900.
   */
  create: (plant: Plant, options?: CallOptions) => Promise<StoredPlant>;
  /**
   * Creates a plant under a new id, and resolves with it once it is on stable storage. However often it has to be sent,
   * it is stored once, and it never becomes one with a plant that was there. To be able to repeat a call that threw,
   * give it an `id` of `makeId()`, the same each time; if another plant has that, a new one takes its place.
   */
  add: (plant: PlantContent, options?: CallOptions & Readonly<{ id?: bigint }>) => Promise<StoredPlant>;
  /** The plant with this id, or undefined if there is none. */
  find: (id: bigint, options?: CallOptions) => Promise<StoredPlant | undefined>;
  /**
   * All matching plants by id, or as `sort` says, fetched page by page. `limit` is the page size: to stop early, break out of the loop.
   */
  list: (options?: CallOptions & ListQuery) => AsyncIterable<Plant>;
  /** One page of plants. Pass its `next` to get the following page. */
  page: (options?: CallOptions & ListQuery) => Promise<Page>;
  /** Creates the plant, or replaces the one with its id. */
  put: (plant: Plant, options?: ConditionOptions) => Promise<PutPlant>;
  /** Changes some fields of a plant. Error 40401 if there is no such plant. */
  patch: (id: bigint, patch: PlantPatch, options?: ConditionOptions) => Promise<StoredPlant>;
  /** Deletes a plant. False if there was none. */
  remove: (id: bigint, options?: ConditionOptions) => Promise<boolean>;
  /**
   * Makes many changes, each of one plant and only if that is still as it was seen, and yields the outcome of each, in
   * order. They go to the service a thousand at a time. What fails for a moment is tried again. To stop early, break out
   * of the loop. If the call throws, the changes without an outcome may or may not have been made; repeating them is
   * safe. To undo, exchange `from` and `to` of those that were "changed".
   */
  change: (
    changes: AsyncIterable<PlantChange> | Iterable<PlantChange>,
    options?: CallOptions,
  ) => AsyncGenerator<ChangeOutcome, void, undefined>;
  /** How many plants there are, or match. */
  count: (options?: CallOptions & PlantFilter) => Promise<PlantCount>;
  /** For a search that finds nothing: up to three that do, with one or two letters of a word otherwise, the nearest first. */
  suggest: (options: CallOptions & PlantFilter) => Promise<readonly string[]>;
  /** The most frequent tags of the plants that match: at most `limit` of them, 1,000 by default. */
  tags: (options?: CallOptions & PlantFilter & Readonly<{ limit?: number }>) => Promise<Tags>;
  /**
   * Creates all plants of a file, stream or iterable. Lines that cannot be imported are refused and counted in the
   * summary; all others are stored. The source is read only as fast as the service stores it. A browser cannot stream a
   * request: there the source is collected in a Blob first. If the import breaks off, what was stored by then stays
   * stored, and repeating the import is safe. The client never repeats it by itself.
   */
  importPlants: (source: ImportSource, options?: ImportOptions) => Promise<ImportSummary>;
  /**
   * The catalogue, or the plants that match, as a file. The stream fails if the file is incomplete: keep a file only once its stream has
   * ended.
   */
  exportPlants: (options?: CallOptions & ExportQuery) => Promise<ExportedFile>;
  /** The same in one request, one plant at a time. */
  exportedPlants: (options?: CallOptions & PlantFilter) => ExportedPlants;
  /**
   * What changes, for as long as the loop runs: each change at least once, in order, with the plant as it is now. Store
   * the `cursor` of each entry with what you made of it, also of one without a `change`, and give it as `after` to go on
   * from there. A lost connection is made again without end, only the first one is not. To stop, break out of the loop, or
   * abort `signal`. Throws error 41000 when what came behind `after` is not kept any more: begin again with an export, and
   * its `changesCursor`. Status 400 for an `after` that it gave you means that another version of the service
   * made it: then too begin again, and tell someone.
   */
  changes: (options?: CallOptions & ChangesQuery) => AsyncIterable<FollowedChange>;
  /** What a plant was, the newest change first. Pass `next` to get the following page. */
  changesOf: (id: bigint, options?: CallOptions & PastQuery) => Promise<PastPage>;
  /** The deletions of plants that are not there now, the newest first. A plant may come twice. */
  deleted: (options?: CallOptions & PastQuery) => Promise<PastPage>;
  /** The imports of the last weeks, the newest first. */
  imports: (options?: CallOptions) => Promise<readonly PastImport[]>;
  /**
   * What an import changed, the newest change first. To take it back, exchange `from` and `to`, and give them to `change`
   * in this order.
   */
  changesOfImport: (id: string, options?: CallOptions & PastQuery) => Promise<PastPage>;
  /**
   * The token in use: what it may do, and until when. Any valid token may call this; error 40101 if it is no longer
   * valid.
   */
  session: (options?: CallOptions) => Promise<Session>;
  /**
   * All tokens by time of creation, including expired and revoked ones, a thousand in a request. This and the next two
   * calls need the scope `admin`.
   */
  listTokens: (options?: CallOptions) => Promise<readonly Token[]>;
  /** Creates one token, even if the request has to be repeated. */
  createToken: (token: NewToken, options?: CallOptions) => Promise<CreatedToken>;
  /**
   * Revokes a token for good, and with it every token it created, directly or through others, unless `children` is
   * "keep". False if no token has this id.
   */
  revokeToken: (id: string, options?: CallOptions & Readonly<{ children?: "revoke" | "keep" }>) => Promise<boolean>;
}>;
