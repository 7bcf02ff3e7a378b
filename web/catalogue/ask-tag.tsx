import type { AppContext } from "../app-context.ts";
import { quoteTag } from "../notices.ts";
import { countText } from "../plants/count-text.ts";
import { TagDialog } from "../plants/tag-dialog.tsx";
import { count } from "./bulk-text.ts";
import type { Catalogue } from "./catalogue.ts";

/** For what a tag is asked: what is selected, or another one. */
export type TagQuestion = Readonly<{ kind: "tag" }> | Readonly<{ kind: "rename"; tag: string }>;

type AskTagProps = Readonly<{ asked: TagQuestion; context: AppContext; catalogue: Catalogue; onClose: () => void }>;

export function AskTag({ asked, context: { notices, views }, catalogue, onClose }: AskTagProps) {
  const { client, tagCounts, ticks, tagging, renaming } = catalogue;
  const tags = tagCounts.state.get() ?? [];
  const shared = { tags, notices, onClose };
  if (asked.kind === "tag") {
    // As they are then: an earlier change of them may be over by that time.
    const onTag = (tag: string | undefined) => void tagging.setTag(ticks.seen(), tag);
    return <TagDialog {...shared} title={`Set the tag of ${count(ticks.seen().length)}`} tag="" action="Set tag" onTag={onTag} />;
  }
  const { tag } = asked;
  const title = `Rename ${quoteTag(tag)} everywhere`;
  /** The service is asked, because a list of tags has the most frequent alone. */
  async function findWarning(to: string | undefined, signal: AbortSignal): Promise<string | undefined> {
    if (to === undefined || to === tag) return undefined;
    const there = await client.count({ tag: to, signal });
    if (there.plants === 0) return undefined;
    const [have, them] = there.plants === 1 ? ["plant has", "it"] : ["plants have", "them"];
    return `${countText(there)} ${have} this tag already: you will not be able to tell ${them} apart from these.`;
  }
  async function rename(to: string | undefined): Promise<void> {
    if (to === tag) return;
    const isWhole = await renaming.rename(tag, to, tags.find((counted) => counted.tag === tag)?.plants);
    const view = views.state.get();
    if (isWhole && view.tag === tag) views.show({ ...view, tag: to ?? null }, "replace");
  }
  const onTag = (to: string | undefined) => void rename(to);
  return <TagDialog {...shared} findWarning={findWarning} title={title} tag={tag} action="Rename everywhere" onTag={onTag} />;
}
