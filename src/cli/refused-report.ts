import { closeSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import { describeFailure } from "../runtime/system-failure.ts";
import { escapeControls } from "../runtime/terminal-text.ts";
import type { ImportSummary, Problem } from "../files/import.ts";
import { openTarget, toTarget } from "./output-file.ts";
import type { Target } from "./output-file.ts";

/** How many refused lines to show if they are not written to a file. */
const SHOWN_MAX = 10;

export type Report = ReturnType<typeof openReport>;

type ReportFlags = Readonly<{ refused?: string; force?: true }>;

/**
 * Opens the file for refused lines before anything is imported. Throws if it cannot be written or is one of the files
 * to import.
 */
export function openReport({ refused: path, force }: ReportFlags, files: readonly string[]) {
  if (path !== undefined && files.some((file) => resolve(file) === resolve(path))) {
    throw new Error(`${path} is one of the files to import: write the refused lines to another file.`);
  }
  const file = path === undefined ? undefined : openForWriting(toTarget(path, { isForced: force ?? false }));
  let refused = 0;
  let reported = 0;
  return {
    add(name: string, { line, error, message }: Problem): void {
      reported += 1;
      // A name may contain terminal control sequences.
      const text = `${escapeControls(`${name}:${line}: ${error} ${message}`)}\n`;
      if (file !== undefined) writeSync(file, text);
      else if (reported <= SHOWN_MAX) process.stderr.write(text);
    },
    end: (summary: ImportSummary) => void (refused += summary.refused),
    refused: () => refused,
    close(): void {
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
