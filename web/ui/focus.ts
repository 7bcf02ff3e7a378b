/** The id of where the focus goes when what had it is gone. */
export const FOCUS_HOME = "plants";

/** For a button that goes with what it does. */
export function focusHome(): void {
  document.getElementById(FOCUS_HOME)?.focus({ preventScroll: true });
}

/** A ref that takes the focus to its element as it comes: `autofocus` does so only where a page or dialog opens. */
export function takeFocus(element: HTMLElement | null): void {
  element?.focus();
}
