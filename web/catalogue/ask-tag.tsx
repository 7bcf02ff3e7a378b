import type { AppContext } from "../app-context.ts";
import { quoteTag } from "../notices.ts";
import { TagDialog } from "../plants/tag-dialog.tsx";
import { count } from "./bulk-text.ts";
import type { Catalogue } from "./catalogue.ts";

/** For what a tag is asked: what is selected, or another one. */
export type TagQuestion = Readonly<{ kind: "tag" }> | Readonly<{ kind: "rename"; tag: string }>;

const EMPTY_HINT = "Leave it empty to remove the tag.";

type AskTagProps = Readonly<{ asked: TagQuestion; context: AppContext; catalogue: Catalogue; onClose: () => void }>;

export function AskTag({ asked, context: { notices, views }, catalogue: { tagCounts, ticks, tagging, renaming }, onClose }: AskTagProps) {
  const tags = tagCounts.state.get() ?? [];
  const shared = { tags, notices, onClose };
  if (asked.kind === "tag") {
    // As they are then: an earlier change of them may be over by that time.
    const onTag = (tag: string | undefined) => void tagging.setTag(ticks.seen(), tag);
    return (
      <TagDialog
        {...shared}
        toHint={() => EMPTY_HINT}
        title={`Set the tag of ${count(ticks.seen().length)}`}
        tag=""
        action="Set tag"
        onTag={onTag}
      />
    );
  }
  const { tag } = asked;
  const plantsOf = (one: string | undefined) => tags.find((counted) => counted.tag === one)?.plants;
  const title = `Rename ${quoteTag(tag)} everywhere`;
  function toHint(to: string | undefined): string {
    const there = to === tag ? undefined : plantsOf(to);
    return there === undefined ? EMPTY_HINT : `${count(there)} have this tag already: nothing will tell them apart from these.`;
  }
  async function rename(to: string | undefined): Promise<void> {
    if (to === tag) return;
    const isWhole = await renaming.rename(tag, to, plantsOf(tag));
    const view = views.state.get();
    if (isWhole && view.tag === tag) views.show({ ...view, tag: to ?? null }, "replace");
  }
  return <TagDialog {...shared} toHint={toHint} title={title} tag={tag} action="Rename everywhere" onTag={(to) => void rename(to)} />;
}
