import { describe, expect, it } from "bun:test";
import fc from "fast-check";
import { normalize } from "../../src/domain/normalization.ts";
import { isFound, SEARCHED_LENGTH_MAX, tokenize, wordsOfName, wordsOfSearch } from "../../src/domain/terms.ts";

describe("tokenize", () => {
  for (const { text, words, why } of [
    { text: "", words: [], why: "empty text has no words" },
    { text: " \t\n.,;:!?-_'\"()[]{}#*^+&|~/\\<>=%$@`", words: [], why: "white space and signs of ASCII are not words" },
    { text: "Monstera deliciosa", words: ["monstera", "deliciosa"], why: "letter case is folded" },
    { text: "Aloe-vera(L.)Burm.f.", words: ["aloe", "vera", "l", "burm", "f"], why: "every sign separates words" },
    { text: "Délicio", words: ["delicio"], why: "an accent is dropped" },
    { text: "De\u0301licio", words: ["delicio"], why: "an accent that is a separate character is dropped" },
    { text: "Ệ ñ ç Å", words: ["e", "n", "c", "a"], why: "two accents at once are dropped, and those of other languages" },
    { text: "Weißdorn WEISSDORN", words: ["weissdorn", "weissdorn"], why: "ß is ss" },
    { text: "Œillet ÆTHER ǽ", words: ["oeillet", "aether", "ae"], why: "œ is oe, and æ is ae" },
    { text: "Øl Łopian żółty Đậu ĦÐ", words: ["ol", "lopian", "zolty", "dau", "hd"], why: "a stroke through a letter is dropped" },
    { text: "Knock Out™ x™y", words: ["knock", "out", "x", "y"], why: "the sign of a trade mark is no letters" },
    { text: "ʻŌhiʻa мʼята", words: ["ohi", "a", "м", "ята"], why: "letters for an apostrophe separate words" },
    { text: "lo\u00adbe\u00adlia", words: ["lobelia"], why: "soft hyphens do not" },
    { text: "🌶\ufe0fPaprika 葛\u{e0100}城", words: ["paprika", "葛", "城"], why: "selectors of a variant are dropped" },
    { text: "שׁוֹשַׁן שושן", words: ["שושן", "שושן"], why: "the points of Hebrew are dropped" },
    {
      text: "وَرْدَة زهـــرة أحمر",
      words: ["وردة", "زهرة", "احمر"],
      why: "the points of Arabic are dropped, its hamza, and what stretches a word",
    },
    { text: "می\u200cخواهم", words: ["می", "خواهم"], why: "the narrow space of Persian separates words" },
    { text: "ක්\u200dෂ", words: ["ක්ෂ"], why: "joiners of letters do not separate words" },
    { text: "ΣΊΣΥΦΟΣ σίσυφος", words: ["σισυφοσ", "σισυφοσ"], why: "all forms of sigma are one" },
    { text: "İris IRIS", words: ["iris", "iris"], why: "the Turkish capital i is an i" },
    { text: "мой", words: ["мои"], why: "й is и" },
    { text: "ﬁcus Ｆｉｃｕｓ", words: ["ficus", "ficus"], why: "ligatures and wide letters are taken apart" },
    { text: "銀杏", words: ["銀", "杏"], why: "each Chinese character is a word" },
    { text: "ガ ｶﾞ", words: ["ガ", "ガ"], why: "each letter of Katakana is a word with its mark, wide or narrow" },
    { text: "ginkgo銀杏tree", words: ["ginkgo", "銀", "杏", "tree"], why: "such a character separates the words around it" },
    { text: "은행나무", words: ["은행나무"], why: "Hangul is written with spaces" },
    { text: "อัญชัน", words: ["อัญชัน".normalize("NFC")], why: "marks that are not accents stay" },
    { text: "𝕽ose 𞤀", words: ["rose", "\u{1e922}"], why: "letters beyond U+FFFF are letters" },
    { text: "x".repeat(101), words: ["x".repeat(100)], why: "a word is cut after 100 characters" },
    {
      text: `${"д".repeat(101)} b`,
      words: ["д".repeat(100), "b"],
      why: "a word beyond ASCII is cut after 100 characters, and the next is whole",
    },
    {
      text: `${"д".repeat(99)}\u{20bb7}`,
      words: ["д".repeat(99), "\u{20bb7}"],
      why: "a character beyond U+FFFF is a separate word there",
    },
    {
      text: `${"д".repeat(99)}\u{1e922}`,
      words: ["д".repeat(99)],
      why: "a character beyond U+FFFF is never cut in two at the end of a word",
    },
    { text: `${"🌿".repeat(997)}oak elm`, words: ["oak"], why: "a character beyond U+FFFF is one of the 1,000 that are searched" },
    {
      text: `${"🌿".repeat(999)}\u{1e922}`,
      words: ["\u{1e922}"],
      why: "a character beyond U+FFFF is not cut in two at the end of the text",
    },
    { text: `a${"\u0e48".repeat(30)}`, words: [`a${"\u0e48".repeat(30)}`], why: "30 marks in a row stay" },
    {
      text: `a${"\u0e48".repeat(31)}b`,
      words: [`a${"\u0e48".repeat(30)}b`],
      why: "marks from the 31st on are dropped, without separating words",
    },
  ]) {
    it(`${JSON.stringify(text.slice(0, 30))}: ${why}`, () => {
      expect(tokenize(text)).toEqual(words);
    });
  }

  it("treats every character that normalization reorders as a mark, so that no run of them is long", () => {
    const scalars = Array.from({ length: 0x11_0000 }, (_, code) => code).filter((code) => code < 0xd800 || code > 0xdfff);
    // U+0334 sorts before all other marks except those of its class, all of which have the property M.
    const isMark = (char: string) => `${char}\u0334`.normalize("NFKD").startsWith("\u0334");
    const marks = scalars.map((code) => String.fromCodePoint(code)).filter(isMark);
    expect(marks.length).toBeGreaterThan(700);
    const isCut = (char: string) => tokenize(`д${char.repeat(40)}д`).join("") === tokenize(`д${char.repeat(30)}д`).join("");
    expect(marks.filter((char) => !isCut(char))).toEqual([]);
  });

  it("gives few enough words for PostgreSQL's tsvector, whichever character a name consists of", () => {
    const scalars = Array.from({ length: 0x11_0000 }, (_, code) => code).filter((code) => code < 0xd800 || code > 0xdfff);
    const bytesOf = (code: number) => Buffer.byteLength(tokenize(` ${String.fromCodePoint(code)}`).join(" "));
    const bytesMax = scalars.reduce((most, code) => Math.max(most, bytesOf(code)), 0);
    expect(bytesMax).toBeGreaterThan(20);
    // The lexemes of a tsvector take less than 1 MiB; each position adds a few bytes (doc: textsearch-limitations).
    expect(SEARCHED_LENGTH_MAX * bytesMax).toBeLessThan(2 ** 19);
  });

  it("returns its own words unchanged, whichever character is in them", () => {
    const characters = Array.from({ length: 0x11_0000 }, (_, code) => String.fromCodePoint(code));
    // What is assigned: the rest separates words.
    const inWords = characters.filter((character) => /[^\p{Cn}\p{Co}\p{Cs}]/u.test(character)).map((character) => `a${character}b`);
    expect(inWords.length).toBeGreaterThan(150_000);
    for (let at = 0; at < inWords.length; at += 100) {
      const words = tokenize(inWords.slice(at, at + 100).join(" "));
      expect(tokenize(words.join(" "))).toEqual(words);
    }
    const words = tokenize("Délicio WEIẞDORN Σίσυφος 銀杏 ガ 은행나무 ﬁcus İ Ǆ ŉ");
    expect(tokenize(words.join(" "))).toEqual(words);
  });
});

describe("a name and a search with other spellings", () => {
  const UNIT = fc.constantFrom(..."abxvf12".split(""), ..."'-’.×/ʻ  ".split(""), ..."은행กุ行あя".split(""), "ssp", "var", "xfr", "é");
  const TEXT = fc.array(UNIT, { maxLength: 14 }).map((units) => units.join(""));

  /** As versions before 1.0.1 searched: each word of a search that no other one begins with is the beginning of a word. */
  function wasFound(name: string, q: string): boolean {
    const words = [...new Set(tokenize(q))].filter(
      (word, _, all) => !all.some((other) => other !== word && (word === "x" || other.startsWith(word))),
    );
    return words.every((start) => tokenize(name).some((word) => word.startsWith(start)));
  }

  it("still have all words of the name, and the search still finds what it found by words alone, also where only these are stored", () => {
    let hits = 0;
    fc.assert(
      fc.property(TEXT, TEXT, fc.nat(14), (name, other, length) => {
        expect(wordsOfName(name)).toEqual(expect.arrayContaining(tokenize(name)));
        for (const q of [name, name.slice(length), name.slice(0, length), other]) {
          if (!wasFound(name, q)) continue;
          hits += 1;
          const words = wordsOfSearch(q);
          expect(isFound({ name }, { words, tag: undefined }), JSON.stringify({ name, q })).toBe(true);
          // PostgreSQL renews its words in the background.
          const isInOldWords = words.every(({ anyOf }) => anyOf.some((start) => tokenize(name).some((word) => word.startsWith(start))));
          expect(isInOldWords, JSON.stringify({ name, q })).toBe(true);
        }
      }),
      { numRuns: 10_000 },
    );
    expect(hits).toBeGreaterThan(5000);
  });

  for (const unit of ["a'", "a-", "a'a-", "1.", "ʻa", "은", "ก", "x 은-", "f. ", "xaaaa-", "行-"])
    it(`are few when a name of 60 KB consists of ${JSON.stringify(unit)}`, () => {
      const words = wordsOfName(unit.repeat(60_000 / unit.length));
      expect(new Set(words).size).toBeLessThanOrEqual(1100);
      expect([...new Set(words)].join("").length).toBeLessThan(2 * SEARCHED_LENGTH_MAX);
      expect(words.length).toBeLessThanOrEqual(2 * SEARCHED_LENGTH_MAX);
      expect(wordsOfSearch(unit.repeat(1000 / unit.length)).every(({ anyOf }) => anyOf.length <= 10)).toBe(true);
    });
});

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
