import { useEffect, useRef, useState } from "preact/hooks";
import { parseId } from "../plants/draft.ts";
import { nameLabel, tagLabel } from "../plants/label.ts";
import type { News } from "../live/news.ts";
import { IconButton, LinkButton } from "../ui/button.tsx";
import { useValue } from "../state.ts";
import { exactText } from "../ui/exact-text.ts";
import { Icon } from "../ui/icon.tsx";
import { isSameView } from "../view.ts";
import type { Catalogue } from "./catalogue.ts";
import { foundText } from "./found-text.ts";
import type { Listed } from "./listing.ts";
import { SearchBox } from "./search-box.tsx";
import { SortMenu } from "./sort-menu.tsx";
import type { Total } from "./tag-counts.ts";

export function Toolbar({ catalogue }: Readonly<{ catalogue: Catalogue }>) {
  const { access, context } = catalogue;
  const { views, opening } = context;
  const edit = (plant: bigint) => opening.open({ kind: "edit", id: plant });
  return (
    <div class="toolbar">
      <SearchBox views={views} onOpen={edit} />
      {access.write ? (
        <button class="button primary" type="button" onClick={() => opening.open({ kind: "add" })}>
          <Icon name="add" />
          <span>
            Add<span class="toolbar-aside"> plant</span>
          </span>
        </button>
      ) : null}
      <div class="toolbar-found">
        <Chips catalogue={catalogue} onOpen={edit} />
        <Found catalogue={catalogue} />
      </div>
    </div>
  );
}

type ChipsProps = Readonly<{ catalogue: Catalogue; onOpen: (id: bigint) => void }>;

/** The tag that is shown, and plants of which the list may have no row. */
function Chips({ catalogue, onOpen }: ChipsProps) {
  const { views } = catalogue.context;
  const { tag, q } = useValue(views.state);
  const { plants } = useValue(catalogue.listing.state);
  const added = useValue(catalogue.added);
  const isAway = added !== undefined && !plants.some((plant) => plant.id === added.id);
  const id = parseId(q);
  const removeTag = () => views.show({ ...views.state.get(), tag: undefined }, "push");
  return (
    <>
      {tag === undefined ? null : (
        <button class="chip chosen" type="button" aria-label={`Remove the filter ${tagLabel(tag)}`} onClick={removeTag}>
          <span dir="auto">{tagLabel(tag)}</span>
          <Icon name="close" />
        </button>
      )}
      {id === undefined ? null : <PlantChip text={`Plant with the id ${id}`} onClick={() => onOpen(id)} />}
      {isAway ? <PlantChip text={`Added: ${nameLabel(added.name)}`} onClick={() => onOpen(added.id)} /> : null}
    </>
  );
}

function PlantChip({ text, onClick }: Readonly<{ text: string; onClick: () => void }>) {
  return (
    <button class="chip" type="button" onClick={onClick}>
      <span>{text}</span>
    </button>
  );
}

/** How many plants there are, and in which order. */
function Found({ catalogue }: Readonly<{ catalogue: Catalogue }>) {
  const { views } = catalogue.context;
  const { sort } = useValue(views.state);
  const listed = useValue(catalogue.listing.state);
  const shownNews = useValue(catalogue.newsView);
  const { shown, spoken } = useWords(listed, useValue(catalogue.tagCounts.total), useValue(catalogue.news));
  return (
    <>
      <div class="toolbar-count">
        <p ref={exactText(shown)} />
        {shownNews ? <shownNews.View catalogue={catalogue} /> : null}
      </div>
      <IconButton icon="refresh" label="Refresh" title="Refresh" onClick={() => void catalogue.readAgain()} />
      {sort === "name" || sort === "-name" ? (
        <LinkButton label="Same names" onClick={() => catalogue.context.opening.open({ kind: "same-names" })} />
      ) : null}
      <SortMenu sort={sort} onSort={(next) => views.show({ ...views.state.get(), sort: next }, "push")} />
      <p class="unseen" role="status">
        {spoken}
      </p>
    </>
  );
}

/** What is read out while one types is cut off by the next letter. */
const SETTLED_MS = 800;

/** What is said of the list: to those who see it, and a moment later to those who hear it. */
function useWords(listed: Listed, total: Total | undefined, news: News | undefined): Readonly<{ shown: string; spoken: string }> {
  // A search that is on its way for a moment only is not worth a word; pages that come as one scrolls are not worth reading out.
  const shown = useRef("Loading…");
  const [spoken, setSpoken] = useState("");
  const isSearching = listed.phase === "searching";
  // As the catalogue is, also where the rows are not yet.
  const unseen = news?.isCut === true ? undefined : news ? news.appeared - news.gone.size : 0;
  if (!isSearching) shown.current = foundText(listed, total && isSameView(total.view, listed.view) ? total : undefined, unseen);
  const none = listed.phase === "whole" && listed.plants.length === 0 ? "No plants match." : "";
  // The same words are read out again for another view, not where a list is read again.
  useEffect(() => setSpoken(""), [listed.view]);
  useEffect(() => {
    const timer = isSearching ? undefined : setTimeout(() => setSpoken(shown.current + none), SETTLED_MS);
    return () => clearTimeout(timer);
  }, [listed.view, isSearching, none]);
  return { shown: shown.current, spoken };
}
