import { describe, expect, it } from "bun:test";
import { parseNumberFormat } from "../../src/files/workbook/number-format.ts";

describe("a format of numbers", () => {
  for (const [code, number, text] of [
    ["General", 1.1000000000000001, "1.1"],
    ["General", 4.0999999999999996, "4.1"],
    ["General", -0.0000001, "-0.0000001"],
    ['General" cm"', 5.5, "5.5 cm"],
    ["@", 12, "12"],
    ["000", 7, "007"],
    ["0000", 12345, "12345"],
    ["0.00", 1.1, "1.10"],
    ["0.00", 2.675, "2.68"],
    ["0.00", 1.005, "1.01"],
    ["0.0", 99.95, "100.0"],
    ["0.00", -0.001, "0.00"],
    ["0.##", 1.5, "1.5"],
    [".00", 12.5, "12.50"],
    ["0%", 0.25, "25%"],
    ["0.0%", 0.1234, "12.3%"],
    ['"A-"000', 12, "A-012"],
    ['000"-"0000', 1234567, "123-4567"],
    ["00\\.00\\.000", 1234567, "12.34.567"],
    ["0.00;[Red]-0.00", -3, "-3.00"],
    ["0;(0)", -3, "(3)"],
    ['0;-0;"none"', 0, "none"],
    ["_-* 0.00\\ [$€-407]_-", 5, "5.00 €"],
  ] as const)
    it(`shows ${number} in the format ${code} as ${text}`, () => {
      expect(parseNumberFormat(code).showNumber(number, false)).toEqual({ text, isDoubtful: false });
    });

  it("leaves out separators of thousands, which depend on the language, so that an id stays one", () => {
    expect(parseNumberFormat("#,##0").showNumber(1_234_567, false).text).toBe("1234567");
    expect(parseNumberFormat("#,##0.00").showNumber(1_234.5, false).text).toBe("1234.50");
  });

  it("shows a text as its part of the format says", () => {
    expect(parseNumberFormat('0;0;0;"Bed "@').showText("a")).toBe("Bed a");
    expect(parseNumberFormat("0.00").showText("a")).toBe("a");
  });
});

describe("a format of dates, which become those of ISO 8601,", () => {
  for (const [code, serial, text] of [
    ["m/d/yy", 45780, "2025-05-03"],
    ["dd.mm.yyyy", 45780, "2025-05-03"],
    ["[$-409]d\\-mmm\\-yyyy;@", 45780, "2025-05-03"],
    ["[$-F800]dddd\\,\\ mmmm\\ dd\\,\\ yyyy", 45780, "2025-05-03"],
    ['yyyy"年"m"月"d"日"', 45780, "2025-05-03"],
    ["mmm-yy", 45780, "2025-05"],
    ["yyyy", 45780, "2025"],
    ["dd.mm.yyyy hh:mm", 45780.586805556, "2025-05-03 14:05"],
    ["h:mm AM/PM", 0.586805556, "14:05"],
    ["hh:mm:ss", 45780.999999999, "00:00:00"],
    ["hh:mm:ss.00", 0.12345, "02:57:46.08"],
    ["mm:ss", 0.01, "00:14:24"],
    ["[h]:mm", 1.5, "36:00"],
    ["yyyy-mm-dd", 61, "1900-03-01"],
  ] as const)
    it(`shows ${serial} in the format ${code} as ${text}`, () => {
      expect(parseNumberFormat(code).showNumber(serial, false)).toEqual({ text, isDoubtful: false });
    });

  it("counts from 1904 on where the workbook says so", () => {
    expect(parseNumberFormat("yyyy-mm-dd").showNumber(44_318, true)).toEqual({ text: "2025-05-03", isDoubtful: false });
  });
});

describe("a number is shown by its digits, and doubtful, for", () => {
  for (const [why, code, number, text] of [
    ["a condition", "[>100]0;0.0", 3, "3"],
    ["a power of ten", "0.00E+00", 12345, "12345"],
    ["a fraction", "# ?/?", 1.5, "1.5"],
    ["thousands that are left out", "0,", 5000, "5000"],
    ["the calendar of Thailand", "[$-107041E]d/m/yyyy", 45780, "45780"],
    ["the years of an emperor", "[$-411]ge.m.d", 45780, "45780"],
    ["minutes beyond an hour", "[mm]:ss", 0.5, "0.5"],
    ["hidden numbers", ";;;", 5, "5"],
    ["a negative one, whose own format has a fraction", "0;# ?/?", -1.5, "-1.5"],
    ["a format that is longer than those of Excel", "0".repeat(300), 5, "5"],
    ["more decimals than fit", `0.${"0".repeat(100)}`, 5, "5"],
    ["a day before all days", "yyyy-mm-dd", -1, "-1"],
    ["a day behind all days", "yyyy-mm-dd", 1e9, "1000000000"],
    ["a day that there was not", "yyyy-mm-dd", 60, "1900-02-29"],
    ["a day that other programs count otherwise", "yyyy-mm-dd", 59, "1900-02-28"],
    ["a day without its year", "d-mmm", 45780, "2025-05-03"],
    ["more digits than a spreadsheet shows", "General", 0.1 + 0.2, "0.30000000000000004"],
  ] as const)
    it(why, () => {
      expect(parseNumberFormat(code).showNumber(number, false)).toEqual({ text, isDoubtful: true });
    });
});
