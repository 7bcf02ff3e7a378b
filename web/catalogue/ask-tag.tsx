import { count } from "./bulk-text.ts";
import type { Catalogue } from "./catalogue.ts";
import { RenameDialog } from "./rename-dialog.tsx";
import { TagDialog } from "./tag-dialog.tsx";

/** For what a tag is asked: what is selected, or another one. */
export type TagQuestion = Readonly<{ kind: "tag" }> | Readonly<{ kind: "rename"; tag: string }>;

type AskProps = Readonly<{ catalogue: Catalogue }>;

export function AskTag({ asked, ...props }: AskProps & Readonly<{ asked: TagQuestion }>) {
  const { ticks, tagging } = props.catalogue;
  if (asked.kind === "rename") {
    return <RenameDialog tag={asked.tag} {...props} />;
  }
  // As they are then: an earlier change of them may be over by that time.
  const onTag = (tag: string | undefined) => void tagging.setTag(ticks.seen(), tag);
  return <TagDialog {...props} title={`Set the tag of ${count(ticks.seen().length)}`} tag="" action="Set tag" onTag={onTag} />;
}
