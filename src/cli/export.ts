import { createWriteStream } from "node:fs";
import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Command, Option } from "commander";
import { toExportForm } from "../transfer/export.ts";
import type { Profile } from "../transfer/export.ts";
import type { FileFormat } from "../transfer/import.ts";
import { addPlantsOptions, openPlants } from "./plants.ts";
import { showProgress } from "./progress.ts";
import { openPartFile, toTarget } from "./output-file.ts";
import type { Target } from "./output-file.ts";

type Flags = Readonly<{ format?: FileFormat; profile: Profile; guardFormulas?: true; force?: true }>;

export function exportCommand(): Command {
  const command = new Command("export")
    .argument("[file]", "without a file, or with -, standard output")
    .description("Export all plants as they are at one moment, sorted by id. The file appears only when it is complete.")
    .addOption(
      new Option("--format <format>", "format of the file; by default, the one that its name shows, otherwise ndjson").choices([
        "ndjson",
        "csv",
      ]),
    )
    .addOption(new Option("--profile <profile>", "dwc is CSV with the terms of Darwin Core").choices(["plain", "dwc"]).default("plain"))
    .option("--guard-formulas", "put a ' before names and tags in CSV that a spreadsheet would run as formulas")
    .option("--force", "overwrite the file if it exists");
  return addPlantsOptions(command).action(async (file: string | undefined) => {
    const { format = file?.toLowerCase().endsWith(".csv") ? "csv" : undefined, profile, guardFormulas, force } = command.opts<Flags>();
    const form = toExportForm(format, { profile, guardFormulas: guardFormulas ?? false });
    const target = file === undefined || file === "-" ? undefined : toTarget(file, { isForced: force ?? false });
    const plants = await openPlants(command, { isNew: false });
    try {
      const pieces = plants.export(form);
      if (target === undefined) await writeAll(pieces, process.stdout);
      else await writeTo(target, pieces);
    } finally {
      await plants.close();
    }
  });
}

type Pieces = AsyncIterable<Uint8Array | string>;

/**
 * A file has another name until it is complete, so that half of it never passes for a backup. A pipe or device is
 * written directly.
 */
async function writeTo(target: Target, pieces: Pieces): Promise<void> {
  if (target.kind === "device") return writeAll(pieces, createWriteStream(target.path));
  const part = openPartFile(target);
  try {
    await writeAll(pieces, createWriteStream(part.path, { fd: part.fd, flush: true }));
    part.keep();
  } finally {
    part.close();
  }
}

async function writeAll(pieces: Pieces, target: Writable): Promise<void> {
  const progress = showProgress("export", undefined);
  async function* counted(): Pieces {
    for await (const piece of pieces) {
      progress.count(Buffer.byteLength(piece));
      yield piece;
    }
  }
  try {
    await pipeline(counted, target, { end: target !== process.stdout });
  } catch (reason) {
    if (!(reason instanceof Error && "code" in reason && reason.code === "EPIPE")) throw reason;
    // The reader of a pipe may stop early, but then it has no backup.
    process.exitCode = 1;
  } finally {
    progress.stop();
  }
}
