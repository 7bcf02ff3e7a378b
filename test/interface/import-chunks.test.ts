import { describe, expect, it } from "bun:test";
import { readCsv } from "../../src/files/csv.ts";
import { readNdjson } from "../../src/files/ndjson.ts";
import type { Row } from "../../src/files/row.ts";
import { parsePlant } from "../../src/domain/validation.ts";
import { bytesOf } from "../support/transfers.ts";

type Read = typeof readCsv;

/** The rows of a body in these chunks. Each chunk is overwritten when the next is asked for. */
async function rowsOf(read: Read, chunks: readonly Uint8Array[]): Promise<Row[]> {
  async function* come(): AsyncGenerator<Uint8Array> {
    for (const chunk of chunks) {
      const buffer = Uint8Array.from(chunk);
      yield buffer;
      buffer.fill(0x21);
    }
  }
  const rows: Row[] = [];
  for await (const some of read(come(), { parsePlant, lineBytesMax: 100 })) rows.push(...some);
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

  for (const { name, read, bytes } of [
    { name: "NDJSON", read: readNdjson, bytes: ndjson },
    { name: "CSV", read: readCsv, bytes: csv },
  ]) {
    it(`gives the same rows of ${name} in two pieces wherever it is cut, and in pieces of 1 to 7 bytes`, async () => {
      const whole = await rowsOf(read, [bytes]);
      expect(whole.map((row) => "refusal" in row)).toEqual(
        name === "NDJSON" ? [false, false, true, true, false] : [false, true, true, false],
      );
      for (let at = 0; at <= bytes.length; at += 1) {
        expect(await rowsOf(read, [bytes.subarray(0, at), bytes.subarray(at)]), `cut at ${at}`).toEqual(whole);
      }
      for (const size of [1, 2, 3, 4, 5, 6, 7]) expect(await rowsOf(read, cut(bytes, size)), `pieces of ${size}`).toEqual(whole);
    });
  }

  for (const isBigEndian of [false, true]) {
    it(`gives the same rows of UTF-16${isBigEndian ? " in the other order" : ""} wherever it is cut`, async () => {
      const bytes = Buffer.from("\ufeffid,name\n1,é🌿\n2,\ud83c\n3,銀🌿", "utf16le");
      if (isBigEndian) bytes.swap16();
      const whole = await rowsOf(readCsv, [bytes]);
      expect(whole.map((row) => ("refusal" in row ? row.refusal.code : row.plant.name))).toEqual(["é🌿", "invalid_unicode", "銀🌿"]);
      for (let at = 0; at <= bytes.length; at += 1) {
        expect(await rowsOf(readCsv, [bytes.subarray(0, at), bytes.subarray(at)]), `cut at ${at}`).toEqual(whole);
      }
      for (const size of [1, 2, 3]) expect(await rowsOf(readCsv, cut(bytes, size)), `pieces of ${size}`).toEqual(whole);
    });
  }
});
