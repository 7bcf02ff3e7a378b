import { SEPARATORS } from "../../src/files/reading/reading.ts";
import type { Separator } from "../../src/files/reading/reading.ts";
import { Check, SelectField } from "../ui/form.tsx";
import { chooseCells, chooseHeading } from "./choices.ts";
import type { Choices } from "./choices.ts";
import { ColumnFields } from "./column-fields.tsx";
import { USUAL } from "./encodings.ts";
import type { PreviewStep } from "./import-step.ts";
import { SEPARATOR_NAMES } from "./reading-words.ts";

type ReadingFieldsProps = Readonly<{ step: PreviewStep; onChoose: (choices: Choices) => void }>;

/** How the table is read, to be changed. Each kind of file has its own fields. */
export function ReadingFields({ step, onChoose }: ReadingFieldsProps) {
  const { checked, choices } = step;
  const { quotes } = { ...checked.findings.text, ...choices };
  return (
    <fieldset class="import-reading">
      <legend>How to read it</legend>
      <div class="import-fields">
        {checked.kind === "csv" ? <TextFields step={step} onChoose={onChoose} /> : null}
        {checked.sheets.length > 1 ? (
          <SelectField
            label="Sheet"
            options={checked.sheets.map((name) => [name, name])}
            value={choices.sheet ?? checked.findings.sheet ?? ""}
            onValue={(sheet) => onChoose(chooseCells(choices, "sheet", sheet))}
          />
        ) : null}
        {checked.isDescribed ? null : <HeadingField step={step} onChoose={onChoose} />}
      </div>
      <ColumnFields step={step} onChoose={onChoose} />
      {quotes === undefined || checked.isDescribed ? null : (
        <Check
          label="Quotes belong to the text."
          checked={quotes === "none"}
          onCheck={(isText) => onChoose(chooseCells(choices, "quotes", isText ? "none" : "double"))}
        />
      )}
    </fieldset>
  );
}

function TextFields({ step: { checked, choices, likely }, onChoose }: ReadingFieldsProps) {
  const { text } = checked.findings;
  const { encoding = "", separator } = { ...text, ...choices };
  return (
    <>
      <SelectField
        label="Encoding"
        options={encodingOptions(encoding, likely)}
        value={encoding}
        onValue={(value) => onChoose(chooseCells(choices, "encoding", value))}
      />
      {separator === undefined || checked.isDescribed ? null : (
        <SelectField
          label="Separated by"
          options={SEPARATORS.map((one) => [one, one === "" ? "Nothing: each line is one name" : upper(SEPARATOR_NAMES[one])])}
          value={separator}
          onValue={(value) => onChoose(chooseCells(choices, "separator", value as Separator))}
        />
      )}
    </>
  );
}

function upper(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** The likely ones first, as they read the file, then the usual ones. */
function encodingOptions(chosen: string, likely: PreviewStep["likely"]): (readonly [string, string])[] {
  const first = likely.map(({ encoding, words }) => {
    const name = USUAL.find(([one]) => one === encoding)?.[1] ?? encoding;
    return [encoding, `${name}: ${words}`] as const;
  });
  const options = [...first, ...USUAL.filter(([encoding]) => first.every(([one]) => one !== encoding))];
  return options.some(([encoding]) => encoding === chosen) ? options : [[chosen, chosen], ...options];
}

/** Of a row in a list, in characters. */
const SHOWN = 60;

function HeadingField({ step: { checked, choices }, onChoose }: ReadingFieldsProps) {
  const { firstRows = [], reading } = checked.findings;
  if (firstRows.length === 0) return null;
  const rows = firstRows.map(({ line, cells }) => {
    const text = cells.filter((cell) => cell !== "").join(", ");
    return [String(line), `Line ${line}: ${text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text}`] as const;
  });
  return (
    <SelectField
      label="Column headings"
      options={[...rows, ["0", "None: the first row is a plant"]]}
      value={String(choices.heading ?? reading?.heading ?? 0)}
      onValue={(value) => {
        const cells = firstRows.find(({ line }) => String(line) === value)?.cells;
        onChoose(chooseHeading(choices, Number(value), cells ? cells.length : Math.max(...firstRows.map((row) => row.cells.length))));
      }}
    />
  );
}
