import { closeSync, createReadStream, openAsBlob, statSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import { CATALOGUE } from "../../contract/generated/error-catalogue.ts";
import { detectFormat, HEAD_BYTES } from "../client/client.ts";
import type { FileFormat, ImportCounts, ImportSummary, Problem } from "../transfer/import.ts";
import { parsePlantId } from "../plant.ts";
import type { Bytes, CsvReading, Ids } from "../transfer/row.ts";
import { NO_ID, NO_NAME } from "../transfer/columns.ts";
import { addPlantsOptions, openPlants } from "./plants.ts";
import type { PlantAccess } from "./plants.ts";
import { counted, showProgress } from "./progress.ts";
import type { Progress } from "./progress.ts";
import { gunzip, isGzip } from "../transfer/gunzip.ts";
import { openTable, PACKING_BYTES } from "../transfer/table-file.ts";
import { bytesOf } from "../transfer/zip.ts";
import { describeFailure } from "../system-failure.ts";
import { escapeControls } from "../terminal-text.ts";
import { addJson, printResult } from "./result.ts";
import type { Result } from "./result.ts";
import { configOf } from "./settings.ts";
import { openTarget, toTarget } from "./output-file.ts";
import type { Target } from "./output-file.ts";

type Flags = Readonly<{
  format?: FileFormat;
  onConflict: "refuse" | "replace";
  header: boolean;
  idColumn?: string;
  nameColumn?: string;
  tagColumn?: string;
  ids?: Ids;
  dropEmptyTags?: true;
  encoding?: "utf-8" | "windows-1252";
  dryRun?: true;
  refused?: string;
  force?: true;
}>;

/** How many refused lines to show if they are not written to a file. */
const SHOWN_MAX = 10;

const STDIN = "-";

export function importCommand(): Command {
  const command = new Command("import")
    .argument("[files...]", "CSV, NDJSON (also .gz) or .xlsx; without a file, or with -, standard input")
    .description("Import plants from files. You can safely import a file again. Exits with 1 if a line was refused.")
    .addOption(
      new Option("--format <format>", "format of the files, if their names and first bytes do not show it").choices(["ndjson", "csv"]),
    )
    .addOption(
      new Option("--on-conflict <what>", "what to do if an id belongs to another plant").choices(["refuse", "replace"]).default("refuse"),
    )
    .option("--no-header", "the first line of CSV is a plant, as in `1,Monstera deliciosa,tropical`, and does not name the columns")
    .option("--id-column <column>", "the column of CSV that holds the ids, by name or as in `column 4`; empty for none")
    .option("--name-column <column>", "the column of CSV that holds the names")
    .option("--tag-column <column>", "the column of CSV that holds the tags; empty for none")
    .addOption(
      new Option(
        "--ids <from>",
        "ids for rows of CSV that have none: `content`, so that the same row always gets the same id, or the first number",
      ).argParser(toIds),
    )
    .option("--drop-empty-tags", 'treat a quoted empty tag ("") in CSV as no tag')
    .addOption(
      new Option("--encoding <encoding>", "encoding of CSV, if its first letters do not show it").choices(["utf-8", "windows-1252"]),
    )
    .option("--dry-run", "store nothing, only report what would happen")
    .option("--refused <file>", "write the number and reason of every refused line to this file")
    .option("--force", "overwrite that file if it exists");
  return addPlantsOptions(addJson(command, "one line for each file")).action(async (files: readonly string[]) => {
    if (files.length === 0 && process.stdin.isTTY) throw new Error("There is nothing to import: name a file, or pipe one in.");
    // Report unknown flags before looking for files of that name.
    configOf(command, process.env);
    const flags = command.opts<Flags>();
    const sources = (files.length === 0 ? [STDIN] : files).map(toSource);
    const report = openReport(flags, files);
    const plants = await openPlants(command, { isNew: flags.dryRun === undefined });
    try {
      for (const source of sources) printResult(command, await importFile(source, { plants, flags, report }));
    } finally {
      report.close();
      await plants.close();
    }
    if (report.refused() > 0) process.exitCode = 1;
  });
}

type FileOptions = Readonly<{ plants: PlantAccess; flags: Flags; report: Report }>;

/** What to read, and its size if known: a pipe has none. */
type Source = Readonly<{ file: string; name: string; size: number | undefined }>;

async function importFile(source: Source, { plants, flags, report }: FileOptions): Promise<Result> {
  const { name } = source;
  const progress = showProgress(name, source.size);
  const { dryRun = false } = flags;
  let counts: ImportCounts | undefined;
  let summary: ImportSummary | undefined;
  try {
    const { head, bytes, packed, table, format, notes } = await openSource(source, progress);
    for (const note of notes) process.stderr.write(`${escapeControls(`${name}: ${note}`)}\n`);
    const importing = plants.import(bytes, {
      packed,
      onSent: progress.count,
      format: flags.format ?? format ?? detectFormat(table, head),
      csv: toReading(flags),
      onConflict: flags.onConflict,
      dryRun,
      onProblem: (problem) => report.add(name, problem),
      onCommit: (all) => (counts = all),
    });
    summary = await importing.catch((reason: unknown) => {
      throw inFlags(reason);
    });
  } finally {
    progress.stop();
    if (!summary && counts) process.stderr.write(`${escapeControls(`${name}: ${toWords(counts, dryRun)} before it failed`)}\n`);
  }
  report.end(summary);
  reportReading(name, summary);
  return { json: { file: name, dryRun, ...summary }, words: escapeControls(`${name}: ${toWords(summary, dryRun)}`) };
}

/** What the interface says of the first line, in its parameters, as flags. */
const IN_FLAGS = new Map([
  [
    CATALOGUE.invalid_csv_header.message,
    "The first line does not name the columns `id` and `name`: name them, or choose others with --id-column and --name-column. If there are no ids, --ids content makes some. If that line is a plant, say --no-header.",
  ],
  [NO_ID, "The first line does not name the column `id`: name it, choose another with --id-column, or have ids made with --ids content."],
  [
    NO_NAME,
    "The first line does not name the column `name`: name it, or choose another with --name-column. If that line is a plant, say --no-header.",
  ],
]);

function inFlags(reason: unknown): unknown {
  const words = reason instanceof Error ? IN_FLAGS.get(reason.message) : undefined;
  return words === undefined ? reason : new Error(words, { cause: reason });
}

function toSource(file: string): Source {
  if (file === STDIN) return { file, name: "stdin", size: undefined };
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats) throw new Error(`There is no file ${file}: check its name.`);
  if (stats.isDirectory()) throw new Error(`${file} is a folder: name the files in it.`);
  return { file, name: file, size: stats.isFile() ? stats.size : undefined };
}

function toWords({ read, created, unchanged, replaced, refused }: ImportCounts, isDryRun: boolean): string {
  return `${isDryRun ? "dry run: " : ""}${read} read, ${created} created, ${unchanged} unchanged, ${replaced} replaced, ${refused} refused`;
}

/** What was guessed, and what was left out. */
function reportReading(file: string, { encoding, columns = {}, unusedColumns }: ImportSummary): void {
  // A column that has the name of its field was not guessed.
  const taken = Object.entries(columns).filter(([field, column]) => column.toLowerCase() !== field);
  const lines = [
    ...(encoding === undefined ? [] : [`read as ${encoding}`]),
    ...taken.map(([field, column]) => `the column ${column} is taken for the ${field}`),
    ...(unusedColumns.length === 0 ? [] : [`not imported: the column${unusedColumns.length === 1 ? "" : "s"} ${unusedColumns.join(", ")}`]),
  ];
  for (const line of lines) process.stderr.write(`${escapeControls(`${file}: ${line}`)}\n`);
}

function toReading({ header, idColumn, nameColumn, tagColumn, ids, dropEmptyTags, encoding }: Flags): CsvReading {
  return {
    hasHeader: header,
    columns: {
      ...(idColumn === undefined ? {} : { id: idColumn }),
      ...(nameColumn === undefined ? {} : { name: nameColumn }),
      ...(tagColumn === undefined ? {} : { tag: tagColumn }),
    },
    ids: ids ?? { kind: "file" },
    encoding,
    isGuessing: true,
    isEmptyTagNone: dropEmptyTags ?? false,
  };
}

function toIds(text: string): Ids {
  const first = parsePlantId(text);
  if (first !== undefined) return { kind: "from", first };
  if (text === "content") return { kind: "content" };
  throw new InvalidArgumentError("Use content, or the first number.");
}

/** Where refused lines are reported. */
type Report = Readonly<{
  add(file: string, problem: Problem): void;
  end(summary: ImportSummary): void;
  refused(): number;
  close(): void;
}>;

/**
 * Opens the file for refused lines before anything is imported. Throws if it cannot be written or is one of the files
 * to import.
 */
function openReport({ refused: path, force }: Flags, files: readonly string[]): Report {
  if (path !== undefined && files.some((file) => resolve(file) === resolve(path))) {
    throw new Error(`${path} is one of the files to import: write the refused lines to another file.`);
  }
  const file = path === undefined ? undefined : openForWriting(toTarget(path, { isForced: force ?? false }));
  let refused = 0;
  let reported = 0;
  return {
    add(name, { line, error, message }) {
      reported += 1;
      // A name may contain terminal control sequences.
      const text = `${escapeControls(`${name}:${line}: ${error} ${message}`)}\n`;
      if (file !== undefined) writeSync(file, text);
      else if (reported <= SHOWN_MAX) process.stderr.write(text);
    },
    end(summary) {
      refused += summary.refused;
    },
    refused: () => refused,
    close() {
      const unreported = refused - (file === undefined ? Math.min(reported, SHOWN_MAX) : reported);
      const how = file === undefined ? ": use --refused to write them to a file" : "";
      if (unreported > 0) process.stderr.write(`${unreported} more refused lines are not shown${how}.\n`);
      if (file !== undefined) closeSync(file);
    },
  };
}

function openForWriting(target: Target): number {
  try {
    return openTarget(target);
  } catch (cause) {
    throw new Error(`${target.path} cannot be written (${describeFailure(cause)}): name another file for the refused lines.`, { cause });
  }
}

/** A table, unpacked: its beginning, all of it, its name, and its format if known. `packed`: the same as gzip, if it came as that. */
type Opened = Readonly<{ head: Uint8Array; bytes: Bytes; packed?: Blob; table: string; format?: FileFormat; notes: readonly string[] }>;

/** So many bytes of gzip show the beginning of what is in it. */
const PACKED_HEAD_BYTES = 64 * 1024;

async function openSource({ file, name, size }: Source, progress: Progress): Promise<Opened> {
  const packed = size === undefined ? undefined : await openAsBlob(file);
  if (packed && isGzip(new Uint8Array(await packed.slice(0, PACKING_BYTES).arrayBuffer()))) {
    const { head } = await peek(gunzip(bytesOf(packed.slice(0, PACKED_HEAD_BYTES).stream())));
    return { head, bytes: gunzip(counted(bytesOf(packed.stream()), progress)), packed, table: name.replace(/\.gz$/i, ""), notes: [] };
  }
  const plain = await peek(counted(file === STDIN ? process.stdin : createReadStream(file), progress));
  const whole = () => (packed ? Promise.resolve(packed) : Array.fromAsync(plain.bytes).then((pieces) => new Blob(pieces)));
  const table = await openTable(name, plain.head, { bytes: plain.bytes, whole });
  if (!table) return { ...plain, table: name, notes: [] };
  const { name: within, bytes, ...known } = table;
  return { ...(await peek(bytes)), table: within, ...known };
}

/** Reads at least HEAD_BYTES ahead. `bytes` still yields everything. */
async function peek(source: Bytes): Promise<{ head: Uint8Array; bytes: Bytes }> {
  const rest = source[Symbol.asyncIterator]();
  const first: Uint8Array[] = [];
  // A pipe may deliver them one at a time.
  for (let size = 0; size < HEAD_BYTES;) {
    const { done, value } = await rest.next();
    if (done) break;
    first.push(value);
    size += value.length;
  }
  async function* all(): AsyncGenerator<Uint8Array> {
    yield* first;
    yield* { [Symbol.asyncIterator]: () => rest };
  }
  return { head: Buffer.concat(first), bytes: all() };
}
