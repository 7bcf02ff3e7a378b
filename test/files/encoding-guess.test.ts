import { describe, expect, it } from "bun:test";
import { guessEncoding } from "../../src/files/encoding/encoding-guess.ts";
import { isLikelyWindows1252 } from "../../src/files/encoding/western-letters.ts";
import { encodeAs } from "../support/legacy-encoder.ts";
import { LANGUAGES, PLANTS } from "../support/plant-lists.ts";
import type { Language } from "../support/plant-lists.ts";

type Sample = Readonly<{ bytes: Uint8Array; text: string }>;

/** Those names of a language that an encoding has: some are written otherwise there. */
function namesIn(encoding: string, language: Language): string[] {
  const names = PLANTS[language].split("|");
  const own = encoding === "iso-8859-16" ? names.map((name) => name.replaceAll("ş", "ș").replaceAll("ţ", "ț")) : names;
  return own.filter((name) => encodeAs(name, encoding));
}

function rowsOf(names: readonly string[], length = names.length): string[] {
  return Array.from({ length }, (_, at) => `${at + 1},${names[(at * 7) % names.length]},${at % 2 ? "tree" : "Rosaceae"}`);
}

function listsOf(encoding: string, language: Language): Sample[] {
  const names = namesIn(encoding, language);
  if (names.length < 3) return [];
  const threes = names.flatMap((_, at) => (at % 3 === 0 ? [rowsOf(names.slice(at, at + 3)).join("\n")] : []));
  const texts = [`id,name,tag\n${rowsOf(names).join("\n")}\n`, rowsOf(names, 200).join("\r\n"), names.join("\n").toUpperCase(), ...threes];
  return texts.flatMap((text) => sampleOf(text, encoding));
}

/** Each name as a file of its own. */
function singlesOf(encoding: string, language: Language): Sample[] {
  const names = namesIn(encoding, language).filter((name) => /[^\0-\x7f]/.test(name));
  return names.flatMap((name) => sampleOf(`${name}\n`, encoding));
}

function sampleOf(text: string, encoding: string): Sample[] {
  const bytes = encodeAs(text, encoding);
  // Tones of Vietnamese are marks of their own there.
  return bytes ? [{ bytes, text: encoding === "windows-1258" ? decode(bytes, encoding) : text }] : [];
}

function decode(bytes: Uint8Array, encoding: string): string {
  return new TextDecoder(encoding as "utf-8", { ignoreBOM: true }).decode(bytes);
}

const PLACES = Object.entries(LANGUAGES).flatMap(([encoding, languages]) => languages.map((language) => ({ encoding, language })));

describe("the guess of an encoding", () => {
  for (const encoding of Object.keys(LANGUAGES)) {
    it(`lists and names of plants in ${encoding} are never taken for another with certainty`, () => {
      const samples = LANGUAGES[encoding]!.flatMap((language) => [...listsOf(encoding, language), ...singlesOf(encoding, language)]);
      const wrong = samples.filter(({ bytes, text }) => {
        const guess = guessEncoding(bytes);
        return guess.isCertain && decode(bytes, guess.encoding) !== text;
      });
      expect(wrong.map(({ text }) => text)).toEqual([]);
      expect(samples.length).toBeGreaterThan(10);
    });
  }

  it("whole lists in UTF-8 and UTF-16 are certain", () => {
    const lists = PLACES.filter(({ encoding }) => encoding.startsWith("utf")).map(({ encoding, language }) => ({
      encoding,
      list: listsOf(encoding, language)[0]!,
    }));
    for (const { list } of lists) expect(decode(list.bytes, guessEncoding(list.bytes).encoding)).toBe(list.text);
    expect(lists.filter(({ list }) => !guessEncoding(list.bytes).isCertain)).toEqual([]);
    expect(lists.length).toBeGreaterThan(80);
  });

  for (const language of ["German", "French", "Spanish", "Italian", "Portuguese", "Danish", "Norwegian", "Swedish", "Finnish"] as const) {
    it(`a list in ${language} in Windows-1252 is certain`, () => {
      const [list] = listsOf("windows-1252", language);
      expect(guessEncoding(list!.bytes)).toEqual({ encoding: "windows-1252", isCertain: true, others: [] });
    });
  }

  it("the encoding of every list is certain or among the proposals if it can be read", () => {
    const lists = PLACES.filter(({ encoding }) => !encoding.startsWith("cp")).flatMap(({ encoding, language }) =>
      listsOf(encoding, language).slice(0, 1),
    );
    const missed = lists.filter(({ bytes, text }) => {
      const { encoding, others } = guessEncoding(bytes);
      return ![encoding, ...others].some((name) => decode(bytes, name) === text);
    });
    expect(missed.map(({ text }) => text)).toEqual([]);
    expect(lists.length).toBeGreaterThan(120);
  });

  it("a few letters of another encoding that happen to be UTF-8 are not certain", () => {
    for (const [text, encoding] of [
      ["칡", "euc-kr"],
      ["хна", "ibm866"],
      ["Sněženka", "cp852"],
    ] as const) {
      const bytes = encodeAs(text, encoding)!;
      expect(new TextDecoder("utf-8", { fatal: true }).decode(bytes)).not.toBe(text);
      expect(guessEncoding(bytes).isCertain).toBe(false);
    }
  });

  it("an uncertain guess has at most five others", () => {
    const guess = guessEncoding(encodeAs("Дуб\nБерёза\n", "windows-1251")!);
    expect(guess.encoding).toBe("windows-1251");
    expect(guess.others.length).toBeLessThanOrEqual(5);
  });

  it("a sample may end within a letter", () => {
    for (const encoding of ["utf-8", "utf-16le", "utf-16be"]) {
      const bytes = encodeAs("id,name\n1,Bärlauch\n2,Möhre", encoding)!;
      const cut = bytes.subarray(0, bytes.indexOf(encoding === "utf-8" ? 0xc3 : 0xf6, 15) + 1);
      expect(guessEncoding(cut)).toEqual({ encoding, isCertain: true, others: [] });
    }
  });

  it("ASCII is certainly UTF-8, unless it has escape sequences", () => {
    expect(guessEncoding(new TextEncoder().encode("id,name\n1,Rosa\n")).isCertain).toBe(true);
    expect(guessEncoding(new TextEncoder().encode("1,Pin à crochets")).isCertain).toBe(true);
    expect(guessEncoding(Uint8Array.of(0xd7)).isCertain).toBe(false);
    expect(guessEncoding(new Uint8Array())).toEqual({ encoding: "utf-8", isCertain: true, others: [] });
    expect(guessEncoding(encodeAs("桜", "iso-2022-jp")!)).toEqual({ encoding: "iso-2022-jp", isCertain: false, others: ["utf-8"] });
    expect(guessEncoding(new TextEncoder().encode("~{VvJ~}")).isCertain).toBe(false);
  });
});

describe("a cell read as Windows-1252", () => {
  const likely = [
    "Weißdorn",
    "Hêtre — Chêne",
    "Rosa ‘Peace’",
    "Pin à crochets",
    "Salix ×sepulcralis",
    "St John’s wort",
    "Bjørk",
    "5 °C",
    "l’arbre",
    "Rosa canina",
  ];
  for (const text of likely) it(`is likely it: ${text}`, () => expect(isLikelyWindows1252(text)).toBe(true));

  const strange = [
    ["Turkish", "Kızılcık", "windows-1254"],
    ["Czech", "Řeřicha", "windows-1250"],
    ["Polish", "Pęcherznica", "windows-1250"],
    ["Latvian", "Vītols", "windows-1257"],
    ["Korean", "장미", "euc-kr"],
    ["old Mac", "Jardín", "macintosh"],
    ["DOS", "Bärlauch", "cp850"],
  ] as const;
  for (const [kind, text, encoding] of strange) {
    it(`is not likely it for ${kind} letters`, () => {
      expect(isLikelyWindows1252(decode(encodeAs(text, encoding)!, "windows-1252"))).toBe(false);
    });
  }
});
