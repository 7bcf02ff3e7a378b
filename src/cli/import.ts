import { createReadStream, createWriteStream, statSync } from "node:fs";
import type { WriteStream } from "node:fs";
import { Command, Option } from "commander";
import type { ImportSummary, Problem } from "../exchange/import.ts";
import type { Bytes } from "../exchange/row.ts";
import { addCatalogue, openCatalogue } from "./catalogue.ts";
import type { Catalogue, FileFormat } from "./catalogue.ts";
import { counted, showProgress } from "./progress.ts";

type Flags = Readonly<{ format?: FileFormat; onConflict: "refuse" | "replace"; dryRun?: true; refused?: string }>;

/** How many refused lines are shown when they are not written to a file. */
const SHOWN_MAX = 10;

const STDIN = "-";

export function importCommand(): Command {
  const command = new Command("import")
    .argument("[files...]", "NDJSON or CSV; - or nothing is what comes through a pipe")
    .description("Import plants from files. To import a file again is safe. Ends with 1 when a line was refused.")
    .addOption(new Option("--format <format>", "the form of the files, when their beginning does not tell").choices(["ndjson", "csv"]))
    .addOption(
      new Option("--on-conflict <what>", "what to do when an id names another plant already")
        .choices(["refuse", "replace"])
        .default("refuse"),
    )
    .option("--dry-run", "store nothing, only tell what would happen")
    .option("--refused <file>", "write every refused line's number and reason there");
  return addCatalogue(command).action(async (files: readonly string[]) => {
    if (files.length === 0 && process.stdin.isTTY) throw new Error("There is nothing to import: name a file, or send one through a pipe.");
    const flags = command.opts<Flags>();
    const catalogue = await openCatalogue(command, { isNew: flags.dryRun === undefined });
    const report = openReport(flags.refused);
    try {
      for (const file of files.length === 0 ? [STDIN] : files) await importFile(file, { catalogue, flags, report });
    } finally {
      await report.close();
      await catalogue.close();
    }
    if (report.refused() > 0) process.exitCode = 1;
  });
}

type FileOptions = Readonly<{ catalogue: Catalogue; flags: Flags; report: Report }>;

async function importFile(file: string, { catalogue, flags, report }: FileOptions): Promise<void> {
  const isPipe = file === STDIN;
  const name = isPipe ? "stdin" : file;
  const size = isPipe ? undefined : sizeOf(file);
  const progress = showProgress(name, size);
  let summary: ImportSummary;
  try {
    const { head, bytes } = await peek(counted(isPipe ? process.stdin : createReadStream(file), progress));
    summary = await catalogue.import(bytes, {
      format: flags.format ?? guessFormat(head),
      onConflict: flags.onConflict,
      dryRun: flags.dryRun ?? false,
      onProblem: (problem) => report.add(name, problem),
    });
  } finally {
    progress.stop();
  }
  report.end(summary);
  process.stdout.write(`${name}: ${flags.dryRun ? "would be " : ""}${describe(summary)}\n`);
}

function sizeOf(file: string): number {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats?.isFile()) throw new Error(`There is no file ${file}: check its name.`);
  return stats.size;
}

function describe({ read, created, unchanged, replaced, refused }: ImportSummary): string {
  return `${read} read, ${created} created, ${unchanged} unchanged, ${replaced} replaced, ${refused} refused`;
}

/** Where refused lines are told. */
type Report = Readonly<{
  add(file: string, problem: Problem): void;
  end(summary: ImportSummary): void;
  refused(): number;
  close(): Promise<void>;
}>;

function openReport(path: string | undefined): Report {
  const file: WriteStream | undefined = path === undefined ? undefined : createWriteStream(path);
  let refused = 0;
  let told = 0;
  return {
    add(name, { line, error, message }) {
      told += 1;
      const text = `${name}:${line}: ${error} ${message}\n`;
      if (file) file.write(text);
      else if (told <= SHOWN_MAX) process.stderr.write(text);
    },
    end(summary) {
      refused += summary.refused;
    },
    refused: () => refused,
    async close() {
      const untold = refused - (file ? told : Math.min(told, SHOWN_MAX));
      if (untold > 0)
        process.stderr.write(`${untold} more refused lines are not shown${file ? "" : ": use --refused to write them to a file"}.\n`);
      if (file) await new Promise((resolve) => file.end(resolve));
    },
  };
}

/** The first bytes, and all of them. */
async function peek(source: AsyncGenerator<Uint8Array, void, void>): Promise<{ head: string; bytes: Bytes }> {
  const { value } = await source.next();
  const first = value ?? new Uint8Array();
  async function* all(): AsyncGenerator<Uint8Array> {
    yield first;
    yield* source;
  }
  return { head: new TextDecoder().decode(first.subarray(0, 1000)), bytes: all() };
}

/** NDJSON begins with an object. */
function guessFormat(head: string): FileFormat {
  return head.trimStart().startsWith("{") || head.trim() === "" ? "ndjson" : "csv";
}
