import { createHash } from "node:crypto";
import { afterAll, describe, expect, it } from "bun:test";
import type { ImportSummary } from "../../src/files/import.ts";
import { expectConform } from "../support/conform.ts";
import { startTestService } from "../support/service.ts";
import { bytesOf, clean, IMPORT, openTransfers } from "../support/transfers.ts";

const service = await startTestService();
afterAll(() => service.stop());
const { post, importAll, storedFrom, exportAll } = openTransfers(service);

const CSV = { type: "text/csv" };

type Refusal = Readonly<{ error: number; message: string }>;

/** Why, a file and how it is to be read, the plants that it gives, as "id,name,tag|…", and the lines that are refused. */
type Reading = readonly [why: string, file: string | Uint8Array, query: string, plants: string, refused?: readonly number[]];

function toNdjson(plants: string): string {
  const lines = plants.split("|").map((plant) => {
    const [id, name, tag] = plant.split(",");
    return `{"id":${id},${JSON.stringify({ name, tag }).slice(1)}\n`;
  });
  return plants === "" ? "" : lines.join("");
}

/** Each refused line has this error. */
function testReadings(error: number, readings: readonly Reading[]): void {
  for (const [why, file, query, plants, refused = []] of readings)
    it(`${why}${query && ` (${query})`}`, async () => {
      const { summary, stored } = await storedFrom(file, { ...CSV, query });
      expect(stored).toBe(toNdjson(plants));
      expect(summary.problems.map((problem) => [problem.line, problem.error])).toEqual(refused.map((line) => [line, error]));
    });
}

/** More of the summary, which is tested of a file that the tables have too. */
async function summaryOf(file: string | Uint8Array, query: string): Promise<ImportSummary> {
  return importAll(file, { ...CSV, query: `${query === "" ? "?" : `${query}&`}dryRun=true` });
}

async function refusal(response: Response): Promise<Refusal> {
  return (await expectConform(IMPORT, response)) as Refusal;
}

function utf16(text: string, { isBigEndian = false } = {}): Uint8Array {
  const bytes = Buffer.from(`\ufeff${text}`, "utf16le");
  return isBigEndian ? bytes.swap16() : bytes;
}

const WINDOWS: Readonly<Record<string, number>> = { "€": 0x80, "‚": 0x82, "„": 0x84, Œ: 0x8c, "‘": 0x91, "’": 0x92, "“": 0x93, "–": 0x96 };

function windows1252(text: string): Uint8Array {
  return Uint8Array.from(text, (letter) => WINDOWS[letter] ?? letter.charCodeAt(0));
}

describe("the encoding of an import", () => {
  const GUESS = "?guess=true";
  const SAID = "?encoding=windows-1252";
  const TABLE = "id;name;tag\r\n1;Bärlauch 🌿;Kräuter\r\n2;Ø;\r\n";
  const PLANTS = "1,Bärlauch 🌿,Kräuter|2,Ø";
  const BROKEN = bytesOf("id,name\n1,Alpha\n2,Ros", [0xc3], "\n3,Rosé\n4,植物\n5,Bärlauch\n");
  const MARKED = Buffer.concat([bytesOf("\ufeff"), BROKEN]);
  const REST = "3,Rosé|4,植物|5,Bärlauch";
  const GERMAN = windows1252("id;name;tag\r\n1;Bärlauch;3 €\r\n2;Süß\r\n");
  const HOLES = bytesOf("id,name\n1,a", [0x9d, 0xe9], "\n2,", [0xe9], "\n");
  const WORDS = ["Fougère mâle", "Rosa „rot“", "Rosa ‘Peace’", "Salix × fragilis", "Œillet", "Süß"];
  const ACCENTS = windows1252(`id,name\n${WORDS.map((word, at) => `${at},${word}\n`).join("")}`);
  const RARELY = Buffer.concat([
    bytesOf("id,name\n1,Ros", [0xc3], "\n"),
    bytesOf(Array.from({ length: 12 }, (_, at) => `${at + 2},植物\n`).join("")),
  ]);

  testReadings(40004, [
    ["may be UTF-16 with its mark", utf16(TABLE), "", PLANTS],
    ["may be UTF-16 in the other order", utf16(TABLE, { isBigEndian: true }), "", PLANTS],
    ["refuses the one row with the first half of a pair", utf16("id;name\n1;a\ud83cb\n2;🌿\n"), "", "2,🌿", [2]],
    ["is guessed as Windows-1252 if the first letter beyond ASCII is not UTF-8", GERMAN, GUESS, "1,Bärlauch,3 €|2,Süß"],
    ["is UTF-8 if its mark says so", MARKED, GUESS, `1,Alpha|${REST}`, [3]],
    ["that is said turns no cell into other letters", BROKEN, SAID, "1,Alpha|2,RosÃ", [4, 5, 6]],
    ["is UTF-8 if a few of many letters are broken", RARELY, GUESS, Array.from({ length: 12 }, (_, at) => `${at + 2},植物`).join("|"), [2]],
    ["refuses such bytes, whatever the sender says", HOLES, SAID, "2,é", [2]],
    ["is Windows-1252 in words with accents, in quotes and in signs", ACCENTS, GUESS, WORDS.map((word, at) => `${at},${word}`).join("|")],
    ["is what the sender says", bytesOf("id,name\n1,", [0xd0, 0xee, 0xe7, 0xe0], "\n"), SAID, "1,Ðîçà"],
    ["is not guessed unless asked", windows1252("id,name\n1,ä\n"), "", "", [2]],
  ]);

  it("is in the summary if it is not UTF-8", async () => {
    for (const [file, query, encoding] of [
      [utf16(TABLE), "", "utf-16le"],
      [utf16(TABLE, { isBigEndian: true }), "", "utf-16be"],
      [GERMAN, GUESS, "windows-1252"],
      [RARELY, GUESS, undefined],
    ] as const)
      expect((await summaryOf(file, query)).encoding).toBe(encoding);
    const { stored, summary } = await storedFrom(utf16(toNdjson(PLANTS)), {});
    expect([stored, summary.encoding]).toEqual([toNdjson(PLANTS), "utf-16le"]);
  });

  for (const [encoding, hex, name] of [
    ["windows-1251", "d0eee7e020f1eee1e0f7fcff", "Роза собачья"],
    ["windows-1253", "d1fce4ef20f4efeddeedf4e9ef", "Ρόδο τονήντιο"],
    ["shift_jis", "8384837d8355834e8389", "ヤマザクラ"],
    ["windows-1250", "8a65f8ed6b206f6265636efd", "Šeřík obecný"],
    ["euc-kr", "c0bac7e0b3aab9ab", "은행나무"],
  ] as const)
    it(`is asked for where the letters may be of several, nothing is stored before, and then they are right: ${encoding}`, async () => {
      const file = bytesOf("id,name\n1,Acer\n2,", [...Buffer.from(hex, "hex")], "\n");
      const own = await startTestService();
      for (const query of [GUESS, "?reading={}"]) {
        const { error, message } = await refusal(await post(file, { ...CSV, query, on: own }));
        expect([error, message]).toEqual([40015, expect.stringContaining(encoding)]);
      }
      expect(await exportAll({ on: own })).toBe("");
      await importAll(file, { ...CSV, on: own, query: `?reading={"encoding":"${encoding}"}` });
      expect(await exportAll({ on: own })).toBe(toNdjson(`1,Acer|2,${name}`));
      await own.stop();
    });
});

describe("the separator of an import", () => {
  testReadings(0, [
    ["is not a comma in quotes", '"Name, botanisch, ganz, genau";"id";name\nx;1;Acer\n', "", "1,Acer"],
    ["may be named in a line of Excel", "sep=;\r\nid;name\n1;Acer\n", "", "1,Acer"],
    ["is found after empty lines", "\r\n\r\nid;name\n1;Acer\n", "", "1,Acer"],
  ]);
});

describe("the columns of an import", () => {
  const GUESS = "?guess=true";
  for (const header of [
    "Nr.;Botanischer Name;Kategorie",
    "N°;Nom de la plante;Famille",
    "Número;Nombre científico;Familia",
    "gbifID;species;family",
    "番号;植物名;分类",
    "番号;名前;分類",
    "Id.;Name:;(Tag)",
    "ID;PLANT_NAME;Tags",
  ])
    it(`are guessed: ${header}`, async () => {
      const [id, name, tag] = header.split(";") as [string, string, string];
      const { summary, stored } = await storedFrom(`${header};Ort\n7;Acer;tree;Jena\n`, { ...CSV, query: GUESS });
      expect(stored).toBe(toNdjson("7,Acer,tree"));
      expect(summary).toMatchObject({ ...clean({ read: 1, created: 1, unusedColumns: ["Ort"] }), columns: { id, name, tag } });
    });

  const GBIF = "catalogNumber,gbifID,scientificName\nHERB-123,4711,Acer\n";
  const FIVE = "id,name,tag,,tag\n1,a,b,c,d\n";
  const CHOSEN = "?idColumn=%20ID&nameColumn=column%204&tagColumn=column%205";
  testReadings(0, [
    ["are guessed to be the first of one name", "Nr,Plant,plant\n1,Acer,x\n", GUESS, "1,Acer"],
    ["are none that was chosen for something else", "Nr,Plant,Art\n1,tree,Acer\n", `${GUESS}&tagColumn=Plant`, "1,Acer,tree"],
    ["that we know count more than a guess", "Nr,id,Species,name\n1,2,x,Acer\n", GUESS, "2,Acer"],
    ["called # count less than another number", "#,Nr.,name,-\n1,7,Acer,x\n", GUESS, "7,Acer"],
    ["of GBIF with its own number count more than that of the collection", GBIF, GUESS, "4711,Acer"],
    ["of GBIF with its own number count only in a guess", "gbifID,catalogNumber,name\n4711,3,Acer\n", "", "3,Acer"],
    ["are chosen by name or position", FIVE, CHOSEN, "1,c,d"],
    ["are left out", FIVE, "?tagColumn=", "1,a"],
    ["of tags may have quoted empty cells that mean none", 'id,name,tag\n1,a,""\n2,b,x\n', "?dropEmptyTags=true", "1,a|2,b,x"],
    ["of tags may have such cells in a guess", 'id,name,tag\n1,a,""\n2,b,x\n', `${GUESS}&dropEmptyTags=true`, "1,a|2,b,x"],
  ]);

  it("are in the summary where they were chosen, and those that were not used", async () => {
    expect((await summaryOf(GBIF, GUESS)).unusedColumns).toEqual(["catalogNumber"]);
    const columns = { id: "id", name: "column 4", tag: "tag" };
    expect(await summaryOf(FIVE, CHOSEN)).toMatchObject({ columns, unusedColumns: ["name", "tag"] });
  });

  it("are refused if they are not there", async () => {
    for (const query of ["?nameColumn=Other", "?nameColumn=column 9", "?nameColumn=", "?idColumn="])
      expect((await refusal(await post("id,name\n1,a\n", { ...CSV, query }))).error).toBe(40008);
  });

  it("are for CSV only, and ids come from one place only", async () => {
    const queries = ["header=absent", "guess=true", "ids=content", "firstId=1", "nameColumn=x", "dropEmptyTags=true", "encoding=utf-8"];
    for (const query of queries) expect((await refusal(await post('{"id":1,"name":"a"}\n', { query: `?${query}` }))).error).toBe(40006);
    expect((await refusal(await post("name\na\n", { ...CSV, query: "?ids=content&firstId=1" }))).error).toBe(40006);
  });
});

describe("a file whose first line is a plant", () => {
  const TABLE = "1,Acer,tree\n2,Rosa\n";
  const PLANTS = "1,Acer,tree|2,Rosa";
  const ABSENT = "?header=absent";
  const LATE = `${ABSENT}&idColumn=&nameColumn=column 2&tagColumn=column 3&firstId=8`;

  testReadings(40009, [
    ["has the id, name and tag in this order", TABLE, ABSENT, PLANTS],
    ["may have its columns elsewhere", "tree,Acer,1\n,Rosa,2\n", `${ABSENT}&idColumn=column 3&tagColumn=column 1`, PLANTS],
    ["may have no ids", "Acer,tree\nRosa\n", `${ABSENT}&idColumn=&firstId=1`, PLANTS],
    ["has a column for each field even where its first row ends before", "1,Acer\n2,Rosa,tree\n", LATE, "8,Acer|9,Rosa,tree"],
    ["is guessed to have no ids if its first cell is none", "Acer,tree\nRosa,\n", `${ABSENT}&guess=true&firstId=1`, PLANTS],
    ["may come after a line of Excel", `sep=,\n${TABLE}`, ABSENT, PLANTS],
    ["loses no row to a faulty one", `3,"a" b\n4,"open\n${TABLE}5,Tilia,tree,lawn\n`, ABSENT, PLANTS, [1, 2, 5]],
    ["may be of empty lines", "\n\n", ABSENT, ""],
  ]);

  it("names its columns by their positions", async () => {
    expect((await summaryOf(TABLE, ABSENT)).columns).toEqual({ id: "column 1", name: "column 2", tag: "column 3" });
    const { columns, unusedColumns } = await summaryOf("Acer,tree\nRosa,\n", `${ABSENT}&guess=true&firstId=1`);
    expect([columns, unusedColumns]).toEqual([{ name: "column 1", tag: "column 2" }, []]);
    expect((await summaryOf("1,Acer\n2,Rosa,tree\n", LATE)).unusedColumns).toEqual(["column 1"]);
    expect((await summaryOf("1,Acer,tree,Jena,\n2,Rosa,,,3\n", ABSENT)).unusedColumns).toEqual(["column 4"]);
  });

  it("gets no other id for one that a spreadsheet has shortened", async () => {
    const summary = await summaryOf("4.00638E+12,Acer\n", `${ABSENT}&guess=true&ids=content`);
    expect(summary).toMatchObject({ created: 0, refused: 1 });
  });

  it("may be said in the media type too", async () => {
    for (const type of ["text/csv; header=absent", 'Text/CSV;charset=utf-8;Header="absent"'])
      expect((await storedFrom(TABLE, { type })).stored).toBe(toNdjson(PLANTS));
    expect((await refusal(await post(TABLE, { type: "text/csv; header=present" }))).error).toBe(40008);
  });

  it("needs ids that are made if it has none", async () => {
    expect((await refusal(await post("Acer,tree\n", { ...CSV, query: "?header=absent&guess=true" }))).message).toContain("have ids made");
  });
});

describe("a file without ids", () => {
  /** The documented id of a row, whose cells are joined by U+001F. */
  function idOf(...cells: readonly string[]): bigint {
    return (createHash("sha256").update(cells.join("\x1f")).digest().readBigUInt64BE(0) % 999_999_999_999_999n) + 1n;
  }

  it("gets ids from the content of its rows: the same again for the same rows, in any order and encoding", async () => {
    const table = "name;Beet\nRosa 'Peace';3\nBärlauch;4\nRosa 'Peace';5\nBärlauch;4\n";
    const own = await startTestService();
    const made = { ...CSV, on: own, query: "?ids=content" };
    expect(await importAll(table, made)).toMatchObject({ read: 4, created: 3, unchanged: 1, refused: 0, unusedColumns: ["Beet"] });
    expect(await exportAll({ on: own })).toContain(`{"id":${idOf("Bärlauch", "4")},"name":"Bärlauch"}`);
    const [head, ...rows] = table.trimEnd().split("\n");
    const turned = windows1252([head, ...rows.toReversed()].map((row) => `${row};;`).join("\r\n"));
    const again = await importAll(turned, { ...made, query: "?ids=content&encoding=windows-1252" });
    expect(again).toMatchObject({ read: 4, unchanged: 4 });
    // A row that changes is another plant.
    expect(await importAll(table.replace(";5", ";6"), made)).toMatchObject({ created: 1, unchanged: 3 });
    expect((await exportAll({ on: own })).split("\n")).toHaveLength(5);
    await own.stop();
  });

  it("replaces no other plant by an id made from content: such a row is refused, others of the file replace", async () => {
    const taken = `{"id":${idOf("", "Bärlauch")},"name":"Ginkgo"}\n`;
    const table = "id,name\n,Rose\n,Bärlauch\n1,b\n,Rose\n2,c\n";
    for (const dryRun of [true, false]) {
      await importAll(`{"id":1,"name":"a"}\n${taken}`);
      const query = `?ids=content&onConflict=replace&dryRun=${dryRun}`;
      const { summary, stored } = await storedFrom(table, { ...CSV, query });
      expect(summary).toMatchObject({ read: 5, created: 2, unchanged: 1, replaced: 1, refused: 1 });
      expect(summary.problems).toMatchObject([{ line: 3, error: 40900 }]);
      expect(stored).toContain(taken);
      if (dryRun) expect(summary.outcomes).toEqual(["created", "refused", "replaced", "unchanged", "created"]);
    }
  });

  const NUMBERED = "9,d|9007199254740993,a|9007199254740996,e|9007199254740998,i";
  const TABLE = 'id,name\n,a\n,"b" c\n9,d\n"",e\n,f,g,h\n,i\n';
  testReadings(40009, [["can be numbered: refused rows and those with an id too", TABLE, "?firstId=9007199254740993", NUMBERED, [3, 6]]]);
  testReadings(40005, [["refuses numbers beyond int64", "name\na\nb\n", `?firstId=${2n ** 63n - 1n}`, `${2n ** 63n - 1n},a`, [3]]]);
});

describe("an import of gzip", () => {
  const packed = { ...CSV, headers: { "content-encoding": "gzip" } };
  const pack = (text: string | Uint8Array) => Bun.gzipSync(Buffer.from(text as string), { level: 9 });
  const PACKED = pack("id,name\n1,a\n");
  const MEMBER = pack("2,b\n");

  it("is unpacked, also in several parts", async () => {
    for (const [coding, body, created] of [
      ["gzip", Buffer.concat([PACKED, MEMBER]), 2],
      ["X-GZIP", PACKED, 1],
    ] as const)
      expect((await storedFrom(body, { ...CSV, headers: { "content-encoding": coding } })).summary).toMatchObject({ created });
  });

  for (const [why, zeros, behind] of [
    ["many zeros", 100_000, ""],
    ["a member behind zeros, which gzip ignores", 10, PACKED],
    ["something else behind many zeros", 100_000, "x"],
  ] as const)
    it(`may have zeros behind it, and nothing else: ${why}`, async () => {
      for (const members of [[PACKED], [PACKED, MEMBER]]) {
        const body = Buffer.concat([...members, new Uint8Array(zeros), Buffer.from(behind as string)]);
        const answer = await (await post(body, { ...packed, query: "?dryRun=true" })).json();
        expect(answer).toMatchObject(behind === "" ? { read: members.length } : { error: 40014 });
      }
    });

  it("refuses what is no gzip, or not all of it, after storing what came before", async () => {
    const own = await startTestService();
    const whole = Bun.gzipSync(Buffer.from(`id,name\n${Array.from({ length: 20_000 }, (_, at) => `${at},plant ${at * 7919}\n`).join("")}`));
    for (const body of [bytesOf("id,name\n1,a\n"), whole.subarray(0, 5), whole.subarray(0, -9)])
      expect((await refusal(await post(body, { ...packed, on: own }))).error).toBe(40014);
    const stored = (await exportAll({ on: own })).split("\n").length - 1;
    expect([stored > 0, stored % 2000]).toEqual([true, 0]);
    await own.stop();
  });

  it("refuses what grows to more than 250 times its size, in little memory", async () => {
    const bomb = Bun.gzipSync(Buffer.from(`id,name\n${"\n".repeat(100_000_000)}`));
    const before = process.memoryUsage().rss;
    expect(await refusal(await post(bomb, packed))).toEqual({ error: 41300, message: expect.stringContaining("250 times") });
    expect(process.memoryUsage().rss - before).toBeLessThan(60_000_000);
  });

  const MANY = 500_000;
  for (const [what, type, text] of [
    ["lines that are no JSON", "application/x-ndjson", "x\n".repeat(MANY)],
    ["rows of UTF-16", "text/csv", utf16(`id,name\n${"1\n".repeat(MANY)}`)],
  ] as const)
    it(`refuses more than 4 lines for each byte, and reads few of them: ${what}`, async () => {
      const own = await startTestService();
      const answer = await refusal(await post(pack(text), { ...packed, type, on: own }));
      expect(answer).toEqual({ error: 41300, message: expect.stringContaining("4 lines for each of its bytes") });
      const ended = own.logged.map((line) => JSON.parse(line)).find(({ event }) => event === "import_ended");
      expect(ended.read).toBeLessThan(110_000);
      await own.stop();
    });

  it("may have any number of lines where they differ, 100,000 that do not, and letters of UTF-16 with the bytes of line ends", async () => {
    const rows = (count: number, name: string) => Array.from({ length: count }, (_, at) => `${at},${name}\n`).join("");
    for (const [table, read] of [
      [`id,name\n${rows(150_000, "a")}`, 150_000],
      [`id,name\n${"1,a\n".repeat(99_999)}`, 99_999],
      [utf16(`id,name\n${rows(10_000, "ગુલાબ ബ".repeat(4))}`), 10_000],
    ] as const)
      expect(await (await post(pack(table), { ...packed, query: "?dryRun=true" })).json()).toMatchObject({ read, refused: 0 });
  });
});

describe("a quoted cell of an import", () => {
  for (const [why, table, names, query = ""] of [
    ["a row with an id", 'id,name,tag\n9,"list:\n5,Evil,tree\nend",x\n', ["list:\n5,Evil,tree\nend"]],
    ["a row with quotes", 'id,name\n9,"\n5,""Evil""\n6,"\n', ['\n5,"Evil"\n6,']],
    ["rows, in a column that is not imported", 'id,name,note\n9,a,"x\n5,Evil,tree\n7,b,"\n', ["a"]],
    ["rows without ids", 'name,tag\n"Rose\nEvil,red\nTulip,yellow",x\n', ["Rose\nEvil,red\nTulip,yellow"], "&ids=content"],
    ["rows, in a file without a heading", '9,"a\n5,Evil\nb"\n', ["a\n5,Evil\nb"], "&header=absent"],
    ["what two odd quotes hold", 'id,name,tag\n1,"Rose,red\n2,Tulip",yellow\n', ["Rose,red\n2,Tulip"]],
    ["a row, beside too many cells", 'id,name,tag\n9,"list:\n5,Evil,tree\nend",x,more\n', []],
    ["an id and a line end, which are no id", 'id,name\n"9\n",x\n', []],
  ] as ReadonlyArray<readonly [why: string, table: string, names: readonly string[], query?: string]>)
    it(`is one cell, whatever is in it: ${why}`, async () => {
      const { summary, stored } = await storedFrom(table, { ...CSV, query: `?onConflict=replace${query}` });
      expect(stored.split("\n").flatMap((line) => (line === "" ? [] : [(JSON.parse(line) as { name: string }).name]))).toEqual([...names]);
      expect([summary.read, summary.refused]).toEqual([1, 1 - names.length]);
    });

  const PAST = `id,name\n1,"a\n2,b\n${"\n".repeat(140_000)}4,e"\n`;
  testReadings(40009, [
    ["takes its own line only if text follows its quote", 'id,name\n1,"a\n2,b\n3,c" d\n4,e\n', "", "2,b|4,e", [2, 4]],
    ["takes its own line only if its quote is open at the end of the file", 'id,name\n1,"a\n2,b\n4,e\n', "", "2,b|4,e", [2]],
    ["takes its own line only if its quote is open past the largest row", PAST, "", "2,b", [2, 140_004]],
  ]);
});
