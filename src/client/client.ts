import type { Client } from "./calls.ts";
import { changeCalls } from "./bulk-changes.ts";
import { toContext } from "./context.ts";
import type { ClientOptions } from "./context.ts";
import { historyCalls } from "./history.ts";
import { exportCalls, importCalls } from "./transfer.ts";
import { listCalls } from "./plant-lists.ts";
import { plantCalls } from "./plants.ts";
import { tokenCalls } from "./tokens.ts";

export type { CallOptions, Client, ConditionOptions, ImportOptions } from "./calls.ts";
export type { ChangeOutcome, PlantChange } from "./bulk-change.ts";
export type { Change, ChangeKind, ChangesQuery, FollowedChange, PastChange, PastImport, PastPage, PastQuery } from "./change.ts";
export type { ClientOptions } from "./context.ts";
export { ERROR_NUMBERS } from "./error-numbers.ts";
export { ConnectionError, PlantStoreClientError, ServiceError, TimeoutError, UnexpectedAnswerError } from "./errors.ts";
export type { ErrorNumber } from "./errors.ts";
export type { ExportedFile, ExportedPlants, ExportQuery } from "./export.ts";
export { detectFormat, formatOfName, HEAD_BYTES } from "./file-format.ts";
export { splitList } from "./json-list.ts";
export type { FileFormat } from "./file-format.ts";
export type {
  AskedReading,
  CsvQuery,
  ImportChunk,
  ImportDoubt,
  ImportProblem,
  ImportProgress,
  ImportQuery,
  ImportSource,
  ImportSummary,
  Reading,
} from "./import.ts";
export type { ListQuery, Page, PlantFilter, Sort } from "./page.ts";
export { makeId } from "./plant.ts";
export type { Plant, PlantContent, PlantCount, PlantPatch, PutPlant, StoredPlant, TagCount, Tags } from "./plant.ts";
export type { CreatedToken, NewToken, Scope, Session, Token } from "./token.ts";
export type { Fetch } from "./transport.ts";

/**
 * Creates a client. It sends nothing yet and needs no closing. Throws a TypeError if `url` is not the URL of a service.
 */
export function createClient(options: ClientOptions): Client {
  const context = toContext(options);
  return {
    ...plantCalls(context),
    ...listCalls(context),
    ...changeCalls(context),
    ...importCalls(context),
    ...exportCalls(context),
    ...historyCalls(context),
    ...tokenCalls(context),
  };
}
