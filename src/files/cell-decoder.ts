import { PlantStoreError } from "../domain/errors.ts";
import { decodeUtf8 } from "../domain/json.ts";
import { toBytes } from "./encodings.ts";
import type { Findings } from "./row.ts";

/**
 * Decodes a cell whose bytes are written as one character each. Unless the encoding is known, the first cell with a letter
 * beyond ASCII decides for all of them: text in Windows-1252 is rarely valid UTF-8. So later cells that are UTF-8 in a file
 * of Windows-1252 are refused, because the cell that decided may be broken. A cell that is neither shows a third encoding,
 * and those after it are refused too, because they may only look like words. Throws `invalid_unicode`.
 */
export function openCellDecoder(
  known: "utf-8" | "windows-1252" | undefined,
  findings: Pick<Findings, "encoding">,
): (cell: string) => string {
  let encoding = known;
  let isForeign = false;

  /** Throws if it can be no Windows-1252, where that was not chosen. */
  function expectWindows1252(cell: string): void {
    isForeign ||= isOfThird(cell) || (encoding === undefined && NOT_WINDOWS_1252.test(cell));
    if (isForeign) throw new PlantStoreError("invalid_unicode", { message: FOREIGN_TEXT });
    findings.encoding = "windows-1252";
    encoding = "windows-1252";
  }

  return (cell) => {
    if (!/[^\0-\x7f]/.test(cell)) return cell;
    if (encoding !== "windows-1252") {
      try {
        const text = decodeUtf8(toBytes(cell));
        encoding = "utf-8";
        return text;
      } catch (thrown) {
        if (encoding === "utf-8") throw thrown;
      }
    }
    if (known === undefined) expectWindows1252(cell);
    return asWindows1252(cell);
  };
}

/** Bytes that Windows-1252 does not have. */
const NOT_WINDOWS_1252 = /[\x81\x8d\x8f\x90\x9d]/;

/**
 * What other encodings look like in Windows-1252, and its own text rarely does: a whole word of four accented letters or
 * more, as of Cyrillic, Greek or Chinese; and a capital inside of a word, as of old Macs.
 */
const FOREIGN_LETTERS = /(?<![A-Za-zÀ-ÿ])[À-ÖØ-öø-ÿ]{4,}(?![A-Za-zÀ-ÿ])|[A-Za-z][ŠŽŸ][a-z]|[a-z]Œ[a-z]/;

/** As are letters of DOS inside of a word, unless it is in quotes. */
const LOW_QUOTE = /[A-Za-z][‚„][a-z]/;
const OTHER_QUOTE = /[‘’“”]/;

function isOfThird(cell: string): boolean {
  return FOREIGN_LETTERS.test(cell) || (LOW_QUOTE.test(cell) && !OTHER_QUOTE.test(cell));
}

/** Also the message for the cells after it. */
export const FOREIGN_TEXT =
  "The row has text that is neither UTF-8 nor Windows-1252, or is behind such a row: save the file as UTF-8, which Excel calls CSV UTF-8.";

/** A letter without another byte beyond ASCII behind it: nearly all that is not UTF-8, found without decoding. */
const NOT_UTF8 = /[\xc0-\xff](?:[\0-\x7f\xc0-\xff]|$)/;

/** What `ß` and a sign are to UTF-8, as in `weiß–rosa`: letters of N'Ko. No other small letter and a sign are UTF-8. */
const SHARP_S = /[\u07c0-\u07ff]/;

/** The text of bytes is Windows-1252. */
function asWindows1252(cell: string): string {
  if (NOT_WINDOWS_1252.test(cell)) throw new PlantStoreError("invalid_unicode", { message: MIXED });
  if (NOT_UTF8.test(cell)) return cell;
  let text: string;
  try {
    text = decodeUtf8(toBytes(cell));
  } catch {
    return cell;
  }
  if (SHARP_S.test(text)) return cell;
  throw new PlantStoreError("invalid_unicode", { message: MIXED });
}

/** The file may be in UTF-8, and the cell that decided broken. */
const MIXED = "The row has text that is not Windows-1252, as the rows before it are: save the whole file as UTF-8.";
