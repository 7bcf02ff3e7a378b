import { createHash } from "node:crypto";
import { afterAll, describe, expect, it } from "bun:test";
import { createClient } from "../../src/client/client.ts";
import { checkFile } from "../../web/import/check-file.ts";
import { openFile } from "../../web/import/open-file.ts";
import { expectConform } from "../support/conform.ts";
import { openSocket } from "../support/raw-http.ts";
import { startTestService } from "../support/service.ts";
import { bytesOf, clean, IMPORT, openTransfers } from "../support/transfers.ts";
import { until } from "../support/until.ts";

const service = await startTestService();
afterAll(() => service.stop());
const { post, importAll, storedFrom, exportAll } = openTransfers(service);

const CSV = { type: "text/csv" };

function utf16(text: string, { isBigEndian = false } = {}): Uint8Array {
  const bytes = Buffer.from(`\ufeff${text}`, "utf16le");
  return isBigEndian ? bytes.swap16() : bytes;
}

const WINDOWS: Readonly<Record<string, number>> = { "€": 0x80, "‚": 0x82, "„": 0x84, Œ: 0x8c, "‘": 0x91, "“": 0x93, "–": 0x96 };

function windows1252(text: string): Uint8Array {
  return Uint8Array.from(text, (letter) => WINDOWS[letter] ?? letter.charCodeAt(0));
}

function refusal(response: Response): Promise<{ error: number; message: string }> {
  return expectConform(IMPORT, response) as Promise<{ error: number; message: string }>;
}

describe("the encoding of an import", () => {
  const TABLE = "id;name;tag\r\n1;Bärlauch 🌿;Kräuter\r\n2;Ø;\r\n";
  const STORED = '{"id":1,"name":"Bärlauch 🌿","tag":"Kräuter"}\n{"id":2,"name":"Ø"}\n';

  for (const { encoding, isBigEndian } of [
    { encoding: "utf-16le", isBigEndian: false },
    { encoding: "utf-16be", isBigEndian: true },
  ] as const) {
    it(`may be ${encoding} with its mark, and the summary says so`, async () => {
      const { summary, stored } = await storedFrom(utf16(TABLE, { isBigEndian }), CSV);
      expect(stored).toBe(STORED);
      expect(summary).toEqual(clean({ read: 2, created: 2, encoding }));
      const ndjson = await storedFrom(utf16(STORED, { isBigEndian }), {});
      expect([ndjson.stored, ndjson.summary.encoding]).toEqual([STORED, encoding]);
    });
  }

  it("refuses the one row whose UTF-16 is half a pair, and reads on", async () => {
    for (const half of ["\ud83c", "\udf3f"]) {
      const { summary, stored } = await storedFrom(utf16(`id;name\n1;a${half}b\n2;🌿\n`), CSV);
      expect(summary.problems.map(({ line, error }) => [line, error])).toEqual([[2, 40004]]);
      expect(stored).toBe('{"id":2,"name":"🌿"}\n');
    }
  });

  it("loses no pair of UTF-16 that is cut between two pieces, and takes no half of a letter at the end", async () => {
    for (const start of ["", "x"]) {
      const name = start + "🌿".repeat(5000);
      expect((await storedFrom(utf16(`id;name\n1;${name}\n`), CSV)).stored).toBe(`{"id":1,"name":"${name}"}\n`);
    }
    const { summary, stored } = await storedFrom(utf16("id;name\n1;Acer\n2;Aloe").subarray(0, -1), CSV);
    expect(summary.problems.map(({ line, error }) => [line, error])).toEqual([[3, 40004]]);
    expect(stored).toBe('{"id":1,"name":"Acer"}\n');
  });

  it("is guessed as Windows-1252 if the first letter beyond ASCII is not UTF-8, and the summary says so", async () => {
    const table = windows1252("id;name;tag\r\n1;Bärlauch;3 €\r\n2;weiß–rosa\r\n");
    const { summary, stored } = await storedFrom(table, { ...CSV, query: "?guess=true" });
    expect(stored).toBe('{"id":1,"name":"Bärlauch","tag":"3 €"}\n{"id":2,"name":"weiß–rosa"}\n');
    expect(summary.encoding).toBe("windows-1252");
  });

  it("remains UTF-8 if the first letter beyond ASCII is: a later one that is not is refused with its line", async () => {
    const { summary, stored } = await storedFrom(bytesOf("id,name\n1,ä\n2,", [0xe4], "\n3,ö\n"), { ...CSV, query: "?guess=true" });
    expect(summary.encoding).toBeUndefined();
    expect(summary.problems).toMatchObject([{ line: 3, error: 40004 }]);
    expect(stored).toBe('{"id":1,"name":"ä"}\n{"id":3,"name":"ö"}\n');
  });

  const BROKEN = bytesOf("id,name\n1,Alpha\n2,Ros", [0xc3], "\n3,Rosé\n4,植物\n5,Bärlauch\n");
  const CUT = bytesOf("id,name\n2,", [0xe6, 0xa4, 0x8d, 0xe7], "\n3,Rosé\n4,植物\n5,Bärlauch\n");
  const REST = '{"id":3,"name":"Rosé"}\n{"id":4,"name":"植物"}\n{"id":5,"name":"Bärlauch"}\n';

  it("is UTF-8 if its mark says so, whatever a cell or the sender says", async () => {
    for (const query of ["?guess=true", "?encoding=windows-1252", "?guess=true&ids=content"]) {
      const { summary, stored } = await storedFrom(Buffer.concat([bytesOf("\ufeff"), BROKEN]), { ...CSV, query });
      expect(stored).toBe(`{"id":1,"name":"Alpha"}\n${REST}`);
      expect(summary.problems).toMatchObject([{ line: 3, error: 40004 }]);
      expect(summary.encoding).toBeUndefined();
    }
  });

  it("that one broken cell makes Windows-1252 turns no other cell into other letters: each is refused", async () => {
    for (const query of ["?guess=true", "?encoding=windows-1252"]) {
      const { summary, stored } = await storedFrom(BROKEN, { ...CSV, query });
      expect(stored).toBe('{"id":1,"name":"Alpha"}\n{"id":2,"name":"RosÃ"}\n');
      expect(summary.problems.map(({ line, error }) => [line, error])).toEqual([4, 5, 6].map((line) => [line, 40004]));
    }
    const beside = bytesOf("name,place\nAlpha,Ros", [0xc3], "\nRosé,\n植物,x\n");
    const { summary } = await storedFrom(beside, { ...CSV, query: "?guess=true&ids=content" });
    expect(summary.problems.map(({ line, error }) => [line, error])).toEqual([3, 4].map((line) => [line, 40004]));
  });

  it("is not Windows-1252 for a cell with bytes that this does not have", async () => {
    const { summary, stored } = await storedFrom(CUT, { ...CSV, query: "?guess=true" });
    expect(stored).toBe(REST);
    expect(summary.problems).toMatchObject([{ line: 2, error: 40004 }]);
    const said = await storedFrom(bytesOf("id,name\n1,a", [0x9d, 0xe9], "\n2,", [0xe9], "\n"), { ...CSV, query: "?encoding=windows-1252" });
    expect([said.stored, said.summary.refused]).toEqual(['{"id":2,"name":"é"}\n', 1]);
  });

  for (const { what, name, short } of [
    { what: "Windows-1251, as in Russia", name: "d0eee7e0", short: "c4f3e1" },
    { what: "Windows-1253, as in Greece", name: "d1fce4ef", short: "c5ebdc" },
    { what: "GB 18030, as in China", name: "d2f8d0d3", short: "d2f8" },
    { what: "Shift-JIS, as in Japan", name: "8df7", short: "b7ab" },
    { what: "that of old Macs", name: "4d9f6c6c6572", short: "e4" },
    { what: "that of DOS", name: "42846c", short: "e1" },
  ]) {
    it(`is a third one in a cell of letters that no word of Windows-1252 has, and later cells are refused too: ${what}`, async () => {
      const bytes = (hex: string) => [...Buffer.from(hex, "hex")];
      const table = bytesOf("id,name\n1,Acer\n2,", bytes(name), "\n3,", bytes(short), "\n4,Rosa\n");
      const { summary, stored } = await storedFrom(table, { ...CSV, query: "?guess=true" });
      expect(stored).toBe('{"id":1,"name":"Acer"}\n{"id":4,"name":"Rosa"}\n');
      expect(summary.problems.map(({ line, error }) => [line, error])).toEqual([3, 4].map((line) => [line, 40004]));
      expect(summary.problems[1]?.message).toContain("neither UTF-8 nor Windows-1252, or is behind such a row: save the file as UTF-8");
      expect(summary.encoding).toBeUndefined();
    });
  }

  it("is Windows-1252 in words of its languages with many accents, in quotes without a space, and in signs", async () => {
    const words = ["bláæðótt", "Björk", "jäääär", "húðæðrar", "Rosa„rot“", "Rosa‚pink‘", "CŒur", "××××", "weiß–rosa", "Œillet", "Süß"];
    const table = windows1252(`id,name\n${words.map((word, at) => `${at},${word}\n`).join("")}`);
    const { summary, stored } = await storedFrom(table, { ...CSV, query: "?guess=true" });
    expect(stored).toBe(words.map((name, id) => `${JSON.stringify({ id, name })}\n`).join(""));
    expect(summary).toMatchObject({ refused: 0, encoding: "windows-1252" });
  });

  it("is what the sender says, though its letters look like another", async () => {
    const { stored } = await storedFrom(bytesOf("id,name\n1,", [0xd0, 0xee, 0xe7, 0xe0], "\n"), {
      ...CSV,
      query: "?encoding=windows-1252",
    });
    expect(stored).toBe('{"id":1,"name":"Ðîçà"}\n');
  });

  it("is not guessed unless asked, and may be said", async () => {
    const table = windows1252("id,name\n1,ä\n");
    expect((await storedFrom(table, CSV)).summary).toMatchObject({ refused: 1 });
    expect((await storedFrom(table, { ...CSV, query: "?encoding=windows-1252" })).stored).toBe('{"id":1,"name":"ä"}\n');
    expect((await storedFrom(table, { ...CSV, query: "?guess=true&encoding=utf-8" })).summary).toMatchObject({ refused: 1 });
  });
});

describe("the separator of an import", () => {
  for (const { head, why } of [
    { head: '"Name, botanisch, ganz, genau";"id";name', why: "commas in quotes do not count" },
    { head: "sep=;\r\nid;name", why: "a line of Excel names it" },
    { head: '"sep=;"\nid;name,a,b,c', why: "that line decides" },
    { head: "\r\n\r\nid;name", why: "empty lines come first" },
  ]) {
    it(`is found: ${why}`, async () => {
      const cells = head.includes("botanisch") ? "x;1;Acer" : "1;Acer";
      const query = head.includes("a,b,c") ? "?nameColumn=column 2" : "";
      const { stored } = await storedFrom(`${head}\n${cells}\n`, { ...CSV, query });
      expect(stored).toBe('{"id":1,"name":"Acer"}\n');
    });
  }
});

describe("the columns of an import", () => {
  for (const { header, columns } of [
    { header: "Nr.;Botanischer Name;Kategorie", columns: { id: "Nr.", name: "Botanischer Name", tag: "Kategorie" } },
    { header: "N°;Nom de la plante;Famille", columns: { id: "N°", name: "Nom de la plante", tag: "Famille" } },
    { header: "Número;Nombre científico;Familia", columns: { id: "Número", name: "Nombre científico", tag: "Familia" } },
    { header: "gbifID;species;family", columns: { id: "gbifID", name: "species", tag: "family" } },
    { header: "Catalog number;Scientific name;Tags", columns: { id: "Catalog number", name: "Scientific name", tag: "Tags" } },
    { header: "taxonID;scientificName;tag", columns: { id: "taxonID", name: "scientificName", tag: "tag" } },
    { header: "番号;植物名;分类", columns: { id: "番号", name: "植物名", tag: "分类" } },
    { header: "номер;название;группа", columns: { id: "номер", name: "название", tag: "группа" } },
    { header: "番号;名前;分類", columns: { id: "番号", name: "名前", tag: "分類" } },
    { header: "Id.;Name:;(Tag)", columns: { id: "Id.", name: "Name:", tag: "(Tag)" } },
    { header: "#;Plant;Group", columns: { id: "#", name: "Plant", tag: "Group" } },
    { header: "ID;PLANT_NAME;Tags", columns: { id: "ID", name: "PLANT_NAME", tag: "Tags" } },
  ]) {
    it(`are guessed: ${header}`, async () => {
      const { summary, stored } = await storedFrom(`${header};Ort\n7;Acer;tree;Jena\n`, { ...CSV, query: "?guess=true" });
      expect(stored).toBe('{"id":7,"name":"Acer","tag":"tree"}\n');
      expect(summary).toEqual(clean({ read: 1, created: 1, unusedColumns: ["Ort"], columns }));
    });
  }

  it("are guessed to be the first of one name, and none that was chosen for something else", async () => {
    const { stored } = await storedFrom("Nr,Plant,plant\n1,Acer,x\n", { ...CSV, query: "?guess=true" });
    expect(stored).toBe('{"id":1,"name":"Acer"}\n');
    const chosen = await storedFrom("Nr,Plant,Art\n1,tree,Acer\n", { ...CSV, query: "?guess=true&tagColumn=Plant" });
    expect(chosen.stored).toBe('{"id":1,"name":"Acer","tag":"tree"}\n');
  });

  it("that we know count more than a guess", async () => {
    const { stored } = await storedFrom("Nr,id,Species,name\n1,2,x,Acer\n", { ...CSV, query: "?guess=true" });
    expect(stored).toBe('{"id":2,"name":"Acer"}\n');
  });

  it("that is only `#` counts less than another number, so it may be the number of the row", async () => {
    const { stored } = await storedFrom("#,Nr.,name,-\n1,7,Acer,x\n", { ...CSV, query: "?guess=true" });
    expect(stored).toBe('{"id":7,"name":"Acer"}\n');
  });

  it("of GBIF that is its own number counts more than that of the collection, but not more than `id`", async () => {
    const guessed = { ...CSV, query: "?guess=true" };
    const { summary, stored } = await storedFrom("catalogNumber,gbifID,scientificName\nHERB-123,4711,Acer\n", guessed);
    expect([stored, summary.unusedColumns]).toEqual(['{"id":4711,"name":"Acer"}\n', ["catalogNumber"]]);
    expect((await storedFrom("gbifID,id,name\n4711,2,Acer\n", guessed)).stored).toBe('{"id":2,"name":"Acer"}\n');
    // Who does not let us guess gets what it always got.
    expect((await storedFrom("gbifID,catalogNumber,name\n4711,3,Acer\n", CSV)).stored).toBe('{"id":3,"name":"Acer"}\n');
  });

  it("are chosen by name or position, or left out", async () => {
    const table = "id,name,tag,,tag\n1,a,b,c,d\n";
    const query = "?idColumn=%20ID&nameColumn=column%204&tagColumn=column%205";
    const { summary, stored } = await storedFrom(table, { ...CSV, query });
    expect(stored).toBe('{"id":1,"name":"c","tag":"d"}\n');
    expect([summary.columns, summary.unusedColumns]).toEqual([{ id: "id", name: "column 4", tag: "tag" }, ["name", "tag"]]);
    expect((await storedFrom(table, { ...CSV, query: "?tagColumn=" })).stored).toBe('{"id":1,"name":"a"}\n');
  });

  for (const query of ["?nameColumn=Other", "?nameColumn=column 9", "?nameColumn=", "?idColumn="]) {
    it(`that are not there are refused: ${query}`, async () => {
      expect((await refusal(await post("id,name\n1,a\n", { ...CSV, query }))).error).toBe(40008);
    });
  }

  it("are for CSV only, and ids come from one place only", async () => {
    for (const query of [
      "?header=absent",
      "?guess=true",
      "?ids=content",
      "?firstId=1",
      "?nameColumn=x",
      "?dropEmptyTags=true",
      "?encoding=utf-8",
    ]) {
      expect((await refusal(await post('{"id":1,"name":"a"}\n', { query }))).error).toBe(40006);
    }
    expect((await refusal(await post("name\na\n", { ...CSV, query: "?ids=content&firstId=1" }))).error).toBe(40006);
  });

  it("of tags may hold quoted empty cells that mean none", async () => {
    const { stored } = await storedFrom('id,name,tag\n1,a,""\n2,b,x\n', { ...CSV, query: "?dropEmptyTags=true" });
    expect(stored).toBe('{"id":1,"name":"a"}\n{"id":2,"name":"b","tag":"x"}\n');
  });
});

describe("a file whose first line is a plant", () => {
  const TABLE = "1,Acer,tree\n2,Rosa\n";
  const STORED = '{"id":1,"name":"Acer","tag":"tree"}\n{"id":2,"name":"Rosa"}\n';
  const absent = { ...CSV, query: "?header=absent" };

  it("has the id, name and tag in this order, and the summary says so", async () => {
    const { summary, stored } = await storedFrom(TABLE, absent);
    expect(stored).toBe(STORED);
    expect(summary).toEqual(clean({ read: 2, created: 2, columns: { id: "column 1", name: "column 2", tag: "column 3" } }));
  });

  it("may be said in the media type too", async () => {
    for (const type of ["text/csv; header=absent", 'Text/CSV;charset=utf-8;Header="absent"']) {
      expect((await storedFrom(TABLE, { type })).stored).toBe(STORED);
    }
    expect((await refusal(await post(TABLE, { type: "text/csv; header=present" }))).error).toBe(40008);
  });

  it("may have its columns elsewhere: the others keep their order", async () => {
    for (const { table, query } of [
      { table: "tree,Acer,1\n,Rosa,2\n", query: "&idColumn=column 3&tagColumn=column 1" },
      { table: "1,x,Acer,tree\n2,x,Rosa,\n", query: "&nameColumn=column 3&tagColumn=column 4" },
    ]) {
      expect((await storedFrom(table, { ...CSV, query: `?header=absent${query}` })).stored).toBe(STORED);
    }
    const { stored } = await storedFrom("Acer,tree\nRosa\n", { ...CSV, query: "?header=absent&idColumn=&firstId=1" });
    expect(stored).toBe(STORED);
  });

  it("has a column for each field even where its first row ends before, also without one of the fields", async () => {
    const rows = "1,Acer\n2,Rosa,tree\n";
    const query = "?header=absent&idColumn=&nameColumn=column 2&tagColumn=column 3&firstId=8";
    const { summary, stored } = await storedFrom(rows, { ...CSV, query });
    expect(stored).toBe('{"id":8,"name":"Acer"}\n{"id":9,"name":"Rosa","tag":"tree"}\n');
    expect(summary.unusedColumns).toEqual(["column 1"]);
    expect((await refusal(await post(rows, { ...CSV, query: "?header=absent&tagColumn=column 4" }))).error).toBe(40008);
  });

  it("is guessed to have no ids if its first cell is none, and then needs ids that are made", async () => {
    const { summary, stored } = await storedFrom("Acer,tree\nRosa\n", { ...CSV, query: "?header=absent&guess=true&firstId=1" });
    expect([stored, summary.columns, summary.unusedColumns]).toEqual([STORED, { name: "column 1", tag: "column 2" }, []]);
    expect((await storedFrom(",Acer,tree\n2,Rosa\n", { ...CSV, query: "?header=absent&guess=true&firstId=1" })).stored).toBe(STORED);
    expect((await refusal(await post("Acer,tree\n", { ...CSV, query: "?header=absent&guess=true" }))).message).toContain("ids=content");
    // A spreadsheet has shortened an id: the row gets no other.
    const shortened = { ...CSV, query: "?header=absent&guess=true&ids=content" };
    expect((await storedFrom("4.00638E+12,Acer\n", shortened)).summary).toMatchObject({ created: 0, refused: 1 });
  });

  it("gets the ids from its content that it would get with a line of names", async () => {
    const rows = "Acer,tree\nRosa,\n";
    const named = await storedFrom(`name,tag\n${rows}`, { ...CSV, query: "?ids=content" });
    expect((await storedFrom(rows, { ...CSV, query: "?header=absent&idColumn=&ids=content" })).stored).toBe(named.stored);
  });

  it("loses no row to a first line that is none, or is faulty, or to one with more cells than the first", async () => {
    expect((await storedFrom(`sep=,\n${TABLE}`, absent)).stored).toBe(STORED);
    const { summary } = await storedFrom(`3,"a" b\n4,"open\n${TABLE}5,Tilia,tree,lawn\n`, absent);
    expect(summary.problems.map(({ line, error }) => [line, error])).toEqual([1, 2, 5].map((line) => [line, 40009]));
    expect(summary).toMatchObject({ read: 5, created: 2, unusedColumns: [] });
    expect(await importAll("\n\n", absent)).toMatchObject({ read: 0 });
  });

  it("names the columns that are not imported by their positions", async () => {
    const { summary } = await storedFrom("1,Acer,tree,Jena,\n2,Rosa,,,3\n", absent);
    expect(summary.unusedColumns).toEqual(["column 4"]);
    expect(summary.problems).toMatchObject([{ line: 2, error: 40009 }]);
  });
});

describe("a file without ids", () => {
  const TABLE = "name;Beet\nRosa 'Peace';3\nBärlauch;4\nRosa 'Peace';5\nBärlauch;4\n";

  it("gets ids from the content of its rows: the same again for the same rows, in any order and encoding", async () => {
    const own = { ...CSV, query: "?ids=content" };
    expect(await importAll(TABLE, own)).toMatchObject({ read: 4, created: 3, unchanged: 1, refused: 0, unusedColumns: ["Beet"] });
    const stored = await exportAll();
    const digest = createHash("sha256").update("Bärlauch\x1f4").digest().readBigUInt64BE(0);
    expect(stored).toContain(`{"id":${(digest % 999_999_999_999_999n) + 1n},"name":"Bärlauch"}`);
    const [head, ...rows] = TABLE.trimEnd().split("\n");
    const turned = windows1252([head, ...rows.toReversed()].map((row) => `${row};;`).join("\r\n"));
    expect(await importAll(turned, { ...CSV, query: "?ids=content&encoding=windows-1252" })).toMatchObject({ read: 4, unchanged: 4 });
    // A row that changes is another plant.
    expect(await importAll(TABLE.replace(";5", ";6"), own)).toMatchObject({ created: 1, unchanged: 3 });
    expect((await exportAll()).split("\n")).toHaveLength(5);
    await Promise.all(
      Array.from((await exportAll()).matchAll(/"id":(\d+)/g), ([, id]) => service.request(`/plants/${id}`, { method: "DELETE" })),
    );
  });

  it("replaces no other plant by an id made from content: such a row is refused, others of the file replace", async () => {
    const digest = createHash("sha256").update("\x1fBärlauch").digest().readBigUInt64BE(0);
    const taken = `{"id":${(digest % 999_999_999_999_999n) + 1n},"name":"Ginkgo"}\n`;
    await importAll(`{"id":1,"name":"a"}\n${taken}`);
    const table = "id,name\n,Rose\n,Bärlauch\n1,b\n,Rose\n2,c\n";
    for (const dryRun of [true, false]) {
      const query = `?ids=content&onConflict=replace&dryRun=${dryRun}`;
      const { summary, stored } = dryRun
        ? { summary: await importAll(table, { ...CSV, query }), stored: taken }
        : await storedFrom(table, { ...CSV, query });
      expect(summary).toMatchObject({ read: 5, created: 2, unchanged: 1, replaced: 1, refused: 1 });
      expect(summary.problems).toMatchObject([{ line: 3, error: 40900 }]);
      expect(stored).toContain(taken);
      if (dryRun) expect(summary.outcomes).toEqual(["created", "refused", "replaced", "unchanged", "created"]);
    }
  });

  it("can be numbered: a refused row has its number too, and a row with an id keeps it", async () => {
    const table = 'id,name\n,a\n,"b" c\n9,d\n"",e\n,f,g,h\n,i\n';
    const { summary, stored } = await storedFrom(table, { ...CSV, query: "?firstId=9007199254740993" });
    const ids = Array.from(stored.matchAll(/"id":(\d+),"name":"(\w)"/g), ([, id, name]) => `${name}${id}`);
    expect(ids).toEqual(["d9", "a9007199254740993", "e9007199254740996", "i9007199254740998"]);
    expect(summary).toMatchObject({ read: 6, created: 4, refused: 2 });
  });

  it("refuses numbers beyond int64 row by row", async () => {
    const { summary } = await storedFrom("name\na\nb\n", { ...CSV, query: "?firstId=9223372036854775807" });
    expect(summary).toMatchObject({ read: 2, created: 1, refused: 1 });
    expect(summary.problems).toMatchObject([{ line: 3, error: 40005 }]);
  });
});

describe("an import of gzip", () => {
  const packed = { ...CSV, headers: { "content-encoding": "gzip" } };

  it("is unpacked, also in several parts", async () => {
    const one = Bun.gzipSync(Buffer.from("id,name\n1,a\n"));
    const two = Bun.gzipSync(Buffer.from("2,b\n"));
    expect((await storedFrom(Buffer.concat([one, two]), packed)).stored).toBe('{"id":1,"name":"a"}\n{"id":2,"name":"b"}\n');
    const x = { ...packed, headers: { "content-encoding": "X-GZIP" } };
    expect((await storedFrom(one, x)).stored).toBe('{"id":1,"name":"a"}\n');
  });

  const PACKED = Bun.gzipSync(Buffer.from("id,name\n1,a\n"));
  for (const { zeros, behind, why } of [
    { zeros: 1, behind: "", why: "a zero" },
    { zeros: 512, behind: "", why: "a block of zeros, as tapes have it" },
    { zeros: 100_000, behind: "", why: "many zeros" },
    { zeros: 10, behind: "x", why: "something else behind zeros" },
    { zeros: 10, behind: PACKED, why: "a member behind zeros, which gzip ignores" },
    { zeros: 100_000, behind: "x", why: "something else behind many zeros" },
  ]) {
    it(`may have zeros behind it, and nothing else: ${why}`, async () => {
      const member = Bun.gzipSync(Buffer.from("2,b\n"));
      for (const members of [[PACKED], [PACKED, member]]) {
        const body = Buffer.concat([...members, new Uint8Array(zeros), Buffer.from(behind)]);
        const { error, read } = (await (await post(body, { ...packed, query: "?dryRun=true" })).json()) as {
          error?: number;
          read?: number;
        };
        expect([error, read]).toEqual(behind === "" ? [undefined, members.length] : [40014, undefined]);
        const { signal } = new AbortController();
        const page = await openFile(new File([body], "a.csv.gz")).catch((thrown: unknown) => thrown);
        expect(page).toMatchObject(behind === "" ? { format: "csv" } : { code: "malformed_gzip" });
        if (behind === "") expect(await checkFile((page as { file: File }).file, { signal, format: "csv" })).toMatchObject({ rows: read });
      }
    });
  }

  it("comes from the client as it is, as a file, a Blob or bytes", async () => {
    const client = createClient({ url: service.url, token: service.token });
    const rows = Bun.gzipSync(Buffer.from("id,name\n-71,Packed\n"));
    const lines = Bun.gzipSync(Buffer.from('{"id":-72,"name":"Packed"}\n'));
    expect(await client.importPlants(new File([rows], "a.csv.gz"))).toMatchObject({ read: 1, created: 1 });
    expect(await client.importPlants(new File([lines], "a.ndjson.gz"))).toMatchObject({ read: 1, created: 1 });
    expect(await client.importPlants(new Blob([rows]), { format: "csv" })).toMatchObject({ read: 1, unchanged: 1 });
    expect(await client.importPlants(lines, { format: "ndjson" })).toMatchObject({ read: 1, unchanged: 1 });
    await Promise.all([-71n, -72n].map((id) => client.remove(id)));
  });

  it("refuses what is no gzip, or not all of it, after storing what came before", async () => {
    const own = await startTestService();
    const whole = Bun.gzipSync(Buffer.from(`id,name\n${Array.from({ length: 20_000 }, (_, at) => `${at},plant ${at * 7919}\n`).join("")}`));
    for (const body of [bytesOf("id,name\n1,a\n"), whole.subarray(0, 5), whole.subarray(0, -9)]) {
      expect((await refusal(await post(body, { ...packed, on: own }))).error).toBe(40014);
    }
    const stored = (await exportAll({ on: own })).split("\n").length - 1;
    expect([stored > 0, stored % 2000]).toEqual([true, 0]);
    await own.stop();
  });

  it("refuses what grows to more than 250 times its size, in little memory", async () => {
    const bomb = Bun.gzipSync(Buffer.from(`id,name\n${"\n".repeat(100_000_000)}`));
    const before = process.memoryUsage().rss;
    const { error, message } = await refusal(await post(bomb, packed));
    expect(error).toBe(41300);
    expect(message).toContain("250 times");
    expect(process.memoryUsage().rss - before).toBeLessThan(60_000_000);
  });

  for (const { what, type, head, line } of [
    { what: "lines that are no JSON", type: "application/x-ndjson", head: "", line: "x\n" },
    { what: "rows without an id", type: "text/csv", head: "id,name\n", line: ",\r" },
    { what: "rows that are all the same", type: "text/csv", head: "id,name\r\n", line: "1\r\n" },
  ]) {
    it(`refuses more than 4 lines for each byte, and reads few of them: ${what}`, async () => {
      const own = await startTestService();
      const bomb = Bun.gzipSync(Buffer.from(head + line.repeat(3_000_000)), { level: 9 });
      const { error, message } = await refusal(await post(bomb, { ...packed, type, on: own }));
      expect([error, message]).toEqual([41300, expect.stringContaining("4 lines for each of its bytes")]);
      const ended = own.logged.map((text) => JSON.parse(text)).find(({ event }) => event === "import_ended");
      expect(ended.read).toBeLessThan(110_000);
      await own.stop();
    });
  }

  it("may have any number of lines where they differ, and 100,000 that do not", async () => {
    const rows = Array.from({ length: 150_000 }, (_, at) => `${at},a\n`).join("");
    for (const [table, read] of [
      [`id,name\n${rows}`, 150_000],
      [`id,name\n${"1,a\n".repeat(99_999)}`, 99_999],
    ] as const) {
      const response = await post(Bun.gzipSync(Buffer.from(table), { level: 9 }), { ...packed, query: "?dryRun=true" });
      expect(await response.json()).toMatchObject({ read, refused: 0 });
    }
  });

  for (const [encoding, swap] of [
    ["UTF-16LE", (bytes: Buffer<ArrayBuffer>) => bytes],
    ["UTF-16BE", (bytes: Buffer<ArrayBuffer>) => Buffer.from(bytes).swap16()],
  ] as const) {
    it(`refuses more than 4 lines for each byte of ${encoding}, and takes no letter for the end of a line`, async () => {
      const pack = (text: string) => Bun.gzipSync(swap(Buffer.from(`\ufeffid,name\n${text}`, "utf16le")), { level: 9 });
      const { message } = await refusal(await post(pack("1\n".repeat(3_000_000)), packed));
      expect(message).toContain("4 lines for each of its bytes");
      // In each unit of these, one byte is that of LF or of CR.
      const rows = Array.from({ length: 10_000 }, (_, at) => `${at},${"ગુલાબ ബ".repeat(4)}\n`).join("");
      const response = await post(pack(rows), { ...packed, query: "?dryRun=true" });
      expect(await response.json()).toMatchObject({ read: 10_000, refused: 0 });
    });
  }

  it("ends with its connection", async () => {
    const whole = Bun.gzipSync(Buffer.from("id,name\n1,a\n"));
    const socket = await openSocket(service.url);
    const head = `POST /plants/import HTTP/1.1\r\nHost: plants\r\nAuthorization: Bearer ${service.token}\r\n`;
    socket.write(`${head}Content-Type: text/csv\r\nContent-Encoding: gzip\r\nContent-Length: 1000\r\n\r\n`);
    socket.write(whole.subarray(0, 8));
    await Bun.sleep(300);
    const before = service.logged.length;
    socket.destroy();
    await until("The log has its end", () => service.logged.slice(before).some((line) => line.includes('"outcome":"incomplete_body"')));
    expect(service.logged.join("")).not.toContain("unexpected_error");
  });
});

describe("a quoted cell of an import", () => {
  for (const { table, query = "", names, why } of [
    { table: 'id,name,tag\n9,"list:\n5,Evil,tree\nend",x\n', names: ["list:\n5,Evil,tree\nend"], why: "a row with an id" },
    { table: 'id,name,tag\r\n9,"a\r\n5,Evil,tree\r\n",x\r\n', names: ["a\r\n5,Evil,tree\r\n"], why: "one that ends in CRLF" },
    { table: 'id,name\n9,"\n5,""Evil""\n6,"\n', names: ['\n5,"Evil"\n6,'], why: "one with quotes" },
    { table: 'id,name,note\n9,a,"x\n5,Evil,tree\n7,b,"\n', names: ["a"], why: "rows, in a column that is not imported" },
    { table: 'id;name\n9;"a\n5;Evil\nb"\n', names: ["a\n5;Evil\nb"], why: "rows with another separator" },
    {
      table: 'name,tag\n"Rose\nEvil,red\nTulip,yellow",x\n',
      query: "&ids=content",
      names: ["Rose\nEvil,red\nTulip,yellow"],
      why: "rows without ids",
    },
    { table: '9,"a\n5,Evil\nb"\n', query: "&header=absent", names: ["a\n5,Evil\nb"], why: "rows, in a file without a heading" },
    { table: 'id,name,tag\n1,"Rose,red\n2,Tulip",yellow\n', names: ["Rose,red\n2,Tulip"], why: "what two odd quotes hold" },
    { table: 'id,name,tag\n9,"list:\n5,Evil,tree\nend",x,more\n', names: [], why: "a row, beside too many cells" },
    { table: 'id,name\n"9\n5,Evil\n",x\n', names: [], why: "a row, in the place of the id" },
    { table: 'id,name\n"9\n",x\n', names: [], why: "an id and a line end, which are no id" },
  ]) {
    it(`is one cell, whatever is in it: ${why}`, async () => {
      const { summary, stored } = await storedFrom(table, { ...CSV, query: `?onConflict=replace${query}` });
      expect(Array.from(stored.matchAll(/"name":("(?:[^"\\]|\\.)*")/g), ([, name]) => JSON.parse(name!) as string)).toEqual(names);
      expect([summary.read, summary.refused]).toEqual([1, 1 - names.length]);
    });
  }

  for (const { table, refused, why } of [
    { table: 'id,name\n1,"a\n2,b\n3,c" d\n4,e\n', refused: [2, 4], why: "text behind its quote, some lines further down" },
    { table: 'id,name\n1,"a\n2,b\n4,e\n', refused: [2], why: "a quote that is open at the end of the file" },
    { table: `id,name\n1,"a\n2,b\n${"\n".repeat(140_000)}4,e"\n`, refused: [2, 140_004], why: "a quote that is open past the largest row" },
  ]) {
    it(`that is not well formed takes its own line only: ${why}`, async () => {
      const { summary, stored } = await storedFrom(table, CSV);
      expect(stored).toContain('{"id":2,"name":"b"}\n');
      expect(summary.problems.map(({ line, error }) => [line, error])).toEqual(refused.map((line) => [line, 40009]));
    });
  }
});
