import { useState } from "preact/hooks";
import type { TagCount } from "../../src/client/client.ts";
import { countText, tagLabel, WITHOUT_TAG } from "../plants/label.ts";
import { useValue } from "../state.ts";
import { Button } from "../ui/button.tsx";
import type { Catalogue } from "./catalogue.ts";

type TagBarsProps = Readonly<{ catalogue: Catalogue; onRename: (tag: string) => void }>;

const BARS_SHOWN = 12;

/** The service lists no more, so there may be others. */
const LISTED_MAX = 1000;

/** Plants per tag, as bars; a click shows only those. */
export function TagBars({ catalogue, onRename }: TagBarsProps) {
  const { views } = catalogue.context;
  const view = useValue(views.state);
  const counts = useValue(catalogue.tagCounts.found);
  const [isWhole, setWhole] = useState(false);
  const [isOpen, setOpen] = useState(false);
  if (counts === undefined) {
    return (
      <aside class="tag-bars" aria-label="Tags" aria-busy="true">
        <div class="skeleton tag-bars-skeleton" />
      </aside>
    );
  }
  if (counts.length === 0) return <aside class="tag-bars" aria-label="Tags" />;
  const chosen = view.tag;
  /** Null is no tag. */
  const onChoose = (tag: string | null) => views.show({ ...view, tag: tag === chosen ? undefined : tag }, "push");
  const all = counts.length.toLocaleString();
  const more = `Show ${counts.length < LISTED_MAX ? "all" : "the first"} ${all}`;
  const most = counts[0]?.plants ?? 1;
  return (
    <aside class={isOpen ? "tag-bars tag-bars-open" : "tag-bars"} aria-labelledby="tags-title">
      <h2 id="tags-title">Tags</h2>
      <Button label={isOpen ? "Hide" : `Show ${all}`} class="quiet tag-bars-fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)} />
      <ul>
        {counts.slice(0, isWhole ? LISTED_MAX : BARS_SHOWN).map((counted) => (
          <Bar key={counted.tag} counted={counted} most={most} isChosen={counted.tag === chosen} onChoose={onChoose} />
        ))}
        <li>
          <button class="tag-bars-bar" type="button" aria-pressed={chosen === null} onClick={() => onChoose(null)}>
            <span class="tag-bars-label">{WITHOUT_TAG}</span>
          </button>
        </li>
      </ul>
      {typeof chosen === "string" && catalogue.access.write ? (
        <Button label="Rename this tag…" class="quiet tag-bars-rename" onClick={() => onRename(chosen)} />
      ) : null}
      {counts.length > BARS_SHOWN ? (
        <Button
          label={isWhole ? "Show fewer" : more}
          class="quiet tag-bars-all"
          aria-expanded={isWhole}
          onClick={() => setWhole(!isWhole)}
        />
      ) : null}
    </aside>
  );
}

type BarProps = Readonly<{ counted: TagCount; most: number; isChosen: boolean; onChoose: (tag: string) => void }>;

function Bar({ counted: { tag, plants, precision }, most, isChosen, onChoose }: BarProps) {
  return (
    <li>
      <button class="tag-bars-bar" type="button" aria-pressed={isChosen} onClick={() => onChoose(tag)}>
        <span class="tag-bars-label" dir="auto">
          {tagLabel(tag)}
        </span>
        <span class="tag-bars-count">{countText({ plants, precision: precision ?? "exact" })}</span>
        <span class="tag-bars-track" aria-hidden="true">
          <span style={{ width: `${(100 * plants) / most}%` }} />
        </span>
      </button>
    </li>
  );
}
