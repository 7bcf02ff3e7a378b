import { PlantStoreError } from "../../domain/errors.ts";
import { decodeUtf8 } from "../../domain/json.ts";
import { toBytes } from "./encodings.ts";

/**
 * Decodes a cell that is UTF-8 by now, with one character for each byte. In Windows-1252, a cell that was UTF-8 is refused.
 * Throws `invalid_unicode`.
 */
export function openCellDecoder(encoding: string): (cell: string) => string {
  return (cell) => {
    if (!/[^\0-\x7f]/.test(cell)) return cell;
    const text = decodeUtf8(toBytes(cell));
    if (encoding !== "windows-1252") return text;
    if (isUnlikely(text)) throw new PlantStoreError("invalid_unicode", { message: MIXED });
    return text;
  };
}

/** A letter without another byte beyond ASCII behind it: nearly all that is not UTF-8, found without decoding. */
const NOT_UTF8 = /[\xc0-\xff](?:[\0-\x7f\xc0-\xff]|$)/;

/** What `ß` and a sign are to UTF-8, as in `weiß–rosa`: letters of N'Ko. No other small letter and a sign are UTF-8. */
const SHARP_S = /[\u07c0-\u07ff]/;

/** Whether it is UTF-8 that was taken for Windows-1252. */
function isUnlikely(text: string): boolean {
  if (NOT_UTF8.test(text)) return false;
  try {
    return !SHARP_S.test(decodeUtf8(toBytes(text)));
  } catch {
    return false;
  }
}

const MIXED = "The row has text that is not Windows-1252, as the rows before it are: save the whole file as UTF-8.";
