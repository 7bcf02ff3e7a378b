import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import type { ImportSummary } from "../../src/files/import.ts";
import { createClient } from "../../src/client/client.ts";
import type { Client } from "../../src/client/client.ts";
import { asPlantId } from "../../src/domain/plant.ts";
import { toContentId } from "../../src/files/content-id.ts";
import { PLAIN } from "../../src/files/csv-options.ts";
import type { CsvOptions } from "../../src/files/csv-options.ts";
import { findFirstId } from "../../web/import/first-id.ts";
import { previewImport } from "../../web/import/preview.ts";
import type { Preview } from "../../web/import/preview.ts";
import { checkFile, columnKeys } from "../../web/import/check-file.ts";
import type { CheckedFile } from "../../web/import/check-file.ts";
import { guessFile } from "../../web/import/guess.ts";
import { openFile } from "../../web/import/open-file.ts";
import { findRepeats } from "../../web/import/repeats.ts";
import { refusedFile } from "../../web/import/slices.ts";
import { NOTHING_SENT, sendFile } from "../../web/import/send-file.ts";
import type { SentSoFar } from "../../web/import/send-file.ts";
import { below, openRandom, pick, seedOf } from "../support/random.ts";
import { rejectionOf } from "../support/rejection.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

let service: TestService;
let client: Client;
beforeAll(async () => {
  service = await startTestService();
  client = createClient({ url: service.url, token: service.token });
});
afterAll(() => service.stop());

/** No one stops anything, unless a test does. */
const { signal } = new AbortController();

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
  const { file, format } = await openFile(new File([text], "file"));
  return checkFile(file, { signal, format });
}

/** The same, of CSV that is read like this. */
function readCsv(text: readonly string[], csv: CsvOptions = PLAIN) {
  return checkFile(new File([...text], "plants.csv"), { signal, format: "csv", csv });
}

function guess(text: string) {
  return guessFile(new File([text], "plants.csv"), { signal, format: "csv" });
}

const NO_HEADING: CsvOptions = { ...PLAIN, hasHeader: false };

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

async function send(checked: CheckedFile): Promise<SentSoFar> {
  let sent: SentSoFar = NOTHING_SENT;
  await sendFile(checked, NOTHING_SENT, { client, onConflict: "refuse", signal, onProgress: (progress) => (sent = progress) });
  return sent;
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

it("takes a name with U+0000 for no name and tag of an earlier row", () => {
  const repeats = findRepeats();
  const id = asPlantId(1n);
  repeats.see({ id, name: "a\0b" }, 0);
  expect(repeats.see({ id, name: "a", tag: "b" }, 1)).toEqual({ first: 0, isSameAsFirst: false, isSameAsLast: false });
  expect(repeats.see({ id, name: "a", tag: "b" }, 2)).toEqual({ first: 0, isSameAsFirst: false, isSameAsLast: true });
});

describe("the guess for a file", () => {
  const HEADED = { csv: { hasHeader: true } };
  const CODED = { refused: 0, csv: { hasHeader: false, ids: { kind: "content" } }, unusedColumns: ["column 1"] };
  const FROM_FILE = { rows: 1, refused: 1, csv: { ids: { kind: "file" } } };
  for (const [text, guessed] of Object.entries({
    "Nr,name\nnone yet,Acer\n": { rows: 1, refused: 0, csv: { ids: { kind: "content" } } },
    // A spreadsheet has shortened the ids, or put them into groups.
    "Nr,name\n4.00638E+12,Acer\n": FROM_FILE,
    'Nr,name\n"1.000",Acer\n': FROM_FILE,
    'Nr,name\n"1,000",Acer\n': FROM_FILE,
    'Nr,name\n"12 345",Acer\n': FROM_FILE,
    'Nr,name\n"1\u00a0234\u00a0567",Acer\n': FROM_FILE,
    'Nr,name\n"1\u202f000",Acer\n': FROM_FILE,
    'Nr,name\n"1’000",Acer\n': FROM_FILE,
    // A single row has none.
    "Nr,name\n1,Acer\nnone yet,Rosa\n": { rows: 2, refused: 1, csv: { ids: { kind: "file" } } },
    // The first line is a plant if it begins with a number, or a code like the one below, and has no name that is known.
    "1,Acer\n2,Rosa\n": { rows: 2, refused: 0, csv: { hasHeader: false, ids: { kind: "file" } } },
    "2025,name\n3,Acer\n": { rows: 1, ...HEADED },
    "Garten,Stück\n3,Acer\n4,Rosa\n": HEADED,
    "Garten,Stück\nAcer,3\n": { rows: 0, ...HEADED },
    "Garten,2025\nAcer,3\n": { rows: 0, ...HEADED },
    "A-17,Monstera\nA-18,Ficus\n": { rows: 2, ...CODED },
    "2024.013;Monstera;tropical\n2024.7;Ficus;tropical\n": { rows: 2, ...CODED, plants: { 0: { plant: { tag: "tropical" } } } },
    "A-17,Monstera\n": { rows: 1, ...CODED, plants: { 0: { plant: { name: "Monstera" } } } },
    "Beet 1,Stück\nBeet 2,3\n": HEADED,
    "Q1,Stück\nAcer,3\n": HEADED,
    "A-17,name\nA-18,Acer\n": HEADED,
    "Beet1,Beet2\nAcer,Rosa\n": HEADED,
  }))
    it(`${JSON.stringify(text)} is ${JSON.stringify(guessed)}`, async () => expect(await guess(text)).toMatchObject(guessed));

  it("makes no ids where those of the file are errors of a spreadsheet", async () => {
    const faults = new Map([[2, new Map([[0, "error"]] as const)]]);
    const faulty = new File(["Nr,name\n#N/A,Acer\n"], "guess.csv");
    expect(await guessFile(faulty, { signal, format: "csv", faults })).toMatchObject(FROM_FILE);
  });
});

describe("the numbers of a file", () => {
  it("are found again right after its import, though a search does not find them among many of the name", async () => {
    const file = new File(["name\nNumbered one\nNumbered two\nNumbered three\n"], "numbered.csv");
    const csv = { ...PLAIN, ids: { kind: "from", first: 1n } } as const;
    const checked = await checkFile(file, { signal, format: "csv", csv });
    const lagging: Client = {
      ...client,
      page: (query) => (query?.q === undefined ? client.page(query) : client.page({ q: "nothing has this name" })),
    };
    const first = await findFirstId(lagging, checked, signal);
    expect(first).toMatchObject({ isKnown: false });
    await client.importPlants(file, { firstId: first!.id });
    expect(await findFirstId(lagging, checked, signal)).toEqual({ id: first!.id, isKnown: true });
  });

  it("count on behind the largest that people use, also in later slices, and are found though the first row is refused", async () => {
    await client.create({ id: 900_000n, name: "Numbered by hand" });
    await client.create({ id: 1_000_000_000n, name: "Made at random" });
    const rows = Array.from({ length: 2_500 }, (_, at) => (at === 0 ? 'a "quote\n' : `Behind ${at}\n`));
    const file = new File([`name\n${rows.join("")}`], "behind.csv");
    const readFrom = (first: bigint) => checkFile(file, { signal, format: "csv", csv: { ...PLAIN, ids: { kind: "from", first } } });
    const counted = await readFrom(1n);
    const first = await findFirstId(client, counted, signal);
    expect(first).toEqual({ id: 900_001n, isKnown: false });
    expect((await send(await readFrom(first!.id))).counts).toMatchObject({ created: 2_499, refused: 1 });
    const last = await client.find(902_500n);
    expect(last?.plant.name).toBe("Behind 2499");
    expect(await findFirstId(client, counted, signal)).toEqual({ id: first!.id, isKnown: true });
  });

  it("are not those of another file that has one plant of the same name", async () => {
    await client.create({ id: 910_000n, name: "Shared" });
    const file = new File(["name\nShared\nOnly here\nOnly there\n"], "other.csv");
    const counted = await checkFile(file, { signal, format: "csv", csv: { ...PLAIN, ids: { kind: "from", first: 1n } } });
    await until("A search finds it", async () => (await client.page({ q: "Shared" })).plants.length > 0);
    expect(await findFirstId(client, counted, signal)).toMatchObject({ isKnown: false });
  });
});

describe("the preview for a file", () => {
  it("says of an id that was made, and that an earlier row has, that it is refused even if others replace plants", async () => {
    const made = toContentId("\x1fSecond");
    const file = new File([`id,name\n${made},First\n,Second\n7,Third\n7,Fourth\n`], "made.csv");
    const csv = { ...PLAIN, ids: { kind: "content" } } as const;
    const checked = await checkFile(file, { signal, format: "csv", csv });
    let last: Preview | undefined;
    await previewImport(checked, { client, onConflict: "replace", signal, onPreview: (preview) => (last = preview) });
    expect(last).toMatchObject({ isDone: true, fates: ["created", "refused", "created", "replaced"] });
    const { read, created, replaced, refused } = await client.importPlants(file, { ids: "content", onConflict: "replace" });
    expect({ read, created, replaced, refused }).toEqual({ read: 4, created: 2, replaced: 1, refused: 1 });
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
      const file = new File(["id,name,tag\n", ...rows], "repeats.csv");
      const checked = await checkFile(file, { signal, format: "csv" });
      const previews: Preview[] = [];
      await previewImport(checked, { client, onConflict, signal, onPreview: (preview) => previews.push({ ...preview }) });
      expect(previews.map(({ isDone }) => isDone)).toEqual([false, false, false, false, true]);
      const { fates, counts, reasons } = previews.at(-1)!;
      const { created, unchanged, replaced, refused } = await client.importPlants(file, { onConflict });
      expect(counts).toEqual({ created, unchanged, replaced, refused });
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
    const checked = await check("id,name\n1,Acer\n");
    const previewed = previewImport(checked, { client: older, onConflict: "refuse", signal, onPreview: () => {} });
    expect(String(await rejectionOf(previewed))).toContain("upgrade it");
  });
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

  it("is refused in each of them for a third encoding, as the preview says, though only one cell shows it", async () => {
    const letters: Readonly<Record<number, number[]>> = { 5: [0xc4, 0xf3, 0xe1], 7: [0xd0, 0xee, 0xe7, 0xe0], 1_005: [0xc4, 0xf3, 0xe1] };
    const some = Array.from({ length: 2_500 }, (_, at) => [...Buffer.from(`${90_000 + at},`), ...(letters[at] ?? Buffer.from("Acer")), 10]);
    const file = new File([Uint8Array.from([...Buffer.from("id,name\n"), ...some.flat()])], "cyrillic.csv");
    const checked = await guessFile(file, { signal, format: "csv" });
    expect(checked).toMatchObject({ rows: 2_500, refused: 3 });
    const sent = await send(checked);
    expect(sent).toMatchObject({ slices: 3, counts: { read: 2_500, created: 2_497, refused: 3 }, problems: checked.problems });
  });

  it("names its columns in each slice, with as many cells as its first line, if it does not name them", async () => {
    const unnamed = Array.from({ length: 2_500 }, (_, at) => `${50_000 + at};Acer${at === 1_200 ? ";tree;lawn;x" : ""}\n`);
    const checked = await readCsv([`\ufeffsep=;\n50000;Acer;;lawn\n${unnamed.slice(1).join("")}`], NO_HEADING);
    expect(checked).toMatchObject({ rows: 2_500, refused: 1, problems: [{ line: 1_202, error: 40_009 }], unusedColumns: ["column 4"] });
    const sent = await send(checked);
    expect(sent).toMatchObject({ slices: 3, counts: { read: 2_500, created: 2_499, refused: 1 }, problems: checked.problems });
    expect(await new Blob([...sent.refusedLines]).text()).toBe("51200;Acer;tree;lawn;x\n");
  });

  it("has more of them if its rows are long", async () => {
    const long = Array.from({ length: 50 }, (_, at) => `${63_000 + at},${"x".repeat(60_000)}\n`);
    const { slices } = await check(`id,name\n${long.join("")}`);
    expect(slices.map(({ rows: some }) => some)).toEqual([17, 17, 16]);
  });

  it("is not read on once no one wants it any more", async () => {
    const left = AbortSignal.abort();
    expect(await rejectionOf(checkFile(new File(["id,name\n1,Acer\n"], "left.csv"), { signal: left, format: "csv" }))).toBe(left.reason);
  });

  const SINGLE = { ...NO_HEADING, columns: { id: "", name: "column 1", tag: "" }, ids: { kind: "content" } } as const;
  const DARWIN = "catalogNumber,scientificName,vernacularName\n64000,,Ginkgo\n64001,Acer,Ahorn\n";
  const TOO_LONG = `60000,${"x".repeat(300_000)}\n60001,Acer\n60002,Rosa\n`;
  for (const [what, given, csv, names, refused] of [
    ["begins behind its mark of UTF-8", "\ufeff62000,Acer\n62001,Rosa\n", NO_HEADING, ["Acer", "Rosa"], 0],
    ["is sent as it was read where several columns are taken for the name", DARWIN, PLAIN, ["Ginkgo", "Acer"], 0],
    ["splits its rows as the whole does, if its first line has a single cell", "Acer;\nRosa, big;\n", SINGLE, ["Acer", "Rosa, big"], 0],
    ["refuses a first row that is too long like any other", TOO_LONG, NO_HEADING, ["Acer", "Rosa"], 1],
    ["refuses a malformed first row like any other", 'sep=,\n60003,"a" b\n', NO_HEADING, [], 1],
  ] as const)
    it(what, async () => {
      const checked = await readCsv([given], csv);
      const counts = { read: names.length + refused, created: names.length, refused };
      expect(checked).toMatchObject({ rows: counts.read, refused, plants: names.map((name) => ({ plant: { name } })) });
      expect(await send(checked)).toMatchObject({ counts, problems: checked.problems });
    });

  it("leaves a file of its refused rows that can be imported like the whole, though no line named the columns", async () => {
    const checked = await readCsv(["61000;Acer;tree;lawn\nx61001;Rosa\nx61002;Tilia;tree;lawn\n"], NO_HEADING);
    const saved = await refusedFile(checked, (await send(checked)).refusedLines).text();
    const again = await guess(saved);
    expect(again).toMatchObject({ rows: 2, refused: 2, places: checked.places });
    const mended = await guess(saved.replaceAll("x610", "610"));
    expect(mended.plants.map(({ plant: { id, name, tag } }) => [id as bigint, name, tag])).toEqual([
      [61001n, "Rosa", undefined],
      [61002n, "Tilia", "tree"],
    ]);
  });
});

it("a column is called by its name if only it has that, whatever its case, and it is not empty or long; else by its position", () => {
  const names = ["Id", "name", "Name", "", "Tag", "x".repeat(201)];
  expect(columnKeys(names)).toEqual(["Id", "column 2", "column 3", "column 4", "Tag", "column 6"]);
});
