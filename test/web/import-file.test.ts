// How the page opens, reads and sends a file, at moments that a browser does not wait for.
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "bun:test";
import { createClient } from "../../src/client/client.ts";
import type { Client, Fetch } from "../../src/client/client.ts";
import { NO_CHOICES, readAsChosen } from "../../web/import/choices.ts";
import type { Choices } from "../../web/import/choices.ts";
import { guessFile } from "../../web/import/guess.ts";
import { failureText } from "../../web/failure-text.ts";
import { atStakeIn } from "../../web/import/import-step.ts";
import type { ImportStep } from "../../web/import/import-step.ts";
import { openFile } from "../../web/import/open-file.ts";
import { NOTHING_SENT, sendFile } from "../../web/import/send-file.ts";
import type { SentSoFar } from "../../web/import/send-file.ts";
import { rejectionOf } from "../support/rejection.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { makeWorkbook } from "../support/shelf/workbook.ts";

const { signal } = new AbortController();

let service: TestService;
let client: Client;
beforeEach(async () => {
  service = await startTestService();
  client = createClient({ url: service.url, token: service.token });
});

afterEach(() => service.stop());

function fileOf(bytes: string | Uint8Array, name = "plants.csv"): File {
  return new File([bytes], name);
}

async function guess(bytes: string | Uint8Array, name?: string) {
  const { file, ...opened } = await openFile(fileOf(bytes, name));
  return guessFile(file, { signal, ...opened });
}

async function send(checked: Awaited<ReturnType<typeof guess>>, through = client): Promise<SentSoFar> {
  let sent: SentSoFar = NOTHING_SENT;
  await sendFile(checked, sent, { client: through, onConflict: "refuse", signal, onProgress: (next) => (sent = next) });
  return sent;
}

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
    it(what, async () => expect(failureText(await rejectionOf(openFile(fileOf(bytes))))).toStartWith(says));

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
  const checked = await guess(Buffer.concat([pack(pad), ...blocks, gzipSync(""), Buffer.alloc(512)]), "blocks.csv.gz");
  expect([pack(pad).length, checked.rows, checked.refused, checked.file.name]).toEqual([size, 100, 0, "blocks.csv"]);
});

describe("a table that is read as people choose", () => {
  const choose = async (checked: Awaited<ReturnType<typeof guess>>, choices: Choices) =>
    (await readAsChosen(checked, choices, { client, signal })).checked;

  for (const { how, choices, plant } of [
    { how: "by another column for the name", choices: { columns: { name: 1 } }, plant: '"name":"Maple"' },
    { how: "with numbers for ids", choices: { columns: {}, ids: { kind: "free" } }, plant: '{"id":1,"name":"Acer"}' },
  ] as const)
    it(`is read ${how}, even a workbook whose first cell looks like JSON`, async () => {
      const rows = [
        ["[Plant]", "Other"],
        ["Acer", "Maple"],
      ];
      const checked = await choose(await guess(makeWorkbook(rows), "garten.xlsx"), choices);
      expect((await send(checked)).counts).toMatchObject({ read: 1, created: 1 });
      expect(await stored()).toContain(plant);
    });

  it("keeps that when they say whether the first line names the columns", async () => {
    const guessed = await guess("Beet,Rose,rot\nWiese,Tulpe,gelb\n");
    const choices = { columns: { name: 1, tag: 2 }, ids: { kind: "free" }, dropEmptyTags: false } as const;
    const named = await choose(guessed, { ...choices, hasHeader: true });
    expect(named).toMatchObject({ rows: 1, csv: { columns: { name: "Rose", tag: "rot" }, dropEmptyTags: false, ids: { first: 1n } } });
    const unnamed = await choose(named, { ...choices, hasHeader: false });
    expect(unnamed).toMatchObject({ rows: 2, csv: { columns: { name: "column 2", tag: "column 3" }, dropEmptyTags: false } });
    await send(unnamed);
    expect(await stored()).toBe('[{"id":1,"name":"Rose","tag":"rot"},{"id":2,"name":"Tulpe","tag":"gelb"}]');
  });

  it("gets ids from its content without a column for them, which change nothing when it comes again", async () => {
    const checked = await guess("Pflanze;Beet\nRose;1\nRose;2\nTulpe;3\nTulpe;3\n");
    expect((await send(checked)).counts).toMatchObject({ created: 3, unchanged: 1 });
    expect((await send(checked)).counts).toMatchObject({ created: 0, unchanged: 4 });
  });
});

describe("what would be lost with an import", () => {
  const progress = (refused: number) => ({ ...NOTHING_SENT, counts: { ...NOTHING_SENT.counts, refused } });
  for (const { what, step, stake } of [
    { what: "nothing, while a file is chosen", step: { kind: "choosing" }, stake: undefined },
    { what: "nothing, in a preview as it was guessed", step: { kind: "preview", choices: NO_CHOICES }, stake: undefined },
    { what: "the columns that were chosen", step: { kind: "preview", choices: { columns: { name: 1 } } }, stake: "columns" },
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
      const sent = await send(await guess("id,name\n1,One\n"), meeting(1, answer));
      expect([sent.counts.created, pauses]).toEqual([1, [pauseMs]]);
    });

  it("is given up after six tries, but waits without a network for as long as there is none", async () => {
    const checked = await guess("id,name\n1,One\n");
    const lost = () => Promise.reject(new TypeError("Failed to fetch"));
    expect(failureText(await rejectionOf(send(checked, meeting(6, lost))))).toStartWith("The service cannot be reached");
    expect(pauses).toHaveLength(5);
    Object.defineProperty(navigator, "onLine", { value: false, configurable: true });
    expect((await send(checked, meeting(50, lost))).counts.created).toBe(1);
  });
});
