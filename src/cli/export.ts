import { createWriteStream, renameSync, rmSync } from "node:fs";
import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Command, Option } from "commander";
import { toExportForm } from "../exchange/export.ts";
import type { Profile } from "../exchange/export.ts";
import { addCatalogue, openCatalogue } from "./catalogue.ts";
import type { FileFormat } from "./catalogue.ts";
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
      else await writeFile(file, pieces);
    } finally {
      await catalogue.close();
    }
  });
}

type Pieces = AsyncIterable<Uint8Array | string>;

/** Under another name until it is whole, so that nobody takes half a file for a backup. */
async function writeFile(path: string, pieces: Pieces): Promise<void> {
  const part = `${path}.part`;
  try {
    await writeAll(pieces, createWriteStream(part, { flush: true }));
    renameSync(part, path);
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
    // Whoever reads a pipe may stop when he has seen enough.
    if (!(reason instanceof Error && "code" in reason && reason.code === "EPIPE")) throw reason;
  } finally {
    progress.stop();
  }
}
