import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "bun:test";
import { needs } from "../support/program.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { askUntil } from "../support/until.ts";
import { builtPage } from "../support/web/built-page.ts";
import { startFirefox } from "../support/web/firefox.ts";
import type { Firefox } from "../support/web/firefox.ts";

// The other tests of the page run in Chromium. Here another engine shows that it lacks nothing that the main tasks need.

needs("firefox-esr").describe("in Firefox people", () => {
  let firefox: Firefox;
  let service: TestService;

  beforeAll(async () => {
    const web = await builtPage();
    service = await startTestService({}, { web });
    for (const [at, name] of ["Acer", "Betula", "Corylus"].entries()) await service.post(JSON.stringify({ id: at, name, tag: "shrub" }));
    firefox = await startFirefox();
    await firefox.go(service.url);
    await firefox.click("textbox", "Token");
    await firefox.type(service.token);
    await firefox.press("Enter");
    await firefox.reads("3 plants.");
  });
  afterAll(async () => {
    await firefox.close();
    await service.stop();
    expect(firefox.errors).toEqual([]);
  });

  it("add a plant, find it, change it, delete it, and bring it back", async () => {
    const { click, press, type, reads, sees } = firefox;
    await click("button", "Add plant");
    await type("Ginkgo");
    await press("Enter");
    await reads("“Ginkgo” is saved.");
    await click("searchbox", "Search names");
    await type("gink");
    await sees("Ginkgo");
    await click("link", "Ginkgo");
    await click("textbox", "Name");
    await press("End");
    await type(" biloba");
    await press("Enter");
    await sees("Ginkgo biloba");
    await click("button", "Delete Ginkgo biloba");
    await reads("“Ginkgo biloba” will be deleted in");
    // The button has the focus, and is there for eight seconds.
    await press("Enter");
    await sees("Ginkgo biloba");
  });

  it("select a range by the keyboard, and tag it", async () => {
    const { go, click, press, type, reads } = firefox;
    await go(`${service.url}/?tag=shrub`);
    await click("checkbox", "Select Acer");
    await press("ArrowDown", "ArrowDown", "Shift+Space");
    await reads("3 plants selected");
    await click("button", "Set tag");
    await type("tree");
    await press("Enter");
    await reads("Set the tag of 3 plants to “tree”.");
  });

  it("import a compressed file, and save what is shown, with every digit of its id", async () => {
    const { go, click, choose, reads, sees, saved } = firefox;
    await go(`${service.url}/?tag=herb`);
    const file = join(temporaryFolder(), "plants.csv.gz");
    const rows = "id,name,tag\n9007199254740993,Süßholz,herb\n";
    writeFileSync(file, gzipSync(rows));
    await click("button", "Import");
    await choose(file);
    await reads("If you import now: 1 new.");
    await click("button", "Import 1 plant");
    await reads("1 plant added.");
    await click("button", "Done");
    await sees("Süßholz");
    await click("button", "Export");
    await click("button", "Export CSV");
    await reads(".csv is saved");
    const csv = () => readdirSync(saved).filter((name) => name.endsWith(".csv"));
    const read = () => csv().map((name) => ({ name, text: readFileSync(join(saved, name), "utf8") }));
    // Firefox begins with an empty one.
    const files = await askUntil(read, ([first]) => first?.text === rows);
    expect(files).toEqual([{ name: expect.stringMatching(/^found-plants-\d{4}-\d\d-\d\d\.csv$/), text: rows }]);
  });
});
