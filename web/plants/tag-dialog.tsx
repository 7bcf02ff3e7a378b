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
  /** What happens with the tag that is typed. */
  toHint: (tag: string | undefined) => string;
  /** The tag to begin with. */
  tag: string;
  tags: readonly TagCount[];
  action: string;
  notices: Notices;
  onTag: (tag: string | undefined) => void;
  onClose: () => void;
}>;

/** Asks for the tag of many plants. */
export function TagDialog({ title, toHint, tag, tags, action, notices, onTag, onClose }: TagDialogProps) {
  const { value: text, set: setText, forget, isBack } = useKept(`tag-${action}-${tag}`, () => tag);
  useHold(text !== tag);
  // The tag to begin with may have spaces at its ends.
  const typed = text === tag && tag !== "" ? tag : typedTag(text.toWellFormed());

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
        <TagField value={text} onValue={setText} tags={tags} hint={toHint(typed)} isFirst />
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
