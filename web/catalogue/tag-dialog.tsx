import { useEffect, useState } from "preact/hooks";
import { useKept } from "../kept.ts";
import { useHold } from "../leaving.ts";
import { typedTag } from "../plants/draft.ts";
import { TagField } from "../plants/plant-fields.tsx";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { BackAgain, Form } from "../ui/form.tsx";
import type { Catalogue } from "./catalogue.ts";

type TagDialogProps = Readonly<{ catalogue: Catalogue }> &
  Readonly<{
    title: string;
    /** What is to be known of the tag that is typed, if there is anything. */
    findWarning?: (tag: string | undefined, signal: AbortSignal) => Promise<string | undefined>;
    tag: string;
    action: string;
    onTag: (tag: string | undefined) => void;
  }>;

/** Asks for the tag of many plants. */
export function TagDialog({ title, findWarning, tag, action, catalogue, onTag }: TagDialogProps) {
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
