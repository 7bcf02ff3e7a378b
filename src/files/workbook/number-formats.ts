import { parseNumberFormat } from "./number-format.ts";
import type { NumberFormat } from "./number-format.ts";
import { attribute, elementsIn, tagsIn } from "./xml.ts";

/** The formats that no workbook spells out (ECMA-376, part 1, 18.8.30). */
const BUILT_IN: Readonly<Record<number, string>> = {
  1: "0",
  2: "0.00",
  3: "#,##0",
  4: "#,##0.00",
  9: "0%",
  10: "0.00%",
  11: "0.00E+00",
  12: "# ?/?",
  13: "# ??/??",
  14: "yyyy-mm-dd",
  15: "d-mmm-yy",
  16: "d-mmm",
  17: "mmm-yy",
  18: "h:mm AM/PM",
  19: "h:mm:ss AM/PM",
  20: "h:mm",
  21: "h:mm:ss",
  22: "yyyy-mm-dd h:mm",
  37: "#,##0;(#,##0)",
  38: "#,##0;(#,##0)",
  39: "#,##0.00;(#,##0.00)",
  40: "#,##0.00;(#,##0.00)",
  41: '#,##0;(#,##0);"-"',
  42: '#,##0;(#,##0);"-"',
  43: '#,##0.00;(#,##0.00);"-"',
  44: '#,##0.00;(#,##0.00);"-"',
  45: "mm:ss",
  46: "[h]:mm:ss",
  47: "mm:ss.0",
  48: "##0.0E+0",
  49: "@",
};

const GENERAL = parseNumberFormat("General");

/** Those of East Asia are dates, or times, which depends on the language of the workbook (18.8.30). */
const OF_EAST_ASIA: NumberFormat = {
  ...GENERAL,
  isPlain: false,
  showNumber: (number, is1904) =>
    parseNumberFormat(number < 1 ? "h:mm" : number % 1 === 0 ? "yyyy-mm-dd" : "yyyy-mm-dd h:mm").showNumber(number, is1904),
};

/** The format of each style of cells in `xl/styles.xml`. A cell may name a style that is not there. */
export function readNumberFormats(styles: string): (style: string | undefined) => NumberFormat {
  const own = new Map(
    elementsIn(styles, "numFmts")
      .flatMap(({ inner }) => tagsIn(inner, "numFmt"))
      .map((tag) => [attribute(tag, "numFmtId"), attribute(tag, "formatCode") ?? ""]),
  );
  const ids = elementsIn(styles, "cellXfs").flatMap(({ inner }) => tagsIn(inner, "xf").map((tag) => attribute(tag, "numFmtId") ?? "0"));
  const known = new Map<string, NumberFormat>();
  return (style = "0") => {
    const id = ids[Number(style)] ?? "0";
    const format = known.get(id) ?? toFormat(Number(id), own.get(id));
    known.set(id, format);
    return format;
  };
}

function toFormat(id: number, own: string | undefined): NumberFormat {
  if (own === undefined && ((id >= 27 && id <= 36) || (id >= 50 && id <= 58))) return OF_EAST_ASIA;
  const code = own ?? BUILT_IN[id];
  return code === undefined ? GENERAL : parseNumberFormat(code);
}
