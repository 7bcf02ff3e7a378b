import { quoteTag } from "../notices.ts";
import { countText } from "../plants/label.ts";
import type { Catalogue } from "./catalogue.ts";
import { TagDialog } from "./tag-dialog.tsx";

type RenameDialogProps = Readonly<{ catalogue: Catalogue; tag: string }>;

/** Asks for another name of a tag, and warns of one that there is. */
export function RenameDialog({ tag, ...props }: RenameDialogProps) {
  const { client, tagCounts, renaming } = props.catalogue;
  const { views } = props.catalogue.context;
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
    const isWhole = await renaming.rename(tag, to, tagCounts.state.get()?.find((counted) => counted.tag === tag)?.plants);
    const view = views.state.get();
    if (isWhole && view.tag === tag) views.show({ ...view, tag: to ?? null }, "replace");
  }
  const title = `Rename ${quoteTag(tag)} everywhere`;
  return (
    <TagDialog {...props} findWarning={findWarning} title={title} tag={tag} action="Rename everywhere" onTag={(to) => void rename(to)} />
  );
}
