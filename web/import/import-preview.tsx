import { MISSING } from "../../src/files/columns.ts";
import { quote } from "../../src/files/csv-writer.ts";
import { count } from "../catalogue/bulk-text.ts";
import { saveFile } from "../save-file.ts";
import { Button, LinkButton } from "../ui/button.tsx";
import { Check, Form, Problem } from "../ui/form.tsx";
import type { CheckedFile } from "./check-file.ts";
import type { Choices } from "./choices.ts";
import { ChooseColumns } from "./choose-columns.tsx";
import type { PreviewStep } from "./import-step.ts";
import type { PreviewState } from "./import-run.ts";
import type { Fate, Preview } from "./preview.ts";
import { ProblemList, UnusedColumns } from "./problem-list.tsx";
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

export function ImportPreview({ step, preview: state, isNew, onChoose, onConflict, onChange, onSend, onBack }: ImportPreviewProps) {
  const { checked, notes, choices, read } = step;
  const { preview } = state;
  const { rows, refused, problems, failure } = checked;
  const good = rows - refused;
  return (
    <Form onSubmit={onSend}>
      <Problem text={FAILURES.get(failure ?? "") ?? failure} />
      {notesOf(checked, notes).map((note) => (
        <p class="hint" key={note}>
          {note}
        </p>
      ))}
      {checked.names.length === 0 ? null : <ChooseColumns step={step} onChoose={onChoose} />}
      <UnusedColumns columns={checked.unusedColumns} />
      <Summary checked={checked} state={state} />
      <ProblemList
        problems={preview && preview.problems.length > 0 ? preview.problems : problems}
        total={preview?.isDone ? preview.counts.refused : refused}
      />
      <FirstPlants checked={checked} preview={preview} />
      {good === 0 || isNew ? null : (
        <Check
          label="Replace plants that have the same id. That cannot be undone. Without it, such lines are refused."
          checked={onConflict === "replace"}
          onCheck={(isReplacing) => onChange(isReplacing ? "replace" : "refuse")}
        />
      )}
      <footer>
        <Button label="Choose another file" onClick={onBack} />
        <Button label={`Import ${count(good)}`} class="primary" type="submit" disabled={good === 0 || choices !== read} />
      </footer>
    </Form>
  );
}

/** What happens to a row, in one word or two. */
const FATES = {
  created: "new",
  unchanged: "already there",
  replaced: "replaces another",
  refused: "refused",
} as const satisfies Record<Fate, string>;

function Summary({ checked, state: { preview, failure } }: Readonly<{ checked: CheckedFile; state: PreviewState }>) {
  if (failure !== undefined) return <p class="problem">There is no preview: {failure}</p>;
  if (!preview) return null;
  const { fates, counts, isDone } = preview;
  const present = (Object.keys(FATES) as Fate[]).filter((fate) => counts[fate] > 0);
  const parts = present.map((fate) => `${counts[fate].toLocaleString()} ${FATES[fate]}`);
  const save = () => saveFile(toReport(checked, preview), `preview-${checked.file.name.replace(/\.\w+$/, "")}.csv`);
  return (
    <p role="status">
      {/* Not read out at each step, but whole in the end. */}
      <span aria-hidden={!isDone}>
        {isDone ? "If you import now: " : `Checking, ${fates.length.toLocaleString()} of ${checked.rows.toLocaleString()} rows: `}
        <strong>{parts.length === 0 ? "nothing yet" : parts.join(", ")}</strong>.
      </span>{" "}
      {isDone && fates.length > 0 ? <LinkButton label="Save what happens to each row" onClick={save} /> : null}
    </p>
  );
}

function toReport({ lines, repeats }: CheckedFile, { fates, reasons }: Preview): Blob {
  const rows = fates.map((fate, at) => {
    const repeat = repeats.get(at);
    return `${lines[at]},${FATES[fate]},${repeat ? lines[repeat.first] : ""},${quote(reasons.get(at) ?? "")}\n`;
  });
  return new Blob(["line,what happens,same id as line,reason\n", ...rows]);
}

function FirstPlants({ checked: { plants }, preview }: Readonly<{ checked: CheckedFile; preview: Preview | undefined }>) {
  if (plants.length === 0) return null;
  return (
    <table class="ruled import-preview">
      <caption>The first plants</caption>
      <thead>
        <tr>
          {["Id", "Name", "Tag", "What happens"].map((title) => (
            <th scope="col" key={title}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {plants.map(({ plant: { id, name, tag }, row }) => (
          <tr key={row}>
            <td class="number">{String(id)}</td>
            <td>{name}</td>
            <td>{tag ?? ""}</td>
            <td>{preview?.fates[row] && FATES[preview.fates[row]]}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function notesOf({ csv, format }: CheckedFile, notes: readonly string[]): string[] {
  const guess = "The file is not UTF-8, so it is read as Windows-1252, as older spreadsheets write it. Check the names below.";
  return [...notes.map((note) => `Of this file: ${note}.`), ...(format === "csv" && csv.encoding === "windows-1252" ? [guess] : [])];
}

export function describe({ file, format, rows, refused, failure }: CheckedFile): string {
  const what = WORKBOOK.test(file.name) ? "a workbook" : FORMATS[format];
  if (failure !== undefined) return `${file.name} cannot be read as ${what}.`;
  if (rows === 0) return `${file.name} holds no plants: choose another file.`;
  const lines = refused === 1 ? "1 line" : `${refused.toLocaleString()} lines`;
  const refusals = refused === 0 ? "" : ` and ${lines} that will be refused`;
  return `${file.name} is ${what} with ${count(rows - refused)}${refusals}. Nothing is stored yet.`;
}
