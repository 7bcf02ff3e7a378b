import { useRef } from "preact/hooks";
import { tagLabel } from "../plants/label.ts";
import { Icon } from "../ui/icon.tsx";
import { isEverything } from "../view.ts";
import type { View, Views } from "../view.ts";
import { ROWS_MAX } from "./listing.ts";
import type { Listed } from "./listing.ts";
import { SearchBox } from "./search-box.tsx";

type ToolbarProps = Readonly<{ views: Views; listed: Listed; mayAdd: boolean; onAdd: () => void }>;

/** What is read out, and for which view. */
type Spoken = Readonly<{ view: View | undefined; text: string }>;

export function Toolbar({ views, listed, mayAdd, onAdd }: ToolbarProps) {
  const { tag, q } = views.state.get();
  // A search that is on its way for a moment only is not worth a word; pages that come as one scrolls are not worth reading out.
  const shown = useRef("Loading…");
  const spoken = useRef<Spoken>({ view: undefined, text: "" });
  if (listed.phase !== "searching") {
    shown.current = describe(listed);
    if (spoken.current.view !== listed.view) spoken.current = { view: listed.view, text: shown.current };
  }
  return (
    <div class="toolbar">
      <SearchBox views={views} />
      {mayAdd ? (
        <button class="button primary" type="button" onClick={onAdd}>
          <Icon name="add" />
          <span>
            Add<span class="toolbar-aside"> plant</span>
          </span>
        </button>
      ) : null}
      <div class="toolbar-found">
        {tag === undefined ? null : (
          <button
            class="chip chosen"
            type="button"
            aria-label={`Remove the filter ${tagLabel(tag)}`}
            onClick={() => views.show({ q, tag: undefined }, "push")}
          >
            <span>{tagLabel(tag)}</span>
            <Icon name="close" />
          </button>
        )}
        <p>{shown.current}</p>
        <p class="unseen" role="status">
          {spoken.current.text}
        </p>
      </div>
    </div>
  );
}

function describe({ phase, plants, view }: Listed): string {
  const count = plants.length.toLocaleString("en");
  const found = isEverything(view) ? "" : " found";
  if (phase === "failed") return plants.length === 0 ? "" : `The first ${count} plants${found}.`;
  if (phase === "whole") return plants.length === 1 ? `1 plant${found}.` : `${count} plants${found}.`;
  if (plants.length >= ROWS_MAX) return `The first ${count} plants${found}. Search for the others, or export all.`;
  return `The first ${count} plants${found}, more as you scroll.`;
}
