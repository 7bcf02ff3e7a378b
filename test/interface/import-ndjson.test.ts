import { afterAll, describe, expect, it } from "bun:test";
import { expectConform } from "../support/conform.ts";
import { sendRaw } from "../support/raw-http.ts";
import { startTestService } from "../support/service.ts";
import { bytesOf, clean, IMPORT, openTransfers } from "../support/transfers.ts";

const service = await startTestService();
afterAll(() => service.stop());
const { post, importAll, storedFrom } = openTransfers(service);

describe("an import of NDJSON", () => {
  it("reads nothing from empty lines", async () => {
    for (const body of ["\n", "\r\n\n \n\t\n"]) expect(await importAll(body)).toEqual(clean({}));
  });

  for (const { body, why } of [
    { body: '{"id":1,"name":"a"}\n{"id":2,"name":"b","tag":""}\n', why: "lines that end with a newline" },
    { body: '{"id":1,"name":"a"}\r\n{"id":2,"name":"b","tag":""}\r\n', why: "CRLF" },
    { body: '\n\n{"id":1,"name":"a"}\n\r\n \n{"id":2,"name":"b","tag":""}\n\n', why: "blank lines" },
    { body: '\uFEFF{"id":1,"name":"a"}\n{"id":2,"name":"b","tag":""}\n', why: "a byte order mark" },
    { body: '\uFEFF{"id":1,"name":"a"}\n\uFEFF{"id":2,"name":"b","tag":""}\n', why: "byte order marks, as of files put together" },
    { body: ' {"name":"a","id":1.0,"x":null} \n{"tag":"","id":2e0,"name":"\\u0062"}\n', why: "other forms of the same JSON" },
    { body: '{"id":1,"name":"a","tag":null}\n{"tag":"","name":"b","id":2}\n', why: "null for no tag" },
  ]) {
    it(`accepts ${why}`, async () => {
      const { summary, stored } = await storedFrom(body);
      expect(summary).toEqual(clean({ read: 2, created: 2 }));
      expect(stored).toBe('{"id":1,"name":"a"}\n{"id":2,"name":"b","tag":""}\n');
    });
  }

  it("names each other member of a plant that is not null once, and stores the plant without it", async () => {
    const { summary, stored } = await storedFrom(
      '{"id":1,"name":"a","tags":["x"],"Tag":"y","z":null}\n{"tags":[],"id":2,"name":"b","tag":"x"}\n',
    );
    expect(summary).toEqual(clean({ read: 2, created: 2, unusedColumns: ["tags", "Tag"] }));
    expect(stored).toBe('{"id":1,"name":"a"}\n{"id":2,"name":"b","tag":"x"}\n');
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`x${at}`.padEnd(101, "é"), 1]));
    const { summary: full } = await storedFrom(`${JSON.stringify({ id: 1, name: "a", ...many })}\n`);
    expect(full.unusedColumns).toEqual(
      Object.keys(many)
        .slice(0, 100)
        .map((name) => name.slice(0, 100)),
    );
  });

  for (const { line, error, text, why } of [
    { line: "x", error: 40001, text: "not valid JSON", why: "text that is not JSON" },
    { line: '{"id":1,"name":"x"', error: 40001, text: "not valid JSON", why: "a line cut short" },
    { line: '{"id":1,"name":"x"}{"id":2,"name":"y"}', error: 40001, text: "not valid JSON", why: "two plants in a line" },
    { line: `{"id":1,"name":"x","y":${"[".repeat(32)}${"]".repeat(32)}}`, error: 40002, text: "32 levels", why: "nesting" },
    { line: '{"id":1,"name":"x","name":"x"}', error: 40003, text: "twice", why: "a duplicate key" },
    { line: '{"id":1,"name":"\\ud800"}', error: 40004, text: "Unicode", why: "a lone surrogate" },
    { line: [0x7b, 0xff, 0x7d], error: 40004, text: "Unicode", why: "a byte that is not UTF-8" },
    { line: '{"name":"x"}', error: 40005, text: "`id`", why: "no id" },
    { line: '{"id":1}', error: 40005, text: "`name`", why: "no name" },
    { line: '{"id":9223372036854775808,"name":"x"}', error: 40005, text: "`id`", why: "2^63" },
    { line: '{"id":1.5,"name":"x"}', error: 40005, text: "`id`", why: "a fraction" },
    { line: '{"id":"1","name":"x"}', error: 40005, text: "`id`", why: "an id in quotes" },
    { line: '{"id":1,"name":"x","tag":7}', error: 40005, text: "`tag`", why: "a tag that is a number" },
    { line: '[1,"x"]', error: 40005, text: "not an object", why: "an array" },
    { line: "id,name", error: 40001, text: "not valid JSON", why: "CSV" },
    { line: `{"id":1,"name":"${"x".repeat(131_155)}"}`, error: 41300, text: "131172", why: "a line of 131,173 bytes" },
    { line: `{"id":1,"name":"${"é".repeat(65_578)}"}`, error: 41300, text: "131172", why: "a line of that many bytes in fewer characters" },
  ] as const) {
    it(`refuses ${why} with its line and error number, and accepts the lines around it`, async () => {
      const { summary, stored } = await storedFrom(bytesOf('\n{"id":5,"name":"before"}\n', line, '\n{"id":6,"name":"behind"}\n'));
      expect(summary).toMatchObject({ read: 3, created: 2, refused: 1, problems: [{ line: 3, error }] });
      expect(summary.problems[0]!.message).toContain(text);
      expect(stored).toBe('{"id":5,"name":"before"}\n{"id":6,"name":"behind"}\n');
    });
  }

  for (const body of ['{"id":1,"name":"a"}{"id":2,"name":"b"}', `{"id":1,"name":"${"x".repeat(131_155)}"}`]) {
    it(`names --data-binary where line ends are lost: ${body.length} characters`, async () => {
      const { summary } = await storedFrom(body);
      expect(summary).toMatchObject({ read: 1, refused: 1 });
      expect(summary.problems[0]!.message).toContain("--data-binary");
    });
  }

  it("is refused without a body, and so is one of CSV", async () => {
    const { origin, port } = new URL(service.url);
    for (const type of ["application/x-ndjson", "text/csv"]) {
      const response = await post("", { type });
      expect(response.status).toBe(400);
      expect(await expectConform(IMPORT, response)).toEqual({
        error: 40011,
        message: "The request has no body: send the file as NDJSON or CSV.",
      });
      const head = `POST /plants/import HTTP/1.1\r\nHost: x:${port}\r\nAuthorization: Bearer ${service.token}\r\nContent-Type: ${type}\r\nConnection: close\r\n`;
      expect((await sendRaw(origin, [`${head}\r\n`])).text).toContain("40011");
      for (const empty of ["Content-Length: 0, 0\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"])
        expect((await sendRaw(origin, [`${head}${empty}`])).text).toContain("40011");
    }
  });

  it("accepts a line of 131,172 bytes, even as the last one", async () => {
    const line = (id: number) => `{"id":${id},"name":"${"x".repeat(65_536)}","note":"${"y".repeat(65_608)}"}`;
    expect(line(1)).toHaveLength(131_172);
    expect((await storedFrom(`${line(1)}\n${line(2)}`)).summary).toEqual(clean({ read: 2, created: 2, unusedColumns: ["note"] }));
  });
});
