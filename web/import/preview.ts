import type { ImportProblem } from "../../src/client/client.ts";
import type { CheckedFile, RepeatedRow } from "./check-file.ts";
import { sendSlice } from "./send-slice.ts";
import type { Fate, OnConflict, SendOptions } from "./send-slice.ts";
import { readSlices } from "./slices.ts";

/** What the service says will happen to the rows of a file, as far as it was asked. */
export type Preview = Readonly<{
  /** By position in the file. */
  fates: readonly Fate[];
  counts: Readonly<Record<Fate, number>>;
  problems: readonly ImportProblem[];
  /** Why rows will be refused, by position in the file. */
  reasons: ReadonlyMap<number, string>;
  isDone: boolean;
}>;

export type PreviewOptions = Omit<SendOptions, "dryRun" | "onWait"> & Readonly<{ onPreview: (preview: Preview) => void }>;

const PROBLEMS_KEPT = 100;

const ID_IN_USE = 40900;

/**
 * Asks the service about each slice without storing anything. It compares a slice with what is stored; what rows do to
 * rows of earlier slices is added here.
 */
export async function previewImport(checked: CheckedFile, options: PreviewOptions): Promise<void> {
  const { onConflict, onPreview } = options;
  const { lines, repeats } = checked;
  const fates: Fate[] = [];
  const counts = { created: 0, unchanged: 0, replaced: 0, refused: 0 };
  const problems: ImportProblem[] = [];
  const reasons = new Map<number, string>();
  // A million rows may be refused for the same reason, which is kept once.
  const texts = new Map<string, string>();
  function refuse(row: number, problem: ImportProblem): void {
    const text = texts.get(problem.message) ?? problem.message;
    texts.set(text, text);
    reasons.set(row, text);
    if (problems.length < PROBLEMS_KEPT) problems.push(problem);
  }

  const tell = (isDone: boolean) => onPreview({ fates, counts: { ...counts }, problems: [...problems], reasons, isDone });

  tell(lines.length === 0);
  for await (const slice of readSlices(checked)) {
    const { problems: told, fates: said } = await sendSlice(slice, { ...options, dryRun: true });
    const byLine = new Map(told.map((problem) => [problem.line, problem]));
    for (const [place, { line }] of slice.rows.entries()) {
      const row = slice.before + place;
      const problem = byLine.get(line);
      const repeat = isOwnFault(problem) ? undefined : repeats.get(row);
      const fate = repeat ? fateOf(repeat, { said: known(said[place]), first: fates[repeat.first], onConflict }) : known(said[place]);
      fates.push(fate);
      counts[fate] += 1;
      if (fate !== "refused") continue;
      const first = lines[repeat?.first ?? row];
      const other = { line, error: ID_IN_USE, message: `Line ${first} of the file has the same id and another name or tag.` };
      refuse(row, repeat ? other : (problem ?? other));
    }
    tell(fates.length === lines.length);
  }
}

/** A service older than this page does not name the outcome of each row. */
function known(said: Fate | undefined): Fate {
  if (said === undefined) throw new TypeError("The service does not support import previews: upgrade it.");
  return said;
}

function isOwnFault(problem: ImportProblem | undefined): boolean {
  return problem !== undefined && problem.error !== ID_IN_USE;
}

/** `said`: beside what is stored, and earlier rows of the slice; `first`: the fate of the first row with this id. */
type Known = Readonly<{ said: Fate; first: Fate | undefined; onConflict: OnConflict }>;

function fateOf({ isSameAsFirst, isSameAsLast, isIdMade }: RepeatedRow, { said, first, onConflict }: Known): Fate {
  if (onConflict === "replace" && !isIdMade) {
    // Then it is not refused for its id.
    if (said === "refused") return said;
    return isSameAsLast ? "unchanged" : "replaced";
  }
  // What was stored before counts more than an earlier row, which was refused then, or is the same. The service knows only
  // that, and rows of the same slice: what the first row makes of the id, in a slice before, decides over both.
  if (first !== "created") return said;
  return isSameAsFirst ? "unchanged" : "refused";
}
