import { failureText } from "../failure-text.ts";
import { FOCUS_HOME, focusHome } from "../ui/focus.ts";
import type { View } from "../view.ts";
import { PlantTable, TableSkeleton } from "./plant-table.tsx";
import type { PlantTableProps } from "./plant-table.tsx";

type ResultsProps = PlantTableProps & Readonly<{ onRetry: () => void; onShow: (view: View) => void }>;

/** The plants of a view, or why there are none. */
export function Results({ onRetry, onShow, ...table }: ResultsProps) {
  const { view, phase, plants, failure } = table.listed;
  function show(next: Partial<View>): void {
    focusHome();
    onShow({ ...view, ...next });
  }
  return (
    <section id={FOCUS_HOME} tabIndex={-1} aria-label="Plants" aria-busy={phase === "searching"}>
      {plants.length === 0 ? null : <PlantTable {...table} />}
      {phase === "failed" ? (
        <div class="empty" role="alert">
          <p>{failureText(failure)}</p>
          <button
            class="button"
            type="button"
            onClick={() => {
              focusHome();
              onRetry();
            }}
          >
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
              <button class="button" type="button" onClick={() => show({ tag: undefined })}>
                Search without the tag
              </button>
            ) : null}
            <button class="button" type="button" onClick={() => show({ q: "", tag: undefined })}>
              Show all plants
            </button>
          </div>
        </div>
      ) : null}
    </section>
  );
}
