import { afterAll, describe, expect, it } from "bun:test";
import { expectConform } from "../support/conform.ts";
import { startTestService } from "../support/service.ts";
import { bytesOf, clean, IMPORT, openTransfers } from "../support/transfers.ts";

const service = await startTestService();
afterAll(() => service.stop());
const { post, importAll, storedFrom } = openTransfers(service);

const CSV = { type: "text/csv" };

describe("an import of CSV", () => {
  const EXPECTED = '{"id":1,"name":"a","tag":"x"}\n{"id":2,"name":"b"}\n';

  for (const { body, why } of [
    { body: "id,name,tag\n1,a,x\n2,b,\n", why: "commas" },
    { body: "id;name;tag\n1;a;x\n2;b;\n", why: "semicolons" },
    { body: "id\tname\ttag\n1\ta\tx\n2\tb\t\n", why: "tabs" },
    { body: "id,name,tag\r\n1,a,x\r\n2,b,\r\n", why: "CRLF" },
    { body: "id,name,tag\r\n1,a,x\n2,b,\n", why: "CRLF on the first line only" },
    { body: "id,name,tag\n\n1,a,x\n\n\n2,b,\n\n", why: "blank lines" },
    { body: '\uFEFF"id","name","tag"\n1,a,x\n2,b,\n', why: "a byte order mark before a quoted name" },
    { body: "ID , Name,TAG\n1,a,x\n2,b,\n", why: "names in capitals, with spaces" },
    { body: "id,name,tag\n1,a,x\n2,b\n", why: "a row without its last cell" },
    { body: 'id,name,tag,,\n1,a,x,,"",\n2,b,,,,,\n', why: "empty cells and names after the last column" },
    { body: '"id","name","tag"\n"1","a","x"\n"2","b",\n', why: "quoted cells" },
    { body: 'id,name,tag\n1,a,x\n" 2 ",b,\n', why: "spaces around an id" },
    { body: "id,name,tag\n1.0,a,x\n20e-1,b,\n", why: "other forms of the same id" },
    { body: "catalogNumber,scientificName,tag\n1,a,x\n2,b,\n", why: "the terms of Darwin Core" },
    { body: "vernacularName,catalogNumber,tag\na,1,x\nb,2,\n", why: "only the common name" },
    { body: "catalogNumber,scientificName,vernacularName,tag\n1,a,,x\n2,,b,\n", why: "the common name if there is no other" },
  ]) {
    it(`accepts ${why}`, async () => {
      const { summary, stored } = await storedFrom(body, CSV);
      expect(stored).toBe(EXPECTED);
      expect(summary).toEqual(clean({ read: 2, created: 2 }));
    });
  }

  for (const { cell, name, why } of [
    { cell: '"a,b"', name: "a,b", why: "a delimiter in quotes" },
    { cell: '"say ""hi"""', name: 'say "hi"', why: "quotes" },
    { cell: '"two\nlines"', name: "two\nlines", why: "a newline" },
    { cell: '"two\r\nlines"', name: "two\r\nlines", why: "CRLF" },
    { cell: " a ", name: " a ", why: "spaces" },
    { cell: "", name: "", why: "an empty cell as an empty name" },
    { cell: "a\0b", name: "a\0b", why: "U+0000" },
    { cell: "Straße 🌿 שלום", name: "Straße 🌿 שלום", why: "letters of all kinds" },
    { cell: "\uFEFFa", name: "\uFEFFa", why: "U+FEFF at the beginning of a cell" },
    { cell: "=1+1", name: "=1+1", why: "a formula" },
    { cell: "a'b\\n", name: "a'b\\n", why: "single quotes and backslashes" },
  ]) {
    it(`keeps ${why}`, async () => {
      const { stored } = await storedFrom(`id,name\n1,${cell}\n2,next\n`, CSV);
      expect(stored).toBe(`${JSON.stringify({ id: 1, name })}\n{"id":2,"name":"next"}\n`);
    });
  }

  const DWC = "id,scientificName,vernacularName";
  for (const [why, header, rows, unused] of [
    ["an unknown column", "tag,extra,name,id", "x,1,a,1\n,2,b,2\n", ["extra"]],
    ["several, by name or position", " Location ,id,name,,tag,Höhe", ",1,a,,x,\n", ["Location", "column 4", "Höhe"]],
    ["a duplicated name", "id,name,name,ID,tag", "1,a,b,2,x\n", ["name", "ID"]],
    ["no common name that was used or is empty", DWC, "1,a,\n2,,b\n", []],
    ["common names that were not used", DWC, "1,a,c\n2,b,d\n", ["vernacularName"]],
    ["the beginning of a long name", `id,name,${"é".repeat(200)}`, "1,a,\n", ["é".repeat(100)]],
  ] as const) {
    it(`names what is not imported: ${why}`, async () => {
      const { summary } = await storedFrom(`${header}\n${rows}`, CSV);
      expect(summary.unusedColumns).toEqual([...unused]);
      expect(summary.refused).toBe(0);
    });
  }

  it("distinguishes an empty tag in quotes from no tag", async () => {
    const { stored } = await storedFrom('id,name,tag\n1,a,\n2,a,""\n3,a\n', CSV);
    expect(stored).toBe('{"id":1,"name":"a"}\n{"id":2,"name":"a","tag":""}\n{"id":3,"name":"a"}\n');
  });

  for (const body of ["\n\n", "1,Aloe\n", "id,tag\n1,x\n", "identifier,names\n1,x\n", "id|name\n1|x\n", '"id,name\n1,x\n']) {
    it(`refuses ${JSON.stringify(body)}, whose first line does not name id and name`, async () => {
      const response = await post(body, CSV);
      expect(response.status).toBe(400);
      expect(await expectConform(IMPORT, response)).toMatchObject({ error: 40008 });
    });
  }

  for (const [body, query, says] of [
    ["name,tag\n", "", "column `id`: name it, as in id,name,tag, or send `reading={}`"],
    ["id,tag\n", "", "column `name`: name it, as in id,name,tag, or send `reading={}`"],
    ["x,tag\n", "?ids=content", "column `name`: name it"],
    ["x,tag\n", "", "columns `id` and `name`: name them"],
  ] as const) {
    it(`says which column is missing, and what to do: ${body.trimEnd()}${query}`, async () => {
      const { message } = (await (await post(body, { ...CSV, query })).json()) as { message: string };
      expect(message).toStartWith(`The first line does not name the ${says}`);
    });
  }

  for (const { query, says } of [
    { query: "idColumn=", says: "No column is taken for the id: choose one, or send `reading={}`" },
    { query: "idColumn=&nameColumn=", says: "No column is taken for the id, and none for the name: choose them" },
    { query: "nameColumn=column%209", says: "The file has no column that was asked for: check its name, or give its position" },
  ]) {
    it(`says which column is missing where no line names them: ${query}`, async () => {
      const response = await post("Acer,tree\n", { ...CSV, query: `?header=absent&${query}` });
      const { error, message } = (await response.json()) as { error: number; message: string };
      expect(error).toBe(40008);
      expect(message).toStartWith(says);
    });
  }

  it("reads a first line alone as no plants", async () => {
    for (const body of ["id,name", "id,name\n", "name;id;tag\r\n", "\ufeffcatalogNumber,scientificName,tag,,\r\n\r\n"])
      expect(await importAll(body, CSV)).toEqual(clean({}));
  });

  const LINES = ["id,name,tag", "1,Rosa canina,wild", "2,Salix alba,wet", ""];
  for (const { body, query = "", why } of [
    { body: LINES.join(""), why: "without its line ends" },
    { body: "name;id1;Rosa", why: "of a single plant, with semicolons" },
    { body: "name,tagRosa,wildSalix,wet", query: "?ids=content", why: "without ids" },
    { body: "Nr,Pflanze,Gruppe1,Rose,rot2,Tulpe,gelb", query: "?guess=true", why: "with other headings" },
    { body: '"id","name","tag""1","Rosa","wild""2","Salix","wet"', why: "with all cells in quotes" },
    { body: `id,name,tag${"1,Rosa canina,wild".repeat(10_000)}`, why: "of thousands of plants" },
    { body: LINES.slice(1).join(""), query: "?header=absent", why: "that begins with a plant" },
    { body: "Rosa,wildSalix,wet", query: "?header=absent&guess=true&ids=content", why: "that begins with a plant and has no ids" },
  ]) {
    it(`refuses a file ${why}, as no row is in it, and names --data-binary`, async () => {
      const response = await post(body, { ...CSV, query });
      expect(response.status).toBe(400);
      const { error, message } = (await expectConform(IMPORT, response)) as { error: number; message: string };
      expect(error).toBe(40008);
      expect(message).toContain("--data-binary");
    });
  }

  for (const { row, error, text, why } of [
    { row: "1", error: 40005, text: "`name`", why: "a row without the cell of its name" },
    { row: ",x", error: 40005, text: "`id`", why: "an empty id" },
    { row: "abc,x", error: 40005, text: "`id`", why: "an id that is a word" },
    { row: "1.5,x", error: 40005, text: "`id`", why: "an id with a fraction" },
    { row: "4.00638E+12,x", error: 40005, text: "as text", why: "an id that a spreadsheet has shortened" },
    { row: "9007199254740992.0,x", error: 40005, text: "as text", why: "an id that pandas has made a float" },
    { row: '" 4,00638e+012",x', error: 40005, text: "as text", why: "an id that a spreadsheet in German has shortened" },
    { row: "1.000,x", error: 40005, text: "separators of thousands", why: "an id that may be a thousand in German" },
    { row: "9223372036854775808,x", error: 40005, text: "`id`", why: "an id of 2^63" },
    { row: [0x31, 0x2c, 0xff], error: 40004, text: "Unicode", why: "a name that is not UTF-8" },
    { row: [0x31, 0x2c, 0x78, 0x2c, 0xc3], error: 40004, text: "Unicode", why: "a tag that is not UTF-8" },
    { row: '1,a"b', error: 40009, text: "quotes", why: "a quote in a cell without quotes" },
    { row: '1,"a"b', error: 40009, text: "quotes", why: "text after a quoted cell" },
    { row: '1,5" pot', error: 40009, text: "quotes", why: "inches" },
    { row: `1,${"x".repeat(70_000)}`, error: 41300, text: "65536", why: "a row of 70,000 bytes" },
    { row: `1,"${"x".repeat(100_000)}"`, error: 41300, text: "65536", why: "a quoted cell of 100,000 bytes" },
    { row: "1,a,x,more", error: 40009, text: "has 4 cells for 3 columns", why: "one cell too many" },
    { row: '1,"a', error: 40009, text: "is not closed", why: "a quote that is never closed" },
    { row: `1,"${"\n".repeat(140_000)}`, error: 40009, text: "is not closed", why: "a quote with more after it than a row may have" },
    { row: "5,another", error: 40900, text: "another plant", why: "a used id" },
  ] as const) {
    it(`refuses ${why} once, and accepts the rows around it`, async () => {
      const { summary, stored } = await storedFrom(bytesOf("id,name,tag\n5,before,\n", row, "\n6,behind,\n7,last,\n"), CSV);
      expect(stored).toBe('{"id":5,"name":"before"}\n{"id":6,"name":"behind"}\n{"id":7,"name":"last"}\n');
      expect(summary.problems.map((problem) => problem.error)).toEqual([error]);
      expect(summary.problems[0]!.message).toContain(text);
      expect(summary).toMatchObject({ read: 4, created: 3, refused: 1 });
    });
  }

  it("names the line on which a refused row begins", async () => {
    for (const end of ["\n", "\r\n", "\r"]) {
      const { summary } = await storedFrom('id,name\n1,"two\nlines"\n\nx,"two\nlines"\ny,one\n'.replaceAll("\n", end), CSV);
      expect(summary.problems.map(({ line }) => line)).toEqual([5, 7]);
    }
  });
});
