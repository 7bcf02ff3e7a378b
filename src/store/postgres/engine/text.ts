const NUL = "\0";
const ESCAPE = "\u0001";

/** A text as a column stores it: text has no U+0000 (doc: datatype-character), so U+0000 and U+0001 become U+0001 and a 0 or a 1. */
export function toColumn(text: string): string {
  if (!text.includes(NUL) && !text.includes(ESCAPE)) return text;
  return text.replaceAll(ESCAPE, `${ESCAPE}1`).replaceAll(NUL, `${ESCAPE}0`);
}

/** The inverse of `toColumn`. */
export function fromColumn(column: string): string {
  return column.includes(ESCAPE) ? column.replaceAll(`${ESCAPE}0`, NUL).replaceAll(`${ESCAPE}1`, ESCAPE) : column;
}
