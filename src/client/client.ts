import type { Client } from "./calls.ts";
import type { ClientContext } from "./request.ts";
import { changeCalls } from "./bulk-changes.ts";
import { fileCalls } from "./transfer.ts";
import { listCalls } from "./plant-lists.ts";
import { plantCalls } from "./plants.ts";
import { tokenCalls } from "./tokens.ts";
import { createExchange } from "./transport.ts";
import type { Fetch } from "./transport.ts";

export type { CallOptions, Client, ConditionOptions, ImportOptions } from "./calls.ts";
export type { ChangeOutcome, PlantChange } from "./bulk-change.ts";
export { ERROR_NUMBERS } from "./error-numbers.ts";
export { ConnectionError, PlantStoreClientError, ServiceError, TimeoutError, UnexpectedAnswerError } from "./errors.ts";
export type { ErrorNumber } from "./errors.ts";
export type { ExportQuery } from "./export.ts";
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

export type ClientOptions = Readonly<{
  /** The address of the service, including the path if a proxy serves it under one: `https://plants.example/store`. */
  url: URL | string;
  /**
   * The bearer token, or what returns the one in use for each request. It is sent to `url` only: redirects are not
   * followed.
   */
  token: string | (() => string);
  /**
   * How long a call may take, with all tries and the pauses between them; default 30,000. Imports and exports have
   * `idleMs` instead.
   */
  timeoutMs?: number;
  /** How long one try may take; default 10,000. */
  tryTimeoutMs?: number;
  /**
   * How often to retry a call that is safe to repeat; default 4. Pauses are random, grow exponentially, and add to
   * Retry-After.
   */
  retries?: number;
  /** How long an import or export may go without moving a byte; default 60,000. */
  idleMs?: number;
  /** Replaces the runtime's own `fetch`. */
  fetch?: Fetch;
}>;

/**
 * Creates a client. It sends nothing yet and needs no closing. Throws a TypeError if `url` is not the URL of a service.
 */
export function createClient(options: ClientOptions): Client {
  const { url, token, timeoutMs = 30_000, tryTimeoutMs = 10_000, retries = 4, idleMs = 60_000, fetch = globalThis.fetch } = options;
  const exchange = createExchange({ base: toBase(url), token: typeof token === "string" ? () => token : token, fetch });
  const context: ClientContext = { exchange, policy: { timeoutMs, tryTimeoutMs, retries }, idleMs };
  return {
    ...plantCalls(context),
    ...listCalls(context),
    ...changeCalls(context),
    ...fileCalls(context),
    ...tokenCalls(context),
  };
}

function toBase(url: URL | string): string {
  const { protocol, origin, pathname, search, hash, username, password } = new URL(url);
  const isPlain = [search, hash, username, password].every((part) => part === "");
  if (!isPlain || !/^https?:$/.test(protocol))
    throw new TypeError("The url is not that of a service: use one such as http://127.0.0.1:8080.");
  return `${origin}${pathname.replace(/\/+$/, "")}`;
}
