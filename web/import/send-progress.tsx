import type { SentSoFar } from "./send-file.ts";
import { takeFocus } from "../ui/focus.ts";

type SendProgressProps = Readonly<{
  rows: number;
  progress: SentSoFar;
  /** By performance.now(); how many rows were sent before that. */
  startedAt: number;
  startRows: number;
  isStopping: boolean;
  onCancel: () => void;
}>;

export function SendProgress({ rows, progress, startedAt, startRows, isStopping, onCancel }: SendProgressProps) {
  const { counts, isWaiting } = progress;
  const seconds = (performance.now() - startedAt) / 1000;
  const sent = counts.read - startRows;
  const rate = sent === 0 || seconds === 0 ? undefined : sent / seconds;
  return (
    <div>
      <p role="status">
        {isStopping
          ? "Stopping. The lines that are on their way still count."
          : isWaiting
            ? "The service accepts nothing at the moment. The page tries again."
            : "Importing. What was sent is saved, whatever happens."}
      </p>
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
        <button class="button" type="button" onClick={onCancel} autofocus ref={takeFocus}>
          Cancel
        </button>
      </footer>
    </div>
  );
}

function left(seconds: number): string {
  return seconds < 90 ? `${Math.ceil(seconds)} s left` : `${Math.ceil(seconds / 60)} min left`;
}
