import type { CellFault } from "../cells.ts";
import { DIGITS_EXACT } from "./number-format.ts";
import type { NumberFormat } from "./number-format.ts";
import { TableError } from "../table-error.ts";
import { attribute, elementsIn, unescape } from "./xml.ts";

/** What the cells of all sheets share. */
export type Book = Readonly<{
  strings: readonly string[];
  /** That of a style. */
  formatOf: (style: string | undefined) => NumberFormat;
  /** Whether its days are counted from 1904 on, as Excel once did on a Mac. */
  is1904: boolean;
  /** Otherwise a program wrote the formulas, which does not calculate, and left that to the next one. */
  isCalculated: boolean;
}>;

export type Value = Readonly<{ text: string; fault?: CellFault | undefined }>;

/** The value of a cell as its owner sees it. */
export function toValue(tag: string, inner: string, book: Book): Value {
  const { strings, formatOf, isCalculated } = book;
  const type = attribute(tag, "t");
  // A cell that has only a style.
  if (inner === "" && type !== "e") return { text: "" };
  const format = formatOf(attribute(tag, "s"));
  if (type === "inlineStr") return { text: format.showText(toText(inner)) };
  const [value] = elementsIn(inner, "v").map((element) => unescape(element.inner));
  // Neither may become a name. An empty text is a result.
  if (type === "e") return { text: value ?? "", fault: "error" };
  const isNoResult = value === "0" && type === undefined ? !isCalculated : !value && !(type === "str" && value === "");
  if (isNoResult && /<(\w+:)?f\b/.test(inner)) return { text: "?", fault: "error" };
  if (!value) return { text: "" };
  if (type === "s") return { text: format.showText(sharedText(value, strings)) };
  if (type === "b") return { text: value === "1" || value === "true" ? "TRUE" : "FALSE" };
  if (type === "d") return { text: toIsoText(value) };
  return type === undefined || type === "n" ? toNumber(value, format, book) : { text: format.showText(value) };
}

function sharedText(place: string, strings: readonly string[]): string {
  const text = /^\d+$/.test(place) ? strings[Number(place)] : undefined;
  if (text === undefined) throw new TableError("A cell names a text that the workbook lacks: open it in a spreadsheet and save it again.");
  return text;
}

/** A date as Strict OOXML has it, `2025-05-03T00:00:00.000Z`, as other dates are shown. */
export function toIsoText(value: string): string {
  return value.replace(/T00:00(:00(\.0+)?)?Z?$/, "").replace(/T(\d\d:\d\d)(:00(\.0+)?(?=Z?$))?(.*?)Z?$/, " $1$4");
}

/**
 * A number as its format shows it. Digits that are neither those of a double, nor the fewest that name one, were not
 * rounded: another program wrote them.
 */
function toNumber(value: string, format: NumberFormat, { is1904 }: Pick<Book, "is1904">): Value {
  const number = Number(value);
  const isWhole = /^-?\d+$/.test(value);
  const isOfDouble = isWhole && Number.isFinite(number) && (BigInt(number) === BigInt(value) || String(number) === value);
  if (isWhole && !isOfDouble) return { text: value, fault: format.isPlain ? undefined : "doubtful" };
  if (Number.isNaN(number)) return { text: value, fault: "doubtful" };
  if (Math.abs(number) < 10 ** DIGITS_EXACT) {
    const { text, isDoubtful } = format.showNumber(number, is1904);
    return { text, fault: isDoubtful ? "doubtful" : undefined };
  }
  // Ids that are made from the content follow from this text, too.
  return { text: `${value} (rounded to ${DIGITS_EXACT} digits by Excel)`, fault: "rounded" };
}

/** The texts of a cell, without hints for pronunciation. */
export function toText(inner: string): string {
  const hints = inner.includes("rPh") ? elementsIn(inner, "rPh") : [];
  let hint = 0;
  const texts = elementsIn(inner, "t").filter(({ from }) => {
    while (hint < hints.length && hints[hint]!.to <= from) hint += 1;
    return !(hint < hints.length && hints[hint]!.from < from);
  });
  return texts.map((text) => unescape(text.inner)).join("");
}
