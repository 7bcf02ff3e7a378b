import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import type { ImportSummary } from "../../src/transfer/import.ts";
import { checkFile } from "../../web/import/check-file.ts";
import { pickRows } from "../../web/import/refused-rows.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

const ID = "9007199254740993";

const FILES: { what: string; text: string | Uint8Array }[] = [
  {
    what: "CSV with a row of each fault",
    text: `id,name,tag\n${ID},Good,tree\nx,Bad id,\n1.5,Fraction,\n,No id,\n2\n3,a "quote,\n4,"open,\n`,
  },
  {
    what: "CSV with CRLF, CR, blank lines and lines in quotes",
    text: `\r\nid;name\r\n1;"two\r\nlines"\r\rx;bad\r\n\n"y";"also\rbad"\n3;good`,
  },
  { what: "CSV with a byte order mark", text: "\ufeffid\tname\n1\tone\nx\ttwo\n" },
  {
    what: "CSV with bytes that are not UTF-8",
    text: new Uint8Array([...Buffer.from("id,name\n1,"), 0xe4, ...Buffer.from("\n2,good\nx,bad\n")]),
  },
  { what: "CSV with a row that is too long", text: `id,name\n1,${"x".repeat(70_000)}\nx,bad\n` },
  { what: "Darwin Core", text: "catalogNumber,scientificName,vernacularName\n1,,Ginkgo\nx,Acer,\n3,,\n" },
  { what: "CSV with columns that are not imported", text: "id,Location,name,,Höhe\n1,Jena,Acer,x,2\n2,Jena,Acer,x,2,3\n" },
  { what: "CSV without a column for the id", text: "name,tag\nMonstera,tropical\n" },
  { what: "a header alone", text: "id,name\n" },
  {
    what: "NDJSON with a line of each fault",
    text: [
      `{"id":${ID},"name":"Good"}`,
      "",
      '{"id":1}',
      '{"name":"x"}',
      '{"id":"1","name":"x"}',
      '{"id":1.5,"name":"x"}',
      '{"id":9223372036854775808,"name":"x"}',
      '{"id":1,"name":7}',
      '{"id":1,"name":null}',
      '{"id":1,"name":"x","tag":null}',
      '{"id":"1","name":7,"tag":7}',
      '{"id":1,"id":2,"name":"x"}',
      '{"id":1,"name":"\\ud800"}',
      '{"id":1,"name":"x","tag":"\\udc00"}',
      "[]",
      "7",
      "null",
      "{",
      `{"id":1,"name":"x","deep":${"[".repeat(40)}${"]".repeat(40)}}`,
      `{"id":1,"name":"${"x".repeat(70_000)}"}`,
      '{"id":1e3,"name":"exponent"}',
    ].join("\n"),
  },
  { what: "NDJSON with CRLF and a byte order mark", text: '\ufeff{"id":1,"name":"x"}\r\n{"id":2}\r\n' },
];

/** What the page says of a file before it sends it. */
async function check(text: string | Uint8Array) {
  return checkFile(new File([text], "file"), { signal: new AbortController().signal, onRows: () => {} });
}

/** The same as in a browser, which has no Buffer. */
async function checkAsInBrowser(text: string | Uint8Array) {
  const native = globalThis.Buffer;
  try {
    Object.assign(globalThis, { Buffer: undefined });
    return await check(text);
  } finally {
    globalThis.Buffer = native;
  }
}

describe("the preview of a file says what the service will say of", () => {
  for (const { what, text } of FILES) {
    it(what, async () => {
      const checked = await checkAsInBrowser(text);
      const response = await service.request("/plants/import?dryRun=true", {
        method: "POST",
        body: text,
        headers: { "content-type": checked.format === "csv" ? "text/csv" : "application/x-ndjson" },
      });
      const answer = (await response.json()) as ImportSummary & { message?: string };
      expect(checked.failure).toBe(answer.message);
      if (answer.message !== undefined) return;
      const { rows: read, refused, problems, unusedColumns } = checked;
      expect(answer).toMatchObject({ read, refused, problems, unusedColumns });
    });
  }
});

describe("a file in slices", () => {
  const rows = Array.from({ length: 5_000 }, (_, at) => (at % 1_000 === 17 ? `x${at},"bad\n${at}",\r\n` : `${at},"Plant\n${at}",bulk\n`));
  const text = `\ufeffid,name,tag\r\n\n${rows.join("")}`;

  it("is the whole file, cut between rows, with continuous line numbers", async () => {
    const { file, slices, header } = await check(text);
    expect(slices).toHaveLength(5);
    expect(slices.reduce((sum, { rows: some }) => sum + some, 0)).toBe(5_000);
    const parts = await Promise.all(slices.map(({ start, end }) => file.slice(start, end).text()));
    expect((await file.slice(0, header.bytes).text()) + parts.join("")).toBe(text.slice(1));
    for (const { start, line } of slices) {
      const before = await file.slice(0, start).text();
      expect(before.split("\n")).toHaveLength(line);
    }
  });

  it("returns exactly the requested rows", async () => {
    const { file, slices, header } = await check(text);
    const { start, end } = slices[1]!;
    const body = new Blob([file.slice(0, header.bytes), file.slice(start, end)]);
    const checked = await check(new Uint8Array(await body.arrayBuffer()));
    const picked = await pickRows(body, "csv", new Set(checked.problems.map(({ line }) => line)));
    expect(await Promise.all(picked.map((row) => row.text()))).toEqual(['x1017,"bad\n1017",\r\n']);
  });
});
