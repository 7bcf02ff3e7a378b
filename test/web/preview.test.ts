import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { createClient, ServiceError } from "../../src/client/client.ts";
import type { Client, ImportSummary } from "../../src/client/client.ts";
import { asPlantId } from "../../src/domain/plant.ts";
import { openColumnKeys } from "../../src/files/reading/columns.ts";
import { toContentId } from "../../src/files/content-id.ts";
import { checkFile } from "../../web/import/check-file.ts";
import { numberRows } from "../../web/import/first-id.ts";
import { previewImport } from "../../web/import/preview.ts";
import type { Preview } from "../../web/import/preview.ts";
import { refusedFile } from "../../web/import/refused-file.ts";
import { findRepeats } from "../../web/import/repeats.ts";
import { readSlices } from "../../web/import/slices.ts";
import { below, openRandom, pick, seedOf } from "../support/random.ts";
import { rejectionOf } from "../support/rejection.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { check, preview, send, signal } from "../support/web/page-import.ts";

let service: TestService;
let client: Client;
beforeAll(async () => {
  service = await startTestService();
  client = createClient({ url: service.url, token: service.token });
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
  { what: "CSV with a row that is too long for a plant", text: `id,name\n1,${"x".repeat(70_000)}\nx,bad\n` },
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

/** The same as in a browser, which has no Buffer. */
async function checkAsInBrowser(text: string | Uint8Array) {
  const native = globalThis.Buffer;
  try {
    Object.assign(globalThis, { Buffer: undefined });
    return await check(text, "file");
  } finally {
    globalThis.Buffer = native;
  }
}

describe("the preview of a file says what the service will say of", () => {
  for (const { what, text } of FILES) {
    it(what, async () => {
      const checked = await checkAsInBrowser(text);
      const answer: ImportSummary | ServiceError = await client
        .importPlants(new File([typeof text === "string" ? text : new Uint8Array(text)], "file"), {
          dryRun: true,
          ...(checked.kind === "csv" ? { reading: {} } : {}),
        })
        .catch((thrown: ServiceError) => thrown);
      if (answer instanceof ServiceError) {
        expect(checked.failure).toBe(answer.message);
        return;
      }
      const { counts, problems } = await preview(checked, client);
      const { created, unchanged, replaced, refused } = answer;
      expect([counts, problems]).toEqual([{ created, unchanged, replaced, refused }, [...answer.problems]]);
      const { unusedColumns, doubts, skipped } = checked.findings;
      expect([unusedColumns, doubts, skipped]).toEqual([[...answer.unusedColumns], [...(answer.doubts ?? [])], answer.skipped ?? 0]);
    });
  }
});

it("takes a name with U+0000 for no name and tag of an earlier row", () => {
  const repeats = findRepeats();
  const id = asPlantId(1n);
  repeats.see({ id, name: "a\0b" }, 0);
  expect(repeats.see({ id, name: "a", tag: "b" }, 1)).toEqual({ first: 0, isSameAsFirst: false, isSameAsLast: false });
  expect(repeats.see({ id, name: "a", tag: "b" }, 2)).toEqual({ first: 0, isSameAsFirst: false, isSameAsLast: true });
});

describe("the numbers of a file", () => {
  it("are found again right after its import, though a search does not find them among many of the name", async () => {
    const checked = await check("name\nNumbered one\nNumbered two\nNumbered three\n");
    const lagging: Client = {
      ...client,
      page: (query) => (query?.q === undefined ? client.page(query) : client.page({ q: "nothing has this name" })),
    };
    const first = await numberRows(checked, { client: lagging, signal });
    expect(first).toMatchObject({ isKnown: false });
    expect((await send(first.checked, client)).counts).toMatchObject({ created: 3 });
    const again = await numberRows(checked, { client: lagging, signal });
    expect(again).toMatchObject({ isKnown: true, checked: { asked: first.checked.asked } });
  });

  it("count on behind the largest that people use, also in later slices, and are found though the first row is refused", async () => {
    await client.create({ id: 900_000n, name: "Numbered by hand" });
    await client.create({ id: 1_000_000_000n, name: "Made at random" });
    const rows = Array.from({ length: 2_500 }, (_, at) => `${at === 0 ? "" : `Behind ${at}`},x\n`);
    const checked = await check(`name,tag\n${rows.join("")}`);
    const first = await numberRows(checked, { client, signal });
    expect(first).toMatchObject({ checked: { asked: { ids: { kind: "from", first: 900_001n } } }, isKnown: false });
    expect((await send(first.checked, client)).counts).toMatchObject({ created: 2_499, refused: 1 });
    const last = await client.find(902_500n);
    expect(last?.plant.name).toBe("Behind 2499");
    expect(await numberRows(checked, { client, signal })).toMatchObject({ checked: { asked: first.checked.asked }, isKnown: true });
  });

  it("are not those of another file that has one plant of the same name", async () => {
    await client.create({ id: 910_000n, name: "Shared" });
    const checked = await check("name\nShared\nOnly here\nOnly there\n");
    await until("A search finds it", async () => (await client.page({ q: "Shared" })).plants.length > 0);
    expect(await numberRows(checked, { client, signal })).toMatchObject({ isKnown: false });
  });
});

describe("the preview for a file", () => {
  it("says of an id that was made, and that an earlier row has, that it is refused even if others replace plants", async () => {
    const made = toContentId("\x1fSecond");
    const checked = await check(`id,name\n${made},First\n,Second\n7,Third\n7,Fourth\n`, "made.csv", { ids: { kind: "content" } });
    expect(await preview(checked, client, "replace")).toMatchObject({
      isDone: true,
      fates: ["created", "refused", "created", "replaced"],
    });
    const { counts, problems } = await send(checked, client, "replace");
    expect(counts).toEqual({ read: 4, created: 2, unchanged: 0, replaced: 1, refused: 1 });
    expect(problems).toMatchObject([{ line: 3, error: 40900 }]);
  });

  for (const onConflict of ["refuse", "replace"] as const) {
    it(`says what an import makes of each row when ids come again and again, in other slices too: ${onConflict}`, async () => {
      const random = openRandom(seedOf(`preview ${onConflict}`));
      // No number can tell these ids apart.
      const from = onConflict === "refuse" ? 2n ** 60n : 2n ** 61n;
      const row = () =>
        `${from + BigInt(below(random, 900))},${pick(random, ["Acer", "Acer", "Rosa"])},${pick(random, ["", "", "tree", "shrub"])}\n`;
      await client.importPlants(new Blob(["id,name,tag\n", ...Array.from({ length: 300 }, row)]), {});
      const rows = Array.from({ length: 3_500 }, (_, at) => (at % 100 === 7 ? "x,Acer,\n" : row()));
      const checked = await check(`id,name,tag\n${rows.join("")}`);
      const previews: Preview[] = [];
      await previewImport(checked, { client, onConflict, signal, onPreview: (next) => previews.push({ ...next }) });
      expect(previews.map(({ isDone }) => isDone)).toEqual([false, false, false, false, true]);
      const { fates, counts, reasons } = previews.at(-1)!;
      const { read, ...became } = (await send(checked, client, onConflict)).counts;
      expect([counts, read]).toEqual([became, 3_500]);
      expect([...reasons.keys()]).toEqual(Array.from(fates.entries()).flatMap(([at, fate]) => (fate === "refused" ? [at] : [])));
    });
  }

  it("needs a service that tells what will happen to each row", async () => {
    const older: Client = {
      ...client,
      async importPlants(file, options) {
        const { outcomes: _, ...summary } = await client.importPlants(file, options);
        return summary;
      },
    };
    expect(String(await rejectionOf(preview(await check("id,name\n1,Acer\n"), older)))).toContain("upgrade it");
  });
});

describe("a file in slices", () => {
  it("is the whole file, cut between rows, whose problems keep their lines", async () => {
    const rows = Array.from({ length: 4_500 }, (_, at) =>
      at % 1_000 === 17 ? `x${at},"bad\n${at}",\r\n` : `${70_000 + at},"Plant\n${at}",bulk\n`,
    );
    const checked = await check(`\ufeffid,name,tag\r\n\n${rows.join("")}`);
    const slices = await Array.fromAsync(readSlices(checked));
    expect(slices.map(({ rows: some, before }) => [some.length, before])).toEqual([
      [1_000, 0],
      [1_000, 1_000],
      [1_000, 2_000],
      [1_000, 3_000],
      [500, 4_000],
    ]);
    expect(slices.flatMap(({ rows: some }) => some.map(({ line }) => line))).toEqual([...checked.lines]);
    await client.create({ id: 73_333n, name: "Used already" });
    const sent = await send(checked, client);
    expect(sent.counts).toMatchObject({ read: 4_500, created: 4_494, refused: 6 });
    expect(sent.refusedLines).toEqual([17, 1_017, 2_017, 3_017, 3_333, 4_017].map((row) => 3 + 2 * row));
    expect(sent.problems.map(({ line }) => line)).toEqual([...sent.refusedLines]);
  });

  it("has more of them if its rows are long", async () => {
    const long = Array.from({ length: 50 }, (_, at) => `${63_000 + at},${"x".repeat(60_000)}\n`);
    const slices = await Array.fromAsync(readSlices(await check(`id,name\n${long.join("")}`)));
    expect(slices.map(({ rows }) => rows.length)).toEqual([17, 17, 16]);
  });

  it("is not read on once no one wants it any more", async () => {
    const left = AbortSignal.abort();
    expect(await rejectionOf(checkFile(new File(["id,name\n1,Acer\n"], "left.csv"), {}, { signal: left }))).toBe(left.reason);
  });

  it("leaves a file of its refused rows that can be imported like the whole, though no line named the columns", async () => {
    const checked = await check("61000;Acer;tree\nx61001;Rosa\nx61002;Tilia;tree\n", "unnamed.csv", {
      separator: ";",
      heading: 0,
      id: "column 1",
      name: ["column 2"],
      tag: "column 3",
    });
    const saved = await (await refusedFile(checked, (await send(checked, client)).refusedLines)).text();
    expect(await check(saved)).toMatchObject({ lines: [2, 3], refused: 2 });
    const mended = await check(saved.replaceAll("x610", "610"));
    expect(mended.plants.map(({ plant: { id, name, tag } }) => [id as bigint, name, tag])).toEqual([
      [61001n, "Rosa", undefined],
      [61002n, "Tilia", "tree"],
    ]);
  });
});

it("a column is called by its name if only it has that, whatever its case, and it is not empty or long; else by its position", () => {
  const names = ["Id", "name", "Name", "", "Tag", "x".repeat(201)];
  expect(names.map((_, at) => openColumnKeys(names)(at))).toEqual(["Id", "column 2", "column 3", "column 4", "Tag", "column 6"]);
});
