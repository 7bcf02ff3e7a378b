import { useEffect, useRef } from "preact/hooks";
import type { Plant } from "../../src/client/client.ts";
import { failureText } from "../failure-text.ts";
import { FOCUS_HOME } from "../ui/focus.ts";
import { isSameView } from "../view.ts";
import type { View } from "../view.ts";
import type { Listed } from "./listing.ts";
import type { RowAction } from "./plant-row.tsx";
import { PlantTable } from "./plant-table.tsx";

type ResultsProps = Readonly<{
  listed: Listed;
  mayChange: boolean;
  onMore: () => void;
  onRetry: () => void;
  onShow: (view: View) => void;
  onAction: (action: RowAction, plant: Plant) => void;
}>;

/** The plants of a view, or why there are none. */
export function Results({ listed, mayChange, onMore, onRetry, onShow, onAction }: ResultsProps) {
  const { phase, plants, failure } = listed;
  const shown = useRef(listed.view);
  useEffect(() => {
    // A new view begins at its top.
    if (!isSameView(shown.current, listed.view)) window.scrollTo(0, 0);
    shown.current = listed.view;
  }, [listed.view]);
  return (
    <section id={FOCUS_HOME} tabIndex={-1} aria-label="Plants" aria-busy={phase === "searching"}>
      {plants.length === 0 ? null : <PlantTable listed={listed} mayChange={mayChange} onMore={onMore} onAction={onAction} />}
      {phase === "failed" ? (
        <div class="empty" role="alert">
          <p>{failureText(failure)}</p>
          <button class="button" type="button" onClick={onRetry}>
            Try again
          </button>
        </div>
      ) : null}
      {phase === "whole" && plants.length === 0 ? (
        <div class="empty">
          <p>No plants match.</p>
          <button class="button" type="button" onClick={() => onShow({ q: "", tag: undefined })}>
            Show all plants
          </button>
        </div>
      ) : null}
    </section>
  );
}
