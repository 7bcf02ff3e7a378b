import type { ExportQuery } from "./export.ts";
import type { FileFormat } from "./file-format.ts";
import type { ImportProgress, ImportQuery, ImportSource, ImportSummary } from "./import.ts";
import type { ListQuery, Page } from "./page.ts";
import type { Plant, PlantPatch, PutPlant, StoredPlant, Tags } from "./plant.ts";
import type { CreatedToken, NewToken, Session, Token } from "./token.ts";

/** What every call takes. Aborting makes it throw the reason of the signal. */
export type CallOptions = Readonly<{ signal?: AbortSignal | undefined }>;

/** `ifMatch`: an ETag that the plant must have, or `*` for any plant. `ifNoneMatch`: `*` for no plant. Otherwise the error is 41200 and nothing changes. */
export type ConditionOptions = CallOptions & Readonly<{ ifMatch?: string | undefined; ifNoneMatch?: string | undefined }>;

export type ImportOptions = CallOptions &
  ImportQuery &
  Readonly<{
    /** The form of the source. When not given, that of a whole file is told by its name or beginning, and a stream or other iterable is NDJSON. */
    format?: FileFormat;
    /** Called whenever bytes move. A browser does not tell: there it is called once. */
    onProgress?: (progress: ImportProgress) => void;
  }>;

/**
 * A typed client of Plant Store. Whatever the service refuses is thrown as a ServiceError with its number, a lost connection as a
 * ConnectionError, a limit in time as a TimeoutError, and what is none of the interface as an UnexpectedAnswerError. Ids are bigint, exact.
 */
export type Client = Readonly<{
  /** Resolves once the plant is on stable storage. The same plant again resolves as well and changes nothing; another plant under its id is error 40900. */
  create: (plant: Plant, options?: CallOptions) => Promise<StoredPlant>;
  /** The plant with this id; undefined when there is none. */
  find: (id: bigint, options?: CallOptions) => Promise<StoredPlant | undefined>;
  /** All plants that are asked for, by id, however many pages that takes. `limit` is the size of a page: to stop earlier, leave the loop. */
  list: (options?: CallOptions & ListQuery) => AsyncIterable<Plant>;
  /** One page of plants. Its `next` asks for the one behind it. */
  page: (options?: CallOptions & ListQuery) => Promise<Page>;
  /** Makes the plant with this id be so, whether there was one or not. */
  put: (plant: Plant, options?: ConditionOptions) => Promise<PutPlant>;
  /** Changes parts of a plant. Error 40401 when there is none. */
  patch: (id: bigint, patch: PlantPatch, options?: ConditionOptions) => Promise<StoredPlant>;
  /** Deletes a plant. False when there was none. */
  remove: (id: bigint, options?: ConditionOptions) => Promise<boolean>;
  /** The most frequent tags, at most `limit` of them; 1,000. */
  tags: (options?: CallOptions & Readonly<{ limit?: number }>) => Promise<Tags>;
  /**
   * Creates all plants of a file, stream or iterable. Lines that cannot be taken are refused, and counted in what it resolves with; all others
   * are stored. The source is read only as fast as the service stores; a browser, which cannot stream a request, gathers it in a Blob first.
   * When the import breaks, what was read before is stored, and the same import again is safe. It is never repeated by itself.
   */
  importPlants: (source: ImportSource, options?: ImportOptions) => Promise<ImportSummary>;
  /** The whole catalogue as a file. The stream fails when the file is not whole: keep none that has not come to its end. */
  exportPlants: (options?: CallOptions & ExportQuery) => Promise<ReadableStream<Uint8Array>>;
  /** The whole catalogue in one request, plant by plant. */
  exportedPlants: (options?: CallOptions) => AsyncIterable<Plant>;
  /** Who is calling: the token, what it may do, and until when. Any valid token may ask. Error 40101 when it is not valid any more. */
  session: (options?: CallOptions) => Promise<Session>;
  /** All tokens, the expired and revoked ones too, by the time of their creation. This and the next two need the scope `admin`. */
  listTokens: (options?: CallOptions) => Promise<readonly Token[]>;
  /** Makes a token, one however often the request had to be repeated. */
  createToken: (token: NewToken, options?: CallOptions) => Promise<CreatedToken>;
  /** Makes a token invalid for good, with all that it has made, and they have made, unless `children` is "keep". False when there is none with this id. */
  revokeToken: (id: string, options?: CallOptions & Readonly<{ children?: "revoke" | "keep" }>) => Promise<boolean>;
}>;
