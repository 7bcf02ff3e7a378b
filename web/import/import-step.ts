import type { CheckedFile } from "./check-file.ts";
import { NO_CHOICES } from "./choices.ts";
import type { Choices } from "./choices.ts";
import type { Likely } from "../../src/files/table-error.ts";
import type { SentSoFar } from "./send-file.ts";

/**
 * `choices`: how people want it to be read; `read`: how it was read, which is not the same while it is read again. `isKnown`: it is already
 * there under the numbers that it gets. `likely`: the encodings that were to be chosen from at first.
 */
export type PreviewStep = Readonly<{
  kind: "preview";
  checked: CheckedFile;
  likely: readonly Likely[];
  choices: Choices;
  read: Choices;
  isKnown: boolean;
}>;

/** `startedAt` by performance.now(); `startRows`: how many rows were sent before that. */
export type SendingStep = Readonly<{
  kind: "sending";
  checked: CheckedFile;
  progress: SentSoFar;
  startedAt: number;
  startRows: number;
  isStopping: boolean;
}>;

/** How far an import is. "ended": all is sent, or it stopped: `reason` says why, undefined when it came to its end. */
export type ImportStep =
  | Readonly<{ kind: "choosing" }>
  | Readonly<{ kind: "checking"; name: string; rows: number; share: number | undefined }>
  | PreviewStep
  | SendingStep
  | Readonly<{ kind: "ended"; checked: CheckedFile; progress: SentSoFar; reason: string | undefined }>;

/** What an import has that is nowhere else: how it was chosen to be read, its refused lines, or the lines that are not sent yet. */
export type AtStake = "reading" | "refused" | "rest";

/** What is nowhere else, and would be lost with this step. */
export function atStakeIn(step: ImportStep): AtStake | undefined {
  if (step.kind === "preview" && step.choices !== NO_CHOICES) return "reading";
  if (step.kind !== "ended") return undefined;
  if (step.reason !== undefined) return "rest";
  return step.progress.counts.refused > 0 ? "refused" : undefined;
}
