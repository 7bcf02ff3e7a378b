import { useState } from "preact/hooks";
import type { TagCount } from "../../src/client/client.ts";
import { countText } from "../plants/count-text.ts";
import { tagLabel, WITHOUT_TAG } from "../plants/label.ts";

type TagBarsProps = Readonly<{
  counts: readonly TagCount[] | undefined;
  chosen: string | null | undefined;
  /** Null is no tag. */
  onChoose: (tag: string | null) => void;
  /** Without it, nobody may. */
  onRename: ((tag: string) => void) | undefined;
}>;

const BARS_SHOWN = 12;

/** The service lists no more, so there may be others. */
const LISTED_MAX = 1000;

/** Plants per tag, as bars; a click shows only those. */
export function TagBars({ counts, chosen, onChoose, onRename }: TagBarsProps) {
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
  const most = counts[0]?.plants ?? 1;
  const shown = isWhole ? counts : counts.slice(0, BARS_SHOWN);
  return (
    <aside class={isOpen ? "tag-bars tag-bars-open" : "tag-bars"} aria-labelledby="tags-title">
      <h2 id="tags-title">Tags</h2>
      <button class="button quiet tag-bars-fold" type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? "Hide" : `Show ${counts.length.toLocaleString()}`}
      </button>
      <ul>
        {shown.map(({ tag, plants, precision }) => (
          <li key={tag}>
            <button class="tag-bars-bar" type="button" aria-pressed={tag === chosen} onClick={() => onChoose(tag)}>
              <span class="tag-bars-label" dir="auto">
                {tagLabel(tag)}
              </span>
              <span class="tag-bars-count">{countText({ plants, precision: precision ?? "exact" })}</span>
              <span class="tag-bars-track" aria-hidden="true">
                <span style={{ width: `${(100 * plants) / most}%` }} />
              </span>
            </button>
          </li>
        ))}
        <li>
          <button class="tag-bars-bar" type="button" aria-pressed={chosen === null} onClick={() => onChoose(null)}>
            <span class="tag-bars-label">{WITHOUT_TAG}</span>
          </button>
        </li>
      </ul>
      {typeof chosen === "string" && onRename ? (
        <button class="button quiet tag-bars-rename" type="button" onClick={() => onRename(chosen)}>
          Rename this tag…
        </button>
      ) : null}
      {counts.length > BARS_SHOWN ? (
        <button class="button quiet tag-bars-all" type="button" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {isWhole ? "Show fewer" : `Show ${counts.length < LISTED_MAX ? "all" : "the first"} ${counts.length.toLocaleString()}`}
        </button>
      ) : null}
    </aside>
  );
}
