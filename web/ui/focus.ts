import { listen } from "../listen.ts";

/** The id of where the focus goes when what had it is gone, unless a dialog is open. */
export const FOCUS_HOME = "plants";

/** Takes the focus home where nothing has it. */
export function findFocus(): void {
  if (document.activeElement !== document.body) return;
  const dialog = [...document.querySelectorAll("dialog[open]")].at(-1);
  (dialog?.querySelector("h2") ?? document.getElementById(FOCUS_HOME))?.focus({ preventScroll: true });
}

/**
 * Gives the focus a home whenever what had it goes, until what it returns is called. Before the next task: keys that are
 * pressed until then would go nowhere, and a screen reader would begin at the top again.
 */
export function keepFocus(): () => void {
  let last: EventTarget | null = null;
  const isThere = () => last instanceof Element && last.isConnected;
  const watch = new MutationObserver(() => {
    if (last === null || isThere()) return;
    last = null;
    findFocus();
  });
  watch.observe(document.body, { childList: true, subtree: true });
  const end = listen({
    focusin: ({ target }) => (last = target),
    focusout: ({ target }) =>
      queueMicrotask(() => {
        // People clicked beside it. A button that is disabled loses it too, and may go next.
        const isLeft = document.activeElement === document.body && isThere() && !(target as Element).matches(":disabled");
        if (isLeft) last = null;
      }),
  });
  return () => {
    watch.disconnect();
    end();
  };
}

/** A ref that takes the focus to its element as it comes: `autofocus` does so only where a page or dialog opens. */
export function takeFocus(element: HTMLElement | null): void {
  element?.focus();
}
