import { useState } from "preact/hooks";
import type { TagCount } from "../../src/client/client.ts";
import { countText, tagLabel, WITHOUT_TAG } from "../plants/label.ts";
import { useValue } from "../state.ts";
import { Button } from "../ui/button.tsx";
import { AS_TYPED } from "../ui/form.tsx";
import type { Catalogue } from "./catalogue.ts";

type TagBarsProps = Readonly<{ catalogue: Catalogue; onRename: (tag: string) => void }>;

const BARS_SHOWN = 12;

/** The service lists no more, so there may be others. */
const LISTED_MAX = 1000;

const TAGS = new Intl.Collator("en", { numeric: true });

/** Plants per tag, as bars; a click shows only those. */
export function TagBars({ catalogue, onRename }: TagBarsProps) {
  const { tag: chosen } = useValue(catalogue.context.views.state);
  const counts = useValue(catalogue.tagCounts.found);
  const [isOpen, setOpen] = useState(false);
  if (counts === undefined) {
    return (
      <aside class="tag-bars" aria-label="Tags" aria-busy="true">
        <div class="skeleton tag-bars-skeleton" />
      </aside>
    );
  }
  if (counts.length === 0) return <aside class="tag-bars" aria-label="Tags" />;
  const foldLabel = isOpen ? "Hide" : `Show ${counts.length.toLocaleString()}`;
  return (
    <aside class={isOpen ? "tag-bars tag-bars-open" : "tag-bars"} aria-labelledby="tags-title">
      <h2 id="tags-title">Tags</h2>
      <Button label={foldLabel} class="quiet tag-bars-fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)} />
      <Bars catalogue={catalogue} counts={counts} />
      {typeof chosen === "string" && catalogue.access.write ? (
        <Button label="Rename this tag…" class="quiet tag-bars-rename" onClick={() => onRename(chosen)} />
      ) : null}
    </aside>
  );
}

type BarsProps = Readonly<{ catalogue: Catalogue; counts: readonly TagCount[] }>;

/** From A to Z: the most frequent, all, or those that hold what is typed. */
function Bars({ catalogue, counts }: BarsProps) {
  const { views } = catalogue.context;
  const view = useValue(views.state);
  const [isWhole, setWhole] = useState(false);
  const [typed, setTyped] = useState("");
  const areMany = counts.length > BARS_SHOWN;
  const isFiltered = areMany && typed !== "";
  const fitting = isFiltered ? counts.filter(({ tag }) => wordsOf(tagLabel(tag)).includes(wordsOf(typed))) : counts;
  const shown = isWhole || isFiltered ? fitting : fitting.slice(0, BARS_SHOWN);
  const most = counts[0]?.plants ?? 1;
  /** Null is no tag. */
  const onChoose = (tag: string | null) => views.show({ ...view, tag: tag === view.tag ? undefined : tag }, "push");
  const more = `Show ${counts.length < LISTED_MAX ? "all" : "the first"} ${counts.length.toLocaleString()}`;
  return (
    <div class="tag-bars-list">
      {areMany ? <Filter value={typed} onValue={setTyped} /> : null}
      <ul>
        {shown
          .toSorted((left, right) => TAGS.compare(left.tag, right.tag))
          .map((counted) => (
            <Bar key={counted.tag} counted={counted} most={most} isChosen={counted.tag === view.tag} onChoose={onChoose} />
          ))}
        {isFiltered ? null : (
          <li>
            <button class="tag-bars-bar" type="button" aria-pressed={view.tag === null} onClick={() => onChoose(null)}>
              <span class="tag-bars-label">{WITHOUT_TAG}</span>
            </button>
          </li>
        )}
      </ul>
      {isFiltered && shown.length === 0 ? <p class="hint">No tags match.</p> : null}
      {areMany && !isFiltered ? (
        <Button label={isWhole ? "Show fewer" : more} class="quiet" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)} />
      ) : null}
    </div>
  );
}

/** With a space before each, so that only their beginnings are found: every family ends with "aceae". */
function wordsOf(text: string): string {
  return ` ${text
    .toLowerCase()
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .join(" ")}`.trimEnd();
}

function Filter({ value, onValue }: Readonly<{ value: string; onValue: (value: string) => void }>) {
  return (
    <input
      type="search"
      aria-label="Filter tags"
      placeholder="Filter tags"
      {...AS_TYPED}
      autocapitalize="none"
      value={value}
      onInput={({ currentTarget }) => onValue(currentTarget.value)}
    />
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
