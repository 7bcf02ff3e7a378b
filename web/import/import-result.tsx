import { saveFile } from "../save-file.ts";
import type { CheckedFile } from "./check-file.ts";
import { count, WORKBOOK } from "./import-preview.tsx";
import { ProblemList } from "./problem-list.tsx";
import type { SentSoFar } from "./send-file.ts";
import { refusedFile } from "./slices.ts";
import { UnusedColumns } from "./unused-columns.tsx";

type ImportResultProps = Readonly<{
  checked: CheckedFile;
  progress: SentSoFar;
  /** Why it stopped before its end. */
  reason: string | undefined;
  onContinue: () => void;
  onClose: () => void;
}>;

/** What became of an import. */
export function ImportResult({ checked, progress, reason, onContinue, onClose }: ImportResultProps) {
  const { refused } = progress.counts;
  return (
    <div>
      {reason === undefined ? null : (
        <p class="problem" role="alert">
          {stoppedText(checked, progress, reason)}
        </p>
      )}
      <UnusedColumns columns={checked.unusedColumns} />
      <ProblemList problems={progress.problems} total={refused} />
      {refused === 0 ? null : (
        <div class="choices">
          <button
            class="button"
            type="button"
            onClick={() => saveFile(refusedFile(checked, progress.refusedLines), `refused-${plainName(checked)}`)}
          >
            Save the refused lines
          </button>
          <button
            class="button"
            type="button"
            onClick={() => saveFile(reasonsFile(checked, progress), `reasons-${plainName(checked)}.txt`)}
          >
            Save the reasons
          </button>
        </div>
      )}
      <footer>
        {reason === undefined ? null : (
          <button class="button" type="button" onClick={onContinue}>
            Continue
          </button>
        )}
        <button class="button primary" type="button" onClick={onClose}>
          Done
        </button>
      </footer>
    </div>
  );
}

export function stoppedText({ rows }: CheckedFile, { counts: { read }, underWay }: SentSoFar, reason: string): string {
  const sent =
    underWay === 0
      ? "What was sent is saved, and it is safe to send it again."
      : `The next ${underWay === 1 ? "one" : underWay.toLocaleString()} may be saved too: it is safe to send all again.`;
  return `The import stopped after ${read.toLocaleString()} of ${rows.toLocaleString()} lines. ${reason} ${sent}`;
}

/** "3 plants added, 1 refused." */
export function countsText({ created, unchanged, replaced, refused }: SentSoFar["counts"]): string {
  const parts = [
    `${count(created, "plant")} added`,
    ...(replaced === 0 ? [] : [`${replaced.toLocaleString()} replaced`]),
    ...(unchanged === 0 ? [] : [`${unchanged.toLocaleString()} already there`]),
    ...(refused === 0 ? [] : [`${refused.toLocaleString()} refused`]),
  ];
  return `${parts.join(", ")}.`;
}

/** As the command `plant-store import --refused` writes them. */
function reasonsFile({ file }: CheckedFile, { problems }: SentSoFar): Blob {
  return new Blob(problems.map(({ line, error, message }) => `${file.name}:${line}: ${error} ${message}\n`));
}

function plainName({ file, format }: CheckedFile): string {
  return file.name.includes(".") ? file.name.replace(WORKBOOK, ".csv") : `${file.name}.${format}`;
}
