import { describe, expect, it } from "bun:test";
import { findDoubt } from "../../src/files/reading/doubtful-text.ts";
import type { Doubt } from "../../src/files/reading/doubtful-text.ts";
import { PLANTS } from "../support/plant-lists.ts";

const NAMES = Object.values(PLANTS).flatMap((names) => names.split("|"));

const DOUBTFUL: ReadonlyArray<readonly [Doubt, readonly string[]]> = [
  [
    "mojibake",
    [
      "KeÅ™",
      "FougÃ¨re",
      "FougÃƒÂ¨re",
      "CafÃ©",
      "Ã‰rable",
      "lâ€™arbre",
      "RosaÂ canina",
      "Ð”ÑƒÐ±",
      "ìž¥ë¯¸",
      "çŽ«ç‘°",
      "FougĂ¨re",
      "Foug├¿re",
      "Foug√®re",
      "ðŸŒ¹",
    ],
  ],
  ["HTML", ["Pr&eacute;", "Salix &amp; Co", "&#233;pine", "&#xE9;pine", "<i>Rosa</i> canina", "Rosa<br/>", "<span class='x'>Rosa</span>"]],
  ["invisible character", ["Rosa\u200b", "Ro\u00adsa", "\u200eRosa", "\ufeffRosa", "Rosa\u200ccanina", "Ro\u2060sa", "\u202dRosa\u202c"]],
  ["replacement character", ["Ros\ufffda", "Rosï¿½"]],
  ["control character", ["Ro\x07sa", "Ro\x7fsa", "Ro\x85sa"]],
];

const FINE = [
  "São João",
  "MÃE",
  "MAÇÃ",
  "«IRMû verde".replace("û", "Ã»"),
  "Ĺ",
  "گل‌محمدی",
  "क्‍ष",
  "👩‍🌾",
  "👨🏽‍🌾",
  "R & B",
  "Salix & Co;",
  "Acer <3",
  "A < B > C",
  "Rosa × alba",
  "BĂȚĂLAR",
  "Rosa\tcanina",
];

describe("a doubt about a text", () => {
  for (const [doubt, texts] of DOUBTFUL) {
    it(`is named ${doubt}`, () => {
      expect(texts.map((text) => [text, findDoubt(text)])).toEqual(texts.map((text) => [text, doubt]));
    });
  }

  it("is not found in names of plants in any language, nor in capitals", () => {
    expect([...NAMES, ...NAMES.map((name) => name.toUpperCase()), ...FINE].filter(findDoubt)).toEqual([]);
  });

  it("is found in nearly all of these names once their UTF-8 was read as Windows-1252", () => {
    const broken = NAMES.filter((name) => /[^\0-\x7f]/.test(name)).map((name) =>
      new TextDecoder("windows-1252").decode(new TextEncoder().encode(name)),
    );
    expect(broken.filter((name) => !findDoubt(name)).length).toBeLessThan(broken.length / 100);
    expect(broken.length).toBeGreaterThan(500);
  });
});
