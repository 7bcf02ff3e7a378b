import { useLayoutEffect, useRef } from "preact/hooks";
import type { Notice, Notices } from "../notice.ts";
import { useValue } from "../state.ts";
import { FOCUS_HOME } from "./focus.ts";
import { Icon } from "./icon.tsx";

/** All short messages, read out as they come. */
export function NoticeList({ notices }: { notices: Notices }) {
  const shown = useValue(notices.state);
  return (
    <div class="notices" role="status" aria-live="polite">
      {shown.map((notice) => (
        <NoticeItem key={notice.key} notice={notice} onClose={() => notices.close(notice.key)} />
      ))}
    </div>
  );
}

function NoticeItem({ notice, onClose }: { notice: Notice; onClose: () => void }) {
  const { kind, text, detail, action } = notice;
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    const element = button.current;
    if (action?.isFocused === true) element?.focus();
    return () => {
      if (element !== null && document.activeElement === element) document.getElementById(FOCUS_HOME)?.focus({ preventScroll: true });
    };
  }, []);
  return (
    <div class={`notice ${kind}`}>
      <p>
        {text} {detail === undefined ? null : <span aria-hidden="true">{detail}</span>}
      </p>
      {action === undefined ? (
        <button class="button quiet square" type="button" aria-label="Close this message" onClick={onClose}>
          <Icon name="close" />
        </button>
      ) : (
        <button class="button" type="button" ref={button} onClick={action.run}>
          {action.label}
        </button>
      )}
    </div>
  );
}
