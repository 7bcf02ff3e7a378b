import { describe, expect, it } from "bun:test";
import type { Route } from "playwright-core";
import { usePlace } from "../support/web/place.ts";
import type { Visit } from "../support/web/visit.ts";

const place = usePlace();

/** A visit whose import is open. */
async function open(): Promise<Visit> {
  const visit = await place.open();
  await visit.openImport();
  return visit;
}

/** A list as a Czech spreadsheet writes it: two lines above the names of the columns, and of Windows-1250. */
function czechList(rows: number): Uint8Array {
  const bytes: Readonly<Record<string, number>> = { ů: 0xf9, ž: 0x9e, š: 0x9a, í: 0xed, á: 0xe1 };
  const plants = Array.from({ length: rows }, (_, at) => `Růže;šípková ${at + 1};záhon ${at % 7}`);
  const text = ["Seznam růží na zahradě".replace("ě", "e"), "2026", "", "Rod;Druh;Místo", ...plants].join("\r\n");
  return Uint8Array.from(text, (letter) => bytes[letter] ?? letter.charCodeAt(0));
}

/** A request that stores something: the preview asks with dryRun. */
function isSent({ pathname, searchParams }: URL): boolean {
  return pathname === "/plants/import" && !searchParams.has("dryRun");
}

describe("an import", () => {
  it("lists the first problems by line before it stores anything, reports each line, and saves what was refused", async () => {
    await place.plant(["9007199254740997,Another,tree"]);
    const { page, button, upload, saves, steps } = await open();
    const sent: string[] = [];
    page.on("request", (request) => request.method() !== "GET" && sent.push(request.url()));
    const rows = [
      "id,name,tag",
      "9007199254740993,Monstera deliciosa,tropical",
      "x,Bad id,tag",
      '9007199254740994,"Two\nlines",',
      '9007199254740995,a "quote,tag',
      "9007199254740996",
      "9007199254740997,Used already,tree",
      "9223372036854775807,Bärlauch,herb",
    ];
    await upload("plants.csv", rows.join("\n"));
    await steps("reads is CSV with 4 plants and 3 lines that will be refused. Nothing is stored yet.");
    await steps("reads If you import now: 3 new, 4 refused.");
    const problems = page.getByRole("group", { name: "Problems" }).getByRole("listitem");
    expect(await problems.allInnerTexts()).toEqual([
      "Line 3 The field `id` must be a whole number from -9223372036854775808 to 9223372036854775807, without quotes.",
      "Line 6 The row is not valid CSV: put quotes around a cell that contains quotes, and double each quote inside.",
      "Line 7 The row has no name: add it, or allow plants without a name.",
      "Line 8 The id belongs to another plant: choose an id that is not in use.",
    ]);
    expect(sent.filter((url) => !url.includes("dryRun=true"))).toEqual([]);
    await steps("click Import 4 plants > reads 3 plants added, 4 refused.");
    expect(await problems.last().innerText()).toBe("Line 8 The id belongs to another plant: choose an id that is not in use.");
    expect(await saves(() => button("Save the refused lines").click())).toEqual({
      name: "refused-plants.csv",
      text: 'id,name,tag\nx,Bad id,tag\n9007199254740995,a "quote,tag\n9007199254740996\n9007199254740997,Used already,tree\n',
    });
    const reasons = await saves(() => button("Save the reasons").click());
    expect(reasons.name).toBe("reasons-plants.csv.txt");
    expect(reasons.text.split("\n")).toContain("plants.csv:8: 40900 The id belongs to another plant: choose an id that is not in use.");
    await steps("click Done > sees Monstera deliciosa, Two lines, Another, Bärlauch");
  });

  it("saves what will happen to each row, even to one that repeats an id of the file, and replaces plants if asked to", async () => {
    await place.plant(["1,There,", "2,Other,"]);
    const { page, button, field, saves, steps } = await open();
    const rows = [
      ...[1, 2, 3].map((id) => `{"id":${id},"name":"${["There", "Mine", "New"][id - 1]}"}`),
      '{"id":4,"name":7}',
      '{"id":3,"name":"Last"}',
    ];
    await field("Or paste the rows").fill(rows.join("\n"));
    await steps("click Preview the rows > reads is NDJSON with 4 plants and 1 line that will be refused.");
    await steps("reads If you import now: 1 new, 1 already there, 3 refused.");
    const cells = page.locator("table.import-preview tbody td:last-child");
    expect((await cells.allInnerTexts()).slice(0, 3)).toEqual(["already there", "refused", "new"]);
    const report = await saves(() => button("Save what happens to each row").click());
    expect(report.name).toBe("preview-pasted.csv");
    expect(report.text.trimEnd().split("\n")).toEqual([
      "line,what happens,same id as line,reason",
      "1,already there,,",
      "2,refused,,The id belongs to another plant: choose an id that is not in use.",
      "3,new,,",
      expect.stringMatching(/^4,refused,,/),
      "5,refused,3,Line 3 of the file has the same id and another name or tag.",
    ]);
    await page.getByRole("checkbox", { name: /^Replace/ }).check();
    await steps("reads If you import now: 1 new, 1 already there, 2 replaces another, 1 refused. > click Import 4 plants");
    await steps("reads 1 plant added, 2 replaced, 1 already there, 1 refused. > click Done > sees There, Mine, Last");
  });

  it("says how it is read, lets people change that, and names what it does not import", async () => {
    const { button, field, reads, upload, steps } = await open();
    await upload("garten.csv", "Nr.;Pflanze;Ort;Gruppe\n7;Bärlauch;Jena;NULL\n8;Rose;Ulm;rot\n");
    await reads("UTF-8, separated by semicolons; names from Pflanze; ids from Nr.; tags from Gruppe.");
    await button("Change").press("Enter");
    const chosen = () => Promise.all(["Id", "Name", "Tag"].map((label) => field(label).locator("option:checked").innerText()));
    await reads("Ort is not imported: a plant has an id, a name and a tag.");
    expect(await chosen()).toEqual(["Nr.", "Pflanze", "Gruppe"]);
    await field("Tag").selectOption("Ort");
    await reads("Gruppe is not imported: a plant has an id, a name and a tag.");
    expect(await chosen()).toEqual(["Nr.", "Pflanze", "Ort"]);
    await field("Tag").selectOption("Gruppe");
    await steps("click Add a column to the name > reads names from Pflanze and Nr.");
    await field("Name, part 2").selectOption("Ort");
    await steps("reads Bärlauch Jena > click Remove Ort from the name > reads names from Pflanze; > click Import 2 plants");
    await steps("reads 2 plants added. > reads Ort is not imported: a plant has an id, a name and a tag.");
    expect(await place.stored()).toEqual([
      { id: 7, name: "Bärlauch" },
      { id: 8, name: "Rose", tag: "rot" },
    ]);
  });

  it("asks which letters are right if the encoding is not clear, and goes on from there", async () => {
    const { page, button, reads, upload, steps } = await open();
    await upload("zahrada.csv", czechList(200));
    await reads("The letters of zahrada.csv can be read in several ways. Nothing is stored yet.");
    const answers = page.getByRole("group", { name: "Which of these is right?" }).getByRole("radio");
    expect(await answers.and(page.locator(":checked")).count()).toBe(0);
    expect(await button("Import 0 plants").isDisabled()).toBe(true);
    await page.getByRole("radio", { name: /^.*Windows-1250$/ }).check();
    await reads("Windows-1250, separated by semicolons, line 4 names the columns; names from Rod and Druh;");
    expect(await page.getByRole("radio", { name: /Windows-1250$/ }).isChecked()).toBe(true);
    await steps("click Import 200 plants > reads 200 plants added.");
    expect(await place.exported()).toContain('"name":"Růže šípková 1"');
  });

  it("lets people choose the column and the line of the names, when a file does not show them", async () => {
    const { button, field, reads, upload } = await open();
    await upload("plants.csv", "A1,B2\n1,2\n3,4\n");
    await reads("plants.csv cannot be read as CSV.");
    await reads("No column looks like one of names: choose the column, or the line that names the columns.");
    expect(await button(/^Import 0/).isDisabled()).toBe(true);
    await field("Name").selectOption("column 2");
    await reads("plants.csv is CSV with 3 plants. Nothing is stored yet.");
    await field("Column headings").selectOption("Line 1: A1, B2");
    await reads("plants.csv is CSV with 2 plants. Nothing is stored yet.");
    await reads("names from B2; ids made from the content;");
  });

  it("takes a file that is dropped anywhere on the page, one of several, and says that another is no table", async () => {
    const { page, reads, drop, steps } = await place.open(["1,One,"]);
    await drop("plants.pdf", "%PDF-1.7\n1 0 obj\n");
    await reads("plants.pdf cannot be read. The file is a PDF: save the table that it was made from as .xlsx or as CSV.");
    await drop("dropped.csv", "id;name\n9007199254740993;Dropped\n", { others: ["two.csv"] });
    await steps("reads is CSV with 1 plant. Nothing is stored yet. > reads Only “dropped.csv” was taken: import the others after it.");
    await steps("offers Import 1 plant");
    expect(await page.getByRole("alert").count()).toBe(0);
  });

  it("asks before it is forgotten how to read a file, by Escape or another file, and not if none were chosen", async () => {
    const { field, reads, upload, click, drop, steps } = await open();
    const choose = async () => {
      await upload("plants.csv", "id,name,other\n1,Acer,Maple\n");
      await reads("If you import now: 1 new.");
    };
    await choose();
    await steps("press Escape > leaves > click Import a file");
    await choose();
    await click("Change");
    await field("Name").selectOption({ label: "other" });
    await steps("reads Maple > press Escape > reads Closing forgets how you chose to read it. > press Escape > reads Maple");
    // This one the browser does not let the page cancel.
    await steps("press Escape > reads Closing forgets how you chose to read it. > click Back to the preview");
    await click("Change");
    expect(await field("Name").locator("option:checked").innerText()).toBe("other");
    await drop("next.csv", "id,name\n2,Next\n");
    await steps("reads Opening “next.csv” forgets how you chose to read it. > click Open the file");
    await steps("reads next.csv is CSV with 1 plant.");
  });

  it("shows its progress, can be cancelled, keeps the rest from another file, and continues where it stopped", async () => {
    const { page, reads, upload, click, drop, steps } = await open();
    let slices = 0;
    const cancelled = Promise.withResolvers<void>();
    await page.route(isSent, async (route) => {
      if ((slices += 1) > 1) await cancelled.promise;
      await route.continue().catch(() => {});
    });
    const rows = Array.from({ length: 2_500 }, (_, at) => `${2n ** 53n + BigInt(at)},"Plant\n${at}",bulk`);
    await upload("many.csv", `id,name,tag\r\n${rows.join("\r\n")}`);
    await steps("click Import 2,500 plants > reads 1,000 of 2,500");
    expect(await page.getByRole("progressbar").getAttribute("value")).toBe("1000");
    await steps("click Cancel > reads The import stopped after 1,000 of 2,500 lines. You cancelled it.");
    await drop("last.csv", "id,name\n3,Last\n");
    await steps("reads Opening “last.csv” forgets this import, which stopped before its end. > click Back to the result");
    cancelled.resolve();
    await click("Continue");
    // The service may have stored the lines that were on their way when it was cancelled.
    await reads(/^2,500 plants added\.$|^1,500 plants added, 1,000 already there\.$/);
    const exported = await place.exported();
    expect(exported.trimEnd().split("\n")).toHaveLength(2_500);
    expect(exported).toContain(`{"id":${2n ** 53n + 2_499n},"name":"Plant\\n2499","tag":"bulk"}`);
  });

  it("is begun by no Enter or double click that was meant for the preview, and ended by none", async () => {
    const { page, button, field, reads, steps } = await open();
    await field("Or paste the rows").fill("id,name\n1,Rosa\n1,Other\n");
    await button("Preview the rows").press("Enter");
    await steps("reads If you import now: 1 new > press Enter");
    await button("Import 2 plants").hover();
    await page.mouse.down({ clickCount: 2 });
    await page.mouse.up({ clickCount: 2 });
    await reads("If you import now: 1 new");
    expect(await place.stored()).toEqual([]);
    const sent = Promise.withResolvers<Route>();
    await page.route(isSent, (route) => sent.resolve(route));
    await button("Import 2 plants").press("Enter");
    const route = await sent.promise;
    await page.keyboard.press("Enter");
    await route.continue();
    await steps("reads 1 plant added, 1 refused. > press Enter > offers Save the reasons");
  });
});

describe("an export", () => {
  it("is a file of the kind that people choose, of all that is shown, with a name that says so", async () => {
    const { page, choose, saves, click } = await place.open(["9007199254740993,Monstera,tropical", "9223372036854775807,=Ginkgo,"]);
    for (const { name, ending, text } of [
      { name: "Export CSV", ending: "csv", text: "id,name,tag\n9007199254740993,Monstera,tropical\n9223372036854775807,=Ginkgo,\n" },
      {
        name: "Export for a spreadsheet",
        ending: "csv",
        text: "\ufeffid,name,tag\n9007199254740993,Monstera,tropical\n9223372036854775807,'=Ginkgo,\n",
      },
      {
        name: "Export NDJSON",
        ending: "ndjson",
        text: '{"id":9007199254740993,"name":"Monstera","tag":"tropical"}\n{"id":9223372036854775807,"name":"=Ginkgo"}\n',
      },
    ]) {
      const saved = await saves(() => choose(name));
      expect(saved.name).toMatch(new RegExp(`^plants-\\d{4}-\\d\\d-\\d\\d\\.${ending}$`));
      expect(saved.text).toBe(text);
    }
    await click(/^tropical/);
    await page.waitForURL(/tag=tropical/);
    const part = await saves(() => choose("Export CSV"));
    expect([part.name.slice(0, 13), part.text]).toEqual(["found-plants-", "id,name,tag\n9007199254740993,Monstera,tropical\n"]);
  });

  it("saves nothing if it is refused, breaks off in its middle or its user signs out, and says why", async () => {
    place.expectStatus(503);
    const { page, steps } = await place.open(["1,One,", "2,Two,"]);
    let downloads = 0;
    page.on("download", () => (downloads += 1));
    await page.route("**/plants/export*", (route) => route.fulfill({ status: 503, json: { error: 50301, message: "" } }));
    await steps("choose Export CSV > reads Nothing was saved. The service cannot reach its store: try again in a moment.");
    await page.unrouteAll({ behavior: "wait" });
    // As a proxy ends a file whose service was killed.
    await page.route("**/plants/export*", async (route) => {
      const response = await route.fetch();
      const { "content-encoding": _coding, "content-length": _length, ...headers } = response.headers();
      await route.fulfill({ status: 200, headers, body: (await response.body()).subarray(0, 20) });
    });
    await steps("choose Export CSV > reads Nothing was saved. The service cannot be reached: check the connection, then try again.");
    await page.unrouteAll({ behavior: "wait" });
    // Never answered.
    await page.route("**/plants/export*", () => {});
    await steps("choose Export CSV > reads Exporting plants- > choose Sign out");
    await steps("reads Nothing was saved. You signed out before it was finished.");
    expect(downloads).toBe(0);
  });
});
