import { describe, expect, it } from "bun:test";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { nameKey } from "../../src/domain/name-order.ts";
import { seedOf } from "../support/random.ts";

/** Unicode's root collation at its first level, by the runtime. */
const ROOT = new Intl.Collator("und", { sensitivity: "base" });

function range(first: number, last: number): string[] {
  return Array.from({ length: last - first + 1 }, (_, at) => String.fromCodePoint(first + at));
}

function lettersOf(text: string): string[] {
  return Array.from(text);
}

/** Letters that stand for two, which no language needs. The last is an a with a sign of its own behind it. */
const DIGRAPHS = /[ʣ-ʫȸȹƾƍẚ]/u;

/** The scripts that are ordered exactly like the root collation, by their letters. */
const SCRIPTS: Readonly<Record<string, readonly string[]>> = {
  ASCII: range(0x20, 0x7e),
  Latin: [...range(0x20, 0x7e), ...range(0xc0, 0x2ad), ...range(0x1e00, 0x1eff), ...lettersOf("©«®°±»–—‘’“”•†€")].filter(
    (letter) => !DIGRAPHS.test(letter),
  ),
  "Latin in parts": [...lettersOf("aeouncz"), ...lettersOf("\u0300\u0301\u0308\u030a\u0327\u030c")],
  Greek: [...range(0x391, 0x3a1), ...range(0x3a3, 0x3ce), ...range(0x1f00, 0x1f07), " "],
  Cyrillic: [...range(0x400, 0x481), ...range(0x48a, 0x52f), " "],
  Armenian: [...range(0x531, 0x556), ...range(0x561, 0x586)],
  Hebrew: [...range(0x5d0, 0x5ea), " "],
  Arabic: [...range(0x621, 0x63a), ...range(0x641, 0x64a), ...range(0x671, 0x6d3), " "],
  Devanagari: [...range(0x905, 0x914), ...range(0x915, 0x939), ...range(0x93e, 0x94c)],
  Thai: [...range(0xe01, 0xe2e), ...lettersOf("ะาเแโใไ่้")],
  Hangul: [...range(0xac00, 0xad00), ...range(0xd700, 0xd7a3)],
  Kana: [...range(0x3041, 0x3096), ...range(0x30a1, 0x30f6)],
};

const MIXED = ["Latin", "Greek", "Cyrillic", "Hebrew"].flatMap((script) => [...SCRIPTS[script]!, "0", "9", " "]);

/** Without what a name may begin with that does not count. */
function withoutSign(name: string): string {
  const [signs] = /^(([×+'’‘`]|x(?=\s*\p{Lu}))\s*)*/u.exec(name)!;
  const rest = name.slice(signs.length);
  return /^\p{L}/u.test(rest) ? rest : name;
}

function signOf(left: string, right: string): number {
  return left === right ? 0 : left < right ? -1 : 1;
}

describe("the key of a name", () => {
  for (const [script, letters] of [...Object.entries(SCRIPTS), ["scripts together", MIXED] as const]) {
    it(`orders names of ${script} like the root collation`, () => {
      const text = fc.string({ unit: fc.constantFrom(...letters), maxLength: 5 });
      fc.assert(
        fc.property(text, text, text, (start, left, right) => {
          const order = ROOT.compare(withoutSign(start + left), withoutSign(start + right));
          expect(signOf(nameKey(start + left), nameKey(start + right))).toBe(Math.sign(order));
        }),
        { numRuns: 3000, seed: seedOf(`name-order ${script}`) },
      );
    });
  }

  it("is what it was when stores were written with it: another one needs a new column and a new index", () => {
    const all = range(1, 0xd7ff)
      .concat(range(0xe000, 0xffff))
      .join("")
      .match(/.{1,50}/gsu)!;
    const hash = createHash("sha256");
    for (const text of all) hash.update(`${nameKey(text)}\n`);
    expect(hash.digest("hex")).toBe("8a05555cfb60c0eaab761b8f011a4a2da6e7f22621b673bc383e984ff28f26f3");
  });

  for (const { names, why } of [
    { names: ["apfel", "Apfel", "ÄPFEL", "a\u0308pfel"], why: "letter case and accents" },
    { names: ["straße", "Strasse", "STRAẞE"], why: "ß and ss" },
    { names: ["a\u200db\0", "ab"], why: "characters that no one sees" },
    { names: [`${"x".repeat(100)}a`, `${"x".repeat(100)}b`], why: "what follows 100 characters" },
    { names: [`${"🌵".repeat(100)}a`, `${"🌵".repeat(100)}b`], why: "what follows 100 characters of two units" },
  ])
    it(`does not tell apart ${why}`, () => expect(new Set(names.map(nameKey)).size).toBe(1));

  for (const { names, why } of [
    { names: ["", " ", "-", "'", "(", "€", "🌵", "1", "a", "b", "я", "あ", "中"], why: "signs, symbols, digits, letters, scripts" },
    {
      names: ["Cuprocyparis", "×Cuprocyparis a", "× Cuprocyparis b", "x Cuprocyparis c", "xCuprocyparis d", "D"],
      why: "hybrids among their genera",
    },
    {
      names: ["+Laburnocytisus", "+ Laburnocytisus b", "Laburnum", "'Ohi'a", "ʻŌhiʻa", "Oxalis"],
      why: "chimaeras, and names with an apostrophe",
    },
    { names: ["+", "×1", "1", "x", "x a", "Xa", "xy"], why: "signs without a letter behind them, and an x without a capital" },
    { names: ["item 10", "item 9"], why: "digits one by one" },
    { names: ["Ginkgo biloba", "Ginkgo-biloba", "Ginkgobiloba"], why: "a space before anything else" },
  ])
    it(`is in order for ${why}`, () => expect(names.map(nameKey)).toEqual(names.map(nameKey).toSorted(signOf)));

  it("is short for any name, as an index must hold it", () => {
    for (const [, letters] of Object.entries({ ...SCRIPTS, hostile: ["\ufdfa", "\u{1f469}", "\u0344", "ƃ", "\u{10ffff}", "\u3316"] }))
      for (const letter of letters) expect(nameKey(letter.repeat(65_000)).length).toBeLessThanOrEqual(600);
  });

  it("is hexadecimal, whatever the name", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (name) => expect(nameKey(name.toWellFormed())).toMatch(/^([0-9a-f]{2})*$/)),
      { numRuns: 2000 },
    );
  });
});
