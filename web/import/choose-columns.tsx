import { FIELDS } from "../../src/transfer/columns.ts";
import type { PlantField } from "../../src/transfer/columns.ts";
import type { CsvReading } from "../../src/transfer/row.ts";
import { Field } from "../ui/field.tsx";
import { parseId } from "../plants/draft.ts";
import { columnKeys } from "./check-file.ts";
import type { CheckedFile } from "./check-file.ts";

type ChooseColumnsProps = Readonly<{
  checked: CheckedFile;
  onReading: (reading: CsvReading) => void;
  /** Whether the first line names the columns. */
  onHeader: (hasHeader: boolean) => void;
  /** Asks for the first number of rows without ids. */
  onNumber: () => void;
  /** Whether the file is already there under these numbers. */
  isKnown: boolean;
}>;

const LABELS = { id: "Id", name: "Name", tag: "Tag" } as const satisfies Record<PlantField, string>;
const WITHOUT = { id: "no column: make ids", name: "choose a column", tag: "no column: no tags" } as const satisfies Record<
  PlantField,
  string
>;

/** What each column of CSV is taken for, and where ids come from if there are none. */
export function ChooseColumns({ checked, onReading, onHeader, onNumber, isKnown }: ChooseColumnsProps) {
  const { names, places, csv } = checked;
  const keys = columnKeys(names);

  function choose(field: PlantField, key: string): void {
    const ids = field !== "id" ? csv.ids : key === "" ? ({ kind: "content" } as const) : ({ kind: "file" } as const);
    onReading({ ...csv, ids, columns: { ...csv.columns, [field]: key } });
  }

  return (
    <fieldset class="choose-columns">
      <legend>Columns</legend>
      <label class="check">
        <input type="checkbox" checked={csv.hasHeader} onChange={({ currentTarget: { checked: hasHeader } }) => onHeader(hasHeader)} />
        The first line names the columns.
      </label>
      <div class="choose-columns-fields">
        {FIELDS.map((field) => (
          <Field label={LABELS[field]} key={field}>
            {(id) => (
              <select
                id={id}
                value={String(places?.[field][0] ?? -1)}
                onChange={({ currentTarget: { value } }) => choose(field, keys[Number(value)] ?? "")}
              >
                <option value="-1">{WITHOUT[field]}</option>
                {keys.map((key, at) => (
                  <option value={String(at)} key={key}>
                    {key}
                  </option>
                ))}
              </select>
            )}
          </Field>
        ))}
      </div>
      {places?.id.length === 0 ? <ChooseIds csv={csv} onReading={onReading} onNumber={onNumber} isKnown={isKnown} /> : null}
      {places === undefined || places.tag.length === 0 ? null : (
        <label class="check">
          <input
            type="checkbox"
            checked={csv.isEmptyTagNone}
            onChange={({ currentTarget: { checked: isEmptyTagNone } }) => onReading({ ...csv, isEmptyTagNone })}
          />
          An empty tag in quotes means no tag.
        </label>
      )}
    </fieldset>
  );
}

type ChooseIdsProps = Readonly<{ csv: CsvReading }> & Omit<ChooseColumnsProps, "checked" | "onHeader">;

function ChooseIds({ csv, onReading, onNumber, isKnown }: ChooseIdsProps) {
  const { ids } = csv;
  return (
    <>
      <Field
        label="New ids"
        hint={
          ids.kind === "from"
            ? `${isKnown ? "This file seems to be here already, under these numbers. " : ""}Each row is numbered by its place: add new rows at the end of the file.`
            : "The same row gets the same id again, so importing the file again changes nothing. A row that is changed becomes another plant."
        }
      >
        {(id, hintId) => (
          <select
            id={id}
            aria-describedby={hintId}
            value={ids.kind}
            onChange={({ currentTarget: { value } }) => (value === "from" ? onNumber() : onReading({ ...csv, ids: { kind: "content" } }))}
          >
            <option value="content">at random, from the content of each row</option>
            <option value="from">numbers, from the first free one</option>
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
                else onReading({ ...csv, ids: { kind: "from", first } });
              }}
            />
          )}
        </Field>
      ) : null}
    </>
  );
}
