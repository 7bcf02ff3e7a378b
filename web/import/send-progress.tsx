import type { SendingStep } from "./import-step.ts";

type SendProgressProps = Readonly<{ step: SendingStep; onCancel: () => void }>;

export function SendProgress({ step, onCancel }: SendProgressProps) {
  const { checked, progress, startedAt, startRows } = step;
  const { rows } = checked;
  const { counts } = progress;
  const seconds = (performance.now() - startedAt) / 1000;
  const sent = counts.read - startRows;
  const rate = sent === 0 || seconds === 0 ? undefined : sent / seconds;
  return (
    <div>
      <progress value={counts.read} max={rows} aria-label="Sent so far" />
      <p class="send-progress">
        <span>
          {counts.read.toLocaleString()} of {rows.toLocaleString()}
        </span>
        <span>{rate === undefined ? "" : `${Math.round(rate).toLocaleString()} a second`}</span>
        <span>{rate === undefined ? "" : left((rows - counts.read) / rate)}</span>
        <span>{counts.refused === 0 ? "" : `${counts.refused.toLocaleString()} refused`}</span>
      </p>
      <footer>
        <button class="button" type="button" onClick={onCancel}>
          Cancel
        </button>
      </footer>
    </div>
  );
}

/** What is going on, in a sentence. */
export function sendingText({ isStopping, progress }: SendingStep): string {
  if (isStopping) return "Stopping. The lines that are on their way still count.";
  if (progress.isWaiting) return "The service accepts nothing at the moment. The page tries again.";
  return "Importing. What was sent is saved, whatever happens.";
}

function left(seconds: number): string {
  return seconds < 90 ? `${Math.ceil(seconds)} s left` : `${Math.ceil(seconds / 60)} min left`;
}
