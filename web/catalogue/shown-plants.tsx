import { failureText } from "../failure-text.ts";
import { quote } from "../notices.ts";
import { useValue } from "../state.ts";
import { Button } from "../ui/button.tsx";
import { FOCUS_HOME } from "../ui/focus.ts";
import type { View } from "../view.ts";
import type { Catalogue } from "./catalogue.ts";
import { PlantTable, TableSkeleton } from "./plant-table.tsx";
import { Suggestions } from "./suggestions.tsx";
import { TagBars } from "./tag-bars.tsx";
import { Toolbar } from "./toolbar.tsx";

type ShownPlantsProps = Readonly<{ catalogue: Catalogue; onRename: (tag: string) => void }>;

/** The plants of the view, and what leads to other views. */
export function ShownPlants({ catalogue, onRename }: ShownPlantsProps) {
  return (
    <div class="shown-plants">
      <TagBars catalogue={catalogue} onRename={onRename} />
      <main>
        <h1 class="unseen">Plants</h1>
        <Toolbar catalogue={catalogue} />
        <Results catalogue={catalogue} />
      </main>
    </div>
  );
}

function Results({ catalogue }: Readonly<{ catalogue: Catalogue }>) {
  const { view, phase, plants, failure } = useValue(catalogue.listing.state);
  const isNone = plants.length === 0;
  function show(next: Partial<View>): void {
    catalogue.context.views.show({ ...view, ...next }, "push");
  }
  return (
    <section id={FOCUS_HOME} tabIndex={-1} aria-label="Plants" aria-busy={phase === "searching"}>
      {isNone ? null : <PlantTable catalogue={catalogue} />}
      {phase === "failed" ? (
        <div class="empty" role="alert">
          <p>{failureText(failure)}</p>
          <Button label="Try again" onClick={() => void catalogue.retry()} />
        </div>
      ) : null}
      {phase === "searching" && isNone ? <TableSkeleton /> : null}
      {phase === "whole" && isNone ? (
        <div class="empty">
          <p>No plants match.</p>
          {view.q === "" ? null : <Suggestions client={catalogue.client} view={view} onChoose={(q) => show({ q })} />}
          <div class="choices">
            {catalogue.access.write && view.q !== "" ? (
              <Button label={`Add ${quote(view.q)}`} onClick={() => catalogue.context.opening.open({ kind: "add", name: view.q })} />
            ) : null}
            {view.tag !== undefined && view.q !== "" ? (
              <Button label="Search without the tag" onClick={() => show({ tag: undefined })} />
            ) : null}
            <Button label="Show all plants" onClick={() => show({ q: "", tag: undefined })} />
          </div>
        </div>
      ) : null}
    </section>
  );
}
