/** Presses of a key that follow each other sooner are one, as systems have it for clicks. */
const DOUBLE_MS = 500;

/**
 * Keeps a press of the pointer or of a key from doing two things: the second half of a double click, or of two quick
 * presses of a key, would press what came into the place of the button that the first half took away, or answer what it
 * asks since then.
 */
export function guardPresses(): void {
  let pressed: Element | null = null;
  let said: string | null | undefined;
  let key = "";
  /** When this key pressed a button, if no other key came since. */
  let keyedAt = -Infinity;

  addEventListener("keydown", (event) => {
    if (event.key !== key) keyedAt = -Infinity;
    key = event.key;
    // A key that is held down presses what comes under it next, too.
    if (event.repeat && key === "Enter" && !(event.target instanceof HTMLTextAreaElement)) event.preventDefault();
  });
  addEventListener(
    "click",
    (event) => {
      const button = (event.target as Element).closest("button");
      // That of a key has no count.
      const isByKey = event.detail === 0;
      const isSecond = isByKey ? event.timeStamp - keyedAt < DOUBLE_MS : event.detail > 1;
      keyedAt = isByKey ? event.timeStamp : -Infinity;
      if (!isSecond) {
        pressed = button;
        said = button?.textContent;
      }
      if (button === pressed && button?.textContent === said) return;
      event.preventDefault();
      event.stopPropagation();
    },
    true,
  );
}
