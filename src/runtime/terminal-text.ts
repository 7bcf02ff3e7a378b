/**
 * Makes a text safe for a terminal. What would move the cursor, colour the rest, or change the order of reading becomes
 * \uXXXX: the controls (C0, DEL, C1), the line separators, the controls of bidirectional text (UAX #9, 2), and lone
 * surrogates. JSON keeps its value.
 */
export function escapeControls(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The same for a text whose line ends are our own. */
export function escapeControlLines(text: string): string {
  return text.split("\n").map(escapeControls).join("\n");
}
