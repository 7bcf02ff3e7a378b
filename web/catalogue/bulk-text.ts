import type { ChangeOutcome, Plant, PlantChange } from "../../src/client/client.ts";
import { quote } from "../notices.ts";

/** "Deleting 7 plants", and "Deleted 7 plants"; what is said of those that someone changed, if something else than usual. */
export type Phrases = Readonly<{ doing: string; done: string; kept?: string }>;

/** How changes of many plants are described, and how many there are, if that is known. */
export type BulkWords = Readonly<{
  total?: number;
  /** "Deleting" */
  doing: string;
  phrases: (plants: string) => Phrases;
}>;

export type BulkResult = Readonly<{
  made: readonly PlantChange[];
  /** The plant was as wanted: someone else has made it so. */
  already: readonly PlantChange[];
  conflicts: ReadonlyArray<ChangeOutcome & { kind: "conflict" }>;
  /** They may or may not have been made. */
  unknown: readonly PlantChange[];
  /** Why, if there are any, or why no more were sent. */
  failure: string | undefined;
  /** Whether people wanted no more. */
  isStopped: boolean;
}>;

export function resultText({ made, already, conflicts, unknown, failure, isStopped }: BulkResult, { phrases, total }: BulkWords): string {
  const plantsOf = (some: BulkResult["conflicts"]) => some.map(({ change }) => plantOf(change));
  const kept = plantsOf(conflicts.filter(({ now }) => now !== null));
  const gone = plantsOf(conflicts.filter(({ now }) => now === null));
  const isCut = failure !== undefined || isStopped;
  const left = (total ?? 0) - made.length - already.length - conflicts.length - unknown.length;
  const sentences = [
    made.length > 0 || (already.length === 0 && conflicts.length === 0 && failure === undefined) ? `${phrases(subject(made)).done}.` : "",
    already.length > 0 ? `${subject(already)} needed no change.` : "",
    kept.length > 0 ? (phrases(count(kept.length)).kept ?? keptText(kept)) : "",
    gone.length > 0 ? `Someone deleted ${names(gone)} in the meantime.` : "",
    isStopped ? "You stopped it." : "",
    total === undefined && isCut ? "All others are left as they were." : "",
    left > 0 ? `${count(left)} left as ${left === 1 ? "it was" : "they were"}.` : "",
    unknown.length > 0 ? `${phrases(subject(unknown)).doing} may have failed.` : "",
    failure ?? "",
  ];
  return sentences.filter((sentence) => sentence !== "").join(" ");
}

function keptText(kept: readonly Plant[]): string {
  return `Someone changed ${names(kept)} in the meantime, so ${kept.length === 1 ? "it was" : "they were"} kept.`;
}

/** For changes that the page had sent when it was left. */
export function interruptedText({ phrases, total = 0 }: BulkWords): string {
  return `${phrases(count(total)).doing} was interrupted, and may be incomplete.`;
}

/** "7 plants" */
export function count(plants: number): string {
  return plants === 1 ? "1 plant" : `${plants.toLocaleString()} plants`;
}

/** The plant that is changed, as it was; a new one as it is. */
export function plantOf({ from, to }: PlantChange): Plant {
  return (from ?? to)!;
}

const NAMED_MAX = 3;

/** "“Ginkgo”", "7 plants" */
function subject(changes: readonly PlantChange[]): string {
  const [only] = changes;
  return only && changes.length === 1 ? quote(plantOf(only).name) : count(changes.length);
}

/** "“Ginkgo”, “Monstera” and 5 others" */
function names(plants: readonly Plant[]): string {
  const named = plants.slice(0, plants.length > NAMED_MAX ? NAMED_MAX - 1 : NAMED_MAX).map(({ name }) => quote(name));
  const others = plants.length - named.length;
  const all = others > 0 ? [...named, `${others.toLocaleString()} others`] : named;
  return all.length === 1 ? all[0]! : `${all.slice(0, -1).join(", ")} and ${all.at(-1)}`;
}
