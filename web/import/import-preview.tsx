import { useState } from "preact/hooks";
import { quote } from "../../src/files/csv-writer.ts";
import { count } from "../catalogue/bulk-text.ts";
import { saveFile } from "../save-file.ts";
import { Button, LinkButton } from "../ui/button.tsx";
import { Check, Form, Problem } from "../ui/form.tsx";
import type { CheckedFile } from "./check-file.ts";
import { chooseCells } from "./choices.ts";
import type { Choices } from "./choices.ts";
import { EncodingQuestion } from "./encoding-question.tsx";
import type { PreviewState } from "./import-run.ts";
import type { PreviewStep } from "./import-step.ts";
import { LineList, UnusedColumns } from "./line-list.tsx";
import type { Preview } from "./preview.ts";
import { ReadingFields } from "./reading-fields.tsx";
import { readingWords } from "./reading-words.ts";
import type { Fate, OnConflict } from "./send-slice.ts";

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

const KINDS = { csv: "CSV", ndjson: "NDJSON", workbook: "a workbook" } as const;

export function ImportPreview({ step, preview: state, isNew, onChoose, onConflict, onChange, onSend, onBack }: ImportPreviewProps) {
  const { checked, likely, choices, read } = step;
  const { preview } = state;
  const { findings, lines, refused, problems, failure } = checked;
  const good = lines.length - refused;
  return (
    <Form onSubmit={onSend}>
      <Problem text={checked.likely.length > 0 ? undefined : failure} />
      {likely.length === 0 ? null : (
        <EncodingQuestion
          likely={likely}
          chosen={choices.encoding}
          onChoose={(encoding) => onChoose(chooseCells(choices, "encoding", encoding))}
        />
      )}
      {checked.likely.length > 0 ? null : <HowToRead step={step} preview={preview} onChoose={onChoose} />}
      <UnusedColumns columns={findings.unusedColumns} />
      <Summary checked={checked} state={state} />
      <LineList
        label="Problems"
        lines={preview && preview.problems.length > 0 ? preview.problems : problems}
        total={preview?.isDone ? preview.counts.refused : refused}
      />
      {good === 0 || isNew ? null : (
        <Check
          label="Replace plants that have the same id. Without it, such lines are refused."
          checked={onConflict === "replace"}
          onCheck={(isReplacing) => onChange(isReplacing ? "replace" : "refuse")}
        />
      )}
      <footer>
        <Button label="Choose another file" onClick={onBack} />
        <Button
          label={`Import ${count(good)}`}
          class="primary"
          type="submit"
          disabled={good === 0 || failure !== undefined || choices !== read}
        />
      </footer>
    </Form>
  );
}

type HowToReadProps = Readonly<{ step: PreviewStep; preview: Preview | undefined; onChoose: (choices: Choices) => void }>;

/** How a file is read, in a line; its first plants; and what changes it, open from the beginning where something is not certain. */
function HowToRead({ step, preview, onChoose }: HowToReadProps) {
  const { checked } = step;
  const { failure, findings, notes } = checked;
  const isDoubtful = findings.doubts.some(({ line, message }) => line === undefined && !notes.includes(message));
  const [isOpen, setOpen] = useState(failure !== undefined || isDoubtful);
  return (
    <>
      {findings.reading && failure === undefined ? (
        <p>
          {readingWords(findings.reading)} <LinkButton label="Change" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)} />
        </p>
      ) : null}
      <Doubts checked={checked} />
      <FirstPlants checked={checked} preview={preview} />
      {isOpen && checked.kind !== "ndjson" ? <ReadingFields step={step} onChoose={onChoose} /> : null}
    </>
  );
}

/** What is probably not meant, of the whole file and of rows. */
function Doubts({ checked: { findings, notes, failure } }: Readonly<{ checked: CheckedFile }>) {
  const { doubts, skipped } = findings;
  const ofFile = doubts.flatMap(({ line, message }) => (line === undefined ? [message] : []));
  const ofRows = doubts.flatMap(({ line, message }) => (line === undefined ? [] : [{ line, message }]));
  const rows = skipped === 1 ? "1 row is no plant" : `${skipped.toLocaleString()} rows are no plants`;
  const hints = [...(failure === undefined ? [] : notes), ...ofFile, ...(skipped === 0 ? [] : [`${rows}: blank, or above the names.`])];
  return (
    <>
      {[...new Set(hints)].map((hint) => (
        <p class="hint" key={hint}>
          {hint}
        </p>
      ))}
      <LineList label="Doubts" lines={ofRows} class="import-problems import-doubts" />
    </>
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
        {isDone ? "If you import now: " : `Checking, ${fates.length.toLocaleString()} of ${checked.lines.length.toLocaleString()} rows: `}
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

export function describe({ file, kind, lines, refused, failure, likely }: CheckedFile): string {
  if (likely.length > 0) return `The letters of ${file.name} can be read in several ways. Nothing is stored yet.`;
  if (failure !== undefined) return `${file.name} cannot be read as ${KINDS[kind]}.`;
  const good = lines.length - refused;
  if (lines.length === 0) return `${file.name} holds no plants: choose another file.`;
  const refusals = refused === 0 ? "" : ` and ${refused === 1 ? "1 line" : `${refused.toLocaleString()} lines`} that will be refused`;
  return `${file.name} is ${KINDS[kind]} with ${count(good)}${refusals}. Nothing is stored yet.`;
}
