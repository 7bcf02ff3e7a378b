/**
 * What a run of combining marks is cut into. To put a run into order takes time quadratic in its length, and no language
 * needs 30 marks in a row (UAX #15, 13: Stream-Safe Text Format).
 */
const RUN_MAX = 30;

/** Two letters of kana decompose to marks. */
const PIECES = new RegExp(String.raw`[^\p{M}\uff9e\uff9f]*[\p{M}\uff9e\uff9f]{0,${RUN_MAX}}`, "gu");

/**
 * The text in this form of Unicode, in time linear in its length: marks are put into order within each RUN_MAX of a run.
 * A text of at most `wholeMax` units is not cut. The linter refuses other code that normalizes.
 */
export function normalize(text: string, form: "NFC" | "NFKC" | "NFKD", wholeMax = RUN_MAX): string {
  // oxlint-disable-next-line no-restricted-properties
  return text.length <= wholeMax ? text.normalize(form) : text.replaceAll(PIECES, (piece) => piece.normalize(form));
}
