import type { Client } from "./calls.ts";
import type { Connection } from "./request.ts";
import { fileCalls } from "./transfer.ts";
import { plantCalls } from "./plants.ts";
import { sessionCalls } from "./session.ts";
import { tokenCalls } from "./tokens.ts";
import { createTransport } from "./transport.ts";
import type { Fetch } from "./transport.ts";

export type { CallOptions, Client, ConditionOptions, ImportOptions } from "./calls.ts";
export { ConnectionError, ERROR_NUMBERS, PlantStoreClientError, ServiceError, TimeoutError, UnexpectedAnswerError } from "./errors.ts";
export type { ErrorNumber } from "./errors.ts";
export type { ExportQuery } from "./export.ts";
export { detectFormat, FileFormatError, HEAD_BYTES } from "./file-format.ts";
export type { FileFormat } from "./file-format.ts";
export type { ImportChunk, ImportProblem, ImportProgress, ImportQuery, ImportSource, ImportSummary } from "./import.ts";
export type { ListQuery, Page } from "./page.ts";
export type { Plant, PlantPatch, PutPlant, StoredPlant, TagCount, Tags } from "./plant.ts";
export type { CreatedToken, NewToken, Scope, Session, Token } from "./token.ts";
export type { Fetch } from "./transport.ts";

export type ClientOptions = Readonly<{
  /** Where the service is, with the path under which a proxy serves it, if any: `https://plants.example/store`. */
  url: URL | string;
  /** A bearer token. It is sent to that url only: redirects are not followed. */
  token: string;
  /** Longest that a call may take, with all its tries and the pauses between them; 30,000 ms. Imports and exports know `idleMs` instead. */
  timeoutMs?: number;
  /** Longest that one try may take; 10,000 ms. */
  tryTimeoutMs?: number;
  /** How many tries may follow the first where repeating can do no harm; 4. After a random pause that doubles, or what Retry-After says. */
  retries?: number;
  /** Longest that an import or export may stand still, no byte moving; 60,000 ms. */
  idleMs?: number;
  /** In the place of the runtime's own `fetch`. */
  fetch?: Fetch;
}>;

/** Makes a client. Nothing is sent yet, and there is nothing to close. Throws a TypeError when the url is none. */
export function createClient(options: ClientOptions): Client {
  const { url, token, timeoutMs = 30_000, tryTimeoutMs = 10_000, retries = 4, idleMs = 60_000, fetch = globalThis.fetch } = options;
  const transport = createTransport({ base: toBase(url), token, fetch });
  const connection: Connection = { transport, policy: { timeoutMs, tryTimeoutMs, retries }, idleMs };
  return { ...plantCalls(connection), ...fileCalls(connection), ...sessionCalls(connection), ...tokenCalls(connection) };
}

function toBase(url: URL | string): string {
  const { protocol, origin, pathname, search, hash, username, password } = new URL(url);
  const isPlain = [search, hash, username, password].every((part) => part === "");
  if (!isPlain || !/^https?:$/.test(protocol)) throw new TypeError("The url is none of a service: give one such as http://127.0.0.1:8080.");
  return `${origin}${pathname.replace(/\/+$/, "")}`;
}
