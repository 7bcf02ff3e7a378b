import { FIELDS } from "../../src/files/columns.ts";
import type { PlantField } from "../../src/files/columns.ts";
import { parseId } from "../plants/draft.ts";
import { Check, SelectField, TextField } from "../ui/form.tsx";
import { columnKeys } from "./check-file.ts";
import { NO_COLUMN, placeOf } from "./choices.ts";
import type { Choices } from "./choices.ts";
import type { PreviewStep } from "./import-step.ts";

type ChooseColumnsProps = Readonly<{ step: PreviewStep; onChoose: (choices: Choices) => void }>;

const LABELS = { id: "Id", name: "Name", tag: "Tag" } as const satisfies Record<PlantField, string>;
const WITHOUT = { id: "Generate ids", name: "Choose a column", tag: "No tags" } as const satisfies Record<PlantField, string>;

/** What each column of CSV is taken for, and where ids come from if there are none. */
export function ChooseColumns({ step, onChoose }: ChooseColumnsProps) {
  const { checked, choices } = step;
  const { names, csv } = checked;
  const options = [[NO_COLUMN, ""] as const, ...columnKeys(names).entries()];
  return (
    <fieldset class="import-columns">
      <legend>Columns</legend>
      <Check
        label="The first line names the columns."
        checked={choices.hasHeader ?? csv.hasHeader}
        onCheck={(hasHeader) => onChoose({ ...choices, hasHeader })}
      />
      <div class="import-fields">
        {FIELDS.map((field) => (
          <SelectField
            key={field}
            label={LABELS[field]}
            options={options.map(([at, key]) => [String(at), at === NO_COLUMN ? WITHOUT[field] : key])}
            value={String(placeOf(field, checked, choices))}
            onValue={(value) => onChoose({ ...choices, columns: { ...choices.columns, [field]: Number(value) } })}
          />
        ))}
      </div>
      {placeOf("id", checked, choices) === NO_COLUMN ? <ChooseIds step={step} onChoose={onChoose} /> : null}
      {placeOf("tag", checked, choices) === NO_COLUMN ? null : (
        <Check
          label="An empty tag in quotes means no tag."
          checked={choices.dropEmptyTags ?? csv.dropEmptyTags}
          onCheck={(dropEmptyTags) => onChoose({ ...choices, dropEmptyTags })}
        />
      )}
    </fieldset>
  );
}

const NEW_IDS = [
  ["content", "Random, from the content of each row"],
  ["free", "Numbers, from the first free one"],
] as const;

function ChooseIds({ step: { checked, choices, isKnown }, onChoose }: ChooseColumnsProps) {
  const { ids } = checked.csv;
  const { kind } = choices.ids ?? ids;
  const isNumbered = kind === "from" || kind === "free";
  const hint = isNumbered
    ? `${isKnown ? "This file seems to be here already, under these numbers. " : ""}Each row is numbered by its place: add new rows at the end of the file.`
    : "The same row gets the same id again, so importing the file again changes nothing. A row that is changed becomes another plant.";
  return (
    <>
      <SelectField
        label="New ids"
        hint={hint}
        options={NEW_IDS}
        value={isNumbered ? "free" : "content"}
        onValue={(value) => onChoose({ ...choices, ids: { kind: value === "free" ? "free" : "content" } })}
      />
      {ids.kind === "from" ? (
        <TextField
          label="First id"
          inputMode="numeric"
          autocomplete="off"
          value={String(ids.first)}
          onChange={({ currentTarget }) => {
            const first = parseId(currentTarget.value);
            if (first === undefined) currentTarget.value = String(ids.first);
            else onChoose({ ...choices, ids: { kind: "from", first } });
          }}
        />
      ) : null}
    </>
  );
}
