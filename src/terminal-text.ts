/**
 * A text as it may be shown on a terminal: what would move the cursor, colour the rest, or change the order in which it is read stands
 * as \uXXXX. These are the controls (C0, DEL, C1), the line separators, what directs bidirectional text (UAX #9, 2), and lone surrogates.
 * Of JSON the value stays the same.
 */
export function escapeControls(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The same for a text of several lines of our own. */
export function escapeControlLines(text: string): string {
  return text.split("\n").map(escapeControls).join("\n");
}
