import { describe, expect, it } from "bun:test";
import fc from "fast-check";
import { toJson } from "../../contract/generator/document.ts";
import { parseInt64, parseJson } from "../../src/domain/json.ts";

/** The digits of `value` with the point moved by `shift` places, and the exponent that makes up for it. */
function written(value: bigint, shift: number): string {
  const sign = value < 0n ? "-" : "";
  const digits = String(value < 0n ? -value : value).padStart(shift + 1, "0");
  return `${sign}${digits.slice(0, digits.length - shift)}.${digits.slice(digits.length - shift)}0e${shift}`;
}

describe("parseInt64", () => {
  it("reads every int64 exactly, however its point and exponent are written", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.integer({ min: 1, max: 60 }), (value, shift) => {
        expect(parseInt64(String(value))).toBe(value);
        expect(parseInt64(written(value, shift))).toBe(value);
      }),
      { numRuns: 2000 },
    );
  });

  for (const literal of [`1e${"9".repeat(60_000)}`, `1e-${"9".repeat(60_000)}`, `${"1".repeat(60_000)}e5`, `0.${"0".repeat(60_000)}1`]) {
    it(`refuses ${literal.slice(0, 8)}… of ${literal.length} characters`, () => {
      expect(parseInt64(literal)).toBeUndefined();
    });
  }
});

describe("parseJson", () => {
  it("reads what the native parser reads, except that whole numbers of the outermost object are bigint", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (object) => {
        const text = JSON.stringify(object);
        const expected = Object.fromEntries(
          Object.entries(JSON.parse(text) as object).map(([key, value]: [string, unknown]) => {
            const literal = typeof value === "number" ? JSON.stringify(value) : "";
            return [key, parseInt64(literal) ?? value];
          }),
        );
        expect(parseJson(text)).toEqual(expected);
      }),
      { numRuns: 3000 },
    );
  });

  it("finds the number of each key, whatever the strings around it contain", () => {
    const text = '{ "a\\"b:1" :\n-12 ,"c":"\\\\","d" : [3,{"e":4}], "\\u0065":5e2,"f":"{\\"g\\":6}"}';
    expect(parseJson(text)).toEqual({ 'a"b:1': -12n, c: "\\", d: [3, { e: 4 }], e: 500n, f: '{"g":6}' });
  });
});

it("toJson writes a bigint as a plain integer", () => {
  expect(toJson({ id: 9_223_372_036_854_775_807n, list: [-1n] })).toBe('{"id":9223372036854775807,"list":[-1]}');
});
