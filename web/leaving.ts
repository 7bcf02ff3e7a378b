import { useLayoutEffect, useRef } from "preact/hooks";

let held = 0;

/** Lets the browser ask before this page is left, until what it returns is called. */
export function holdPage(): () => void {
  // Only while it has to: a page that listens all the time cannot be kept for the back button.
  if (held === 0) addEventListener("beforeunload", ask);
  held += 1;
  let isHeld = true;
  return () => {
    if (!isHeld) return;
    isHeld = false;
    held -= 1;
    if (held === 0) removeEventListener("beforeunload", ask);
  };
}

/** Holds the page as long as `isHeld`. */
export function useHold(isHeld: boolean): void {
  useLayoutEffect(() => (isHeld ? holdPage() : undefined), [isHeld]);
}

/** Whether the component is still there. Work that it began may end later: then no one reads what it says. */
export function useShown(): () => boolean {
  const isShown = useRef(true);
  useLayoutEffect(() => () => void (isShown.current = false), []);
  return () => isShown.current;
}

function ask(event: BeforeUnloadEvent): void {
  event.preventDefault();
}
