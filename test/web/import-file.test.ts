// How the page opens, reads and sends a file, at moments that a browser does not wait for.
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "bun:test";
import { createClient } from "../../src/client/client.ts";
import type { Client, Fetch } from "../../src/client/client.ts";
import { failureText } from "../../web/failure-text.ts";
import { chooseCells, chooseHeading, NO_CHOICES, readAsChosen } from "../../web/import/choices.ts";
import type { Choices } from "../../web/import/choices.ts";
import { atStakeIn } from "../../web/import/import-step.ts";
import type { ImportStep } from "../../web/import/import-step.ts";
import { readingWords } from "../../web/import/reading-words.ts";
import { refusedFile } from "../../web/import/refused-file.ts";
import { nothingSent } from "../../web/import/send-file.ts";
import { rejectionOf } from "../support/rejection.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { makeWorkbook } from "../support/shelf/workbook.ts";
import { check, send, signal } from "../support/web/page-import.ts";

let service: TestService;
let client: Client;
beforeEach(async () => {
  service = await startTestService();
  client = createClient({ url: service.url, token: service.token });
});

afterEach(() => service.stop());

async function stored(): Promise<string> {
  return (await service.request("/plants?limit=1000")).text();
}

/** Its sheet unpacks to other bytes than were packed. */
function damagedWorkbook(): Buffer {
  const workbook = makeWorkbook([["id", "name"]]);
  const entry = workbook.lastIndexOf("PK\x01\x02", workbook.lastIndexOf("xl/worksheets/sheet1.xml"), "latin1");
  // Where the CRC-32 is in an entry of the directory of a ZIP file.
  workbook[entry + 16]! ^= 1;
  return workbook;
}

describe("a file that cannot be read says why:", () => {
  const noGzip = "The gzip body is incomplete: compress the file again, and send all of it.";
  for (const { what, bytes, says } of [
    { what: "gzip that is cut off", bytes: gzipSync("id,name\n1,Acer\n").subarray(0, -4), says: noGzip },
    { what: "gzip with text behind it", bytes: Buffer.concat([gzipSync("id,name\n1,Acer\n"), Buffer.from("2,Rosa\n")]), says: noGzip },
    { what: "a damaged workbook", bytes: damagedWorkbook(), says: "The file is damaged: save it again." },
    { what: "a PDF", bytes: Buffer.from("%PDF-1.7\n1 0 obj\n"), says: "The file is a PDF: save the table that it was made from" },
    {
      what: "a picture",
      bytes: Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"),
      says: "The file is an image or a video, not a table",
    },
  ])
    it(what, async () => expect(failureText(await rejectionOf(check(bytes)))).toStartWith(says));

  it("a folder, and a file that is gone", () => {
    for (const name of ["NotFoundError", "NotReadableError"])
      expect(failureText(new DOMException("", name))).toStartWith("It is a folder, or the file was moved or changed meanwhile");
  });
});

it("gzip of several members is read, as bgzip and cat make it, with zeros behind it", async () => {
  const size = 2 ** 20 - 5;
  const pack = (pad: number) => gzipSync(`id,name\n1,Acer\n${"\n".repeat(pad)}`, { level: 0 });
  let pad = size - pack(0).length;
  // Some of the size is that of the blocks. The head of the second member lies across two of the pieces that are searched.
  while (pack(pad).length > size) pad -= 1;
  const blocks = Array.from({ length: 99 }, (_, at) => gzipSync(`${-at},Block\n`));
  const checked = await check(Buffer.concat([pack(pad), ...blocks, gzipSync(""), Buffer.alloc(512)]), "blocks.csv.gz");
  expect([pack(pad).length, checked.lines.length, checked.refused, checked.kind]).toEqual([size, 100, 0, "csv"]);
});

/** Reads a file as people choose, after they have seen it as it is guessed. */
async function choose(content: string | Uint8Array, choices: Choices, name?: string) {
  return (await readAsChosen(await check(content, name), choices, { client, signal })).checked;
}

describe("a table that is read as people choose", () => {
  const PARTS = "Nr,Genus,Species,Bed\nA-1,Acer,palmatum,7\nA-2,Salix,alba,8\n";

  for (const { how, content, choices, plants } of [
    {
      how: "by another column for the name, even of a workbook whose first cell looks like JSON",
      content: makeWorkbook([
        ["[Plant]", "Other"],
        ["Acer", "Maple"],
      ]),
      choices: { name: ["column 2"], ids: { kind: "free" } },
      plants: [{ id: 1, name: "Maple" }],
    },
    {
      how: "by several columns for the name, in their order, one of which is a code",
      content: PARTS,
      choices: { name: ["column 2", "column 3", "column 1"], tag: "", ids: { kind: "free" } },
      plants: [
        { id: 1, name: "Acer palmatum A-1" },
        { id: 2, name: "Salix alba A-2" },
      ],
    },
    {
      how: "with another line for the names of the columns",
      content: "Beet,Rose,rot\nWiese,Tulpe,gelb\n",
      choices: { heading: 1, name: ["column 2"], tag: "column 3", ids: { kind: "free" } },
      plants: [{ id: 1, name: "Tulpe", tag: "gelb" }],
    },
    {
      how: "with no line for the names of the columns",
      content: "Beet,Rose,rot\nWiese,Tulpe,gelb\n",
      choices: { heading: 0, name: ["column 2"], tag: "column 3", ids: { kind: "from", first: 7n } },
      plants: [
        { id: 7, name: "Rose", tag: "rot" },
        { id: 8, name: "Tulpe", tag: "gelb" },
      ],
    },
    {
      how: "with letters of another encoding",
      content: Buffer.from("id,name\n1,R\xf9\x9ee\n", "latin1"),
      choices: { encoding: "windows-1250" },
      plants: [{ id: 1, name: "Růže" }],
    },
    {
      how: "with another separator, and quotes that belong to the text",
      content: 'id|name\n1|Rosa "Peace", red\n',
      choices: { separator: "|", quotes: "none" },
      plants: [{ id: 1, name: 'Rosa "Peace", red' }],
    },
    {
      how: "with rows that have no name",
      content: "id,name,tag\n1,,tree\n",
      choices: { emptyNames: true },
      plants: [{ id: 1, name: "", tag: "tree" }],
    },
  ] as const)
    it(`is imported like this: ${how}`, async () => {
      const checked = await choose(content, choices, typeof content === "string" || !("xl" in content) ? undefined : "garten.xlsx");
      expect((await send(checked, client)).counts).toMatchObject({ read: plants.length, created: plants.length });
      expect(JSON.parse(await stored())).toEqual([...plants]);
    });

  it("is another sheet of a workbook, if people choose that", async () => {
    const workbook = makeWorkbook([["Name"], ["Acer"]], { others: ["Old"] });
    expect(await check(workbook, "garten.xlsx")).toMatchObject({
      kind: "workbook",
      sheets: ["Pflanzen & mehr", "Old"],
      failure: undefined,
    });
    const checked = await choose(workbook, { sheet: "Old" }, "garten.xlsx");
    expect(checked.findings.sheet).toBe("Old");
  });

  it("keeps what was chosen with another choice, and guesses only the columns of other cells again", () => {
    const chosen: Choices = {
      encoding: "windows-1250",
      heading: 2,
      id: "",
      name: ["column 5", "column 2"],
      tag: "column 3",
      emptyNames: true,
    };
    const { name: _, ...shorter } = chosen;
    expect(chooseHeading(chosen, 4, 5)).toEqual({ ...chosen, heading: 4 });
    expect(chooseHeading(chosen, 1, 4)).toEqual({ ...shorter, heading: 1 });
    const others = { encoding: "windows-1250", emptyNames: true } as const;
    expect(chooseCells(chosen, "separator", ";")).toEqual({ ...others, heading: 2, separator: ";" });
    expect(chooseCells(chosen, "sheet", "Old")).toEqual({ ...others, sheet: "Old" });
    expect(chooseCells(chosen, "encoding", "koi8-r")).toEqual({ ...chosen, encoding: "koi8-r" });
  });

  it("gets ids from its content without a column for them, which change nothing when it comes again", async () => {
    const checked = await check("Pflanze;Beet\nRose;1\nRose;2\nTulpe;3\nTulpe;3\n");
    expect((await send(checked, client)).counts).toMatchObject({ created: 3, unchanged: 1 });
    expect((await send(checked, client)).counts).toMatchObject({ created: 0, unchanged: 4 });
  });

  it("shows its columns where none is taken for the name, and can be read once people choose one", async () => {
    const codes = "A1,B2\n1,2\n3,4\n";
    const guessed = await check(codes);
    expect(guessed).toMatchObject({ failure: expect.stringContaining("choose the column"), lines: [] });
    expect(guessed.findings.layout?.names).toHaveLength(2);
    expect(await choose(codes, { name: ["column 2"] })).toMatchObject({ failure: undefined });
  });
});

describe("how a table is read, in words:", () => {
  for (const [content, words, name = "plants.csv"] of [
    ["id,name,tag\n1,Acer,tree\n", "UTF-8, separated by commas; names from name; ids from id; tags from tag."],
    [
      "Plants of 2024\n\nGenus;Species;Cultivar;Bed\nAcer;palmatum;;7\nSalix;alba;Tristis;8\n",
      "UTF-8, separated by semicolons, line 3 names the columns; names from Genus, Species and Cultivar; ids made from the content; tags from Bed.",
    ],
    ["Acer palmatum\nSalix alba\n", "UTF-8, each line is one name; ids made from the content; no tags.", "names.txt"],
    [
      "1,Acer palmatum\n2,Salix alba\n",
      "UTF-8, separated by commas, no line names the columns; names from column 2; ids from column 1; no tags.",
    ],
  ] as const)
    it(words, async () => expect(readingWords((await check(content, name)).findings.reading!)).toBe(words));
});

describe("the refused rows of a file that is read again, to be mended", () => {
  for (const { what, content, name = "plants.csv", asked = {}, lines, saved } of [
    {
      what: "stand as they do in a text, under the line that names its columns, without those above it",
      content: '\ufeffMy plants\r\n\r\nid;name;tag\r\nx;"Two\r\n\r\nlines";a\r\n2;Acer;\r\n3x;"a ""quote""";b',
      lines: [4, 8],
      saved: 'id;name;tag\r\nx;"Two\r\n\r\nlines";a\r\n3x;"a ""quote""";b\n',
    },
    {
      what: "are UTF-8 with a mark for spreadsheets, if they were in another encoding",
      content: Buffer.from("id,name\rx,B\xe4rlauch\r2,Acer\r", "latin1"),
      lines: [2],
      saved: "\ufeffid,name\rx,Bärlauch\r",
    },
    {
      what: "keep bytes that are no letters of it",
      content: Buffer.concat([Buffer.from("id,name\n1,weiß\n2,a"), Buffer.of(0xff), Buffer.from("b\n")]),
      asked: { encoding: "utf-8" },
      lines: [3],
      saved: "id,name\n2,a\xffb\n",
    },
    {
      what: "of a workbook are its cells as CSV",
      content: makeWorkbook([
        ["id", "name"],
        ["x", 'A "b", c'],
        [2, "Acer"],
      ]),
      name: "a.xlsx",
      lines: [2],
      saved: '\ufeffid,name\nx,"A ""b"", c"\n',
    },
    {
      what: "have a line that names the columns, where none does",
      content: "1;Acer palmatum\nx2;Salix alba\n3;Tilia cordata\n",
      asked: { heading: 0, id: "column 1" },
      lines: [2],
      saved: "id;name\nx2;Salix alba\n",
    },
    {
      what: "of NDJSON are its lines, even if that was packed",
      content: gzipSync('{"id":1,"name":"Acer"}\n\n{"id":2}\n'),
      name: "a.ndjson.gz",
      lines: [3],
      saved: '{"id":2}\n',
    },
  ])
    it(what, async () => {
      const checked = await check(content, name, asked);
      const bytes = Buffer.from(await (await refusedFile(checked, lines)).arrayBuffer());
      const isText = bytes.toString() === Buffer.from(bytes.toString()).toString() && !bytes.includes(0xff);
      expect(isText ? bytes.toString() : bytes.toString("latin1")).toBe(saved);
    });
});

describe("ids that were made", () => {
  it("replace nothing, even where people replace plants that have the same id", async () => {
    const file = "id,name\n,Acer\n7,Salix\n";
    const checked = await choose(file, { ids: { kind: "content" } });
    const [made] = checked.plants;
    await client.put({ id: made!.plant.id, name: "Another" });
    await client.put({ id: 7n, name: "Old" });
    const sent = await send(checked, client, "replace");
    expect(sent.counts).toEqual({ read: 2, created: 0, unchanged: 0, replaced: 1, refused: 1 });
    expect(sent.problems).toMatchObject([{ line: 2, error: 40900 }]);
    expect(sent.refusedLines).toEqual([2]);
    expect(await client.find(made!.plant.id)).toMatchObject({ plant: { name: "Another" } });
  });
});

describe("what would be lost with an import", () => {
  const progress = (refused: number) => ({ ...nothingSent(), counts: { ...nothingSent().counts, refused } });
  for (const { what, step, stake } of [
    { what: "nothing, while a file is chosen", step: { kind: "choosing" }, stake: undefined },
    { what: "nothing, in a preview as it was guessed", step: { kind: "preview", choices: NO_CHOICES }, stake: undefined },
    { what: "how it was chosen to be read", step: { kind: "preview", choices: { name: ["column 1"] } }, stake: "reading" },
    { what: "which lines were refused", step: { kind: "ended", progress: progress(1), reason: undefined }, stake: "refused" },
    { what: "the rest of what stopped", step: { kind: "ended", progress: progress(1), reason: "You cancelled it." }, stake: "rest" },
    { what: "nothing, once all is stored", step: { kind: "ended", progress: progress(0), reason: undefined }, stake: undefined },
  ] as const)
    it(`is ${what}`, () => expect(atStakeIn(step as unknown as ImportStep)).toBe(stake));
});

describe("an import that the service does not take now", () => {
  const wait = globalThis.setTimeout;
  const pauses: number[] = [];
  beforeAll(() => {
    // Its pauses, half a second more with each try, and what the answer asks for, are over at once. The service has others.
    const isPause = (ms: number) => ms >= 500 && ms % 500 === 0 && ms % 30_000 !== 0;
    const soon = (run: () => void, ms = 0) => (isPause(ms) ? (pauses.push(ms), wait(run, 0)) : wait(run, ms));
    globalThis.setTimeout = soon as typeof setTimeout;
  });
  afterAll(() => {
    globalThis.setTimeout = wait;
    Object.defineProperty(navigator, "onLine", { value: true, configurable: true });
  });

  /** A client that meets `answer` at its first requests. */
  function meeting(times: number, answer: () => Promise<Response>): Client {
    let requests = 0;
    pauses.length = 0;
    const meet: Fetch = (url, init) => ((requests += 1) <= times ? answer() : fetch(url, init));
    return createClient({ url: service.url, token: service.token, retries: 0, fetch: meet });
  }

  const refuse = (code: number, after: number) => () =>
    Promise.resolve(Response.json({ error: code, message: "" }, { status: 503, headers: { "retry-after": String(after) } }));
  for (const { who, answer, pauseMs } of [
    { who: "an overloaded service", answer: refuse(50300, 1), pauseMs: 1_500 },
    { who: "a service that shuts down", answer: refuse(50303, 600), pauseMs: 600_500 },
    {
      who: "a proxy that names a day",
      answer: () => Promise.resolve(new Response("<h1>Back soon</h1>", { status: 503, headers: { "retry-after": "86400" } })),
      pauseMs: 600_500,
    },
  ])
    it(`leaves ${who} alone for as long as it asks to be, ten minutes at most, and goes on`, async () => {
      const sent = await send(await check("id,name\n1,One\n"), meeting(1, answer));
      expect([sent.counts.created, pauses]).toEqual([1, [pauseMs]]);
    });

  it("is given up after six tries, but waits without a network for as long as there is none", async () => {
    const checked = await check("id,name\n1,One\n");
    const lost = () => Promise.reject(new TypeError("Failed to fetch"));
    expect(failureText(await rejectionOf(send(checked, meeting(6, lost))))).toStartWith("The service cannot be reached");
    expect(pauses).toHaveLength(5);
    Object.defineProperty(navigator, "onLine", { value: false, configurable: true });
    expect((await send(checked, meeting(50, lost))).counts.created).toBe(1);
  });
});
