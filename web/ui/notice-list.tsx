import { Button, IconButton } from "./button.tsx";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Notice, Notices } from "../notices.ts";
import { useValue } from "../state.ts";
import { useDock } from "./dock.ts";
import { exactText } from "./exact-text.ts";

/** All short messages, each read out as it comes, without those that are there. What is behind a dialog cannot be reached, so the dialog repeats what asks for something, and has what comes meanwhile. */
export function NoticeList({ notices, isInDialog = false }: { notices: Notices; isInDialog?: boolean }) {
  const before = useRef(notices.state.get()).current;
  const isNew = (notice: Notice) => before.every(({ key }) => key !== notice.key);
  const shown = useValue(notices.state).filter((notice) => !isInDialog || notice.action !== undefined || isNew(notice));
  const list = useDock("notices", !isInDialog);
  return (
    <div class={isInDialog ? "notice-list" : "dock notice-list"} role="status" aria-atomic="false" ref={list}>
      {shown.map((notice) => (
        <NoticeItem
          key={notice.key}
          notice={notice}
          isInDialog={isInDialog}
          onClose={() => {
            notice.onClose?.();
            notices.close(notice.key);
          }}
        />
      ))}
    </div>
  );
}

function NoticeItem({ notice, isInDialog, onClose }: { notice: Notice; isInDialog: boolean; onClose: () => void }) {
  const { kind, text, seen, detail, action, isClosable = action === undefined } = notice;
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    // A dialog that opens has a better place for it.
    if (action?.isFocused === true && !isInDialog) button.current?.focus();
  }, []);
  return (
    <div class={kind === "problem" ? "notice notice-problem" : "notice"}>
      <p>
        <span class={seen === undefined ? undefined : "unseen"}>{text}</span>{" "}
        <span aria-hidden="true" ref={exactText(seen ?? detail ?? "")} />
      </p>
      {action === undefined ? null : <Button label={action.label} ref={button} onClick={action.run} />}
      {isClosable ? <IconButton icon="close" label="Close this message" onClick={onClose} /> : null}
    </div>
  );
}
