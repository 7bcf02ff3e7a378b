import { connect } from "node:net";
import { afterAll, describe, expect, it } from "bun:test";
import fc from "fast-check";
import { readCsv } from "../../src/transfer/csv.ts";
import type { ImportSummary } from "../../src/transfer/import.ts";
import { readNdjson } from "../../src/transfer/ndjson.ts";
import type { Row } from "../../src/transfer/row.ts";
import { PLANT_ID_MAX, PLANT_ID_MIN } from "../../src/plant.ts";
import { parsePlant } from "../../src/validation.ts";
import { expectConform } from "../support/conform.ts";
import { seedOf } from "../support/random.ts";
import { sendRaw } from "../support/raw.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { askUntil, until } from "../support/until.ts";

const IMPORT = { method: "post", path: "/plants/import" };
const EXPORT = { method: "get", path: "/plants/export" };

const service = await startTestService();
afterAll(() => service.stop());

type Sent = Readonly<{ type?: string; query?: string; headers?: Record<string, string>; on?: TestService }>;

function post(
  body: string | Uint8Array,
  { type = "application/x-ndjson", query = "", headers = {}, on = service }: Sent = {},
): Promise<Response> {
  // As bytes, so that no Content-Type but ours is sent.
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  return on.request(`/plants/import${query}`, { method: "POST", body: bytes, headers: { "content-type": type, ...headers } });
}

async function summaryOf(response: Response): Promise<ImportSummary> {
  expect(response.status).toBe(200);
  const summary = (await expectConform(IMPORT, response)) as ImportSummary;
  const { read, created, unchanged, replaced, refused } = summary;
  expect(created + unchanged + replaced + refused).toBe(read);
  return summary;
}

async function importAll(body: string | Uint8Array, sent: Sent = {}): Promise<ImportSummary> {
  return summaryOf(await post(body, sent));
}

/** A summary without problems. */
function clean(counts: Partial<ImportSummary>): ImportSummary {
  return { read: 0, created: 0, unchanged: 0, replaced: 0, refused: 0, problems: [], unusedColumns: [], ...counts };
}

async function exportAll({
  query = "",
  accept = "*/*",
  on = service,
}: { query?: string; accept?: string; on?: TestService } = {}): Promise<string> {
  const response = await on.request(`/plants/export${query}`, { headers: { accept } });
  expect(response.status).toBe(200);
  return (await expectConform(EXPORT, response)) as string;
}

const scratch = await startTestService();
afterAll(() => scratch.stop());

/** What an empty service holds after the import of this, as NDJSON. It is emptied again: to start one for each case takes too long. */
async function storedFrom(body: string | Uint8Array, sent: Sent = {}): Promise<{ summary: ImportSummary; stored: string }> {
  const summary = await importAll(body, { ...sent, on: scratch });
  const stored = await exportAll({ on: scratch });
  await Promise.all(Array.from(stored.matchAll(/"id":(-?\d+)/g), ([, id]) => scratch.request(`/plants/${id}`, { method: "DELETE" })));
  expect(await exportAll({ on: scratch })).toBe("");
  return { summary, stored };
}

const CSV = { type: "text/csv" };

function bytesOf(...parts: readonly (string | readonly number[])[]): Uint8Array {
  return Buffer.concat(parts.map((part) => Buffer.from(part as string)));
}

describe("an import", () => {
  it("counts what became of its lines, and changes nothing when it is repeated", async () => {
    const own = await startTestService();
    await own.post('{"id":1,"name":"there"}');
    await own.post('{"id":2,"name":"there","tag":"x"}');
    const body =
      '{"id":1,"name":"there"}\n{"id":2,"name":"other"}\n{"id":3,"name":"new"}\n{"id":3,"name":"new"}\n{"id":3,"name":"third"}\n{"id":4}\n';
    const inUse = { error: 40900, message: "The id names another plant already: choose an id that is not used." };
    const missing = { line: 6, error: 40005, message: "The field `name` is missing: add it." };
    const problems = [{ line: 2, ...inUse }, { line: 5, ...inUse }, missing];
    const expected = { read: 6, created: 1, unchanged: 2, replaced: 0, refused: 3, problems, unusedColumns: [] };

    expect(await importAll(body, { on: own, query: "?dryRun=true" })).toEqual(expected);
    expect(await exportAll({ on: own })).toBe('{"id":1,"name":"there"}\n{"id":2,"name":"there","tag":"x"}\n');
    expect(await importAll(body, { on: own, query: "?dryRun=false&onConflict=refuse" })).toEqual(expected);
    const stored = '{"id":1,"name":"there"}\n{"id":2,"name":"there","tag":"x"}\n{"id":3,"name":"new"}\n';
    expect(await exportAll({ on: own })).toBe(stored);
    expect(await importAll(body, { on: own })).toEqual({ ...expected, created: 0, unchanged: 3 });
    expect(await exportAll({ on: own })).toBe(stored);
    await own.stop();
  });

  it("with onConflict=replace puts the last of the lines with one id into the place of all before it", async () => {
    const own = await startTestService();
    await own.post('{"id":1,"name":"there","tag":"x"}');
    const body =
      '{"id":1,"name":"there","tag":"x"}\n{"id":1,"name":"second"}\n{"id":2,"name":"new"}\n{"id":2,"name":"new","tag":""}\n{"id":2}\n';
    const expected = { read: 5, created: 1, unchanged: 1, replaced: 2, refused: 1 };
    expect(await importAll(body, { on: own, query: "?onConflict=replace&dryRun=true" })).toMatchObject(expected);
    expect(await exportAll({ on: own })).toBe('{"id":1,"name":"there","tag":"x"}\n');
    expect(await importAll(body, { on: own, query: "?onConflict=replace" })).toMatchObject(expected);
    expect(await exportAll({ on: own })).toBe('{"id":1,"name":"second"}\n{"id":2,"name":"new","tag":""}\n');
    await own.stop();
  });

  it("tells the first 1,000 problems and counts them all", async () => {
    const summary = await importAll("x\n".repeat(1500));
    expect(summary).toMatchObject({ read: 1500, refused: 1500 });
    expect(summary.problems.map(({ line }) => line)).toEqual(Array.from({ length: 1000 }, (_, at) => at + 1));
  });

  it("goes on over many commits: 10,001 lines, the last of which the first contradicts", async () => {
    const lines = Array.from({ length: 10_000 }, (_, at) => `{"id":${1_000_000 + at},"name":"x"}`);
    const summary = await importAll([...lines, '{"id":1000000,"name":"other"}'].join("\n"));
    expect(summary).toMatchObject({ read: 10_001, created: 10_000, refused: 1 });
    expect(summary.problems).toMatchObject([{ line: 10_001, error: 40900 }]);
  });

  for (const { type, why } of [
    { type: "application/x-ndjson", why: "the type of NDJSON" },
    { type: "APPLICATION/X-NDJSON; charset=UTF-8", why: "it in capitals, with its charset" },
    { type: "text/csv", why: "the type of CSV" },
    { type: "text/csv; charset=utf-8", why: "it with its charset" },
    { type: 'text/csv; header=present; charset="utf8"', why: "it with its header" },
  ]) {
    it(`takes ${why}: ${type}`, async () => {
      const body = type.startsWith("text/csv") ? "id,name\n10,x\n" : '{"id":10,"name":"x"}\n';
      expect(await importAll(body, { type })).toMatchObject({ read: 1, refused: 0 });
    });
  }

  it("without a Content-Type is read as NDJSON", async () => {
    const body = new TextEncoder().encode('{"id":10,"name":"x"}');
    expect(await summaryOf(await service.request("/plants/import", { method: "POST", body }))).toMatchObject({ read: 1, refused: 0 });
  });

  for (const type of ["application/json", "text/plain", "application/x-www-form-urlencoded", "text/csvx", "csv"]) {
    it(`refuses ${type}, and Accept says what to send`, async () => {
      const response = await post("id,name\n1,x\n", { type });
      expect([response.status, response.headers.get("accept")]).toEqual([415, "application/x-ndjson, text/csv"]);
      const { error, message } = (await expectConform(IMPORT, response)) as { error: number; message: string };
      expect([error, message]).toEqual([
        41500,
        "The body is declared as something else: send the header Content-Type: application/x-ndjson or text/csv.",
      ]);
    });
  }

  for (const type of ["text/csv; charset=latin1", "application/x-ndjson; charset=utf-16"]) {
    it(`refuses ${type}, and does not ask for JSON`, async () => {
      const response = await post("id,name\n1,x\n", { type });
      expect([response.status, response.headers.get("accept")]).toEqual([415, "application/x-ndjson, text/csv"]);
      const { error, message } = (await expectConform(IMPORT, response)) as { error: number; message: string };
      expect(error).toBe(41501);
      expect(message).not.toContain("application/json");
    });
  }

  it("refuses a Content-Encoding, and Accept-Encoding says what to send", async () => {
    const response = await post(Bun.gzipSync(Buffer.from('{"id":1,"name":"x"}')), { headers: { "content-encoding": "gzip" } });
    expect([response.status, response.headers.get("accept-encoding")]).toEqual([415, "identity"]);
    expect(await expectConform(IMPORT, response)).toMatchObject({ error: 41502 });
  });
});

describe("an import of NDJSON", () => {
  it("of nothing reads nothing", async () => {
    for (const body of ["\n", "\r\n\n \n\t\n"]) expect(await importAll(body)).toEqual(clean({}));
  });

  for (const { body, why } of [
    { body: '{"id":1,"name":"a"}\n{"id":2,"name":"b","tag":""}\n', why: "lines that end with a newline" },
    { body: '{"id":1,"name":"a"}\n{"id":2,"name":"b","tag":""}', why: "no newline at the end" },
    { body: '{"id":1,"name":"a"}\r\n{"id":2,"name":"b","tag":""}\r\n', why: "CRLF" },
    { body: '\n\n{"id":1,"name":"a"}\n\r\n \n{"id":2,"name":"b","tag":""}\n\n', why: "blank lines" },
    { body: '\uFEFF{"id":1,"name":"a"}\n{"id":2,"name":"b","tag":""}\n', why: "a byte order mark" },
    { body: ' {"name":"a","id":1.0,"x":null} \n{"tag":"","id":2e0,"name":"\\u0062"}\n', why: "other forms of the same JSON" },
    { body: '{"id":2,"name":"b","tag":""}\n{"id":1,"name":"a"}\n', why: "another order" },
  ]) {
    it(`takes ${why}`, async () => {
      const { summary, stored } = await storedFrom(body);
      expect(summary).toEqual(clean({ read: 2, created: 2 }));
      expect(stored).toBe('{"id":1,"name":"a"}\n{"id":2,"name":"b","tag":""}\n');
    });
  }

  for (const { line, error, text, why } of [
    { line: "x", error: 40001, text: "not JSON", why: "what is no JSON" },
    { line: '{"id":1,"name":"x"', error: 40001, text: "not JSON", why: "a line cut short" },
    { line: '{"id":1,"name":"x"}{"id":2,"name":"y"}', error: 40001, text: "not JSON", why: "two plants in a line" },
    { line: '{"id":1,"name":"x"},', error: 40001, text: "not JSON", why: "a comma at the end" },
    { line: `{"id":1,"name":"x","y":${"[".repeat(32)}${"]".repeat(32)}}`, error: 40002, text: "deeper", why: "nesting" },
    { line: '{"id":1,"name":"x","name":"x"}', error: 40003, text: "twice", why: "a key that stands twice" },
    { line: '{"id":1,"name":"\\ud800"}', error: 40004, text: "Unicode", why: "a lone surrogate" },
    { line: [0x7b, 0xff, 0x7d], error: 40004, text: "Unicode", why: "a byte that is no UTF-8" },
    { line: [0xc3], error: 40004, text: "Unicode", why: "a character cut short" },
    { line: '{"name":"x"}', error: 40005, text: "`id`", why: "no id" },
    { line: '{"id":1}', error: 40005, text: "`name`", why: "no name" },
    { line: '{"id":9223372036854775808,"name":"x"}', error: 40005, text: "`id`", why: "2^63" },
    { line: '{"id":-9223372036854775809,"name":"x"}', error: 40005, text: "`id`", why: "less than -2^63" },
    { line: '{"id":1.5,"name":"x"}', error: 40005, text: "`id`", why: "a fraction" },
    { line: '{"id":"1","name":"x"}', error: 40005, text: "`id`", why: "an id in quotes" },
    { line: '{"id":1,"name":null}', error: 40005, text: "`name`", why: "a name that is null" },
    { line: '{"id":1,"name":"x","tag":null}', error: 40005, text: "`tag`", why: "a tag that is null" },
    { line: '[1,"x"]', error: 40005, text: "not an object", why: "an array" },
    { line: "null", error: 40005, text: "not an object", why: "null" },
    { line: "id,name", error: 40001, text: "not JSON", why: "CSV" },
    { line: `{"id":1,"name":"${"x".repeat(65_519)}"}`, error: 41300, text: "65536", why: "a line of 65,537 bytes" },
    { line: `{"id":1,"name":"${"é".repeat(32_760)}"}`, error: 41300, text: "65536", why: "a line of as many bytes in fewer characters" },
    { line: `{"id":1,"name":"${"x".repeat(500_000)}"}`, error: 41300, text: "65536", why: "a much longer line" },
  ] as const) {
    it(`refuses ${why} by its line and number, and takes the lines around it`, async () => {
      const { summary, stored } = await storedFrom(bytesOf('\n{"id":5,"name":"before"}\n', line, '\n{"id":6,"name":"behind"}\n'));
      expect(summary).toMatchObject({ read: 3, created: 2, refused: 1, problems: [{ line: 3, error }] });
      expect(summary.problems[0]!.message).toContain(text);
      expect(stored).toBe('{"id":5,"name":"before"}\n{"id":6,"name":"behind"}\n');
    });
  }

  it("without a body is refused, of both forms", async () => {
    const { origin, port } = new URL(service.url);
    for (const type of ["application/x-ndjson", "text/csv"]) {
      const response = await post("", { type });
      expect(response.status).toBe(400);
      expect(await expectConform(IMPORT, response)).toEqual({
        error: 40011,
        message: "The request has no body: send the file with it, as NDJSON or CSV.",
      });
      const head = `POST /plants/import HTTP/1.1\r\nHost: x:${port}\r\nAuthorization: Bearer ${service.token}\r\nContent-Type: ${type}\r\nConnection: close\r\n`;
      expect((await sendRaw(origin, [`${head}\r\n`])).text).toContain("40011");
      for (const empty of ["Content-Length: 0, 0\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"])
        expect((await sendRaw(origin, [`${head}${empty}`])).text).toContain("40011");
    }
  });

  it("takes a line of 65,536 bytes, also the last", async () => {
    const line = (id: number) => `{"id":${id},"name":"${"x".repeat(65_518)}"}`;
    expect(line(1)).toHaveLength(65_536);
    expect((await storedFrom(`${line(1)}\n${line(2)}`)).summary).toEqual(clean({ read: 2, created: 2 }));
  });

  it("refuses a byte order mark anywhere but at the beginning, however the body is cut", async () => {
    const rows = await rowsOf(readNdjson, [bytesOf('{"id":1,"name":"a"}\n'), bytesOf('\uFEFF{"id":2,"name":"b"}\n')]);
    expect(rows.map((row) => "refusal" in row)).toEqual([false, true]);
  });
});

describe("an import of CSV", () => {
  const EXPECTED = '{"id":1,"name":"a","tag":"x"}\n{"id":2,"name":"b"}\n';

  for (const { body, why } of [
    { body: "id,name,tag\n1,a,x\n2,b,\n", why: "commas" },
    { body: "id;name;tag\n1;a;x\n2;b;\n", why: "semicolons" },
    { body: "id\tname\ttag\n1\ta\tx\n2\tb\t\n", why: "tabs" },
    { body: "id,name,tag\n1,a,x\n2,b,", why: "no newline at the end" },
    { body: "id,name,tag\r\n1,a,x\r\n2,b,\r\n", why: "CRLF" },
    { body: "id,name,tag\n1,a,x\r\n2,b,\r\n", why: "CRLF behind a first line without it" },
    { body: "id,name,tag\r\n1,a,x\n2,b,\n", why: "a first line alone with CRLF" },
    { body: "id,name,tag\n\n1,a,x\n\n\n2,b,\n\n", why: "blank lines" },
    { body: "\uFEFFid,name,tag\n1,a,x\n2,b,\n", why: "a byte order mark" },
    { body: '\uFEFF"id","name","tag"\n1,a,x\n2,b,\n', why: "one before a quoted name" },
    { body: "ID , Name,TAG\n1,a,x\n2,b,\n", why: "names in capitals, with spaces" },
    { body: "id,name,tag\n1,a,x\n2,b\n", why: "a row without its last cell" },
    { body: 'id,name,tag,,\n1,a,x,,"",\n2,b,,,,,\n', why: "empty cells and names beyond the last column" },
    { body: '"id","name","tag"\n"1","a","x"\n"2","b",\n', why: "quoted cells" },
    { body: 'id,name,tag\n1,a,x\n" 2 ",b,\n', why: "spaces around an id" },
    { body: "id,name,tag\n1.0,a,x\n20e-1,b,\n", why: "other forms of the same id" },
    { body: "catalogNumber,scientificName,tag\n1,a,x\n2,b,\n", why: "the terms of Darwin Core" },
    { body: "vernacularName,catalogNumber,tag\na,1,x\nb,2,\n", why: "the common name alone" },
    { body: "catalogNumber,scientificName,vernacularName,tag\n1,a,,x\n2,,b,\n", why: "the common name where there is no other" },
    { body: "catalogNumber,vernacularName,scientificName,tag\n1,,a,x\n2,b,,\n", why: "these in the other order" },
  ]) {
    it(`takes ${why}`, async () => {
      const { summary, stored } = await storedFrom(body, CSV);
      expect(stored).toBe(EXPECTED);
      expect(summary).toEqual(clean({ read: 2, created: 2 }));
    });
  }

  for (const { cell, name, why } of [
    { cell: '"a,b"', name: "a,b", why: "a delimiter in quotes" },
    { cell: '"a;b\tc"', name: "a;b\tc", why: "the other delimiters" },
    { cell: '"say ""hi"""', name: 'say "hi"', why: "quotes" },
    { cell: '"two\nlines"', name: "two\nlines", why: "a newline" },
    { cell: '"two\r\nlines"', name: "two\r\nlines", why: "CRLF" },
    { cell: " a ", name: " a ", why: "spaces" },
    { cell: '" a "', name: " a ", why: "spaces in quotes" },
    { cell: "", name: "", why: "an empty cell, which is an empty name" },
    { cell: '""', name: "", why: "the same in quotes" },
    { cell: "a\0b", name: "a\0b", why: "U+0000" },
    { cell: "Straße 🌿 שלום", name: "Straße 🌿 שלום", why: "letters of all kinds" },
    { cell: "\uFEFFa", name: "\uFEFFa", why: "U+FEFF at the beginning of a cell" },
    { cell: "null", name: "null", why: "the word null" },
    { cell: "=1+1", name: "=1+1", why: "a formula" },
    { cell: "# no comment", name: "# no comment", why: "a number sign" },
    { cell: "a'b\\n", name: "a'b\\n", why: "single quotes and backslashes" },
  ]) {
    it(`reads ${why} as it is`, async () => {
      const { stored } = await storedFrom(`id,name\n1,${cell}\n2,next\n`, CSV);
      expect(stored).toBe(`${JSON.stringify({ id: 1, name })}\n{"id":2,"name":"next"}\n`);
    });
  }

  for (const { header, rows, unused, why } of [
    { header: "tag,extra,name,id", rows: "x,1,a,1\n,2,b,2\n", unused: ["extra"], why: "a column that is none of ours" },
    {
      header: " Location ,id,name,,tag,Höhe",
      rows: ",1,a,,x,\n",
      unused: ["Location", "column 4", "Höhe"],
      why: "several, by name or place",
    },
    { header: "id,name,name,ID,tag", rows: "1,a,b,2,x\n", unused: ["name", "ID"], why: "a name that stands twice" },
    { header: "id,scientificName,vernacularName", rows: "1,a,\n2,,b\n", unused: [], why: "no common name that was taken or is empty" },
    {
      header: "id,scientificName,vernacularName",
      rows: "1,a,c\n2,b,d\n",
      unused: ["vernacularName"],
      why: "common names that were passed over",
    },
    { header: `id,name,${"é".repeat(200)}`, rows: "", unused: ["é".repeat(100)], why: "the beginning of a long name" },
  ]) {
    it(`names what is not imported: ${why}`, async () => {
      const { summary } = await storedFrom(`${header}\n${rows}`, CSV);
      expect(summary.unusedColumns).toEqual(unused);
      expect(summary.refused).toBe(0);
    });
  }

  it("names the first hundred of many unused columns", async () => {
    const { unusedColumns } = await importAll(`id,name,${Array.from({ length: 5000 }, (_, at) => `c${at}`).join(",")}\n`, CSV);
    expect(unusedColumns).toEqual(Array.from({ length: 100 }, (_, at) => `c${at}`));
  });

  it("tells an empty tag in quotes from no tag", async () => {
    const { stored } = await storedFrom('id,name,tag\n1,a,\n2,a,""\n3,a\n', CSV);
    expect(stored).toBe('{"id":1,"name":"a"}\n{"id":2,"name":"a","tag":""}\n{"id":3,"name":"a"}\n');
  });

  for (const body of [
    "\n\n",
    "1,Aloe\n",
    "id,tag\n1,x\n",
    "name,tag\nx,y\n",
    "identifier,names\n1,x\n",
    "id|name\n1|x\n",
    '"id,name\n1,x\n',
  ]) {
    it(`refuses ${JSON.stringify(body)}, whose first line names no id and name`, async () => {
      const response = await post(body, CSV);
      expect(response.status).toBe(400);
      expect(await expectConform(IMPORT, response)).toMatchObject({ error: 40008 });
    });
  }

  it("takes a first line alone for no plants", async () => {
    for (const body of ["id,name", "id,name\n", "name;id;tag\r\n"]) expect(await importAll(body, CSV)).toEqual(clean({}));
  });

  for (const { row, error, text, why } of [
    { row: "1", error: 40005, text: "`name`", why: "a row without the cell of its name" },
    { row: ",x", error: 40005, text: "`id`", why: "an empty id" },
    { row: '"",x', error: 40005, text: "`id`", why: "an empty id in quotes" },
    { row: "abc,x", error: 40005, text: "`id`", why: "an id that is a word" },
    { row: "0x1,x", error: 40005, text: "`id`", why: "a hexadecimal id" },
    { row: "1.5,x", error: 40005, text: "`id`", why: "an id with a fraction" },
    { row: "9223372036854775808,x", error: 40005, text: "`id`", why: "an id of 2^63" },
    { row: [0x31, 0x2c, 0xff], error: 40004, text: "Unicode", why: "a name that is no UTF-8" },
    { row: [0x31, 0x2c, 0x78, 0x2c, 0xc3], error: 40004, text: "Unicode", why: "a tag that is no UTF-8" },
    { row: [0xff, 0x2c, 0x78], error: 40005, text: "`id`", why: "an id that is no UTF-8" },
    { row: '1,a"b', error: 40009, text: "quotes", why: "a quote in a cell without quotes" },
    { row: '1,Rosa "Peace" x', error: 40009, text: "quotes", why: "two of them" },
    { row: '1,"a"b', error: 40009, text: "quotes", why: "text behind a quoted cell" },
    { row: '1,"a" "b"', error: 40009, text: "quotes", why: "two quoted texts in a cell" },
    { row: '1,5" pot', error: 40009, text: "quotes", why: "inches" },
    { row: `1,${"x".repeat(70_000)}`, error: 41300, text: "65536", why: "a row of 70,000 bytes" },
    { row: `1,${"x".repeat(500_000)}`, error: 41300, text: "65536", why: "a row of 500,000 bytes" },
    { row: `1,"${"x".repeat(100_000)}"`, error: 41300, text: "65536", why: "a quoted cell of 100,000 bytes" },
    { row: "1,a,x,more", error: 40009, text: "has 4 cells for 3 columns", why: "a cell too many" },
    { row: '1,a,x,,,"more",,', error: 40009, text: "has 6 cells for 3 columns", why: "one behind empty ones" },
    { row: '1,"a', error: 40009, text: "is not closed", why: "a quote that is never closed" },
    { row: '1,a,"', error: 40009, text: "is not closed", why: "one that opens at the end of its line" },
    { row: `1,"${"x".repeat(60_000)}`, error: 40009, text: "is not closed", why: "one behind which much stands" },
    { row: "5,another", error: 40900, text: "another plant", why: "a used id" },
  ] as const) {
    it(`refuses ${why} once, and takes the rows around it`, async () => {
      const { summary, stored } = await storedFrom(bytesOf("id,name,tag\n5,before,\n", row, "\n6,behind,\n7,last,\n"), CSV);
      expect(stored).toBe('{"id":5,"name":"before"}\n{"id":6,"name":"behind"}\n{"id":7,"name":"last"}\n');
      expect(summary.problems.map((problem) => problem.error)).toEqual([error]);
      expect(summary.problems[0]!.message).toContain(text);
      expect(summary).toMatchObject({ read: 4, created: 3, refused: 1 });
    });
  }

  it("names the line on which a refused row begins", async () => {
    const { summary } = await storedFrom('id,name\n1,"two\nlines"\n\nx,"two\nlines"\ny,one\n', CSV);
    expect(summary.problems.map(({ line }) => line)).toEqual([5, 7]);
  });
});

type Read = typeof readCsv;

/** The rows of a body that comes in these chunks, each of which is overwritten once the next is asked for. */
async function rowsOf(read: Read, chunks: readonly Uint8Array[]): Promise<Row[]> {
  async function* come(): AsyncGenerator<Uint8Array> {
    for (const chunk of chunks) {
      const buffer = Uint8Array.from(chunk);
      yield buffer;
      buffer.fill(0x21);
    }
  }
  const rows: Row[] = [];
  for await (const some of read(come(), { parsePlant, lineBytesMax: 100, onUnused: () => {} })) rows.push(...some);
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
  const csv = bytesOf('\uFEFFid;name;tag\r\n1;"é🌿; ""a"" \r\n b";x\r\n\r\n', "2;", [0xff], ';""\r\nx;y\r\n4;銀;');

  for (const { name, read, bytes } of [
    { name: "NDJSON", read: readNdjson, bytes: ndjson },
    { name: "CSV", read: readCsv, bytes: csv },
  ]) {
    it(`of ${name} gives the same rows in two wherever it is cut, and in pieces of 1 to 7 bytes`, async () => {
      const whole = await rowsOf(read, [bytes]);
      expect(whole.map((row) => "refusal" in row)).toEqual(
        name === "NDJSON" ? [false, false, true, true, false] : [false, true, true, false],
      );
      for (let at = 0; at <= bytes.length; at += 1) {
        expect(await rowsOf(read, [bytes.subarray(0, at), bytes.subarray(at)]), `cut at ${at}`).toEqual(whole);
      }
      for (const size of [1, 2, 3, 4, 5, 6, 7]) expect(await rowsOf(read, cut(bytes, size)), `pieces of ${size}`).toEqual(whole);
    });

    it(`of ${name} over HTTP gives the same summary as a whole one`, async () => {
      const type = name === "CSV" ? "text/csv" : "application/x-ndjson";
      const whole = await importAll(bytes, { type, query: "?dryRun=true" });
      const pieces = cut(bytes, 5);
      const body = new ReadableStream<Uint8Array>({
        async pull(controller) {
          const piece = pieces.shift();
          await Bun.sleep(1);
          if (piece) controller.enqueue(piece);
          else controller.close();
        },
      });
      const response = await service.request("/plants/import?dryRun=true", { method: "POST", body, headers: { "content-type": type } });
      expect(await summaryOf(response)).toEqual(whole);
    });
  }
});

/** A connection that begins an import; `send` resolves when its bytes have left. */
function beginImport(on: TestService): Promise<{ send: (text: string) => Promise<void>; destroy: () => void }> {
  const { hostname, port } = new URL(on.url);
  const head = `POST /plants/import HTTP/1.1\r\nHost: plants\r\nAuthorization: Bearer ${on.token}\r\nContent-Length: 100000000\r\n\r\n`;
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      const send = (text: string) => new Promise<void>((sent, fail) => socket.write(text, (error) => (error ? fail(error) : sent())));
      socket.on("error", () => {});
      send(head).then(() => resolve({ send, destroy: () => socket.destroy() }), reject);
    });
    socket.once("error", reject);
  });
}

describe("a client that goes away in the middle of an import", () => {
  it("leaves whole commits of what it sent, and the service answers on", async () => {
    const own = await startTestService();
    const lines = Array.from({ length: 20_000 }, (_, id) => `{"id":${id},"name":"plant ${id}"}\n`);
    const { send, destroy } = await beginImport(own);
    await send(lines.join(""));
    await send('{"id":20000,"name":"cut');
    await until("Some are stored", async () => (await exportAll({ on: own })) !== "");
    destroy();
    let stored = "";
    for (let next = await exportAll({ on: own }); next !== stored; next = await exportAll({ on: own })) {
      stored = next;
      await Bun.sleep(200);
    }
    const count = stored.split("\n").length - 1;
    expect(count).toBeGreaterThan(0);
    expect(count % 2000).toBe(0);
    expect(stored).toBe(lines.slice(0, count).join(""));
    expect(await importAll(lines.join(""), { on: own })).toEqual(clean({ read: 20_000, created: 20_000 - count, unchanged: count }));
    expect(own.logged.join("")).not.toContain("unexpected_error");
    await own.stop();
  });

  it("makes room for another: four imports of one token run at a time, a fifth is answered 503", async () => {
    const own = await startTestService();
    const open = await Promise.all([1, 2, 3, 4].map(() => beginImport(own)));
    for (const { send } of open) await send('{"id":1,"name":"x"}\n');
    const importNothing = () => post("\n", { on: own });
    const refused = await askUntil(importNothing, ({ status }) => status === 503);
    expect(await expectConform(IMPORT, refused)).toMatchObject({ error: 50300 });
    for (const { destroy } of open) destroy();
    expect(await summaryOf(await askUntil(importNothing, ({ status }) => status !== 503))).toEqual(clean({}));
    await own.stop();
  });
});

describe("an export", () => {
  it("refuses Darwin Core as NDJSON, which no import would read", async () => {
    const response = await service.request("/plants/export?format=ndjson&profile=dwc");
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ error: 40006, message: "The profile dwc is for CSV: ask for csv as the format, or for none." });
  });

  const NDJSON =
    '{"id":-9223372036854775808,"name":"least"}\n{"id":1,"name":"a, \\"b\\"","tag":""}\n{"id":9223372036854775807,"name":"","tag":"x"}\n';
  const rows = '-9223372036854775808,least,\n1,"a, ""b""",""\n9223372036854775807,,x\n';
  const own = startTestService();
  afterAll(async () => (await own).stop());

  it("begins with plants that an import has stored", async () => {
    expect(await importAll(NDJSON, { on: await own })).toEqual(clean({ read: 3, created: 3 }));
  });

  const PLAIN = `id,name,tag\n${rows}`;
  const DWC = `catalogNumber,scientificName,tag\n${rows}`;
  for (const { query, accept, text, form, why } of [
    { query: "", accept: "*/*", text: NDJSON, form: "ndjson", why: "NDJSON when nothing is asked for" },
    { query: "", accept: "application/x-ndjson", text: NDJSON, form: "ndjson", why: "NDJSON when it is accepted" },
    { query: "", accept: "application/json", text: NDJSON, form: "ndjson", why: "NDJSON when only something else is accepted" },
    { query: "", accept: "text/csv", text: PLAIN, form: "csv", why: "CSV when it is accepted" },
    { query: "?format=csv", accept: "*/*", text: PLAIN, form: "csv", why: "CSV when it is asked for" },
    { query: "?format=csv", accept: "application/x-ndjson", text: PLAIN, form: "csv", why: "CSV although NDJSON is accepted" },
    { query: "?format=ndjson", accept: "text/csv", text: NDJSON, form: "ndjson", why: "NDJSON although CSV is accepted" },
    { query: "?profile=plain", accept: "text/csv", text: PLAIN, form: "csv", why: "our own names" },
    { query: "?profile=dwc&format=csv", accept: "*/*", text: DWC, form: "csv", why: "the terms of Darwin Core as CSV" },
    { query: "?profile=dwc", accept: "*/*", text: DWC, form: "csv", why: "CSV when only the terms of Darwin Core are asked for" },
  ]) {
    it(`is ${why}, and has a name for the file`, async () => {
      const response = await (await own).request(`/plants/export${query}`, { headers: { accept } });
      expect(response.headers.get("content-disposition")).toBe(`attachment; filename="plants.${form}"`);
      expect(response.headers.get("content-type")).toBe(
        form === "csv" ? "text/csv; charset=utf-8; header=present" : "application/x-ndjson",
      );
      expect(await expectConform(EXPORT, response)).toBe(text);
    });
  }

  it("answers HEAD with the same headers and no body", async () => {
    const response = await (await own).request("/plants/export?format=csv", { method: "HEAD" });
    expect(response.headers.get("content-disposition")).toBe('attachment; filename="plants.csv"');
    expect(response.headers.get("content-type")).toBe("text/csv; charset=utf-8; header=present");
    expect([response.status, await response.text()]).toEqual([200, ""]);
  });

  it("of an empty store is empty, or the first line alone", async () => {
    const empty = await startTestService();
    expect(await exportAll({ on: empty })).toBe("");
    expect(await exportAll({ on: empty, query: "?format=csv" })).toBe("id,name,tag\n");
    await empty.stop();
  });

  it("of many pages holds every plant once, by id", async () => {
    const many = await startTestService();
    const lines = Array.from({ length: 2000 }, (_, at) => `{"id":${at - 1000},"name":"x"}\n`);
    await importAll(lines.toReversed().join(""), { on: many });
    expect(await exportAll({ on: many })).toBe(lines.join(""));
    await many.stop();
  });

  it("whose reader goes away ends, and the service answers on", async () => {
    const response = await (await own).request("/plants/export");
    await response.body!.cancel();
    expect((await (await own).request("/plants/1")).status).toBe(200);
    expect((await own).logged.join("")).not.toContain("unexpected_error");
  });
});

const seed = seedOf("exchange");
const PLANTS = 500;

describe(`${PLANTS} random plants`, () => {
  const awkward = fc.constantFrom(
    '"',
    '""',
    ",",
    ";",
    "\t",
    "\n",
    "\r",
    "\r\n",
    " ",
    "\0",
    "\uFEFF",
    "\u00a0",
    "\u2028",
    "'",
    "\\",
    "a",
    "é",
    "🌿",
  );
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 20 }),
    fc.array(awkward, { maxLength: 6 }).map((parts) => parts.join("")),
    fc.string({ unit: "grapheme", maxLength: 20 }),
  );
  const id = fc.oneof(fc.bigInt({ min: PLANT_ID_MIN, max: PLANT_ID_MAX }), fc.constantFrom(PLANT_ID_MIN, PLANT_ID_MAX, 0n, 2n ** 53n + 1n));
  const plant = fc.record({ id, name: text, tag: text }, { requiredKeys: ["id", "name"] });
  const plants = fc.sample(fc.uniqueArray(plant, { minLength: PLANTS, maxLength: PLANTS, selector: (one) => one.id }), {
    numRuns: 1,
    seed,
  })[0]!;
  const body = plants.map(({ id: number, ...content }) => `{"id":${number},${JSON.stringify(content).slice(1)}`).join("\n");

  for (const { query, type } of [
    { query: "?format=ndjson", type: "application/x-ndjson" },
    { query: "?format=csv", type: "text/csv" },
    { query: "?format=csv&profile=dwc", type: "text/csv" },
  ]) {
    it(`survive ${query}: an import of the export gives the same plants and the same export, byte for byte`, async () => {
      const first = await startTestService();
      expect(await importAll(body, { on: first })).toEqual(clean({ read: PLANTS, created: PLANTS }));
      const exported = await exportAll({ on: first, query });
      const second = await startTestService();
      expect(await importAll(exported, { on: second, type })).toEqual(clean({ read: PLANTS, created: PLANTS }));
      expect(await exportAll({ on: second })).toBe(await exportAll({ on: first }));
      expect(await exportAll({ on: second, query })).toBe(exported);
      expect(await importAll(exported, { on: first, type })).toEqual(clean({ read: PLANTS, unchanged: PLANTS }));
      await Promise.all([first.stop(), second.stop()]);
    });
  }
});
