import { describe, expect, it } from "bun:test";
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import type { Download, Page, Route } from "playwright-core";
import { makeWorkbook } from "../support/shelf/workbook.ts";
import { asksBeforeClosing } from "../support/web/closing.ts";
import { usePlace } from "../support/web/place.ts";
import { settle } from "../support/web/settle.ts";
import type { Visit } from "../support/web/visit.ts";

const place = usePlace();

const MIXED = [
  "id,name,tag",
  "9007199254740993,Monstera deliciosa,tropical",
  "x,Bad id,tag",
  '9007199254740994,"Two\nlines",',
  '9007199254740995,a "quote,tag',
  "9007199254740996",
  "9007199254740997,Used already,tree",
  "9223372036854775807,Bärlauch,herb",
];

async function upload({ field }: Visit, name: string, content: string | Buffer): Promise<void> {
  await field("File to import").setInputFiles({ name, mimeType: "", buffer: Buffer.from(content as string) });
}

/** A request that stores something: the preview asks with dryRun. */
function isSent({ pathname, searchParams }: URL): boolean {
  return pathname === "/plants/import" && !searchParams.has("dryRun");
}

async function readDownload(page: Page, act: () => Promise<void>): Promise<{ name: string; text: string }> {
  const [download] = (await Promise.all([page.waitForEvent("download"), act()])) as [Download, unknown];
  return { name: download.suggestedFilename(), text: readFileSync(await download.path(), "utf8") };
}

/** A file that falls on the page, wherever that is. */
async function drop(page: Page, name: string, text: string, others: readonly string[] = []): Promise<void> {
  await page.evaluate(`{
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)}));
    for (const other of ${JSON.stringify(others)}) dataTransfer.items.add(new File([""], other));
    document.querySelector("main").dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
  }`);
}

const NO_GZIP = "The body is not whole gzip: compress the file again, and send all of it.";

/** Its sheet unpacks to other bytes than were packed. */
function damagedWorkbook(): Buffer {
  const workbook = makeWorkbook([
    ["id", "name"],
    [1, "Acer"],
  ]);
  const entry = workbook.lastIndexOf("PK\x01\x02", workbook.lastIndexOf("xl/worksheets/sheet1.xml"), "latin1");
  workbook[entry + CRC_AT]! ^= 1;
  return workbook;
}

/** Where the CRC-32 is in an entry of the directory of a ZIP file. */
const CRC_AT = 16;

const ROWS = 100;

/** Rows as gzip of exactly this size. */
function memberOf(size: number): Buffer {
  const pack = (pad: number) => {
    const rows = Array.from({ length: ROWS }, (_, at) => `${at + 1},${"x".repeat(80)}\n`);
    return gzipSync(`id,name\n${rows.join("")}${"\n".repeat(pad)}`, { level: 0 });
  };
  let pad = size - pack(0).length;
  // Some of the size is that of the blocks.
  while (pack(pad).length > size) pad -= 1;
  expect(pack(pad).length).toBe(size);
  return pack(pad);
}

describe("an import", () => {
  it("is in the search that is shown", async () => {
    const visit = await place.visit("/?q=acer");
    const { signIn, button, reads, sees } = visit;
    await signIn();
    await button("Import").click();
    await upload(visit, "plants.csv", "id,name\n1,Acer\n");
    await reads("If you import now: 1 new.");
    await button("Import 1 plant").click();
    await reads("1 plant added.");
    await button("Done").click();
    await sees(["Acer"]);
  });

  it("lists the first problems by line before it stores anything, then reports the result of each line", async () => {
    await place.plant(["9007199254740997,Another,tree"]);
    const visit = await place.visit();
    const { page, signIn, button, reads, sees } = visit;
    await signIn();
    await sees(["Another"]);
    const sent: string[] = [];
    page.on("request", (request) => sent.push(request.url()));
    await button("Import").click();
    await upload(visit, "plants.csv", MIXED.join("\n"));
    await reads("is CSV with 4 plants and 3 lines that will be refused. Nothing is stored yet.");
    await reads("If you import now:");
    const problems = page.getByRole("group", { name: "Problems" }).getByRole("listitem");
    expect(await problems.allInnerTexts()).toEqual([
      "Line 3 The field `id` must be a whole number from -9223372036854775808 to 9223372036854775807, without quotes.",
      "Line 6 The row is not valid CSV: put quotes around a cell that contains quotes, and double each quote inside.",
      "Line 7 The field `name` is missing: add it.",
      "Line 8 The id belongs to another plant: choose an id that is not in use.",
    ]);
    expect(sent.filter((url) => url.includes("/plants")).every((url) => url.includes("dryRun=true"))).toBe(true);
    await reads("If you import now: 3 new, 4 refused.");
    await button("Import 4 plants").click();
    await reads("3 plants added, 4 refused.");
    expect(await problems.last().innerText()).toBe("Line 8 The id belongs to another plant: choose an id that is not in use.");
    const refused = await readDownload(page, () => button("Save the refused lines").click());
    expect(refused).toEqual({
      name: "refused-plants.csv",
      text: 'id,name,tag\nx,Bad id,tag\n9007199254740995,a "quote,tag\n9007199254740996\n9007199254740997,Used already,tree\n',
    });
    const reasons = await readDownload(page, () => button("Save the reasons").click());
    expect(reasons.name).toBe("reasons-plants.csv.txt");
    expect(reasons.text.split("\n")).toContain("plants.csv:8: 40900 The id belongs to another plant: choose an id that is not in use.");
    await button("Done").click();
    await sees(["Monstera deliciosa", "Two lines", "Another", "Bärlauch"]);
  });

  it("accepts pasted NDJSON, and replaces plants with the same id if asked to", async () => {
    await place.plant(["9223372036854775807,Another,tree"]);
    const { signIn, button, field, reads, sees, page } = await place.visit();
    await signIn();
    await button("Import").click();
    await field("Or paste the rows").fill('{"id":9223372036854775807,"name":"Mine"}\n{"id":1,"name":7}\n');
    await button("Preview the rows").click();
    await reads("is NDJSON with 1 plant and 1 line that will be refused.");
    await page.getByRole("checkbox", { name: /^Replace plants/ }).check();
    await button("Import 1 plant").click();
    await reads("0 plants added, 1 replaced, 1 refused.");
    await button("Done").click();
    await sees(["Mine"]);
  });

  it("names the columns that it does not import, before and after", async () => {
    const visit = await place.visit();
    await visit.signIn();
    await visit.button("Import").click();
    await upload(visit, "plants.csv", "id,name,Location,Height\n1,Acer,Jena,2\n");
    await visit.reads("Location, Height are not imported: a plant has an id, a name and a tag.");
    await visit.button("Import 1 plant").click();
    await visit.reads("1 plant added.");
    await visit.reads("Location, Height are not imported: a plant has an id, a name and a tag.");
  });

  it("accepts a file that is dropped anywhere on the page", async () => {
    await place.plant(["1,One,"]);
    const { page, signIn, sees, reads } = await place.visit();
    await signIn();
    await sees(["One"]);
    await drop(page, "dropped.csv", "id;name\n9007199254740993;Dropped\n");
    await reads("is CSV with 1 plant. Nothing is stored yet.");
  });

  it("says that it takes one file of several that are dropped", async () => {
    const { page, signIn, reads } = await place.visit();
    await signIn();
    await drop(page, "one.csv", "id,name\n1,One\n", ["two.csv"]);
    await reads("is CSV with 1 plant. Nothing is stored yet.");
    await reads("Only “one.csv” was taken: import the others after it.");
  });

  it("says of a picture and of a PDF that they are no tables, and takes the next file", async () => {
    const visit = await place.visit();
    const { page, signIn, button, reads } = visit;
    await signIn();
    await drop(page, "plants.pdf", "%PDF-1.7\n1 0 obj\n");
    await reads("plants.pdf cannot be read. The file is a PDF: save the table that it was made from as .xlsx or as CSV.");
    await upload(visit, "plants.png", Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"));
    await reads("plants.png cannot be read. The file is a picture or a film, and no table");
    await drop(page, "plants.csv", "id,name\n1,One\n");
    await button("Import 1 plant").waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
  });

  it("says of a folder that it is none to import", async () => {
    const { page, signIn, button, reads } = await place.visit();
    await signIn();
    await button("Import a file").click();
    // No browser lets a script drop a folder: reading it fails like this.
    await page.evaluate(`{
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(["id,name\\n"], "folder"));
      Blob.prototype.arrayBuffer = () => Promise.reject(new DOMException("A requested file or directory could not be found", "NotFoundError"));
      document.querySelector("main").dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
    }`);
    await reads("folder cannot be read. It is a folder, or the file was moved or changed meanwhile: choose a file again.");
  });

  it("asks before the columns that were chosen are forgotten, by Escape, by another file or with the tab, and not if none were", async () => {
    const visit = await place.visit();
    const { page, signIn, button, field, reads, dialog } = visit;
    await signIn();
    await button("Import a file").click();
    await upload(visit, "plants.csv", "id,name,other\n1,Acer,Maple\n");
    await reads("If you import now: 1 new.");
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });

    await button("Import a file").click();
    await upload(visit, "plants.csv", "id,name,other\n1,Acer,Maple\n");
    await field("Name").selectOption({ label: "other" });
    await reads("Maple");
    await page.keyboard.press("Escape");
    await reads("Closing forgets the columns that you chose.");
    await page.keyboard.press("Escape");
    await reads("Maple");
    // This one the browser does not let the page cancel.
    await page.keyboard.press("Escape");
    await reads("Closing forgets the columns that you chose.");
    await button("Back to the preview").click();
    expect(await field("Name").locator("option:checked").innerText()).toBe("other");
    await drop(page, "next.csv", "id,name\n2,Next\n");
    await reads("Opening “next.csv” forgets the columns that you chose.");
    await button("Back to the preview").click();
    await reads("Maple");
    await button("Close").click();
    await button("Close it").click();
    await dialog.waitFor({ state: "detached" });

    await button("Import a file").click();
    await upload(visit, "plants.csv", "id,name,other\n1,Acer,Maple\n");
    await field("Name").selectOption({ label: "other" });
    await reads("Maple");
    expect(await asksBeforeClosing(visit)).toBe(true);
    await drop(page, "next.csv", "id,name\n2,Next\n");
    await button("Open the file").click();
    await reads("next.csv is CSV with 1 plant.");
    expect(await asksBeforeClosing(visit)).toBe(false);
  });

  it("asks before a dropped file takes the place of refused lines, or of lines not sent yet, and not if all is stored", async () => {
    const visit = await place.visit();
    const { page, signIn, button, reads } = visit;
    await signIn();
    await button("Import a file").click();
    await upload(visit, "plants.csv", "id,name\n1,Acer\nx,Bad\n");
    await button("Import 1 plant").click();
    await reads("1 plant added, 1 refused.");
    await drop(page, "next.csv", "id,name\n2,Next\n");
    await reads("Opening “next.csv” forgets which lines were refused.");
    await button("Back to the result").click();
    await reads("1 plant added, 1 refused.");
    await button("Save the refused lines").waitFor();
    await drop(page, "next.csv", "id,name\n2,Next\n");
    await button("Open the file").click();
    await reads("next.csv is CSV with 1 plant.");

    // Never answered.
    await page.route(isSent, () => {});
    await button("Import 1 plant").click();
    await reads("0 of 1");
    await button("Cancel").click();
    await reads("The import stopped after 0 of 1 lines. You cancelled it.");
    await drop(page, "last.csv", "id,name\n3,Last\n");
    await reads("Opening “last.csv” forgets this import, which stopped before its end.");
    await button("Back to the result").click();
    await page.unroute(isSent);
    await button("Continue").click();
    await reads("1 plant added.");
    await drop(page, "last.csv", "id,name\n3,Last\n");
    await reads("last.csv is CSV with 1 plant.");
  });

  it("says why a file cannot be read at all", async () => {
    const visit = await place.visit();
    await visit.signIn();
    await visit.button("Import a file").click();
    await upload(visit, "plants.csv", "tag\ntropical\n");
    await visit.reads("plants.csv cannot be read as CSV.");
    await visit.reads(
      "The first line does not say which column holds the names: choose it below. If that line is a plant, untick the box.",
    );
    expect(await visit.button(/^Import 0/).isDisabled()).toBe(true);
    await visit.field("Name").selectOption("tag");
    await visit.reads("plants.csv is CSV with 1 plant.");
    await visit.page.getByRole("checkbox", { name: /^The first line/ }).uncheck();
    await visit.field("Name").selectOption("choose a column");
    await visit.reads("No column is taken for the name: choose it below.");
  });

  for (const { what, bytes, says } of [
    { what: "gzip that is cut off", bytes: gzipSync("id,name\n1,Acer\n").subarray(0, -4), says: NO_GZIP },
    { what: "gzip with text behind it", bytes: Buffer.concat([gzipSync("id,name\n1,Acer\n"), Buffer.from("2,Rosa\n")]), says: NO_GZIP },
    { what: "a workbook that is damaged", bytes: damagedWorkbook(), says: "The file is damaged: save it again." },
  ]) {
    it(`says of ${what} what the command says`, async () => {
      const visit = await place.visit();
      await visit.signIn();
      await visit.button("Import a file").click();
      await upload(visit, "odd.csv.gz", bytes);
      await visit.reads(`odd.csv.gz cannot be read. ${says}`);
    });
  }

  it("reads gzip of several members, as bgzip and cat make it, with zeros behind it", async () => {
    // The head of the second member lies across two of the pieces that are searched.
    const first = memberOf(2 ** 20 - 5);
    const file = Buffer.concat([
      first,
      ...Array.from({ length: 99 }, (_, at) => gzipSync(`${-at},Block\n`)),
      gzipSync(""),
      Buffer.alloc(512),
    ]);
    const visit = await place.visit();
    await visit.signIn();
    await visit.button("Import a file").click();
    await upload(visit, "blocks.csv.gz", file);
    await visit.reads(`is CSV with ${(ROWS + 99).toLocaleString("en")} plants. Nothing is stored yet.`);
  });

  it("waits while there is no network, however long, and goes on by itself when there is one", async () => {
    place.expectStatus(0);
    const visit = await place.visit();
    const { page, signIn, button, reads } = visit;
    await page.clock.install();
    await signIn();
    await button("Import a file").click();
    await upload(visit, "plants.csv", `id,name\n${Array.from({ length: 2_500 }, (_, at) => `${at},Plant`).join("\n")}`);
    await button("Import 2,500 plants").waitFor();
    let slices = 0;
    await page.route(isSent, async (route) => {
      slices += 1;
      if (slices !== 2) return route.continue();
      await page.context().setOffline(true);
      await route.abort("internetdisconnected");
    });
    await button("Import 2,500 plants").click();
    await reads("1,000 of 2,500");
    await reads("The service accepts nothing at the moment.");
    for (let minutes = 0; minutes < 10; minutes += 1) {
      await page.clock.runFor(60_000);
      // What the clock has set going.
      await page.waitForTimeout(50);
    }
    await reads("The service accepts nothing at the moment.");
    await page.context().setOffline(false);
    await reads("2,500 plants added.");
  });

  it("shows its progress, can be cancelled, and continues where it stopped", async () => {
    const visit = await place.visit();
    const { page, signIn, button, reads } = visit;
    await signIn();
    await button("Import a file").click();
    let slices = 0;
    let isSlow = true;
    await page.route(isSent, async (route) => {
      slices += 1;
      if (isSlow && slices > 3) await new Promise((resolve) => setTimeout(resolve, 3_000));
      await route.continue().catch(() => {});
    });
    const rows = Array.from({ length: 4_500 }, (_, at) => `${2n ** 53n + BigInt(at)},"Plant\n${at}",bulk`);
    await upload(visit, "many.csv", `id,name,tag\r\n${rows.join("\r\n")}`);
    await button("Import 4,500 plants").click();
    await reads("3,000 of 4,500");
    await reads(/ a second$/);
    expect(await page.getByRole("progressbar").getAttribute("value")).toBe("3000");
    await button("Cancel").click();
    await reads("The import stopped after 3,000 of 4,500 lines. You cancelled it.");
    isSlow = false;
    await button("Continue").click();
    // The service may have stored the lines that were on their way when it was cancelled.
    await reads(/^4,500 plants added\.$|^3,500 plants added, 1,000 already there\.$/);
    await button("Done").click();
    const exported = await (await place.service.request("/plants/export")).text();
    expect(exported.trimEnd().split("\n")).toHaveLength(4_500);
    expect(exported).toContain(`{"id":${2n ** 53n + 4_499n},"name":"Plant\\n4499","tag":"bulk"}`);
  });

  it("waits for an overloaded service, and sends the lines again", async () => {
    place.expectStatus(503);
    const visit = await place.visit();
    await visit.signIn();
    await visit.button("Import a file").click();
    let tries = 0;
    await visit.page.route(isSent, (route) => {
      tries += 1;
      const body = '{"error":50300,"message":"The service is overloaded: try again after the seconds in Retry-After."}';
      return tries > 1
        ? route.continue()
        : route.fulfill({ status: 503, headers: { "retry-after": "1" }, contentType: "application/json", body });
    });
    await upload(visit, "plants.csv", "id,name\n1,One\n");
    await visit.button("Import 1 plant").click();
    await visit.reads("The service accepts nothing at the moment. The page tries again.");
    await visit.reads("1 plant added.");
  });

  for (const { who, contentType, body } of [
    { who: "a service", contentType: "application/json", body: '{"error":50303,"message":"The service is shutting down."}' },
    { who: "a proxy whose service is being maintained", contentType: "text/html", body: "<h1>Back soon</h1>" },
  ]) {
    it(`leaves ${who} alone for as long as it asks to be`, async () => {
      place.expectStatus(503);
      const visit = await place.visit();
      const { page, signIn, button, reads } = visit;
      await signIn();
      await button("Import a file").click();
      let tries = 0;
      await page.route(isSent, (route) => {
        tries += 1;
        return tries > 1 ? route.continue() : route.fulfill({ status: 503, headers: { "retry-after": "600" }, contentType, body });
      });
      await upload(visit, "plants.csv", "id,name\n1,One\n");
      await page.clock.install();
      await button("Import 1 plant").click();
      await reads("The service accepts nothing at the moment. The page tries again.");
      await page.clock.fastForward(500_000);
      await settle(page);
      await reads("The service accepts nothing at the moment. The page tries again.");
      expect(tries).toBe(1);
      await page.clock.fastForward(200_000);
      await reads("1 plant added.");
      expect(tries).toBe(2);
    });
  }
});

describe("the preview of an import", () => {
  async function open(): Promise<Visit> {
    const visit = await place.visit();
    await visit.signIn();
    await visit
      .button(/^Import( a file)?$/)
      .first()
      .click();
    return visit;
  }

  it("tells what will happen to each row, also to rows that repeat an id of the file", async () => {
    await place.plant(["1,There,", "2,Other,"]);
    const visit = await open();
    const far = Array.from({ length: 1_000 }, (_, at) => `${100 + at},Plant ${at},`);
    const rows = ["1,There,", "2,Mine,", "3,New,", "x,Bad,", ...far, "3,New,", "3,Another,"];
    await upload(visit, "plants.csv", `id,name,tag\n${rows.join("\n")}\n`);
    await visit.reads("If you import now: 1,001 new, 2 already there, 3 refused.");
    const cells = visit.page.locator("table.import-preview tbody td:last-child");
    expect((await cells.allInnerTexts()).slice(0, 3)).toEqual(["already there", "refused", "new"]);
    await visit.reads("Line 4 of the file has the same id and another name or tag.");
    const report = await readDownload(visit.page, () => visit.button("Save what happens to each row").click());
    const lines = report.text.trimEnd().split("\n");
    expect([report.name, lines.length, lines[0]]).toEqual(["preview-plants.csv", 1_007, "line,what happens,same id as line,reason"]);
    expect([lines[1], lines[2], lines[4], lines.at(-2), lines.at(-1)]).toEqual([
      "2,already there,,",
      "3,refused,,The id belongs to another plant: choose an id that is not in use.",
      '5,refused,,"The field `id` must be a whole number from -9223372036854775808 to 9223372036854775807, without quotes."',
      "1006,already there,4,",
      "1007,refused,4,Line 4 of the file has the same id and another name or tag.",
    ]);
    await visit.page.getByRole("checkbox", { name: /^Replace/ }).check();
    await visit.reads("If you import now: 1,001 new, 2 already there, 2 replaces another, 1 refused.");
    await visit.page.getByRole("checkbox", { name: /^Replace/ }).uncheck();
    await visit.button(/^Import 1,00/).click();
    await visit.reads("1,001 plants added, 2 already there, 3 refused.");
  });

  it("calls a workbook as people do, and what is saved of it CSV", async () => {
    const visit = await open();
    const rows = [
      ["id", "name"],
      [1, "Acer"],
      ["x", "Bad"],
    ];
    await upload(visit, "garten.xlsx", makeWorkbook(rows));
    await visit.reads("garten.xlsx is a workbook with 1 plant and 1 line that will be refused. Nothing is stored yet.");
    await visit.button("Import 1 plant").click();
    await visit.reads("1 plant added, 1 refused.");
    const refused = await readDownload(visit.page, () => visit.button("Save the refused lines").click());
    expect(refused).toEqual({ name: "refused-garten.csv", text: "id,name\nx,Bad\n" });
    const reasons = await readDownload(visit.page, () => visit.button("Save the reasons").click());
    expect([reasons.name, reasons.text.slice(0, 22)]).toEqual(["reasons-garten.csv.txt", "garten.xlsx:3: 40005 T"]);
  });

  for (const { how, label, option, plant } of [
    { how: "its columns are chosen", label: "Name", option: "Other", plant: '"name":"Maple"' },
    { how: "its rows are numbered", label: "New ids", option: "free", plant: '{"id":1,"name":"Acer"}' },
  ]) {
    it(`reads a workbook whose first cell looks like JSON as a table, also again when ${how}`, async () => {
      const visit = await open();
      await upload(
        visit,
        "garten.xlsx",
        makeWorkbook([
          ["[Plant]", "Other"],
          ["Acer", "Maple"],
        ]),
      );
      await visit.reads("garten.xlsx is a workbook with 1 plant.");
      await visit.reads("If you import now: 1 new.");
      const asked = visit.page.waitForResponse(/dryRun=true/);
      await visit.field(label).selectOption(option);
      await asked;
      await visit.reads("If you import now: 1 new.");
      await visit.button("Import 1 plant").click();
      await visit.reads("1 plant added.");
      expect(await (await place.service.request("/plants")).text()).toContain(plant);
    });
  }

  it("saves the reason of every row that will be refused, however many there are", async () => {
    const visit = await open();
    const rows = Array.from({ length: 2_500 }, (_, at) => (at % 2 === 0 ? `x${at},Bad` : `${at},Good`));
    await upload(visit, "many.xyz", `id,name\n${rows.join("\n")}\n`);
    await visit.reads("If you import now: 1,250 new, 1,250 refused.");
    const report = await readDownload(visit.page, () => visit.button("Save what happens to each row").click());
    expect([report.name, report.text.match(/,refused,,"The field `id` must be /g)?.length]).toEqual(["preview-many.csv", 1_250]);
  });

  it("shows what each column is taken for, and lets people change it", async () => {
    const visit = await open();
    await upload(visit, "garten.csv", 'Nr.;Pflanze;Ort;Gruppe\n7;Bärlauch;Jena;""\n');
    await visit.reads("Ort is not imported: a plant has an id, a name and a tag.");
    const chosen = () => Promise.all(["Id", "Name", "Tag"].map((label) => visit.field(label).locator("option:checked").innerText()));
    expect(await chosen()).toEqual(["Nr.", "Pflanze", "Gruppe"]);
    await visit.field("Tag").selectOption("Ort");
    await visit.reads("Gruppe is not imported: a plant has an id, a name and a tag.");
    expect(await chosen()).toEqual(["Nr.", "Pflanze", "Ort"]);
    await visit.field("Tag").selectOption("Gruppe");
    await visit.reads("Ort is not imported: a plant has an id, a name and a tag.");
    await visit.button("Import 1 plant").click();
    await visit.reads("1 plant added.");
    // A quoted empty tag is none, unless people say otherwise.
    expect(await (await place.service.request("/plants")).text()).toBe('[{"id":7,"name":"Bärlauch"}]');
  });

  it("keeps what was chosen when people say whether the first line names the columns, however fast they are", async () => {
    const visit = await open();
    await upload(visit, "liste.csv", "Beet,Rose,rot\nWiese,Tulpe,gelb\n");
    const header = visit.page.getByRole("checkbox", { name: "The first line names the columns." });
    const chosen = () => Promise.all(["Name", "Tag", "New ids"].map((label) => visit.field(label).locator("option:checked").innerText()));
    await visit.field("Name").selectOption("Rose");
    await visit.field("Tag").selectOption("rot");
    await visit.page.getByRole("checkbox", { name: "An empty tag in quotes means no tag." }).uncheck();
    await visit.field("New ids").selectOption("free");
    await visit.reads("If you import now: 1 new.");
    await header.uncheck();
    await visit.reads("If you import now: 2 new.");
    expect(await chosen()).toEqual(["column 2", "column 3", "numbers, from the first free one"]);
    await header.check();
    await visit.reads("If you import now: 1 new.");
    expect(await chosen()).toEqual(["Rose", "rot", "numbers, from the first free one"]);
    expect(await visit.page.getByRole("checkbox", { name: "An empty tag in quotes means no tag." }).isChecked()).toBe(false);
    // Before the file is read again.
    await visit.page.evaluate(`document.querySelector(".choose-columns input").click()`);
    await visit.field("Tag").selectOption({ value: "0" });
    await visit.reads("If you import now: 2 new.");
    expect(await chosen()).toEqual(["column 2", "column 1", "numbers, from the first free one"]);
    await visit.button("Import 2 plants").click();
    await visit.reads("2 plants added.");
    const stored = await (await place.service.request("/plants")).text();
    expect(stored).toBe('[{"id":1,"name":"Rose","tag":"Beet"},{"id":2,"name":"Tulpe","tag":"Wiese"}]');
  });

  it("shows no choice that was not read, when the next one fails", async () => {
    place.expectStatus(0);
    const visit = await open();
    const rows = Array.from({ length: 30_000 }, (_, at) => `Rose ${at},rot,Beet\n`).join("");
    await upload(visit, "liste.csv", `Name,Farbe,Ort\n${rows}`);
    await visit.reads("30,000 plants");
    await visit.page.route("**/plants?*", (route) => route.abort());
    // The first is not read to its end.
    await visit.field("Tag").selectOption("Farbe");
    await visit.field("New ids").selectOption("free");
    await visit.page.getByRole("alert").waitFor();
    const tag = await visit.field("Tag").locator("option:checked").innerText();
    expect(["Farbe", "no column: no tags"]).toContain(tag);
    expect(await visit.page.locator(".import-preview tbody tr").first().innerText()).toMatch(tag === "Farbe" ? /\trot\t/ : /\t\t/);
  });

  it("makes ids for a file without them, which change nothing when it comes again", async () => {
    for (const times of [1, 2]) {
      const visit = await open();
      await upload(visit, "liste.csv", "Pflanze;Beet\nRose;1\nRose;2\nTulpe;3\nTulpe;3\n");
      await visit.reads(times === 1 ? "If you import now: 3 new, 1 already there." : "If you import now: 4 already there.");
      await visit.button("Import 4 plants").click();
      await visit.reads(times === 1 ? "3 plants added, 1 already there." : "0 plants added, 4 already there.");
    }
  });

  it("numbers a file without ids from the first free one, and finds the numbers again", async () => {
    await place.plant(["41,There,", "9223372036854775807,Last,"]);
    for (const times of [1, 2]) {
      const visit = await open();
      await upload(visit, "liste.csv", "Pflanze\nRose\nRose\nTulpe\n");
      await visit.field("New ids").selectOption("free");
      await visit.reads(times === 1 ? "If you import now: 3 new." : "If you import now: 3 already there.");
      expect(await visit.field("First id").inputValue()).toBe("42");
      await visit.button("Import 3 plants").click();
      await visit.reads(times === 1 ? "3 plants added." : "0 plants added, 3 already there.");
      await visit.page.waitForTimeout(1_500);
    }
    const stored = await (await place.service.request("/plants?after=41&limit=3")).text();
    expect(stored).toBe('[{"id":42,"name":"Rose"},{"id":43,"name":"Rose"},{"id":44,"name":"Tulpe"}]');
  });

  it("replaces no plant under a number that was free at the preview, though replacing was chosen before", async () => {
    const visit = await open();
    await upload(visit, "liste.csv", "Pflanze\nRose\nTulpe\n");
    const replacing = visit.page.getByText("Replace plants that have the same id.");
    await replacing.click();
    await visit.field("New ids").selectOption("free");
    await visit.field("First id").waitFor();
    expect(await replacing.count()).toBe(0);
    await place.plant(["2,Somebody's,"]);
    await visit.button("Import 2 plants").click();
    await visit.reads("1 plant added, 1 refused.");
    expect(await (await place.service.request("/plants/2")).json()).toMatchObject({ name: "Somebody's" });
  });

  it("replaces no plant under a number that was free at the preview, though replacing was chosen while the file was there under others", async () => {
    await place.plant(["1,Rose,", "2,Tulpe,"]);
    const visit = await open();
    await upload(visit, "liste.csv", "Pflanze\nRose\nTulpe\n");
    await visit.field("New ids").selectOption("free");
    await visit.reads("If you import now: 2 already there.");
    const replacing = visit.page.getByText("Replace plants that have the same id.");
    await replacing.click();
    await visit.page.getByRole("checkbox", { name: "The first line names the columns." }).uncheck();
    await visit.reads("If you import now: 3 new.");
    expect(await replacing.count()).toBe(0);
    await place.plant(["4,Somebody's,"]);
    await visit.button("Import 3 plants").click();
    await visit.reads("2 plants added, 1 refused.");
    expect(await (await place.service.request("/plants/4")).json()).toMatchObject({ name: "Somebody's" });
  });
});

it("a file that cannot be read in the end does not take away the preview of the one that was dropped after it", async () => {
  const visit = await place.visit();
  const { page, signIn, button, reads } = visit;
  await signIn();
  await button("Import a file").click();
  // A disk on a network, that goes away.
  await page.evaluate(`{
    const { arrayBuffer } = Blob.prototype;
    const { promise, reject } = Promise.withResolvers();
    Blob.prototype.arrayBuffer = () => {
      Blob.prototype.arrayBuffer = arrayBuffer;
      return promise;
    };
    globalThis.goAway = () => {
      reject(new DOMException("It is gone.", "NotReadableError"));
      return new Promise((resolve) => setTimeout(resolve));
    };
  }`);
  await upload(visit, "away.csv", "id,name\n2,Acer\n");
  await reads("Reading away.csv.");
  await drop(page, "here.csv", "id,name\n1,Rosa\n");
  await reads("here.csv is CSV with 1 plant.");
  await page.evaluate("goAway()");
  await button("Import 1 plant").click();
  await reads("1 plant added.");
});

it("Enter that is pressed again and again from the pasted rows on imports nothing, and later neither cancels nor closes", async () => {
  const { page, signIn, button, field, reads } = await place.visit();
  await signIn();
  await button("Import a file").click();
  await field("Or paste the rows").fill("id,name\n1,Rosa\n1,Other\n");
  await button("Preview the rows").press("Enter");
  await reads("If you import now: 1 new");
  await page.keyboard.press("Enter");
  await reads("If you import now: 1 new");
  expect(await (await place.service.request("/plants")).json()).toEqual([]);
  const sent = Promise.withResolvers<Route>();
  await page.route(isSent, (route) => sent.resolve(route));
  await button("Import 2 plants").press("Enter");
  const route = await sent.promise;
  await page.keyboard.press("Enter");
  await route.continue();
  await reads("1 plant added, 1 refused.");
  await page.keyboard.press("Enter");
  await button("Save the reasons").waitFor();
});

it("the second half of a double click on the preview of an import does not import", async () => {
  const { page, signIn, button, field, reads } = await place.visit();
  await signIn();
  await button("Import a file").click();
  await field("Or paste the rows").fill("id,name\n1,Rosa\n");
  await button("Preview the rows").click();
  await button("Import 1 plant").hover();
  await page.mouse.down({ clickCount: 2 });
  await page.mouse.up({ clickCount: 2 });
  await reads("If you import now: 1 new.");
  await button("Import 1 plant").click();
  await reads("1 plant added.");
});

describe("an export", () => {
  for (const { name, ending, what, text } of [
    {
      name: "Export CSV",
      ending: "csv",
      what: "CSV as it is",
      text: "id,name,tag\n9007199254740993,Monstera,tropical\n9223372036854775807,=Ginkgo,\n",
    },
    {
      name: "Export for a spreadsheet",
      ending: "csv",
      what: "CSV without formulas, with the mark of UTF-8",
      text: "\ufeffid,name,tag\n9007199254740993,Monstera,tropical\n9223372036854775807,'=Ginkgo,\n",
    },
    {
      name: "Export NDJSON",
      ending: "ndjson",
      what: "NDJSON",
      text: '{"id":9007199254740993,"name":"Monstera","tag":"tropical"}\n{"id":9223372036854775807,"name":"=Ginkgo"}\n',
    },
  ]) {
    it(`is a file of ${what}`, async () => {
      await place.plant(["9007199254740993,Monstera,tropical", "9223372036854775807,=Ginkgo,"]);
      const { page, signIn, sees, choose } = await place.visit();
      await signIn();
      await sees(["Monstera", "=Ginkgo"]);
      const saved = await readDownload(page, () => choose(name));
      expect(saved.name).toMatch(new RegExp(`^plants-\\d{4}-\\d\\d-\\d\\d\\.${ending}$`));
      expect(saved.text).toBe(text);
    });
  }

  it("saves nothing if it breaks off in its middle, and says why", async () => {
    await place.plant(["1,One,", "2,Two,"]);
    const { page, signIn, sees, reads, choose } = await place.visit();
    await signIn();
    await sees(["One", "Two"]);
    // As a proxy ends a file whose service was killed.
    await page.route("**/plants/export*", async (route) => {
      const response = await route.fetch();
      const { "content-encoding": _coding, "content-length": _length, ...headers } = response.headers();
      await route.fulfill({ status: 200, headers, body: (await response.body()).subarray(0, 20) });
    });
    let downloads = 0;
    page.on("download", () => (downloads += 1));
    await choose("Export CSV");
    await reads("Nothing was saved. The service cannot be reached: check the connection, then try again.");
    expect(downloads).toBe(0);
  });

  it("has only what is shown, and a name that says so", async () => {
    await place.plant(["1,Acer,tree", "2,Acer rubrum,tree", "3,Acer,shrub", "4,Rosa,tree"]);
    const { page, signIn, sees, choose } = await place.visit("/?q=acer&tag=tree");
    await signIn();
    await sees(["Acer", "Acer rubrum"]);
    const saved = await readDownload(page, () => choose("Export CSV"));
    expect(saved.name).toMatch(/^found-plants-/);
    expect(saved.text).toBe("id,name,tag\n1,Acer,tree\n2,Acer rubrum,tree\n");
  });

  it("saves nothing if it is refused", async () => {
    place.expectStatus(503);
    await place.plant(["1,One,"]);
    const { page, signIn, sees, reads, choose } = await place.visit();
    await signIn();
    await sees(["One"]);
    await page.route("**/plants/export*", (route) =>
      route.fulfill({ status: 503, contentType: "application/json", body: '{"error":50301,"message":"The store cannot be reached."}' }),
    );
    let downloads = 0;
    page.on("download", () => (downloads += 1));
    await choose("Export CSV");
    await reads("Nothing was saved. The service cannot reach its store: try again in a moment.");
    expect(downloads).toBe(0);
  });
});
