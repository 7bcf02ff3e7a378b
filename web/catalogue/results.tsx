import type { Plant, Sort } from "../../src/client/client.ts";
import { failureText } from "../failure-text.ts";
import { FOCUS_HOME } from "../ui/focus.ts";
import type { View } from "../view.ts";
import type { Listed } from "./listing.ts";
import type { RowAction } from "./plant-row.tsx";
import { PlantTable, TableSkeleton } from "./plant-table.tsx";
import type { Ticks } from "./ticks.ts";

type ResultsProps = Readonly<{
  listed: Listed;
  /** Where a view is to be scrolled to when it comes. */
  position: () => number;
  revealed: bigint | undefined;
  ticks: Ticks;
  mayChange: boolean;
  onMore: () => void;
  onSort: (sort: Sort) => void;
  onRetry: () => void;
  onShow: (view: View) => void;
  onAction: (action: RowAction, plant: Plant) => void;
}>;

/** The plants of a view, or why there are none. */
export function Results({ listed, position, revealed, ticks, mayChange, onMore, onSort, onRetry, onShow, onAction }: ResultsProps) {
  const { view, phase, plants, failure } = listed;
  return (
    <section id={FOCUS_HOME} tabIndex={-1} aria-label="Plants" aria-busy={phase === "searching"}>
      {plants.length === 0 ? null : (
        <PlantTable
          listed={listed}
          position={position}
          revealed={revealed}
          ticks={ticks}
          mayChange={mayChange}
          onMore={onMore}
          onSort={onSort}
          onAction={onAction}
        />
      )}
      {phase === "failed" ? (
        <div class="empty" role="alert">
          <p>{failureText(failure)}</p>
          <button class="button" type="button" onClick={onRetry}>
            Try again
          </button>
        </div>
      ) : null}
      {phase === "searching" && plants.length === 0 ? <TableSkeleton /> : null}
      {phase === "whole" && plants.length === 0 ? (
        <div class="empty">
          <p>No plants match.</p>
          <div class="choices">
            {view.tag !== undefined && view.q !== "" ? (
              <button class="button" type="button" onClick={() => onShow({ ...view, tag: undefined })}>
                Search without the tag
              </button>
            ) : null}
            <button class="button" type="button" onClick={() => onShow({ ...view, q: "", tag: undefined })}>
              Show all plants
            </button>
          </div>
        </div>
      ) : null}
    </section>
  );
}
