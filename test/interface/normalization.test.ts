import { describe, expect, it } from "bun:test";
import fc from "fast-check";
import { normalize } from "../../src/domain/normalization.ts";

/** Letters that compose and decompose, and marks of several classes. */
const UNITS = ["a", "e", "\u1ed1", "\u0301", "\u0316", "\u0323", "\u0344", "\uac00", "\u1100", "\u1161", "\u11a8", "\u09c7"];
const MORE_UNITS = ["\u09be", "\uff9e", "\u304b", "\u3099", "\u0f77", "\u{1d15f}", "\ud800", "\u1fee", " ", "\ufdfa"];

describe("normalize", () => {
  for (const form of ["NFC", "NFKC", "NFKD"] as const) {
    it(`gives ${form} as the runtime does, for texts without a run of more than 30 marks`, () => {
      const texts = fc.array(fc.constantFrom(...UNITS, ...MORE_UNITS), { maxLength: 300 }).map((units) => units.join(""));
      const usual = texts.filter((text) => !/[\p{M}\uff9e\uff9f]{31}/u.test(text));
      fc.assert(fc.property(usual, (text) => expect(normalize(text, form)).toBe(text.normalize(form))));
    });

    it(`loses no mark of a longer run in ${form}`, () => {
      expect(normalize(`a${"\u0316\u0e48".repeat(500)}b`, form)).toHaveLength(1002);
    });
  }
});
