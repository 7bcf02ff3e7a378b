import { Command, InvalidArgumentError, Option } from "commander";
import { detectFormat, splitList } from "../client/client.ts";
import type { FileFormat, ImportCounts, ImportSummary } from "../transfer/import.ts";
import { parsePlantId } from "../plant.ts";
import type { CsvReading, Ids } from "../transfer/csv-reading.ts";
import { MISSING } from "../transfer/columns.ts";
import { escapeControls } from "../terminal-text.ts";
import { openSource, STDIN, toSource } from "./import-source.ts";
import type { Source } from "./import-source.ts";
import { addPlantsOptions, openPlants } from "./open-plants.ts";
import type { PlantAccess } from "./plant-access.ts";
import { showProgress } from "./progress.ts";
import { openReport } from "./refused-report.ts";
import type { Report } from "./refused-report.ts";
import { addJson, printResult } from "./result.ts";
import type { Result } from "./result.ts";
import { configOf } from "./settings.ts";

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

export function importCommand(): Command {
  const command = new Command("import")
    .argument("[files...]", "CSV, NDJSON or a JSON list (also .gz), or .xlsx; without a file, or with -, standard input")
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
    configOf(command);
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

async function importFile(source: Source, { plants, flags, report }: FileOptions): Promise<Result> {
  const { name } = source;
  const progress = showProgress(name, source.size);
  const { dryRun = false } = flags;
  let counts: ImportCounts | undefined;
  let summary: ImportSummary | undefined;
  try {
    const { head, table, format: known, notes, ...opened } = await openSource(source, progress);
    const format = flags.format ?? known ?? detectFormat(table, head);
    const isList = format === "list";
    for (const note of isList ? [...notes, "one JSON list: its plants are counted as lines"] : notes)
      process.stderr.write(`${escapeControls(`${name}: ${note}`)}\n`);
    const importing = plants.import(isList ? splitList(opened.bytes) : opened.bytes, {
      packed: isList ? undefined : opened.packed,
      onSent: progress.count,
      format: isList ? "ndjson" : format,
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
const IN_FLAGS = new Map<string, string>([
  [
    MISSING.named.both,
    "The first line does not name the columns `id` and `name`: name them, or choose others with --id-column and --name-column. If there are no ids, --ids content makes some. If that line is a plant, say --no-header.",
  ],
  [
    MISSING.named.id,
    "The first line does not name the column `id`: name it, choose another with --id-column, or have ids made with --ids content.",
  ],
  [
    MISSING.named.name,
    "The first line does not name the column `name`: name it, or choose another with --name-column. If that line is a plant, say --no-header.",
  ],
  [
    MISSING.unnamed.both,
    'No column is taken for the id, and none for the name: choose them, as with --id-column "column 1" and --name-column "column 2".',
  ],
  [MISSING.unnamed.id, 'No column is taken for the id: choose one, as with --id-column "column 1", or have ids made with --ids content.'],
  [MISSING.unnamed.name, 'No column is taken for the name: choose one, as with --name-column "column 2".'],
]);

function inFlags(reason: unknown): unknown {
  const words = reason instanceof Error ? IN_FLAGS.get(reason.message) : undefined;
  return words === undefined ? reason : new Error(words, { cause: reason });
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
    ...taken.map(([field, column]) => `${/^column \d+$/.test(column) ? column : `the column ${column}`} is taken for the ${field}`),
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
