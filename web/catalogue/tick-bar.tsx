import { useDock } from "../ui/dock.ts";
import { Icon } from "../ui/icon.tsx";
import { count } from "./bulk-text.ts";
import type { Listed } from "./listing.ts";
import type { Ticked } from "./ticks.ts";

/** What can be done with the plants that are selected. */
export type TickAction = "all" | "clear" | "csv" | "delete" | "ndjson" | "spreadsheet" | "tag" | "untag";

/** Its id. */
export const SELECTION = "selection";

const CUT = ". No more can be selected at once: search for fewer, or export all.";

type TickBarProps = Readonly<{ ticked: Ticked; listed: Listed; mayChange: boolean; onAction: (action: TickAction) => void }>;

/** It is there before a plant is selected, as only then what it says is read out. */
export function TickBar({ ticked: { plants, isGathering, isCut }, listed, mayChange, onAction }: TickBarProps) {
  const bar = useDock("ticks");
  const areAll = listed.phase === "whole" && listed.plants.every(({ id }) => plants.has(id));
  if (plants.size === 0 && !isGathering) {
    return (
      <section ref={bar}>
        <p role="status" />
      </section>
    );
  }

  function button(action: TickAction, label: string, kind = "") {
    return (
      <button class={`button ${kind}`} type="button" disabled={isGathering} onClick={() => onAction(action)}>
        {label}
      </button>
    );
  }

  return (
    <section class="dock tick-bar" aria-label="Selected plants" id={SELECTION} tabIndex={-1} ref={bar}>
      <p role="status">{`${count(plants.size)} selected${isCut ? CUT : ""}`}</p>
      {areAll || isGathering || isCut ? null : button("all", "Select all", "quiet")}
      {mayChange ? button("tag", "Set tag") : null}
      {mayChange ? button("untag", "Remove tag") : null}
      {button("csv", "Save CSV")}
      {button("ndjson", "Save NDJSON")}
      {button("spreadsheet", "Save for a spreadsheet")}
      {mayChange ? button("delete", "Delete selected", "danger") : null}
      <button class="button quiet square" type="button" aria-label="Clear the selection" onClick={() => onAction("clear")}>
        <Icon name="close" />
      </button>
    </section>
  );
}
