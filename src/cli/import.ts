import { Command, Option } from "commander";
import type { ImportCounts, ImportSummary } from "../files/import.ts";
import type { FileFormat } from "../files/read-file.ts";
import { escapeControls } from "../runtime/terminal-text.ts";
import { openSource, STDIN, toSource } from "./import-source.ts";
import type { Source } from "./import-source.ts";
import { addPlantsOptions, openPlants } from "./open-plants.ts";
import type { PlantAccess } from "./plant-access.ts";
import { showProgress } from "./progress.ts";
import { addReadingFlags, inFlags, readingText, toAsked } from "./reading-flags.ts";
import type { ReadingFlags } from "./reading-flags.ts";
import { openReport } from "./refused-report.ts";
import type { Report } from "./refused-report.ts";
import { addJson, printResult } from "./result.ts";
import type { Result } from "./result.ts";
import { configOf } from "./settings.ts";

type Flags = ReadingFlags &
  Readonly<{
    format?: FileFormat;
    onConflict: "refuse" | "replace";
    dryRun?: true;
    refused?: string;
    force?: true;
  }>;

export function importCommand(): Command {
  const command = new Command("import")
    .argument(
      "[files...]",
      "CSV, NDJSON or JSON (also .gz), .xlsx, .ods, or a Darwin Core archive; without a file, or with -, standard input",
    )
    .description("Import plants from files. You can safely import a file again. Exits with 1 if a line was refused.")
    .addOption(
      new Option("--format <format>", "format of the files; by default, detected from their names and first bytes").choices([
        "ndjson",
        "csv",
      ]),
    )
    .addOption(
      new Option("--on-conflict <what>", "what to do if an id belongs to another plant").choices(["refuse", "replace"]).default("refuse"),
    );
  addReadingFlags(command)
    .option("--dry-run", "store nothing, only report what would happen")
    .option("--refused <file>", "write the number and reason of refused lines to this file; a service names the first 1,000 of each file")
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
    const opened = await openSource(source, { format: flags.format, progress });
    const importing = plants.import(opened, {
      asked: toAsked(flags),
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
  reportFindings(name, summary);
  return { json: { file: name, dryRun, ...summary }, words: escapeControls(`${name}: ${toWords(summary, dryRun)}`) };
}

function toWords({ read, created, unchanged, replaced, refused }: ImportCounts, isDryRun: boolean): string {
  return `${isDryRun ? "dry run: " : ""}${read} read, ${created} created, ${unchanged} unchanged, ${replaced} replaced, ${refused} refused`;
}

/** How it was read, what is doubtful, and what was left out. */
function reportFindings(file: string, { reading, skipped = 0, doubts = [], unusedColumns }: ImportSummary): void {
  const isPlain = reading && reading.heading === 1 && reading.id === "id" && reading.name.join() === "name" && reading.encoding === "utf-8";
  const lines = [
    ...(reading && !isPlain ? [`: read with ${readingText(reading)}`] : []),
    ...doubts.map(({ line, message }) => `${line === undefined ? "" : `:${line}`}: ${message}`),
    ...(skipped === 0 ? [] : [`: skipped, as they are no plants: ${skipped} ${skipped === 1 ? "row" : "rows"}`]),
    ...(unusedColumns.length === 0
      ? []
      : [`: not imported: the column${unusedColumns.length === 1 ? "" : "s"} ${unusedColumns.join(", ")}`]),
  ];
  for (const line of lines) process.stderr.write(`${escapeControls(`${file}${line}`)}\n`);
}
