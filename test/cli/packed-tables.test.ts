import { writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "bun:test";
import { runInside } from "../support/command.ts";
import { startTestService } from "../support/service.ts";
import { damagedEntry, makeWorkbook, makeZip } from "../support/shelf/workbook.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const NO_GZIP = "The gzip body is incomplete: compress the file again, and send all of it.";
const ODS = "application/vnd.oasis.opendocument.spreadsheet";
const ODT = "application/vnd.oasis.opendocument.text";

const workbook = (...rows: Parameters<typeof makeWorkbook>[0]) => makeWorkbook(rows);
const WHOLE = workbook(["id", "name"], [1, "Acer"]);

describe("plant-store import refuses", () => {
  for (const [what, name, bytes, says] of [
    ["a workbook that is cut off", "cut.xlsx", WHOLE.subarray(0, -60), "The file is incomplete"],
    ["a workbook with damaged data", "bad.xlsx", Buffer.from(WHOLE).fill(0xff, 60, 140), "damaged"],
    ["a workbook without a sheet", "none.xlsx", makeZip({ "xl/workbook.xml": "<workbook/>" }), "no sheet"],
    ["a workbook of an old Excel", "old.xls", Buffer.from("d0cf11e0a1b11ae1", "hex"), "old Excel (.xls), or"],
    ["one with a password", "secret.xlsx", Buffer.from("d0cf11e0a1b11ae1", "hex"), "or has a password: save it as .xlsx without one"],
    ["a binary workbook", "a.xlsb", makeZip({ "xl/workbook.bin": "x" }), "(.xlsb): save it as .xlsx"],
    ["a spreadsheet of Apple", "a.numbers", makeZip({ "Index/Document.iwa": "x" }), "(.numbers): save it as"],
    ["a web page that is called .xls", "page.xls", Buffer.from("\ufeff<!DOCTYPE html><table>"), "HTML or XML: open"],
    ["a table of HTML", "table.xls", Buffer.from("\n<table border=1>"), "HTML or XML: open it in a spreadsheet"],
    ["a workbook of Excel 2003 in XML", "a.xml", Buffer.from('<?xml version="1.0"?>'), "HTML or XML: open"],
    ["a database of SQLite", "data.db", Buffer.from("SQLite format 3\0"), "is a database: save its table as CSV"],
    ["a dump of PostgreSQL", "a.dump", Buffer.from("PGDMP\x01\x0e"), "is a database: save its table as CSV"],
    ["a PDF", "a.pdf", Buffer.from("%PDF-1.7\n"), "The file is a PDF: save the table"],
    ...Object.entries({
      png: "\x89PNG",
      jpg: "\xff\xd8\xff\xe0",
      gif: "GIF89a",
      webp: "RIFF\x24\n\0\0WEBPVP8 ",
      avi: "RIFF\x24\x01\0\0AVI LIST",
      tif: "II*\0",
      heic: "\0\0\0\x24ftypheic",
    }).map(
      ([kind, start]) => [`a picture or film, ${kind}`, `a.${kind}`, Buffer.from(start, "latin1"), "an image or a video, not a"] as const,
    ),
    ["a document that is no table", "a.odt", makeZip({ "content.xml": "<x/>" }), "without a single table"],
    ["a spreadsheet of LibreOffice that is cut off", "a.ods", makeZip({ mimetype: ODS, "content.xml": "<x/>" }), "is incomplete: save it"],
    ["a text of LibreOffice", "b.odt", makeZip({ mimetype: ODT, "content.xml": "<x/>" }), "without a single"],
    ["an archive of two tables", "two.zip", makeZip({ "a.csv": "id", "b.csv": "id" }), "without a single table"],
    ["what curl -d makes of CSV", "joined.csv", Buffer.from("id,name,tag1,Rosa,wild2,Salix,wet"), "--data-binary"],
  ] as const) {
    it(`${what}, and says why`, async () => {
      const file = join(folder, name);
      writeFileSync(file, bytes);
      const { status, stderr, stdout } = await runInside(["import", file, "--data", join(folder, "data")], {});
      expect([status, stdout]).toEqual([1, ""]);
      expect(stderr).toContain(says);
      expect(stderr).not.toContain("    at ");
    });
  }
});

describe("plant-store import reads a list of names whose first one begins like", () => {
  for (const [name, like] of Object.entries({
    "RIFFELBLATT-SALBEI": "a film",
    "GIF8 Rose": "a picture",
    "%PDF": "a PDF",
    SQLite: "a database",
  })) {
    it(`${like}: ${name}`, async () => {
      const file = join(folder, "names.txt");
      writeFileSync(file, `${name}\nAcer\n`);
      const flags = ["--no-header", "--ids", "content", "--name-column", "column 1"];
      const { status, stderr } = await runInside(["import", file, "--data", join(folder, like), ...flags]);
      expect([status, stderr]).toEqual([0, expect.not.stringContaining("no table")]);
    });
  }
});

const CREATED = [0, "1 read, 1 created, 0 unchanged, 0 replaced, 0 refused\n", ""] as const;
const MAC = { "a.csv": "id,name\n1,Acer\n", "__MACOSX/._a.csv": "\0\x05\x16\x07", ".DS_Store": "\0\0\0\x01Bud1" };
const CELLS = ":2: 40009 The row has 3 cells for 2 columns: name a column for each cell, or empty the others. In CSV, ";

for (const [what, name, bytes, [status, counts, says]] of [
  ["reads the one table of an archive that macOS has made", "mac.zip", makeZip(MAC), CREATED],
  ["reads a workbook as a table, also if its first cell looks like JSON", "json.xlsx", workbook(["[Plant]", "id"], ["Acer", 1]), CREATED],
  [
    "refuses a row with more cells than columns in words that fit a workbook too",
    "more.xlsx",
    workbook(["id", "name"], [1, "Acer", "tree"]),
    [1, "1 read, 0 created, 0 unchanged, 0 replaced, 1 refused\n", CELLS],
  ],
] as const)
  it(`plant-store import ${what}`, async () => {
    const file = join(folder, name);
    writeFileSync(file, bytes);
    const done = await runInside(["import", file, "--data", join(folder, `data of ${name}`)]);
    expect(done).toEqual({ status, stdout: `${file}: ${counts}`, stderr: expect.stringContaining(says) });
  });

/** A workbook whose last row has the number of the first. */
function disordered(rows: readonly (readonly (string | number)[])[]): Buffer {
  const cells = rows.map((row) => row.map((cell) => `<c t="${typeof cell === "number" ? "n" : "str"}"><v>${cell}</v></c>`).join(""));
  return makeZip({
    "xl/workbook.xml": '<workbook><sheets><sheet name="x" r:id="r1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": '<Relationship Id="r1" Target="worksheets/a.xml"/>',
    "xl/worksheets/a.xml": `<worksheet><sheetData>${cells.map((row) => `<row>${row}</row>`).join("")}<row r="1"/></sheetData></worksheet>`,
  });
}

it("plant-store import refuses a workbook whose data is damaged before it stores the first row", async () => {
  const file = join(folder, "damaged.xlsx");
  writeFileSync(
    file,
    damagedEntry(workbook(["id", "name"], ...Array.from({ length: 3_000 }, (_, at) => [at, `Plant ${at * 7_919}`])), 16, 1),
  );
  const data = join(folder, "not damaged");
  const { status, stdout, stderr } = await runInside(["import", file, "--data", data]);
  expect([status, stdout]).toEqual([1, ""]);
  expect(stderr).toContain("plant-store: The file is damaged: save it again.");
  expect(stderr).not.toContain("before it failed");
  expect(await runInside(["export", "--data", data])).toMatchObject({ status: 0, stdout: "" });
});

describe("plant-store import of a file that is broken behind its first rows", () => {
  // The first 256 KB show how a text is to be read, and all of a sheet whether cells are merged.
  const rows = Array.from({ length: 7_000 }, (_, at) => [at, `Plant ${at * 7_919}${" with a long name".repeat(3)}`] as const);
  const cut = join(folder, "late.csv.gz");
  writeFileSync(cut, gzipSync(`id,name\n${rows.map((row) => row.join(",")).join("\n")}`).subarray(0, -200));
  const bad = join(folder, "late.xlsx");
  writeFileSync(bad, disordered([["id", "name"], ...rows]));

  const stored = 6_178;
  for (const [file, says] of [
    [cut, NO_GZIP],
    [bad, "The rows of the sheet are out of order: save it again."],
  ] as const) {
    it(`says how many rows a data folder has stored, or would have in a dry run: ${basename(file)}`, async () => {
      const data = join(temporaryFolder(), "data");
      const first = await runInside(["import", file, "--data", data]);
      expect([first.status, first.stdout]).toEqual([1, ""]);
      const counts = `${stored} read, ${stored} created, 0 unchanged, 0 replaced, 0 refused`;
      expect(first.stderr).toContain(`\n${file}: ${counts} before it failed\nplant-store: ${says}`);
      const exported = await runInside(["export", "--data", data, "--format", "ndjson"]);
      expect(exported.stdout.split("\n")).toHaveLength(stored + 1);
      const dry = await runInside(["import", file, "--data", data, "--dry-run"]);
      expect(dry.stderr).toStartWith(`${file}: dry run: ${stored} read, 0 created, ${stored} unchanged`);
    });

    it(`says that a service may have stored some, but not of a dry run: ${basename(file)}`, async () => {
      const service = await startTestService();
      const environment = { PLANT_STORE_URL: service.url, PLANT_STORE_TOKEN: service.token };
      expect((await runInside(["import", file, "--dry-run"], environment)).stderr).toStartWith(`plant-store: ${says}`);
      const { status, stderr } = await runInside(["import", file], environment);
      const doubt = "Rows before that may be stored: it is safe to import the file again.";
      expect([status, stderr]).toEqual([1, `plant-store: ${says} ${doubt}\n`]);
      await service.stop();
    });
  }
});

it("a table that is imported into a service is read here, and sent as lines of JSON that have the numbers of its lines", async () => {
  const file = join(folder, "sent.csv.gz");
  writeFileSync(file, gzipSync("My plants\n\nGattung;Art;Nr\nAcer;rubrum;9223372036854775807\nRosa;canina;x7\n\nTilia;cordata;8\n"));
  const service = await startTestService();
  const seen: string[] = [];
  const proxy = Bun.serve({
    port: 0,
    async fetch({ url, headers, body }) {
      seen.push(await new Response(body).text());
      const { pathname, search } = new URL(url);
      return fetch(`${service.url}${pathname}${search}`, { method: "POST", headers, body: seen.at(-1)! });
    },
  });
  const environment = { PLANT_STORE_URL: proxy.url.href, PLANT_STORE_TOKEN: service.token };
  const flags = ["--id-column", "Nr"];
  const sent = await runInside(["import", file, ...flags], environment);
  const here = await runInside(["import", file, ...flags, "--data", join(folder, "sent")]);
  await proxy.stop(true);
  await service.stop();
  expect(seen).toEqual(['\n\n\n{"id":9223372036854775807,"name":"Acer rubrum"}\n\n\n{"id":8,"name":"Tilia cordata"}\n\n']);
  expect(sent).toEqual({ ...here, stderr: here.stderr.replace(/^Created.*\n/, "") });
  expect(sent.stdout).toContain("3 read, 2 created, 0 unchanged, 0 replaced, 1 refused");
  expect(sent.stderr).toContain(":5: 40005 The field `id` must be a whole number");
});

it("rows whose ids are made replace no plant of a service: they go alone, and behind those that have ids", async () => {
  const rules: (string | null)[] = [];
  const service = Bun.serve({
    port: 0,
    async fetch({ url, body }) {
      rules.push(`${new URL(url).searchParams.get("onConflict")} ${(await new Response(body).text()).trim().split("\n").length}`);
      return Response.json({ read: 0, created: 0, unchanged: 0, replaced: 0, refused: 0, problems: [], unusedColumns: [] });
    },
  });
  const environment = { PLANT_STORE_URL: service.url.href, PLANT_STORE_TOKEN: "t" };
  for (const [name, text] of [
    ["made.csv", "Name,Bed\nAcer rubrum,1\nRosa canina,2\n"],
    ["mixed.csv", "id,name\n7,Acer rubrum\n,Rosa canina\n8,Tilia cordata\n"],
  ] as const) {
    writeFileSync(join(folder, name), text);
    await runInside(["import", join(folder, name), "--on-conflict", "replace", "--ids", "content"], environment);
  }
  await service.stop(true);
  expect(rules).toEqual(["refuse 2", "replace 3", "refuse 1"]);
});
