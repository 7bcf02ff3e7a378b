import type { ErrorNumber } from "./errors.ts";
import { parseFields, parseList } from "./json.ts";
import { contentText, idText, parseContent } from "./plant.ts";
import type { Plant } from "./plant.ts";

/** A change of one plant, from what was seen to what is wanted; undefined is no plant. At least one is a plant. */
export type PlantChange = Readonly<{ from: Plant | undefined; to: Plant | undefined }>;

/**
 * What a change came to. "changed": it was made. "same": the plant was as wanted already; if `isRetried`, an earlier
 * try may have made the change, though its response was lost or said "failed". A browser may have tried by itself, of
 * which nothing is known. "conflict": the plant is something else and was not changed; `now` is what it is, null if
 * there is none, undefined if the service did not say. "failed": `error` and `message` say why; it may or may not have
 * been made, and trying again is safe.
 */
export type ChangeOutcome = Readonly<{ change: PlantChange }> &
  (
    | Readonly<{ kind: "changed" }>
    | Readonly<{ kind: "same"; isRetried: boolean }>
    | Readonly<{ kind: "conflict"; now: Plant | null | undefined }>
    | Readonly<{ kind: "failed"; error: ErrorNumber; message: string }>
  );

const UNAVAILABLE = 503;

/** The change as JSON. Throws a TypeError if it names no plant, or two. */
export function changeText(change: PlantChange): string {
  return `{"id":${idText(idOf(change))},"from":${sideText(change.from)},"to":${sideText(change.to)}}`;
}

/** The id of the plant. Throws a TypeError if the change names no plant, or two. */
export function idOf({ from, to }: PlantChange): bigint {
  const id = from?.id ?? to?.id;
  if (id === undefined) throw new TypeError("A change has no plant in from or to: give at least one.");
  if (from && to && from.id !== to.id) throw new TypeError("A change has two ids in from and to: a plant keeps its id.");
  return id;
}

function sideText(side: Plant | undefined): string {
  return side ? contentText(side) : "null";
}

/** The outcomes of these changes. Throws a TypeError. */
export function parseOutcomes(body: unknown, changes: readonly PlantChange[], isRetried: boolean): ChangeOutcome[] {
  const outcomes = parseList(parseFields(body)["outcomes"], parseFields);
  if (outcomes.length !== changes.length) throw new TypeError("not an outcome for each change");
  return changes.map((change, at) => parseOutcome(change, outcomes[at]!, isRetried));
}

function parseOutcome(
  change: PlantChange,
  { id, outcome, plant, error, message }: Readonly<Record<string, unknown>>,
  isRetried: boolean,
): ChangeOutcome {
  if (id !== idOf(change)) throw new TypeError("the outcome of another change");
  if (outcome === "changed") return { change, kind: outcome };
  if (outcome === "same") return { change, kind: outcome, isRetried };
  if (outcome === "conflict") return { change, kind: outcome, now: plant ? { id, ...parseContent(plant) } : (plant as null | undefined) };
  if (outcome !== "failed" || typeof error !== "number" || typeof message !== "string") throw new TypeError("not an outcome");
  return { change, kind: outcome, error: error as ErrorNumber, message };
}

/** Whether another try may succeed. */
export function isTransient(outcome: ChangeOutcome): boolean {
  return outcome.kind === "failed" && Math.trunc(outcome.error / 100) === UNAVAILABLE;
}
