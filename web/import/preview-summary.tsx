import { quote } from "../../src/files/csv-writer.ts";
import { saveFile } from "../save-file.ts";
import type { CheckedFile } from "./check-file.ts";
import type { Fate, Preview } from "./preview.ts";

/** What happens to a row, in one word or two. */
export const FATES = {
  created: "new",
  unchanged: "already there",
  replaced: "replaces another",
  refused: "refused",
} as const satisfies Record<Fate, string>;

/** What the service says will happen. */
export function PreviewSummary({
  checked,
  preview,
  reason,
}: {
  checked: CheckedFile;
  preview: Preview | undefined;
  reason: string | undefined;
}) {
  if (reason !== undefined) return <p class="problem">There is no preview: {reason}</p>;
  if (!preview) return null;
  const { fates, counts, isDone } = preview;
  const parts = (Object.keys(FATES) as Fate[])
    .filter((fate) => counts[fate] > 0)
    .map((fate) => `${counts[fate].toLocaleString()} ${FATES[fate]}`);
  return (
    <p role="status">
      {/* Not read out at each step, but whole in the end. */}
      <span aria-hidden={!isDone}>
        {isDone ? "If you import now: " : `Checking, ${fates.length.toLocaleString()} of ${checked.rows.toLocaleString()} rows: `}
        <strong>{parts.length === 0 ? "nothing yet" : parts.join(", ")}</strong>.
      </span>{" "}
      {isDone && fates.length > 0 ? (
        <button class="link" type="button" onClick={() => saveFile(toReport(checked, preview), `preview-${baseName(checked)}.csv`)}>
          Save what happens to each row
        </button>
      ) : null}
    </p>
  );
}

/** A line for each row. */
function toReport({ lines, repeats }: CheckedFile, { fates, reasons }: Preview): Blob {
  const rows = fates.map((fate, at) => {
    const repeat = repeats.get(at);
    return `${lines[at]},${FATES[fate]},${repeat ? lines[repeat.first] : ""},${quote(reasons.get(at) ?? "")}\n`;
  });
  return new Blob(["line,what happens,same id as line,reason\n", ...rows]);
}

/** The name of a file without its ending. */
function baseName({ file }: CheckedFile): string {
  return file.name.replace(/\.\w+$/, "");
}
