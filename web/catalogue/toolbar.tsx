import { useEffect, useRef, useState } from "preact/hooks";
import type { PlantCount } from "../../src/client/client.ts";
import { tokenize } from "../../src/domain/terms.ts";
import { quote } from "../notices.ts";
import { countText } from "../plants/count-text.ts";
import { parseId } from "../plants/draft.ts";
import { tagLabel } from "../plants/label.ts";
import { exactText } from "../ui/exact-text.ts";
import { focusHome } from "../ui/focus.ts";
import { Icon } from "../ui/icon.tsx";
import { isEverything, isSameView } from "../view.ts";
import type { Views } from "../view.ts";
import { ROWS_MAX } from "./listing.ts";
import type { Listed } from "./listing.ts";
import { SearchBox } from "./search-box.tsx";
import type { Total } from "./tag-counts.ts";

type ToolbarProps = Readonly<{
  views: Views;
  listed: Listed;
  total: Total | undefined;
  mayAdd: boolean;
  onAdd: () => void;
  onOpen: (id: bigint) => void;
  onRefresh: () => void;
}>;

/** What is read out while one types is cut off by the next letter. */
const SETTLED_MS = 800;

export function Toolbar({ views, listed, total, mayAdd, onAdd, onOpen, onRefresh }: ToolbarProps) {
  const { tag, q } = views.state.get();
  const id = parseId(q);
  // A search that is on its way for a moment only is not worth a word; pages that come as one scrolls are not worth reading out.
  const shown = useRef("Loading…");
  const [spoken, setSpoken] = useState("");
  const isSearching = listed.phase === "searching";
  if (!isSearching) shown.current = describe(listed, total && isSameView(total.view, listed.view) ? total : undefined);
  const none = listed.phase === "whole" && listed.plants.length === 0 ? "No plants match." : "";
  // The same words are read out again for another view, not where a list is read again.
  useEffect(() => setSpoken(""), [listed.view]);
  useEffect(() => {
    const timer = isSearching ? undefined : setTimeout(() => setSpoken(shown.current + none), SETTLED_MS);
    return () => clearTimeout(timer);
  }, [listed.view, isSearching, none]);
  return (
    <div class="toolbar">
      <SearchBox views={views} onOpen={onOpen} />
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
            onClick={() => {
              focusHome();
              views.show({ ...views.state.get(), tag: undefined }, "push");
            }}
          >
            <span dir="auto">{tagLabel(tag)}</span>
            <Icon name="close" />
          </button>
        )}
        {id === undefined ? null : (
          <button class="chip" type="button" onClick={() => onOpen(id)}>
            <span>Plant with the id {String(id)}</span>
          </button>
        )}
        <p ref={exactText(shown.current)} />
        <button class="button quiet square" type="button" aria-label="Refresh" title="Refresh" onClick={onRefresh}>
          <Icon name="refresh" />
        </button>
        <p class="unseen" role="status">
          {spoken}
        </p>
      </div>
    </div>
  );
}

function describe({ phase, plants, view }: Listed, total: PlantCount | undefined): string {
  const count = plants.length.toLocaleString();
  const isWordless = view.q !== "" && tokenize(view.q).length === 0;
  const found = isWordless || isEverything(view) ? "" : " found";
  const why = isWordless ? `Names are searched by letters and digits, and ${quote(view.q)} has none, so it leaves nothing out. ` : "";
  // In the place of rows it is said that there are none.
  if (plants.length === 0) return why;
  if (phase === "whole") return plants.length === 1 ? `${why}1 plant${found}.` : `${why}${count} plants${found}.`;
  if (phase === "failed") return `${why}The first ${count} plants${found}.`;
  const first =
    total && total.plants > plants.length
      ? `${countText(total)} plants${found}. The first ${count} are here`
      : `The first ${count} plants${found}`;
  if (plants.length >= ROWS_MAX) return `${why}${first}. Search for the others, or export all.`;
  return `${why}${first}, more as you scroll.`;
}
