import { useEffect, useState } from "preact/hooks";
import type { TagCount } from "../../src/client/client.ts";
import { useKept } from "../kept.ts";
import { useHold } from "../leaving.ts";
import type { Notices } from "../notices.ts";
import { BackAgain } from "../ui/back-again.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { typedTag } from "./draft.ts";
import { TagField } from "./tag-field.tsx";

type TagDialogProps = Readonly<{
  title: string;
  /** What is to be known of the tag that is typed, if there is anything. */
  findWarning?: (tag: string | undefined, signal: AbortSignal) => Promise<string | undefined>;
  /** The tag to begin with. */
  tag: string;
  tags: readonly TagCount[];
  action: string;
  notices: Notices;
  onTag: (tag: string | undefined) => void;
  onClose: () => void;
}>;

/** Asks for the tag of many plants. */
export function TagDialog({ title, findWarning, tag, tags, action, notices, onTag, onClose }: TagDialogProps) {
  const { value: text, set: setText, forget, isBack } = useKept(`tag-${action}-${tag}`, () => tag);
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
    onClose();
  }

  return (
    <Dialog title={title} notices={notices} onClose={onClose}>
      <form
        id="tag"
        onSubmit={(event) => {
          event.preventDefault();
          cancel();
          onTag(typed);
        }}
      >
        {isBack && text !== tag ? (
          <BackAgain
            onDiscard={() => {
              setText(tag);
              forget();
            }}
          />
        ) : null}
        <TagField value={text} onValue={setText} tags={tags} hint={warning ?? "Leave it empty to remove the tag."} isFirst />
      </form>
      <footer>
        <button class="button" type="button" onClick={cancel}>
          Cancel
        </button>
        <button class="button primary" type="submit" form="tag">
          {action}
        </button>
      </footer>
    </Dialog>
  );
}
