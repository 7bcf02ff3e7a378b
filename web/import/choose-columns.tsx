import { FIELDS } from "../../src/files/columns.ts";
import type { PlantField } from "../../src/files/columns.ts";
import { Field } from "../ui/field.tsx";
import { parseId } from "../plants/draft.ts";
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

  return (
    <fieldset class="choose-columns">
      <legend>Columns</legend>
      <label class="check">
        <input
          type="checkbox"
          checked={choices.hasHeader ?? csv.hasHeader}
          onChange={({ currentTarget: { checked: hasHeader } }) => onChoose({ ...choices, hasHeader })}
        />
        The first line names the columns.
      </label>
      <div class="choose-columns-fields">
        {FIELDS.map((field) => (
          <Field label={LABELS[field]} key={field}>
            {(id) => (
              <select
                id={id}
                value={String(placeOf(field, checked, choices))}
                onChange={({ currentTarget: { value } }) =>
                  onChoose({ ...choices, columns: { ...choices.columns, [field]: Number(value) } })
                }
              >
                <option value={String(NO_COLUMN)}>{WITHOUT[field]}</option>
                {columnKeys(names).map((key, at) => (
                  <option value={String(at)} key={key}>
                    {key}
                  </option>
                ))}
              </select>
            )}
          </Field>
        ))}
      </div>
      {placeOf("id", checked, choices) === NO_COLUMN ? <ChooseIds step={step} onChoose={onChoose} /> : null}
      {placeOf("tag", checked, choices) === NO_COLUMN ? null : (
        <label class="check">
          <input
            type="checkbox"
            checked={choices.dropEmptyTags ?? csv.dropEmptyTags}
            onChange={({ currentTarget: { checked: dropEmptyTags } }) => onChoose({ ...choices, dropEmptyTags })}
          />
          An empty tag in quotes means no tag.
        </label>
      )}
    </fieldset>
  );
}

function ChooseIds({ step: { checked, choices, isKnown }, onChoose }: ChooseColumnsProps) {
  const { ids } = checked.csv;
  const { kind } = choices.ids ?? ids;
  const isNumbered = kind === "from" || kind === "free";
  return (
    <>
      <Field
        label="New ids"
        hint={
          isNumbered
            ? `${isKnown ? "This file seems to be here already, under these numbers. " : ""}Each row is numbered by its place: add new rows at the end of the file.`
            : "The same row gets the same id again, so importing the file again changes nothing. A row that is changed becomes another plant."
        }
      >
        {(id, hintId) => (
          <select
            id={id}
            aria-describedby={hintId}
            value={isNumbered ? "free" : "content"}
            onChange={({ currentTarget: { value } }) => onChoose({ ...choices, ids: { kind: value === "free" ? "free" : "content" } })}
          >
            <option value="content">Random, from the content of each row</option>
            <option value="free">Numbers, from the first free one</option>
          </select>
        )}
      </Field>
      {ids.kind === "from" ? (
        <Field label="First id">
          {(id) => (
            <input
              id={id}
              inputMode="numeric"
              autocomplete="off"
              value={String(ids.first)}
              onChange={({ currentTarget }) => {
                const first = parseId(currentTarget.value);
                if (first === undefined) currentTarget.value = String(ids.first);
                else onChoose({ ...choices, ids: { kind: "from", first } });
              }}
            />
          )}
        </Field>
      ) : null}
    </>
  );
}
