import { isNull } from "./null-mark.ts";

type Writing = Readonly<{ guardFormulas: boolean }>;

/** The names of the columns: ours, or those of Darwin Core (dwc.tdwg.org/terms). */
export const CSV_HEADER = { plain: "id,name,tag\n", dwc: "catalogNumber,scientificName,tag\n" } as const;

/** Without this mark of UTF-8 in front, Excel reads other letters than we write. */
export const SPREADSHEET_MARK = "\ufeff";

/** Writes plants as rows. Quotes only where they are needed, and around what without them means nothing: an empty text, or `NULL`. */
export function csvWriter({ guardFormulas }: Writing): (plant: { id: bigint; name: string; tag?: string }) => string {
  const write = (text: string) => (text === "" || isNull(text) ? `"${text}"` : quote(guardFormulas ? guard(text) : text));
  return ({ id, name, tag }) => `${id},${write(name)},${tag === undefined ? "" : write(tag)}\n`;
}

/**
 * Text that begins like this may be a formula to a spreadsheet. Some read the full-width signs too
 * (owasp.org/www-community/attacks/CSV_Injection). An id is a number and never guarded.
 *
 * Where spreadsheets separate cells by semicolons, as in most of Europe, they see none of our quotes at the start of a
 * cell: there a text is cut, and what is behind a semicolon or a line end begins a cell.
 */
function guard(text: string): string {
  const inside = text.replaceAll(/[;\t\r\n]"*(?=[=+\-@＝＋－＠])/g, "$&'");
  return /^[=+\-@\t\r\n＝＋－＠]/.test(text) ? `'${inside}` : inside;
}

/** A cell, in quotes only where they are needed. */
export function quote(text: string): string {
  return /[",;\t\n\r]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
