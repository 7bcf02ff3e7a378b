import { useRef } from "preact/hooks";
import { openColumnKeys } from "../../src/files/reading/columns.ts";
import { parseId } from "../plants/draft.ts";
import { IconButton, LinkButton } from "../ui/button.tsx";
import { Check, SelectField, TextField } from "../ui/form.tsx";
import { NO_COLUMN, placeOf, toKey } from "./choices.ts";
import type { Choices } from "./choices.ts";
import type { PreviewStep } from "./import-step.ts";

type ColumnFieldsProps = Readonly<{ step: PreviewStep; onChoose: (choices: Choices) => void }>;

/** Which columns make the id, the name and the tag. */
export function ColumnFields({ step, onChoose }: ColumnFieldsProps) {
  const { checked, choices } = step;
  const { layout, reading } = checked.findings;
  if (!layout || !reading) return null;
  const keyOf = openColumnKeys(layout.names);
  const keys = layout.names.map((_, at) => keyOf(at));
  const options = (none: string) => [NO_COLUMN, ...keys.keys()].map((at) => [String(at), at === NO_COLUMN ? none : keys[at]!] as const);
  const place = (field: "id" | "tag") => String(placeOf(keys, choices[field] ?? reading[field]));
  return (
    <>
      <NameColumns
        keys={keys}
        places={(choices.name ?? reading.name).map((key) => placeOf(keys, key))}
        onPlaces={(places) => onChoose({ ...choices, name: places.map(toKey) })}
      />
      <div class="import-fields">
        <SelectField
          label="Id"
          options={options("Generate ids")}
          value={place("id")}
          onValue={(value) => onChoose({ ...choices, id: toKey(Number(value)) })}
        />
        <SelectField
          label="Tag"
          options={options("No tags")}
          value={place("tag")}
          onValue={(value) => onChoose({ ...choices, tag: toKey(Number(value)) })}
        />
      </div>
      <NewIds step={step} hasColumn={place("id") !== String(NO_COLUMN)} onChoose={onChoose} />
      <Check
        label="Rows without a name are plants too."
        checked={choices.emptyNames ?? reading.emptyNames}
        onCheck={(emptyNames) => onChoose({ ...choices, emptyNames })}
      />
    </>
  );
}

type NameColumnsProps = Readonly<{ keys: readonly string[]; places: readonly number[]; onPlaces: (places: readonly number[]) => void }>;

/** The columns that make the name, in their order. */
function NameColumns({ keys, places, onPlaces }: NameColumnsProps) {
  const list = useRef<HTMLDivElement>(null);
  const columns = places.length === 0 ? [NO_COLUMN] : places;
  const others = [...keys.keys()].filter((at) => !places.includes(at));
  const put = (at: number, place: number) => onPlaces(columns.with(at, place).filter((one) => one !== NO_COLUMN));
  function add(): void {
    onPlaces([...places, others[0]!]);
    // To be chosen at once.
    queueMicrotask(() => list.current?.querySelectorAll("select")[places.length]?.focus());
  }
  return (
    <div class="import-fields" ref={list}>
      {columns.map((place, at) => (
        <div class={columns.length > 1 ? "import-part" : undefined} key={at}>
          <SelectField
            label={at === 0 ? "Name" : `Name, part ${at + 1}`}
            options={[
              ...(place === NO_COLUMN ? [[String(NO_COLUMN), "Choose a column"] as const] : []),
              ...[...keys.entries()].map(([one, key]) => [String(one), key] as const),
            ]}
            value={String(place)}
            onValue={(value) => put(at, Number(value))}
          />
          {columns.length > 1 ? (
            <IconButton icon="close" label={`Remove ${keys[place] ?? ""} from the name`} onClick={() => put(at, NO_COLUMN)} />
          ) : null}
        </div>
      ))}
      {others.length === 0 || places.length === 0 ? null : <LinkButton label="Add a column to the name" onClick={add} />}
    </div>
  );
}

type NewIdsProps = ColumnFieldsProps & Readonly<{ hasColumn: boolean }>;

/** Where ids come from, if there is no column for them, or nothing in it. */
function NewIds({ step: { checked, choices, isKnown }, hasColumn, onChoose }: NewIdsProps) {
  const { ids } = checked.findings.reading!;
  const kind = choices.ids?.kind ?? ids.kind;
  const isNumbered = kind === "from" || kind === "free";
  const hint = isNumbered
    ? `${isKnown ? "This file seems to be here already, under these numbers. " : ""}Each row is numbered by its place: add new rows at the end of the file.`
    : "The same row gets the same id again, so importing the file again changes nothing. A row that is changed becomes another plant.";
  return (
    <>
      <SelectField
        label={hasColumn ? "Rows without an id" : "New ids"}
        {...(kind === "file" ? {} : { hint })}
        options={[
          ...(hasColumn ? [["file", "Refused"] as const] : []),
          ["content", "Random, from the content of each row"],
          ["free", "Numbers, from the first free one"],
        ]}
        value={isNumbered ? "free" : kind}
        onValue={(value) => {
          const { ids: _, ...others } = choices;
          onChoose(value === "file" ? others : { ...others, ids: { kind: value === "free" ? "free" : "content" } });
        }}
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
