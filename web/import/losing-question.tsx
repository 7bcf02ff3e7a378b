import { quote } from "../notices.ts";
import { takeFocus } from "../ui/focus.ts";
import type { AtStake } from "./import-step.ts";

type LosingQuestionProps = Readonly<{
  atStake: AtStake;
  /** The file that takes the place of the import; without one, its dialog is closed. */
  opens: string | undefined;
  onLose: () => void;
  onKeep: () => void;
}>;

const LOST = {
  columns: "forgets the columns that you chose.",
  refused: "forgets which lines were refused.",
  rest: "forgets this import, which stopped before its end.",
} as const satisfies Record<AtStake, string>;

/** Asks before something is lost. */
export function LosingQuestion({ atStake, opens, onLose, onKeep }: LosingQuestionProps) {
  return (
    <div>
      <p class="problem" role="alert">
        {opens === undefined ? "Closing" : `Opening ${quote(opens)}`} {LOST[atStake]}
      </p>
      <footer>
        <button class="button" type="button" onClick={onLose}>
          {opens === undefined ? "Close it" : "Open the file"}
        </button>
        <button class="button primary" type="button" onClick={onKeep} ref={takeFocus}>
          {atStake === "columns" ? "Back to the preview" : "Back to the result"}
        </button>
      </footer>
    </div>
  );
}
