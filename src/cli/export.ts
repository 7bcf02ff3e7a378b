import { createWriteStream, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Command, Option } from "commander";
import { toExportForm } from "../exchange/export.ts";
import type { Profile } from "../exchange/export.ts";
import type { FileFormat } from "../exchange/import.ts";
import { addCatalogue, openCatalogue } from "./catalogue.ts";
import { showProgress } from "./progress.ts";

type Flags = Readonly<{ format?: FileFormat; profile: Profile }>;

export function exportCommand(): Command {
  const command = new Command("export")
    .argument("[file]", "without it, or with -, to the standard output")
    .description("Export all plants, by id. A file is there only when it is whole.")
    .addOption(new Option("--format <format>", "the form, when the name of the file does not tell it; ndjson").choices(["ndjson", "csv"]))
    .addOption(new Option("--profile <profile>", "dwc is CSV with the terms of Darwin Core").choices(["plain", "dwc"]).default("plain"));
  return addCatalogue(command).action(async (file: string | undefined) => {
    const { format = file?.endsWith(".csv") ? "csv" : undefined, profile } = command.opts<Flags>();
    const form = toExportForm(format, profile);
    const catalogue = await openCatalogue(command, { isNew: false });
    try {
      const pieces = catalogue.export(form);
      if (file === undefined || file === "-") await writeAll(pieces, process.stdout);
      else await writeTo(file, pieces);
    } finally {
      await catalogue.close();
    }
  });
}

type Pieces = AsyncIterable<Uint8Array | string>;

/** A file is written under another name until it is whole, so that nobody takes half of it for a backup; a pipe or device as it is. */
async function writeTo(path: string, pieces: Pieces): Promise<void> {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory()) throw new Error(`${path} is a folder: name a file in it.`);
  if (stats && !stats.isFile()) return writeAll(pieces, createWriteStream(path));
  const target = stats ? realpathSync(path) : path;
  const part = `${target}.part`;
  try {
    await writeAll(pieces, createWriteStream(part, { flush: true }));
    renameSync(part, target);
  } catch (reason) {
    rmSync(part, { force: true });
    throw reason;
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
    // Whoever reads a pipe may stop when he has seen enough; but it is no backup then.
    process.exitCode = 1;
  } finally {
    progress.stop();
  }
}
