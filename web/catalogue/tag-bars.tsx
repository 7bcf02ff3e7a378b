import { useState } from "preact/hooks";
import type { TagCount } from "../../src/client/client.ts";
import { tagLabel } from "../plants/label.ts";

type TagBarsProps = Readonly<{
  counts: readonly TagCount[] | undefined;
  chosen: string | undefined;
  onChoose: (tag: string) => void;
}>;

const BARS_SHOWN = 12;

/** Plants per tag, as bars; a click shows only those. */
export function TagBars({ counts, chosen, onChoose }: TagBarsProps) {
  const [isWhole, setWhole] = useState(false);
  const [isOpen, setOpen] = useState(false);
  if (counts === undefined || counts.length === 0) return <aside class="tag-bars" aria-label="Tags" />;
  const most = counts[0]?.plants ?? 1;
  const shown = isWhole ? counts : counts.slice(0, BARS_SHOWN);
  return (
    <aside class={isOpen ? "tag-bars tag-bars-open" : "tag-bars"} aria-labelledby="tags-title">
      <h2 id="tags-title">Tags</h2>
      <button class="button quiet tag-bars-fold" type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? "Hide" : `Show ${counts.length.toLocaleString("en")}`}
      </button>
      <ul>
        {shown.map(({ tag, plants }) => (
          <li key={tag}>
            <button class="tag-bars-bar" type="button" aria-pressed={tag === chosen} onClick={() => onChoose(tag)}>
              <span class="tag-bars-label">{tagLabel(tag)}</span>
              <span class="tag-bars-count">{plants.toLocaleString("en")}</span>
              <span class="tag-bars-track" aria-hidden="true">
                <span style={{ width: `${(100 * plants) / most}%` }} />
              </span>
            </button>
          </li>
        ))}
      </ul>
      {counts.length > BARS_SHOWN ? (
        <button class="button quiet tag-bars-all" type="button" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {isWhole ? "Show fewer" : `Show all ${counts.length.toLocaleString("en")}`}
        </button>
      ) : null}
    </aside>
  );
}
