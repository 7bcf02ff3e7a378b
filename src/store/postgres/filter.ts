import type { SearchTerms } from "../../domain/terms.ts";
import { toColumn } from "./engine/text.ts";
import { hasTag } from "./list-statements.ts";
import { toQuery } from "./plant-columns.ts";

/** Which plants are meant, besides their place. */
export type Filter = Readonly<{ tag: "any" | "none" | "given"; hasWords: boolean }>;

export function filterOf({ tag, words }: SearchTerms): Filter {
  return { tag: tag === undefined ? "any" : tag === null ? "none" : "given", hasWords: words.length > 0 };
}

/** What is true of these plants. `at`: the first parameter of the filter's values. Empty if all plants are meant. */
export function conditionOf({ tag, hasWords }: Filter, at: number): string {
  const isGiven = tag === "given";
  return [
    ...(isGiven ? [hasTag(at)] : tag === "none" ? ["tag IS NULL"] : []),
    ...(hasWords ? [`words @@ $${isGiven ? at + 1 : at}::tsquery`] : []),
  ].join(" AND ");
}

/** The filter's values: the tag and then the words, as far as they are given. */
export function filterValues({ tag, words }: SearchTerms): unknown[] {
  return [...(typeof tag === "string" ? [toColumn(tag)] : []), ...(words.length === 0 ? [] : [toQuery(words)])];
}
