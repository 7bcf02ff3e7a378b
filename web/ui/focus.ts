import { listen } from "../listen.ts";

/** The id of where the focus goes when what had it is gone, and nothing nearer takes it. */
export const FOCUS_HOME = "plants";

/** Where nothing has the focus, gives it to the first of these that takes it: what is behind a dialog does not. */
export function findFocus(...nearer: ReadonlyArray<Element | null | undefined>): void {
  const inFront = [...document.querySelectorAll("dialog[open] h2, .labels h1")].at(-1);
  for (const home of [...nearer, inFront, document.getElementById(FOCUS_HOME)]) {
    if (document.activeElement !== document.body) return;
    (home as HTMLElement | null | undefined)?.focus({ preventScroll: true });
  }
}

/**
 * Gives the focus a home whenever what had it goes, until what it returns is called. Before the next task: keys that are
 * pressed until then would go nowhere.
 */
export function keepFocus(): () => void {
  let last: Node | null = null;
  const watch = new MutationObserver((records) => {
    if (last === null || last.isConnected) return;
    const gone = last;
    last = null;
    const removal = records.find(({ removedNodes }) => [...removedNodes].some((node) => node.contains(gone)));
    findFocus(...(removal ? nearestTo(removal) : []));
  });
  watch.observe(document.body, { childList: true, subtree: true });
  const end = listen({
    focusin: ({ target }) => (last = target as Node),
    focusout: ({ target }) =>
      queueMicrotask(() => {
        // People clicked beside it. A button that is disabled loses it too, and may go next.
        if (document.activeElement === document.body && last?.isConnected && !(target as HTMLButtonElement).disabled) last = null;
      }),
  });
  return () => {
    watch.disconnect();
    end();
  };
}

/** From where people go on as if it were there: nothing on which a second press of the same key would change something. */
function nearestTo({ target, nextSibling, previousSibling }: MutationRecord): ReadonlyArray<Element | null | undefined> {
  const boxes = [nextSibling, previousSibling].map((item) => (item instanceof Element ? item.querySelector("li > input") : null));
  const parent = target as Element;
  return [...boxes, parent.closest("tr")?.querySelector("a"), parent.closest("[tabindex]")];
}

/** A ref that takes the focus to its element as it comes: `autofocus` does so only where a page or dialog opens. */
export function takeFocus(element: HTMLElement | null): void {
  element?.focus();
}
