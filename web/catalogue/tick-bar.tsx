import { useValue } from "../state.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { useDock } from "../ui/dock.ts";
import { Menu } from "../ui/menu.tsx";
import { count } from "./bulk-text.ts";
import type { Catalogue } from "./catalogue.ts";
import { savePlants } from "./export-to-file.ts";
import type { ExportKind } from "./export-to-file.ts";

export const SELECTION = "selection";

const CUT = ". No more can be selected at once: search for fewer, or export all.";

const FILES = [
  ["spreadsheet", "CSV for a spreadsheet"],
  ["csv", "CSV"],
  ["ndjson", "NDJSON"],
] as const satisfies readonly (readonly [ExportKind, string])[];

type TickBarProps = Readonly<{ catalogue: Catalogue; /** Asks for the tag that all get. */ onTag: () => void }>;

/** What can be done with the plants that are selected. It is there before that, as only then what it says is read out. */
export function TickBar({ catalogue, onTag }: TickBarProps) {
  const { access, ticks, tagging, deletions, context } = catalogue;
  const { plants, isGathering, isCut } = useValue(ticks.state);
  const { phase } = useValue(catalogue.listing.state);
  const bar = useDock("ticks");
  const isNone = plants.size === 0 && !isGathering;
  if (isNone) {
    return (
      <section ref={bar}>
        <p role="status" />
      </section>
    );
  }

  const button = (label: string, run: () => void, kind?: string) => (
    <Button label={label} class={kind} disabled={isGathering} onClick={run} />
  );
  const files = FILES.map(([kind, label]) => ({
    kind: "button" as const,
    label,
    run: () => savePlants(context.notices, ticks.seen(), kind),
  }));
  const labels = {
    kind: "button",
    label: "Labels to print",
    run: () => context.opening.open({ kind: "labels", isOfTicked: true }),
  } as const;
  function remove(): void {
    deletions.remove(ticks.seen());
    ticks.clear();
  }
  return (
    <section class="dock tick-bar" aria-label="Selected plants" id={SELECTION} tabIndex={-1} ref={bar}>
      <p role="status">{`${count(plants.size)} selected${isCut ? CUT : ""}`}</p>
      {(phase === "whole" && ticks.areAll()) || isGathering || isCut ? null : button("Select all", () => void ticks.tickFound(), "quiet")}
      {access.write ? button("Set tag", onTag) : null}
      {access.write ? button("Remove tag", () => void tagging.setTag(ticks.seen(), undefined)) : null}
      <Menu label="Save as" items={[...files, labels]} disabled={isGathering} />
      {access.write ? button("Delete selected", remove, "danger") : null}
      <IconButton icon="close" label="Clear the selection" onClick={() => ticks.clear()} />
    </section>
  );
}
