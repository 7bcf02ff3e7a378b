import type { PlantCount } from "../../src/client/client.ts";
import { tokenize } from "../../src/domain/terms.ts";
import { quote } from "../notices.ts";
import { countText } from "../plants/label.ts";
import { isEverything } from "../view.ts";
import { count as countOf } from "./bulk-text.ts";
import { ROWS_MAX } from "./listing.ts";
import type { Listed } from "./listing.ts";

/** How many plants there are, and where they are. `unseen`: how many more than rows; undefined where that is not counted. */
export function foundText({ phase, plants, view }: Listed, total: PlantCount | undefined, unseen: number | undefined): string {
  const count = plants.length.toLocaleString();
  const isWordless = view.q !== "" && tokenize(view.q).length === 0;
  const found = isWordless || isEverything(view) ? "" : " found";
  const why = isWordless ? `Names are searched by letters and digits, and ${quote(view.q)} has none, so it leaves nothing out. ` : "";
  // In the place of rows it is said that there are none.
  if (plants.length === 0) return why;
  const counted = total && (total.precision === "exact" ? countOf(total.plants) : `${countText(total)} plants`);
  const isMore = total && total.plants > plants.length;
  // So many may have come or gone that no one counts them here: what the service counted holds, even if there are more rows.
  const isCut = unseen === undefined && counted;
  const all = isCut ? counted : countOf(plants.length + (unseen ?? 0));
  if (phase === "whole" || (isCut && !isMore)) return `${why}${all}${found}.`;
  if (phase === "failed") return `${why}The first ${count} plants${found}.`;
  const first = isMore ? `${counted}${found}. The first ${count} are here` : `The first ${count} plants${found}`;
  if (plants.length >= ROWS_MAX) return `${why}${first}. Search for the others, or export all.`;
  return `${why}${first}, more as you scroll.`;
}
