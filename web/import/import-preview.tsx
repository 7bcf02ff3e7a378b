import { MISSING } from "../../src/files/columns.ts";
import type { PreviewState } from "./preview-state.ts";
import type { CheckedFile } from "./check-file.ts";
import type { Choices } from "./choices.ts";
import { ChooseColumns } from "./choose-columns.tsx";
import { FATES, PreviewSummary } from "./preview-summary.tsx";
import type { Fate } from "./preview.ts";
import type { PreviewStep } from "./import-step.ts";
import { ProblemList } from "./problem-list.tsx";
import { UnusedColumns } from "./unused-columns.tsx";
import type { OnConflict } from "./send-file.ts";

type ImportPreviewProps = Readonly<{
  step: PreviewStep;
  preview: PreviewState;
  /** Whether each row gets a number that was free: there is nothing to replace. */
  isNew: boolean;
  onChoose: (choices: Choices) => void;
  onConflict: OnConflict;
  onChange: (onConflict: OnConflict) => void;
  onSend: () => void;
  onBack: () => void;
}>;

/** The name of a workbook, of which a sheet is read as CSV. */
export const WORKBOOK = /\.xls[xm]$/i;

/** What the interface says of the first line, in the words of the page. */
const FAILURES = new Map<string, string>([
  [
    MISSING.named.both,
    "It does not begin with a line that names its columns: write one above the rest, such as id,name,tag, and choose the file again.",
  ],
  [
    MISSING.named.name,
    "The first line does not say which column holds the names: choose it below. If that line is a plant, untick the box.",
  ],
  [MISSING.unnamed.name, "No column is taken for the name: choose it below."],
]);

const FORMATS = { csv: "CSV", ndjson: "NDJSON" } as const;

/** What is in a file, and what is wrong with it. */
export function ImportPreview({ step, preview: state, isNew, onChoose, onConflict, onChange, onSend, onBack }: ImportPreviewProps) {
  const { checked, notes, choices, read } = step;
  const { preview, failure: previewFailure } = state;
  const { rows, refused, plants, problems, unusedColumns, failure } = checked;
  const good = rows - refused;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onSend();
      }}
    >
      {failure === undefined ? null : (
        <p class="problem" role="alert">
          {FAILURES.get(failure) ?? failure}
        </p>
      )}
      {notesOf(checked, notes).map((note) => (
        <p class="hint" key={note}>
          {note}
        </p>
      ))}
      {checked.names.length === 0 ? null : <ChooseColumns step={step} onChoose={onChoose} />}
      <UnusedColumns columns={unusedColumns} />
      <PreviewSummary checked={checked} preview={preview} reason={previewFailure} />
      <ProblemList
        problems={preview && preview.problems.length > 0 ? preview.problems : problems}
        total={preview?.isDone ? preview.counts.refused : refused}
      />
      {plants.length === 0 ? null : (
        <table class="ruled import-preview">
          <caption>The first plants</caption>
          <thead>
            <tr>
              <th scope="col">Id</th>
              <th scope="col">Name</th>
              <th scope="col">Tag</th>
              <th scope="col">What happens</th>
            </tr>
          </thead>
          <tbody>
            {plants.map(({ plant: { id, name, tag }, row }) => (
              <tr key={row}>
                <td class="number">{String(id)}</td>
                <td>{name}</td>
                <td>{tag ?? ""}</td>
                <td>{toFate(preview?.fates[row])}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {good === 0 || isNew ? null : (
        <label class="check">
          <input
            type="checkbox"
            checked={onConflict === "replace"}
            onChange={({ currentTarget }) => onChange(currentTarget.checked ? "replace" : "refuse")}
          />
          Replace plants that have the same id. That cannot be undone. Without it, such lines are refused.
        </label>
      )}
      <footer>
        <button class="button" type="button" onClick={onBack}>
          Choose another file
        </button>
        <button class="button primary" type="submit" disabled={good === 0 || choices !== read}>
          Import {count(good, "plant")}
        </button>
      </footer>
    </form>
  );
}

function toFate(fate: Fate | undefined): string {
  return fate === undefined ? "" : FATES[fate];
}

function notesOf({ csv, format }: CheckedFile, notes: readonly string[]): string[] {
  const guess = "The file is not UTF-8, so it is read as Windows-1252, as older spreadsheets write it. Check the names below.";
  return [...notes.map((note) => `Of this file: ${note}.`), ...(format === "csv" && csv.encoding === "windows-1252" ? [guess] : [])];
}

/** What a file holds, in a sentence. */
export function describe({ file, format, rows, refused, failure }: CheckedFile): string {
  const what = WORKBOOK.test(file.name) ? "a workbook" : FORMATS[format];
  if (failure !== undefined) return `${file.name} cannot be read as ${what}.`;
  if (rows === 0) return `${file.name} holds no plants: choose another file.`;
  const refusals = refused === 0 ? "" : ` and ${count(refused, "line")} that will be refused`;
  return `${file.name} is ${what} with ${count(rows - refused, "plant")}${refusals}. Nothing is stored yet.`;
}

export function count(number: number, noun: string): string {
  return `${number.toLocaleString()} ${noun}${number === 1 ? "" : "s"}`;
}
