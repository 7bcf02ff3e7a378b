/**
 * A ref that shows a text which changes in its place. Extensions of browsers mark or translate words, and put elements
 * of their own among the text: Preact would change only the piece that it knows, beside what was left of the text before.
 */
export function exactText(text: string): (element: HTMLElement | null) => void {
  return (element) => {
    if (element && element.textContent !== text) element.textContent = text;
  };
}
