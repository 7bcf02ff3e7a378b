import { Option } from "commander";
import type { Command } from "commander";
import { createSharedPauses } from "../event-loop.ts";
import { ConnectionError, createClient, ERROR_NUMBERS, ServiceError } from "../client/client.ts";
import type { ImportProgress, PlantFilter } from "../client/client.ts";
import { PlantStoreError } from "../errors.ts";
import { toFilter } from "../plant-filter.ts";
import { toCsvQuery } from "../transfer/csv-query.ts";
import { exportPlants } from "../transfer/export.ts";
import type { ExportForm } from "../transfer/export.ts";
import { fileLimits } from "../transfer/file-limits.ts";
import { importFile } from "../transfer/import.ts";
import type { FileFormat, ImportCounts, ImportSummary, Problem } from "../transfer/import.ts";
import type { Bytes, CsvReading } from "../transfer/row.ts";
import { TableError } from "../transfer/table-error.ts";
import { adviceOn, describeFailure } from "../system-failure.ts";
import { addSettings, configOf } from "./settings.ts";
import { openStoreHere } from "./direct-store.ts";

type ImportCall = Readonly<{
  format: FileFormat;
  onConflict: "refuse" | "replace";
  dryRun: boolean;
  /** The same bytes as gzip, if there are such: a service takes them as they are. `onSent` is called for each part of them. */
  packed: Blob | undefined;
  onSent: (bytes: number) => void;
  /** For CSV only. */
  csv: CsvReading;
  /** Called for each refused line that is reported: a service reports the first 1,000. */
  onProblem: (problem: Problem) => void;
  /** Called after each commit with the counts of all lines so far. A service tells nothing before its end. */
  onCommit: (counts: ImportCounts) => void;
}>;

/** Plants to import or export: those of a running service, or those of a data folder that no service uses. */
export type PlantAccess = Readonly<{
  import(bytes: Bytes, call: ImportCall): Promise<ImportSummary>;
  export(form: ExportForm, filter: PlantFilter): AsyncIterable<Uint8Array | string>;
  close(): Promise<void>;
}>;

/** Lets a command choose between the two. */
export function addPlantsOptions(command: Command): Command {
  const url = new Option("--url <url>", "use the running service at this address, with the token in PLANT_STORE_TOKEN").env(
    "PLANT_STORE_URL",
  );
  return addSettings(command.addOption(url), ["data", "database"]);
}

/**
 * Opens what the command names. Throws if it does not exist or, for a data folder, is in use. `isNew`: whether an empty
 * store may be created.
 */
export async function openPlants(command: Command, { isNew }: { isNew: boolean }): Promise<PlantAccess> {
  const url = serviceOf(command);
  return url === undefined ? openFolder(command, isNew) : openService(url);
}

/** The address of the service that is meant, if it is one. A flag that names a store overrides the variable. */
function serviceOf(command: Command): string | undefined {
  const { url } = command.opts<{ url?: string }>();
  const isVariable = command.getOptionValueSource("url") === "env";
  const store = ["data", "database"].find((name) => command.getOptionValueSource(name) === "cli");
  if (isVariable && (url === "" || store !== undefined)) return undefined;
  if (url !== undefined && store !== undefined)
    throw new Error(`--url names a service, and --${store} a store without one: leave out one of them.`);
  return url;
}

function openService(url: string): PlantAccess {
  const token = process.env["PLANT_STORE_TOKEN"];
  if (!token) throw new Error("There is no token: set the environment variable PLANT_STORE_TOKEN.");
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ""))
    throw new Error(`${url === "" ? "An empty text" : url} is not the address of a service: use one such as http://127.0.0.1:8080.`);
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new Error("PLANT_STORE_TOKEN is not a token: it has spaces or other characters that no token has.");
  const client = createClient({ url, token });
  return {
    async import(bytes, { packed, onSent, format, onConflict, dryRun, csv, onProblem }) {
      const call = { format, onConflict, dryRun, ...(format === "csv" ? toCsvQuery(csv) : {}) };
      let sent = 0;
      function onProgress({ bytes: all }: ImportProgress): void {
        onSent(all - sent);
        sent = all;
      }
      const sending = packed ? client.importPlants(packed, { ...call, onProgress }) : client.importPlants(bytes, call);
      const summary = await sending.catch((reason: unknown) => {
        throw dryRun ? withAddress(reason, url) : withDoubt(withAddress(reason, url));
      });
      for (const problem of summary.problems) onProblem(problem);
      return summary;
    },
    async *export(form, filter) {
      try {
        yield* await client.exportPlants({ ...form, ...filter });
      } catch (reason) {
        throw withAddress(reason, url);
      }
    },
    close: () => Promise.resolve(),
  };
}

/** The client speaks of requests: who runs a command wants to know which service, and why. */
function withAddress(reason: unknown, url: string): unknown {
  if (!(reason instanceof ConnectionError)) return reason;
  const advice = adviceOn(reason.cause) ?? "check the address";
  return new Error(`The connection to ${url} failed (${describeFailure(reason.cause)}): ${advice}. It is safe to repeat the command.`, {
    cause: reason,
  });
}

/** What a service may refuse in the middle of a file, when it has stored what came before. */
const LATE = new Set<number>(
  (
    ["malformed_gzip", "body_too_large", "incomplete_body", "too_slow", "internal", "store_unavailable", "store_full", "draining"] as const
  ).map((name) => ERROR_NUMBERS[name]),
);

/** Says that rows may be stored, if the service or the file itself broke an import off. */
function withDoubt(reason: unknown): unknown {
  const isOfFile = reason instanceof PlantStoreError || reason instanceof TableError;
  if (!isOfFile && !(reason instanceof ServiceError && LATE.has(reason.error))) return reason;
  return new Error(`${reason.message} Rows before that may be stored: it is safe to import the file again.`, { cause: reason });
}

async function openFolder(command: Command, isNew: boolean): Promise<PlantAccess> {
  const config = configOf(command, process.env);
  // A file cannot be shared with a service. A database can, with any number of them, and is not waited for.
  const store = await openStoreHere(config, { isServing: config.database.kind === "sqlite", isNew });
  const openPauses = createSharedPauses(() => performance.now());
  return {
    import(bytes, { format, onConflict, dryRun, csv, onProblem, onCommit }) {
      const how = { isReplacing: onConflict === "replace", isDryRun: dryRun, csv, pauses: openPauses(), onProblem, onCommit };
      return importFile(store.plants, bytes, { format, ...fileLimits(config.bodyBytesMax), ...how });
    },
    async *export(form, filter) {
      const terms = toFilter({ untagged: false, ...filter });
      const snapshot = await store.plants.snapshot();
      try {
        yield* exportPlants(snapshot, { form, terms });
      } finally {
        snapshot.close();
      }
    },
    close: () => store.close(),
  };
}
