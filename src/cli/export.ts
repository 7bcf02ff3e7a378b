import { createWriteStream } from "node:fs";
import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Command, Option } from "commander";
import { formatOfName } from "../client/client.ts";
import { toExportForm } from "../files/export.ts";
import type { Profile } from "../files/export.ts";
import type { FileFormat } from "../files/read-file.ts";
import { codeOf } from "../runtime/system-failure.ts";
import { escapeControlLines, escapeControls } from "../runtime/terminal-text.ts";
import { addPlantsOptions, openPlants } from "./open-plants.ts";
import { configOf } from "./settings.ts";
import { counted, megabytes, showProgress } from "./progress.ts";
import { toTarget, writeWhole } from "./output-file.ts";

type Flags = Readonly<{
  format?: FileFormat;
  profile: Profile;
  guardFormulas?: true;
  tag?: string;
  untagged?: true;
  query?: string;
  force?: true;
}>;

export function exportCommand(): Command {
  const command = new Command("export")
    .argument("[file]", "without a file, or with -, standard output")
    .description(
      "Export plants, sorted by id, as they are at one moment: all of them, unless options select some. The file appears only when it is complete.",
    )
    .addOption(
      new Option("--format <format>", "format of the file; by default, that of its name, otherwise ndjson").choices(["ndjson", "csv"]),
    )
    .addOption(new Option("--profile <profile>", "dwc is CSV with the terms of Darwin Core").choices(["plain", "dwc"]).default("plain"))
    .option("--guard-formulas", "put a ' before names and tags in CSV that a spreadsheet would run as formulas")
    .option("--tag <tag>", "only plants with exactly this tag")
    .option("--untagged", "only plants without a tag")
    .option("--query <words>", "only plants whose names contain these words, or words that begin with them")
    .option("--force", "overwrite the file if it exists");
  return addPlantsOptions(command).action(async (file: string | undefined) => {
    // Report unknown flags before one of them is taken for the file.
    configOf(command);
    const { format = formatOfName(file), profile, guardFormulas, tag, untagged, query: q, force } = command.opts<Flags>();
    const form = toExportForm(format, { profile, guardFormulas: guardFormulas ?? false });
    const target = file === undefined || file === "-" ? undefined : toTarget(file, { isForced: force ?? false });
    const plants = await openPlants(command, { isNew: false });
    try {
      const filter = { ...(tag === undefined ? {} : { tag }), ...(untagged ? { untagged } : {}), ...(q === undefined ? {} : { q }) };
      const pieces = plants.export(form, filter);
      if (target === undefined) await writeAll(process.stdout.isTTY ? forTerminal(pieces) : pieces, process.stdout);
      else if (target.kind === "device") await writeAll(pieces, createWriteStream(target.path));
      else {
        const bytes = await writeWhole(target, ({ path, fd }) => writeAll(pieces, createWriteStream(path, { fd, flush: true })));
        process.stdout.write(`${escapeControls(target.path)}: ${megabytes(bytes)}\n`);
      }
    } finally {
      await plants.close();
    }
  });
}

type Pieces = AsyncIterable<Uint8Array | string>;

/** A name may hold what a terminal would obey. A line break in it stays one. */
async function* forTerminal(pieces: Pieces): Pieces {
  const decoder = new TextDecoder();
  for await (const piece of pieces) yield escapeControlLines(typeof piece === "string" ? piece : decoder.decode(piece, { stream: true }));
}

/** Resolves with the number of bytes. */
async function writeAll(pieces: Pieces, target: Writable): Promise<number> {
  const progress = showProgress("export", undefined);
  try {
    await pipeline(counted(pieces, progress), target, { end: target !== process.stdout });
  } catch (reason) {
    if (codeOf(reason) !== "EPIPE") throw reason;
    // The reader of a pipe may stop early, but then it has no backup.
    process.exitCode = 1;
  } finally {
    progress.stop();
  }
  return progress.bytes();
}
