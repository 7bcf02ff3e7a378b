import { count } from "../catalogue/bulk-text.ts";
import { saveFile } from "../save-file.ts";
import { Button } from "../ui/button.tsx";
import { failureText } from "../failure-text.ts";
import { Problem, useAttempt } from "../ui/form.tsx";
import type { CheckedFile } from "./check-file.ts";
import type { SendingStep } from "./import-step.ts";
import { LineList, UnusedColumns } from "./line-list.tsx";
import { refusedFile } from "./refused-file.ts";
import type { SentSoFar } from "./send-file.ts";

type SendProgressProps = Readonly<{ step: SendingStep; onCancel: () => void }>;

export function SendProgress({ step, onCancel }: SendProgressProps) {
  const { checked, progress, startedAt, startRows } = step;
  const rows = checked.lines.length;
  const { counts } = progress;
  const seconds = (performance.now() - startedAt) / 1000;
  const sent = counts.read - startRows;
  const rate = sent === 0 || seconds === 0 ? undefined : sent / seconds;
  return (
    <div>
      <progress value={counts.read} max={rows} aria-label="Sent so far" />
      <p class="import-progress">
        <span>
          {counts.read.toLocaleString()} of {rows.toLocaleString()}
        </span>
        <span>{rate === undefined ? "" : `${Math.round(rate).toLocaleString()} a second`}</span>
        <span>{rate === undefined ? "" : left((rows - counts.read) / rate)}</span>
        <span>{counts.refused === 0 ? "" : `${counts.refused.toLocaleString()} refused`}</span>
      </p>
      <footer>
        <Button label="Cancel" onClick={onCancel} />
      </footer>
    </div>
  );
}

export function sendingText({ isStopping, progress }: SendingStep): string {
  if (isStopping) return "Stopping. The lines that are on their way still count.";
  if (progress.isWaiting) return "The service accepts nothing at the moment. The page tries again.";
  return "Importing. What was sent is saved, whatever happens.";
}

function left(seconds: number): string {
  return seconds < 90 ? `${Math.ceil(seconds)} s left` : `${Math.ceil(seconds / 60)} min left`;
}

type ImportResultProps = Readonly<{
  checked: CheckedFile;
  progress: SentSoFar;
  reason: string | undefined;
  onContinue: () => void;
  /** Takes back the import with this id of the service. */
  onTakeBack: (id: string) => void;
  onClose: () => void;
}>;

export function ImportResult({ checked, progress, reason, onContinue, onTakeBack, onClose }: ImportResultProps) {
  const { id } = progress;
  const { created, replaced, refused } = progress.counts;
  const name = plainName(checked);
  const { problem, isBusy, attempt } = useAttempt(failureText);
  const saveRefused = async () => saveFile(await refusedFile(checked, progress.refusedLines), `refused-${name}`);
  return (
    <div>
      <Problem text={problem} />
      <Problem text={reason === undefined ? undefined : stoppedText(checked, progress, reason)} />
      <UnusedColumns columns={checked.findings.unusedColumns} />
      <LineList label="Problems" lines={progress.problems} total={refused} />
      {refused === 0 ? null : (
        <div class="choices">
          <Button label="Save the refused lines" disabled={isBusy} onClick={() => void attempt(saveRefused)} />
          <Button label="Save the reasons" onClick={() => saveFile(reasonsFile(checked, progress), `reasons-${name}.txt`)} />
        </div>
      )}
      <footer>
        {id === undefined || created + replaced === 0 ? null : (
          <Button label="Take this import back" class="quiet" onClick={() => onTakeBack(id)} />
        )}
        {reason === undefined ? null : <Button label="Continue" onClick={onContinue} />}
        <Button label="Done" class="primary" onClick={onClose} />
      </footer>
    </div>
  );
}

export function stoppedText({ lines }: CheckedFile, { counts: { read }, underWay }: SentSoFar, reason: string): string {
  const sent =
    underWay === 0
      ? "What was sent is saved, and it is safe to send it again."
      : `The next ${underWay === 1 ? "one" : underWay.toLocaleString()} may be saved too: it is safe to send all again.`;
  return `The import stopped after ${read.toLocaleString()} of ${lines.length.toLocaleString()} lines. ${reason} ${sent}`;
}

/** "3 plants added, 1 refused." */
export function countsText({ created, unchanged, replaced, refused }: SentSoFar["counts"]): string {
  const others = Object.entries({ replaced, "already there": unchanged, refused }).filter(([, rows]) => rows > 0);
  return `${[`${count(created)} added`, ...others.map(([what, rows]) => `${rows.toLocaleString()} ${what}`)].join(", ")}.`;
}

/** As the command `plant-store import --refused` writes them. */
function reasonsFile({ file }: CheckedFile, { problems }: SentSoFar): Blob {
  return new Blob(problems.map(({ line, error, message }) => `${file.name}:${line}: ${error} ${message}\n`));
}

/** A workbook, and what is packed, is saved as a text. */
function plainName({ file: { name }, kind }: CheckedFile): string {
  const plain = name.replace(/\.(gz|zip)$/i, "");
  if (kind === "workbook") return `${plain.replace(/\.\w+$/, "")}.csv`;
  return plain.includes(".") ? plain : `${plain}.${kind}`;
}
