import { closeSync, createReadStream, statSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import { Command, Option } from "commander";
import { detectFormat, HEAD_BYTES } from "../client/client.ts";
import type { FileFormat, ImportSummary, Problem } from "../transfer/import.ts";
import type { Bytes } from "../transfer/row.ts";
import { addPlantsOptions, openPlants } from "./plants.ts";
import type { PlantAccess } from "./plants.ts";
import { counted, showProgress } from "./progress.ts";
import { escapeControls } from "../terminal-text.ts";
import { configOf } from "./settings.ts";
import { openTarget, toTarget } from "./output-file.ts";
import type { Target } from "./output-file.ts";

type Flags = Readonly<{ format?: FileFormat; onConflict: "refuse" | "replace"; dryRun?: true; refused?: string; force?: true }>;

/** How many refused lines to show if they are not written to a file. */
const SHOWN_MAX = 10;

const STDIN = "-";

export function importCommand(): Command {
  const command = new Command("import")
    .argument("[files...]", "NDJSON or CSV; without a file, or with -, standard input")
    .description("Import plants from files. You can safely import a file again. Exits with 1 if a line was refused.")
    .addOption(
      new Option("--format <format>", "format of the files, if their names and first bytes do not show it").choices(["ndjson", "csv"]),
    )
    .addOption(
      new Option("--on-conflict <what>", "what to do if an id belongs to another plant").choices(["refuse", "replace"]).default("refuse"),
    )
    .option("--dry-run", "store nothing, only report what would happen")
    .option("--refused <file>", "write the number and reason of every refused line to this file")
    .option("--force", "overwrite that file if it exists");
  return addPlantsOptions(command).action(async (files: readonly string[]) => {
    if (files.length === 0 && process.stdin.isTTY) throw new Error("There is nothing to import: name a file, or pipe one in.");
    // Report unknown flags before looking for files of that name.
    configOf(command, process.env);
    const flags = command.opts<Flags>();
    const sources = (files.length === 0 ? [STDIN] : files).map(toSource);
    const report = openReport(flags, files);
    const plants = await openPlants(command, { isNew: flags.dryRun === undefined });
    try {
      for (const source of sources) await importFile(source, { plants, flags, report });
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

async function importFile({ file, name, size }: Source, { plants, flags, report }: FileOptions): Promise<void> {
  const progress = showProgress(name, size);
  let summary: ImportSummary;
  try {
    const { head, bytes } = await peek(counted(file === STDIN ? process.stdin : createReadStream(file), progress));
    summary = await plants.import(bytes, {
      format: flags.format ?? detectFormat(name, head),
      onConflict: flags.onConflict,
      dryRun: flags.dryRun ?? false,
      onProblem: (problem) => report.add(name, problem),
    });
  } finally {
    progress.stop();
  }
  report.end(summary);
  reportUnused(name, summary.unusedColumns);
  process.stdout.write(`${escapeControls(name)}: ${flags.dryRun ? "dry run: " : ""}${describe(summary)}\n`);
}

function toSource(file: string): Source {
  if (file === STDIN) return { file, name: "stdin", size: undefined };
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats) throw new Error(`There is no file ${file}: check its name.`);
  if (stats.isDirectory()) throw new Error(`${file} is a folder: name the files in it.`);
  return { file, name: file, size: stats.isFile() ? stats.size : undefined };
}

function describe({ read, created, unchanged, replaced, refused }: ImportSummary): string {
  return `${read} read, ${created} created, ${unchanged} unchanged, ${replaced} replaced, ${refused} refused`;
}

function reportUnused(file: string, columns: readonly string[]): void {
  if (columns.length === 0) return;
  process.stderr.write(`${escapeControls(`${file}: not imported: the column${columns.length === 1 ? "" : "s"} ${columns.join(", ")}`)}\n`);
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
    throw new Error(`${target.path} cannot be written: name another file for the refused lines.`, { cause });
  }
}

/** Reads at least HEAD_BYTES ahead. `bytes` still yields everything. */
async function peek(source: AsyncGenerator<Uint8Array, void, void>): Promise<{ head: Uint8Array; bytes: Bytes }> {
  const first: Uint8Array[] = [];
  // A pipe may deliver them one at a time.
  for (let size = 0; size < HEAD_BYTES;) {
    const { done, value } = await source.next();
    if (done) break;
    first.push(value);
    size += value.length;
  }
  async function* all(): AsyncGenerator<Uint8Array> {
    yield* first;
    yield* source;
  }
  return { head: Buffer.concat(first), bytes: all() };
}
