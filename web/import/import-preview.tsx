import type { CheckedFile } from "./check-file.ts";
import { ProblemList } from "./problem-list.tsx";
import { UnusedColumns } from "./unused-columns.tsx";
import { takeFocus } from "../ui/focus.ts";

type ImportPreviewProps = Readonly<{
  checked: CheckedFile;
  onConflict: "refuse" | "replace";
  onChange: (onConflict: "refuse" | "replace") => void;
  onSend: () => void;
  onBack: () => void;
}>;

const FORMATS = { csv: "CSV", ndjson: "NDJSON" } as const;

/** What is in a file, and what is wrong with it. */
export function ImportPreview({ checked, onConflict, onChange, onSend, onBack }: ImportPreviewProps) {
  const { file, rows, refused, plants, problems, unusedColumns, failure } = checked;
  const good = rows - refused;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onSend();
      }}
    >
      <p role="status">
        <strong>{file.name}</strong> {describe(checked)}
      </p>
      {failure === undefined ? null : (
        <p class="problem" role="alert">
          {failure}
        </p>
      )}
      <UnusedColumns columns={unusedColumns} />
      <ProblemList problems={problems} total={refused} />
      {plants.length === 0 ? null : (
        <table class="ruled import-preview">
          <caption>The first plants</caption>
          <thead>
            <tr>
              <th scope="col">Id</th>
              <th scope="col">Name</th>
              <th scope="col">Tag</th>
            </tr>
          </thead>
          <tbody>
            {plants.map(({ id, name, tag }) => (
              <tr key={id}>
                <td class="number">{String(id)}</td>
                <td>{name}</td>
                <td>{tag ?? ""}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {good === 0 ? null : (
        <label class="check">
          <input
            type="checkbox"
            checked={onConflict === "replace"}
            onChange={({ currentTarget }) => onChange(currentTarget.checked ? "replace" : "refuse")}
          />
          Replace plants that have the same id. Without this, such lines are refused.
        </label>
      )}
      <footer>
        <button class="button" type="button" onClick={onBack}>
          Choose another file
        </button>
        <button class="button primary" type="submit" disabled={good === 0} autofocus ref={takeFocus}>
          Import {count(good, "plant")}
        </button>
      </footer>
    </form>
  );
}

function describe({ format, rows, refused, failure }: CheckedFile): string {
  if (failure !== undefined) return `cannot be read as ${FORMATS[format]}.`;
  if (rows === 0) return "holds no plants: choose another file.";
  const refusals = refused === 0 ? "" : ` and ${count(refused, "line")} that will be refused`;
  return `is ${FORMATS[format]} with ${count(rows - refused, "plant")}${refusals}. Nothing is sent yet.`;
}

export function count(number: number, noun: string): string {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}
