import { useEffect, useState } from "preact/hooks";
import { useKept } from "../kept.ts";
import { useHold } from "../leaving.ts";
import { quoteTag } from "../notices.ts";
import { typedTag } from "../plants/draft.ts";
import { countText } from "../plants/label.ts";
import { TagField } from "../plants/plant-fields.tsx";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { BackAgain, Form } from "../ui/form.tsx";
import { count } from "./bulk-text.ts";
import type { Catalogue } from "./catalogue.ts";

/** For what a tag is asked: what is selected, or another one. */
export type TagQuestion = Readonly<{ kind: "tag" }> | Readonly<{ kind: "rename"; tag: string }>;

type AskProps = Readonly<{ catalogue: Catalogue }>;

export function AskTag({ asked, ...props }: AskProps & Readonly<{ asked: TagQuestion }>) {
  const { ticks, tagging } = props.catalogue;
  if (asked.kind === "rename") return <RenameDialog tag={asked.tag} {...props} />;
  // As they are then: an earlier change of them may be over by that time.
  const onTag = (tag: string | undefined) => void tagging.setTag(ticks.seen(), tag);
  return <TagDialog {...props} title={`Set the tag of ${count(ticks.seen().length)}`} tag="" action="Set tag" onTag={onTag} />;
}

function RenameDialog({ tag, ...props }: AskProps & Readonly<{ tag: string }>) {
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

type TagDialogProps = AskProps &
  Readonly<{
    title: string;
    /** What is to be known of the tag that is typed, if there is anything. */
    findWarning?: (tag: string | undefined, signal: AbortSignal) => Promise<string | undefined>;
    tag: string;
    action: string;
    onTag: (tag: string | undefined) => void;
  }>;

/** Asks for the tag of many plants. */
function TagDialog({ title, findWarning, tag, action, catalogue, onTag }: TagDialogProps) {
  const { notices, opening } = catalogue.context;
  const { value: text, set: setText, forget, reset, isBack } = useKept(`tag-${action}-${tag}`, () => tag);
  useHold(text !== tag);
  // The tag to begin with may have spaces at its ends.
  const typed = text === tag && tag !== "" ? tag : typedTag(text.toWellFormed());
  const [warning, setWarning] = useState<string>();
  useEffect(() => {
    setWarning(undefined);
    const stop = new AbortController();
    const { signal } = stop;
    const show = (found: string | undefined) => void (signal.aborted || setWarning(found));
    findWarning?.(typed, signal).then(show, () => show(undefined));
    return () => stop.abort();
  }, [typed]);

  function cancel(): void {
    forget();
    opening.close();
  }

  function submit(): void {
    cancel();
    onTag(typed);
  }

  const hint = warning ?? "Leave it empty to remove the tag.";
  return (
    <Dialog title={title} notices={notices} onClose={() => opening.close()}>
      <Form id="tag" onSubmit={submit}>
        {isBack && text !== tag ? <BackAgain onDiscard={() => reset(tag)} /> : null}
        <TagField value={text} onValue={setText} tags={catalogue.tagCounts.state.get() ?? []} hint={hint} isFirst />
      </Form>
      <footer>
        <Button label="Cancel" onClick={cancel} />
        <Button label={action} class="primary" type="submit" form="tag" />
      </footer>
    </Dialog>
  );
}
