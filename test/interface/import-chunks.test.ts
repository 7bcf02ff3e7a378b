import { describe, expect, it } from "bun:test";
import { readFile } from "../../src/files/read-file.ts";
import type { FileFormat } from "../../src/files/read-file.ts";
import type { Asked } from "../../src/files/reading/reading.ts";
import { createFindings, PLAIN } from "../../src/files/row.ts";
import type { Row } from "../../src/files/row.ts";
import { parsePlant } from "../../src/domain/validation.ts";
import { bytesOf } from "../support/transfers.ts";

/** The rows of a body in these chunks. Each chunk is overwritten when the next is asked for. */
async function rowsOf(format: FileFormat, chunks: readonly Uint8Array[], asked?: Asked): Promise<Row[]> {
  async function* come(): AsyncGenerator<Uint8Array> {
    for (const chunk of chunks) {
      const buffer = Uint8Array.from(chunk);
      yield buffer;
      buffer.fill(0x21);
    }
  }
  const rows: Row[] = [];
  const options = { parsePlant, lineBytesMax: 100, table: asked ? { asked } : { plain: PLAIN } };
  for await (const some of readFile({ format, bytes: come() }, options, createFindings())) rows.push(...some);
  return rows;
}

function cut(bytes: Uint8Array, size: number): Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
}

describe("a body that comes in pieces", () => {
  const ndjson = bytesOf(
    '\uFEFF{"id":1,"name":"é🌿"}\r\n\n{"id":2,"name":"x","tag":""}\n',
    [0xff, 0x0a],
    `{"id":3,"name":"${"x".repeat(120)}"}\n{"id":4,"name":"銀"}`,
  );
  const csv = bytesOf('\uFEFF\r\n\nid;name;tag\r\n1;"é🌿; ""a"" \r\n b";x\r\n\r\n', "2;", [0xff], ';""\r\nx;y\r\n4;銀;');

  for (const { name, format, bytes } of [
    { name: "NDJSON", format: "ndjson", bytes: ndjson },
    { name: "CSV", format: "csv", bytes: csv },
  ] as const) {
    it(`gives the same rows of ${name} in two pieces wherever it is cut, and in pieces of 1 to 7 bytes`, async () => {
      const whole = await rowsOf(format, [bytes]);
      expect(whole.map((row) => "refusal" in row)).toEqual(
        name === "NDJSON" ? [false, false, true, true, false] : [false, true, true, false],
      );
      for (let at = 0; at <= bytes.length; at += 1) {
        expect(await rowsOf(format, [bytes.subarray(0, at), bytes.subarray(at)]), `cut at ${at}`).toEqual(whole);
      }
      for (const size of [1, 2, 3, 4, 5, 6, 7]) expect(await rowsOf(format, cut(bytes, size)), `pieces of ${size}`).toEqual(whole);
    });
  }

  for (const isBigEndian of [false, true]) {
    it(`gives the same rows of UTF-16${isBigEndian ? " in the other order" : ""} wherever it is cut`, async () => {
      const bytes = Buffer.from("\ufeffid,name\n1,é🌿\n2,\ud83c\n3,銀🌿", "utf16le");
      if (isBigEndian) bytes.swap16();
      const whole = await rowsOf("csv", [bytes]);
      expect(whole.map((row) => ("refusal" in row ? row.refusal.code : row.plant.name))).toEqual(["é🌿", "invalid_unicode", "銀🌿"]);
      for (let at = 0; at <= bytes.length; at += 1) {
        expect(await rowsOf("csv", [bytes.subarray(0, at), bytes.subarray(at)]), `cut at ${at}`).toEqual(whole);
      }
      for (const size of [1, 2, 3]) expect(await rowsOf("csv", cut(bytes, size)), `pieces of ${size}`).toEqual(whole);
    });
  }

  it("gives the same rows of a table that is guessed, in another encoding, wherever it is cut", async () => {
    // 은행나무 and 모란, in EUC-KR.
    const names = [
      [0xc0, 0xba, 0xc7, 0xe0, 0xb3, 0xaa, 0xb9, 0xab],
      [0xb8, 0xf0, 0xb6, 0xf5],
    ];
    const bytes = bytesOf("title\r\n\r\nNr|Name|Bed\r\n1|", names[0]!, '|"a"\r\n||\r\n2|', names[1]!, "|NA");
    const asked = { encoding: "euc-kr" };
    const whole = await rowsOf("csv", [bytes], asked);
    expect(whole.map((row) => "plant" in row && [row.line, row.plant.name, row.plant.tag])).toEqual([
      [4, "은행나무", "a"],
      [6, "모란", undefined],
    ]);
    for (let at = 0; at <= bytes.length; at += 1)
      expect(await rowsOf("csv", [bytes.subarray(0, at), bytes.subarray(at)], asked), `cut at ${at}`).toEqual(whole);
    for (const size of [1, 2, 3]) expect(await rowsOf("csv", cut(bytes, size), asked), `pieces of ${size}`).toEqual(whole);
  });
});
