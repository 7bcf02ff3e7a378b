import { describe, expect, it } from "bun:test";
import { findEncoding, readMark, transcode } from "../../src/files/encoding/encodings.ts";
import { encodeAs } from "../support/legacy-encoder.ts";
import { LANGUAGES, PLANTS } from "../support/plant-lists.ts";

async function* inPieces(bytes: Uint8Array, length: number): AsyncGenerator<Uint8Array, void, void> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

async function gather(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  return Uint8Array.from((await Array.fromAsync(pieces)).flatMap((piece) => [...piece]));
}

describe("a transcoded file", () => {
  for (const [encoding, languages] of Object.entries(LANGUAGES).filter(([name]) => findEncoding(name))) {
    it(`text in ${encoding} becomes UTF-8 wherever its letters are cut`, async () => {
      const text = languages
        .flatMap((language) => PLANTS[language].split("|"))
        .filter((name) => encodeAs(name, encoding))
        .join("\n");
      const bytes = encodeAs(text, encoding)!;
      const expected = encoding === "windows-1258" ? new TextDecoder(encoding).decode(bytes) : text;
      for (const length of [1, 3, 4096]) {
        expect(new TextDecoder().decode(await gather(transcode(inPieces(bytes, length), encoding)))).toBe(expected);
      }
    });
  }

  const broken = [
    { encoding: "windows-1252", bytes: [0x61, 0x81, 0x62], why: "a byte without a letter" },
    { encoding: "iso-8859-2", bytes: [0x61, 0x9a, 0x62], why: "a control character of another time" },
    { encoding: "windows-1253", bytes: [0x61, 0xff, 0x62], why: "a byte that is not there" },
    { encoding: "shift_jis", bytes: [0x61, 0xa0, 0x62], why: "a byte that begins no letter" },
    { encoding: "utf-16le", bytes: [0x61, 0, 0, 0xd8, 0x62, 0], why: "half a pair" },
    { encoding: "iso-2022-jp", bytes: [0x61, 0xff, 0x62], why: "a byte of eight bits" },
  ];
  for (const { encoding, bytes, why } of broken) {
    it(`${why} in ${encoding} becomes a byte that UTF-8 does not have`, async () => {
      expect([...(await gather(transcode(inPieces(Uint8Array.from(bytes), 1), encoding)))]).toEqual([0x61, 0xff, 0x62]);
    });
  }

  it("a letter that the end cuts off becomes a byte that UTF-8 does not have", async () => {
    for (const encoding of ["gb18030", "big5", "euc-kr", "euc-jp", "shift_jis"]) {
      const first = encodeAs("木", encoding)?.[0] ?? 0xb0;
      expect([...(await gather(transcode(inPieces(Uint8Array.of(0x61, first), 1), encoding)))]).toEqual([0x61, 0xff]);
    }
  });

  it("a broken letter leaves the end of its line", async () => {
    for (const encoding of ["gb18030", "big5", "euc-kr", "euc-jp", "shift_jis"]) {
      const text = [...(await gather(transcode(inPieces(Uint8Array.of(0x84, 0x0a, 0x62), 1), encoding)))];
      expect(text.slice(-2)).toEqual([0x0a, 0x62]);
      expect(text).toContain(0xff);
    }
  });
});

describe("an encoding", () => {
  it("is found by any of its labels", () => {
    expect(["Latin1", " UTF8 ", "gb2312", "cp1250", "sjis"].map(findEncoding)).toEqual([
      "windows-1252",
      "utf-8",
      "gbk",
      "windows-1250",
      "shift_jis",
    ]);
  });

  it("is not found if it cannot be read", () => {
    expect(["", "cp850", "utf-7", "replacement", "iso-2022-kr", "x-user-defined"].map(findEncoding)).toEqual(
      Array.from({ length: 6 }, () => undefined),
    );
  });
});

describe("the mark of a file", () => {
  for (const [marked, mark] of [
    ["utf-8", [0xef, 0xbb, 0xbf]],
    ["utf-16le", [0xff, 0xfe]],
    ["utf-16be", [0xfe, 0xff]],
    [undefined, []],
  ] as const) {
    it(`says ${marked ?? "nothing"}, and is taken off`, async () => {
      const read = await readMark(inPieces(Uint8Array.of(...mark, 0x61, 0x62), 1));
      expect(read.marked).toBe(marked);
      expect([...(await gather(read.bytes))]).toEqual([0x61, 0x62]);
    });
  }
});
