import { afterAll, describe, expect, it } from "bun:test";
import { makeWorkbook } from "../support/shelf/workbook.ts";
import { startTestService } from "../support/service.ts";
import { IMPORT, openTransfers } from "../support/transfers.ts";
import { expectConform } from "../support/conform.ts";

const service = await startTestService();
afterAll(() => service.stop());
const { post, importAll, storedFrom } = openTransfers(service);

const CSV = { type: "text/csv" };
const ANY = { type: "application/octet-stream" };

function asked(reading: object): string {
  return `?reading=${encodeURIComponent(JSON.stringify(reading))}`;
}

describe("the reading of an import", () => {
  const GARDEN = "My garden\r\n\r\nNr;Genus;Species;Cultivar;Bed;Code\r\n7;Salix;alba;Tristis;4;0012\r\n9;Acer;rubrum;;NA;1E3\r\n;;;;;\r\n";

  it("is guessed, and in the summary, which gives the same plants when it is sent back", async () => {
    const first = await storedFrom(GARDEN, { ...CSV, query: asked({}) });
    const text = { encoding: "utf-8", separator: ";", quotes: "double" };
    const columns = { heading: 3, id: "Nr", name: ["Genus", "Species", "Cultivar"], tag: "Bed", ids: "file", emptyNames: false };
    expect(first.summary).toMatchObject({ read: 2, created: 2, refused: 0, skipped: 2, unusedColumns: ["Code"], doubts: [] });
    expect(first.summary.reading).toEqual({ ...text, ...columns } as never);
    expect(first.stored).toBe(`{"id":7,"name":"Salix alba 'Tristis'","tag":"4"}\n{"id":9,"name":"Acer rubrum"}\n`);
    const again = await storedFrom(GARDEN, { ...CSV, query: asked(first.summary.reading!) });
    expect([again.stored, again.summary.reading]).toEqual([first.stored, first.summary.reading]);
  });

  it("is what is asked for, and the rest is guessed: columns that make the name, codes among them, numbers for ids", async () => {
    const reading = { id: "", name: ["Code", "column 2", "Species"], tag: "", firstId: 1 };
    const query = asked(reading).replace("%3A1%7D", "%3A9007199254740993%7D");
    const { stored, summary } = await storedFrom(GARDEN, { ...CSV, query });
    expect(stored).toBe('{"id":9007199254740993,"name":"0012 Salix alba"}\n{"id":9007199254740994,"name":"1E3 Acer rubrum"}\n');
    expect(JSON.stringify(summary)).not.toContain('"ids"');
    expect((await (await post(GARDEN, { ...CSV, query: `${query}&dryRun=true` })).text()).includes('"firstId":9007199254740993}')).toBe(
      true,
    );
  });

  it("refuses rows without a name, unless they are allowed, and codes for ids, each with its reason", async () => {
    const table = "Nr,Name\n1,\n2,Acer\n0012,Rosa\n1E3,Tilia\n2004.0,Ilex\n";
    const { summary } = await storedFrom(table, { ...CSV, query: asked({ id: "Nr" }) });
    expect(summary.problems.map(({ line, message }) => [line, message.slice(0, 20)])).toEqual([
      [2, "The row has no name:"],
      [4, "The id is a code suc"],
      [5, "The id is a code suc"],
      [6, "The id is a code suc"],
    ]);
    const { stored } = await storedFrom("Nr,Name\n1,\n2,Acer\n", { ...CSV, query: asked({ emptyNames: true }) });
    expect(stored).toBe('{"id":1,"name":""}\n{"id":2,"name":"Acer"}\n');
  });

  it("names texts that are probably not meant, with their rows, and stores them as they are", async () => {
    const names = ["FougÃ¨re", "&eacute;rable", "<i>Rosa</i>", "Acer​rubrum", "Rosa canina"];
    const { summary, stored } = await storedFrom(`id,name,bed\n${names.map((name, at) => `${at},${name},1\n`).join("")}`, {
      ...CSV,
      query: asked({}),
    });
    expect(summary.doubts?.map(({ line }) => line)).toEqual([2, 3, 4, 5]);
    expect(stored.split("\n").map((line) => line && (JSON.parse(line) as { name: string }).name)).toEqual([...names, ""]);
  });

  for (const [query, says] of [
    ["?reading=x", "is no object of JSON"],
    ["?reading=[]", "is no object of JSON"],
    [asked({ names: ["Genus"] }), "has an unknown member: send only encoding, separator"],
    [asked({ name: "Genus" }), "The member `name`"],
    [asked({ name: [] }), "The member `name`"],
    [asked({ encoding: "windows-9" }), "The member `encoding`"],
    [asked({ separator: ":" }), "The member `separator`"],
    [asked({ heading: -1 }), "The member `heading`"],
    [asked({ heading: "1" }), "The member `heading`"],
    [asked({ heading: true }), "must be the number of a line, or 0"],
    [asked({ toString: "x" }), "has an unknown member"],
    [asked({ firstId: 1.5 }), "The member `firstId`"],
    [asked({ ids: "content", firstId: 1 }), "send only one of `ids` and `firstId`"],
    [`${asked({})}&guess=true`, "specifies the reading twice"],
    [`${asked({})}&nameColumn=x`, "specifies the reading twice"],
  ] as const)
    it(`is refused if it is none: ${decodeURIComponent(query)}`, async () => {
      const answer = (await expectConform(IMPORT, await post(GARDEN, { ...CSV, query }))) as { error: number; message: string };
      expect([answer.error, answer.message]).toEqual([40006, expect.stringContaining(says)]);
    });
});

describe("a table that begins as an export", () => {
  const read = async (table: string, query = asked({})) => (await storedFrom(table, { ...CSV, query })).stored;

  it("has spaces around its cells only in quotes, as an export writes them", async () => {
    expect(await read('id,name,tag\n1, Acer rubrum, tree\n2," Rosa ",x\n')).toBe(
      '{"id":1,"name":"Acer rubrum","tag":"tree"}\n{"id":2,"name":" Rosa ","tag":"x"}\n',
    );
  });

  it("is read as it is asked for", async () => {
    expect(await read('id,name,tag\n1,Rosa "Peace",x\n', asked({ quotes: "none" }))).toBe('{"id":1,"name":"Rosa \\"Peace\\"","tag":"x"}\n');
  });
});

it("letters of another encoding behind many rows of Windows-1252 are named", async () => {
  const rows = Array.from({ length: 20_000 }, (_, at) => `${at},Salix ×fragilis\n`).join("");
  const late = Array.from({ length: 10 }, (_, at) => `9${at},Rùže šípková\n`).join("");
  const bytes = Uint8Array.from(`id;name\n${(rows + late).replaceAll(",", ";")}`, (letter) =>
    letter === "š" ? 0x9a : letter.charCodeAt(0),
  );
  const { doubts } = await importAll(bytes, { ...CSV, query: `${asked({})}&dryRun=true` });
  expect(doubts?.map(({ message }) => message)).toContainEqual(expect.stringContaining("may be of another encoding: choose it"));
});

it("a file that a DOS ended, or that has a zero in its text, is no plant of other letters", async () => {
  expect((await storedFrom("id,name\r\n1,Acer\r\n\x1a", { ...CSV, query: asked({}) })).stored).toBe('{"id":1,"name":"Acer"}\n');
  expect((await post("Rosa canina\0\nAcer\0 rubrum\n", { ...CSV, query: asked({}) })).status).toBe(400);
});

describe("an import of a file of any kind", () => {
  const ROWS = [
    ["Nr", "Name", "Bed"],
    [7, "Acer rubrum", "A"],
  ] as const;
  const PLANT = '{"id":7,"name":"Acer rubrum","tag":"A"}\n';

  for (const [kind, body] of [
    ["a workbook", makeWorkbook(ROWS)],
    ["CSV", "Nr,Name,Bed\n7,Acer rubrum,A\n"],
    ["CSV in gzip", Bun.gzipSync(Buffer.from("Nr,Name,Bed\n7,Acer rubrum,A\n"))],
    ["NDJSON", PLANT],
    ["a JSON list", `[${PLANT}]`],
    ["a JSON list in an object", `{"plants":[${PLANT}]}`],
  ] as const)
    it(`is read as what it is: ${kind}`, async () => {
      expect((await storedFrom(body, ANY)).stored).toBe(PLANT);
    });

  for (const [what, body, error] of [
    ["is no table", "%PDF-1.7\n", 40016],
    ["is cut off", Buffer.from("504b0304", "hex"), 40016],
  ] as const)
    it(`is refused, and says what to do, if it ${what}`, async () => {
      const answer = (await expectConform(IMPORT, await post(body, ANY))) as { error: number; message: string };
      expect([answer.error, answer.message]).toEqual([error, expect.stringMatching(/: save/)]);
    });

  it("is refused if it is a workbook of more than 32 MiB, without being kept", async () => {
    const before = process.memoryUsage().rss;
    const body = Buffer.concat([Buffer.from("504b0304", "hex"), Buffer.alloc(33 * 1024 * 1024)]);
    expect((await post(body, ANY)).status).toBe(413);
    expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000);
  });

  it("has a sheet that may be chosen", async () => {
    const summary = await importAll(makeWorkbook(ROWS), { ...ANY, query: `${asked({ sheet: "Pflanzen & mehr" })}&dryRun=true` });
    expect(summary.reading).toMatchObject({ sheet: "Pflanzen & mehr" });
    expect((await post(makeWorkbook(ROWS), { ...ANY, query: asked({ sheet: "Other" }) })).status).toBe(400);
  });
});
