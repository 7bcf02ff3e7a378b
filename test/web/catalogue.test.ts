import { describe, expect, it } from "bun:test";
import { until } from "../support/until.ts";
import { rowsOf } from "../support/web/garden.ts";
import { usePlace } from "../support/web/place.ts";

const place = usePlace();

/** Past 2^53, where neighbouring ids are the same number in JavaScript. */
const BASE = 2n ** 53n;
const FEW = [
  `${BASE + 1n},Monstera deliciosa,tropical`,
  `${BASE + 2n},Ginkgo biloba,tree`,
  `${BASE + 3n},Monstera adansonii,tropical`,
  `${BASE + 4n},Mentha spicata,herb`,
  `-9223372036854775808,Acer palmatum,tree`,
];
const ALL = ["Acer palmatum", "Monstera deliciosa", "Ginkgo biloba", "Monstera adansonii", "Mentha spicata"];

describe("the catalogue", () => {
  it("opens a shared link, shows ids with every digit, and the plants of each tag, from A to Z, as a filter, in a search too", async () => {
    const { page, rows, sees, button, steps } = await place.open([...FEW, `${BASE + 5n},Monstera obliqua,`], {
      path: "/?untagged=true",
    });
    await steps("sees Monstera obliqua > click Remove the filter Without a tag");
    await sees([...ALL, "Monstera obliqua"]);
    const ids = ["-9223372036854775808", ...[1, 2, 3, 4, 5].map((at) => `900719925474099${at + 2}`)];
    expect(await rows.locator("td.plant-row-id").allInnerTexts()).toEqual(ids);
    const bars = page.getByRole("complementary", { name: "Tags" }).getByRole("listitem");
    // They come by themselves, after the plants or before.
    await bars.nth(3).waitFor();
    expect(await bars.allInnerTexts()).toEqual(["herb\n1", "tree\n2", "tropical\n2", "Without a tag"]);
    await steps("filter herb > sees Mentha spicata");
    expect(await button(/^herb/).first().getAttribute("aria-pressed")).toBe("true");
    await steps("filter herb > enter Search names = mons > sees Monstera deliciosa, Monstera adansonii, Monstera obliqua");
    await steps("reads 3 plants found.");
    await page.locator(".tag-bars-label").getByText("tree").waitFor({ state: "detached" });
    expect(await bars.allInnerTexts()).toEqual(["tropical\n2", "Without a tag"]);
  });

  it("searches as people type, filters by tag, and goes back step by step", async () => {
    const { page, sees, field, enter, steps } = await place.open(FEW);
    await field("Search names").pressSequentially("mons", { delay: 30 });
    await steps("sees Monstera deliciosa, Monstera adansonii > at /?q=mons");
    await field("Search names").press("Enter");
    await enter({ "Search names": "" });
    await sees(ALL);
    await steps("filter tree > sees Acer palmatum, Ginkgo biloba > at /?tag=tree > back");
    await sees(ALL);
    await steps("back > sees Monstera deliciosa, Monstera adansonii > holds Search names = mons");
    // What was typed in one go is one step.
    await page.goBack();
    await sees(ALL);
    await page.goForward();
    await sees(["Monstera deliciosa", "Monstera adansonii"]);
  });

  it("opens the plant whose id is searched for, or says that there is none, and gives the caret back", async () => {
    place.expectStatus(404);
    const { dialog, click, enter, steps } = await place.open(FEW);
    await enter({ "Search names": `${BASE + 3n}` });
    await click(`Plant with the id ${BASE + 3n}`);
    expect(await dialog.getByLabel("Name").inputValue()).toBe("Monstera adansonii");
    await steps("press Escape > leaves");
    // As wide as a Japanese keyboard types digits.
    await steps("enter Search names = ４７１１ > press Enter");
    await dialog.getByText("There is no plant with the id 4711.", { exact: true }).waitFor();
    await steps("press Escape > leaves > press ControlOrMeta+A > type x > holds Search names = x");
  });

  it("says once that nothing matches, adds what was searched for, searches without the tag, shows everything again, and that signs leave nothing out", async () => {
    await place.plant(FEW);
    const { page, sees, reads, enter, steps } = await place.open([], { path: "/?q=mentha&tag=tree" });
    await page.getByRole("status").filter({ hasText: "No plants match." }).waitFor();
    const seen = await page.evaluate<string>("document.querySelector('main').innerText");
    expect(seen.match(/match|0 plants/g)).toHaveLength(2);
    await steps("click Search without the tag > sees Mentha spicata > at /?q=mentha > enter Search names = nothing");
    await steps("click Add “nothing” > holds Name = nothing > press Escape > leaves > click Show all plants");
    await sees(ALL);
    await steps("enter Search names = acer nothing > click Add “acer nothing” > holds Name = acer nothing");
    await steps("click Save > leaves > sees acer nothing > at /?q=acer+nothing > enter Search names = ");
    await sees(["Acer palmatum", "acer nothing", ...ALL.slice(1)]);
    for (const q of ["\u{1f335}", "-"]) {
      await enter({ "Search names": q });
      await reads(`Names are searched by letters and digits, and “${q}” has none, so it leaves nothing out. 6 plants.`);
    }
  });

  it("suggests a search where one or two letters are wrong, and shows what it finds with a click", async () => {
    const { page, steps } = await place.open(FEW);
    await steps("enter Search names = Monstera delisiosa > reads Did you mean Monstera deliciosa? > click Monstera deliciosa");
    await steps("sees Monstera deliciosa > at /?q=Monstera+deliciosa > holds Search names = Monstera deliciosa");
    await steps("enter Search names = mosntera > reads Did you mean Monstera? > enter Search names = zzz > reads No plants match.");
    await page.getByText("Did you mean").waitFor({ state: "detached" });
  });

  it("sorts in each order of its menu, in the address, tells the column that is sorted, and keeps what is selected", async () => {
    const names = ["Zinnia elegans", "acer palmatum", "Äpfel"];
    for (const [at, name] of names.entries()) await place.put(at + 1, { name });
    const { page, sees, box, address, field, steps } = await place.open();
    await sees(names);
    await box("Zinnia elegans").click();
    const sorted = () =>
      page.evaluate<(string | null)[]>(
        "[...document.querySelectorAll('th[aria-sort]')].flatMap(({ ariaSort, textContent }) => [textContent, ariaSort])",
      );
    const byName = ["acer palmatum", "Äpfel", "Zinnia elegans"];
    for (const { label, seen, query, says } of [
      { label: "Greatest id", seen: names.toReversed(), query: "?sort=-id", says: ["Id", "descending"] },
      { label: "Name, A to Z", seen: byName, query: "?sort=name", says: ["Name", "ascending"] },
      { label: "Name, Z to A", seen: byName.toReversed(), query: "?sort=-name", says: ["Name", "descending"] },
      { label: "Newest", seen: names.toReversed(), query: "?sort=newest", says: [] },
      { label: "Oldest", seen: names, query: "?sort=oldest", says: [] },
    ]) {
      await field("Sort").selectOption(label);
      await sees(seen);
      expect([address(), await sorted()]).toEqual([`/${query}`, says]);
    }
    await steps("reads 1 plant selected > holds Sort = oldest > back > holds Sort = newest");
    await sees(names.toReversed());
  });

  it("counts plants that it has not loaded, loads them as people scroll, and keeps only the visible rows in the page", async () => {
    const many = Array.from({ length: 2_000 }, (_, at) => `${BASE + BigInt(at)},Plant ${at},tag ${at % 7}`);
    const { page, rows, reads } = await place.open(many);
    await reads(/^2,000 plants\. The first [\d,]+ are here, more as you scroll\.$/);
    const table = page.locator("table.plant-table");
    expect(await table.getAttribute("aria-rowcount")).toBe("-1");
    await until("all are loaded", async () => {
      await page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)");
      return (await table.getAttribute("aria-rowcount")) === "2001";
    });
    await page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)");
    await reads("Plant 1999");
    const last = rows.filter({ hasText: "Plant 1999" });
    expect(await last.getAttribute("aria-rowindex")).toBe("2001");
    expect(await last.locator("td.plant-row-id").innerText()).toBe(String(BASE + 1_999n));
    expect(await rows.count()).toBeLessThan(80);
  });

  it("has rows of 32 pixels where people choose them, after a reload and at every width, and scrolls to each", async () => {
    const { page, rows, choose, reads } = await place.open(rowsOf(500));
    const heights = async () =>
      new Set((await rows.evaluateAll((all) => all.map((row) => row.getBoundingClientRect().height))) as number[]);
    await choose("Compact rows");
    for (const width of [390, 768, 1440]) {
      await page.setViewportSize({ width, height: 800 });
      await page.reload();
      await reads(/^500 plants\.$/);
      await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
      await reads("Plant 500");
      expect(await heights()).toEqual(new Set([32]));
      expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBe(0);
    }
    await choose("Compact rows");
    await until("rows are high again", async () => (await heights()).has(46));
  });

  it("is where it was after a reload, after Back, and when it is read again", async () => {
    const { page, click } = await place.open(rowsOf(1_500, (id) => (id % 2 === 0 ? "even" : "odd")));
    const rowInSight = () => page.evaluate<string>("document.elementFromPoint(innerWidth / 2, innerHeight / 2).closest('tr').dataset.at");
    await until("a far row is in sight", async () => {
      await page.evaluate("scrollTo(0, 1200 * document.querySelector('tbody tr').offsetHeight)");
      return page.getByText("Plant 1200", { exact: true }).isVisible();
    });
    const before = await rowInSight();
    expect(Number(before)).toBeGreaterThan(1_000);
    async function expectInSight(): Promise<void> {
      await page.getByText("Plant 1200", { exact: true }).waitFor();
      expect(Math.abs(Number(await rowInSight()) - Number(before))).toBeLessThanOrEqual(1);
    }
    await page.reload();
    await expectInSight();
    await click(/^even/);
    await until("it is so on the page", () => page.evaluate<boolean>("scrollY === 0"));
    await page.goBack();
    await expectInSight();
    await Promise.all([page.waitForResponse(/\/plants\?.*after/), click("Refresh")]);
    await page.locator('section[aria-busy="false"]').waitFor();
    await expectInSight();
  });

  it("is read again when it comes into sight, when someone asks, and when another tab changes something", async () => {
    const { sees, openTab, showAgain, steps } = await place.open(["1,Acer,tree", "2,Ginkgo,tree"]);
    await place.put(2, { name: "Ginkgo biloba" });
    await showAgain();
    await sees(["Acer", "Ginkgo biloba"]);
    await place.put(2, { name: "Maidenhair" });
    await steps("click Refresh > sees Acer, Maidenhair");
    const other = await openTab();
    await other.signIn();
    await other.steps("click Edit Acer > enter Name = Maple > click Save");
    await sees(["Maple", "Maidenhair"]);
  });

  it("leaves the focus with its plant when others come and go, so that no other one is deleted", async () => {
    await place.plant(["1,Acer,tree", "2,Ginkgo,tree"]);
    const { page, sees, button, showAgain, hears, signIn } = await place.visit();
    await hears(signIn);
    await button("Delete Ginkgo").focus();
    await place.put(0, { name: "Abies" });
    await showAgain();
    await sees(["Abies", "Acer", "Ginkgo"]);
    expect(await page.evaluate<string>("document.activeElement.ariaLabel")).toBe("Delete Ginkgo");
    await place.remove(2);
    await showAgain();
    await sees(["Abies", "Acer"]);
    await until("the plants have the focus", async () => (await page.evaluate<string>("document.activeElement.id")) === "plants");
  });

  it("welcomes the first visitor, says what can be imported, and has thirty plants to try", async () => {
    const { page, rows, saves, steps } = await place.open();
    await steps("reads Nothing grows here yet > reads import a whole spreadsheet, as .xlsx or CSV.");
    const sample = await saves(() => page.getByRole("link", { name: "save the sample file" }).click());
    expect(sample.name).toBe("sample.csv");
    await steps("click Try thirty real plants > click Import 30 plants > reads 30 plants added. > click Done");
    await rows.first().waitFor();
    expect(await rows.count()).toBe(30);
    expect(await rows.first().innerText()).toContain("9007199254740993");
  });

  it("shows names of code as text, everywhere", async () => {
    const code = "<img src=x onerror=alert(1)>";
    await place.put(1, { name: code, tag: code });
    const { page, signIn, sees, reads, click } = await place.visit();
    page.on("dialog", () => expect.unreachable());
    await signIn();
    await sees([code]);
    await click(`Edit ${code}`, "Cancel", /^<img/, "Rename this tag…");
    await reads(`Rename “${code}” everywhere`);
    expect(await page.locator("img").count()).toBe(0);
  });
});

describe("when things go wrong, the page", () => {
  it("says that it is offline, and recovers by itself when it is online again", async () => {
    place.expectStatus(0);
    await place.plant(FEW);
    const { page, sees, steps, hears, signIn } = await place.visit();
    // It recovers by code that comes after the first view.
    await hears(signIn);
    await page.context().setOffline(true);
    await steps("reads You are offline. > filter herb > reads The service cannot be reached: check the connection, then try again.");
    await page.context().setOffline(false);
    await page.getByText("You are offline.").waitFor({ state: "hidden" });
    await sees(["Mentha spicata"]);
  });

  it("says in plain words what is wrong, and tries again if asked to", async () => {
    place.expectStatus(503);
    const { fail, steps } = await place.open(FEW);
    const restore = await fail("**/plants?*", 503);
    await steps("filter herb > reads Something else responded instead of the service (503): try again.");
    await restore();
    await steps("click Try again > sees Mentha spicata");
  });
});
