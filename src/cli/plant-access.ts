import type { PlantFilter } from "../client/client.ts";
import type { ExportForm } from "../files/export.ts";
import type { ImportCounts, RowSource, ImportSummary, Problem } from "../files/import.ts";
import type { CsvOptions } from "../files/csv-options.ts";

type ImportCall = Readonly<{
  onConflict: "refuse" | "replace";
  dryRun: boolean;
  /** The same bytes as gzip, if there are such: a service takes them as they are. `onSent` is called for each part of them. */
  packed: Blob | undefined;
  onSent: (bytes: number) => void;
  /** For CSV only. */
  csv: CsvOptions;
  /** Called for each refused line that is reported: a service reports the first 1,000. */
  onProblem: (problem: Problem) => void;
  /** Called after each commit with the counts of all lines so far. A service tells nothing before its end. */
  onCommit: (counts: ImportCounts) => void;
}>;

/** Plants to import or export: those of a running service, or those of a data folder that no service uses. */
export type PlantAccess = Readonly<{
  import(source: RowSource, call: ImportCall): Promise<ImportSummary>;
  export(form: ExportForm, filter: PlantFilter): AsyncIterable<Uint8Array | string>;
  close(): Promise<void>;
}>;
