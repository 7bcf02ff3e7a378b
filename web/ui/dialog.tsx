import { IconButton } from "./button.tsx";
import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import type { Notices } from "../notices.ts";
import { NoticeList } from "./notice-list.tsx";

type DialogProps = Readonly<{
  title: string;
  notices: Notices;
  onClose?: () => void;
  isWide?: boolean;
  children: ComponentChildren;
}>;

/** A dialog that holds the page back while it is there, and gives the focus back to where it was. */
export function Dialog({ title, notices, onClose, isWide = false, children }: DialogProps) {
  const titleId = useId();
  const ref = useRef<HTMLDialogElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const isOpen = useRef(true);
  useLayoutEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    return () => {
      isOpen.current = false;
      dialog?.close();
      refocus();
    };
  }, []);
  useLayoutEffect(() => {
    // A browser closes it at a further Escape, though there is still something to be asked or told in it.
    if (ref.current?.open === false) ref.current.showModal();
    // What had the focus may be gone with what was shown before: keys and screen readers go on at the top, not behind the dialog.
    if (ref.current?.contains(document.activeElement) !== true) heading.current?.focus();
  });
  return (
    <dialog
      ref={ref}
      class={isWide ? "wide" : ""}
      aria-labelledby={titleId}
      onKeyDown={(event) => {
        // A browser lets only the first Escape be cancelled, and closes it at the next.
        if (event.key === "Escape" && !onClose) event.preventDefault();
      }}
      onCancel={(event) => {
        event.preventDefault();
        // Else the browser closes it next, which is told below.
        if (event.cancelable) onClose?.();
      }}
      onClose={() => {
        // A browser may close it by itself; when we took it away, no one needs to be told.
        if (isOpen.current && onClose) onClose();
        else if (isOpen.current) ref.current?.showModal();
      }}
    >
      <header>
        <h2 id={titleId} ref={heading} tabIndex={-1}>
          {title}
        </h2>
        {onClose === undefined ? null : <IconButton icon="close" label="Close" onClick={onClose} />}
      </header>
      {children}
      <NoticeList notices={notices} isInDialog />
    </dialog>
  );
}

/** Chromium gives an input its focus back, but not the caret: Control+A would select the page. */
function refocus(): void {
  const back = document.activeElement;
  if (!(back instanceof HTMLInputElement)) return;
  back.blur();
  back.focus({ preventScroll: true });
}
