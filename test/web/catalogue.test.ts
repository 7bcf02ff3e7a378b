import { describe, expect, it } from "bun:test";
import type { Page } from "playwright-core";
import { until } from "../support/until.ts";
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

/** As if another window came before the page, and went again. */
async function showAgain(page: Page): Promise<void> {
  for (const state of ["hidden", "visible"]) {
    await page.evaluate(`Object.defineProperty(document, "visibilityState", { value: "${state}", configurable: true })`);
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
  }
}

describe("the catalogue", () => {
  it("shows all plants with every digit of their ids, and the plants of each tag, the largest first, as a filter", async () => {
    await place.plant(FEW);
    const { page, signIn, sees, rows, button } = await place.visit();
    await signIn();
    await sees(ALL);
    const ids = ["-9223372036854775808", "9007199254740993", "9007199254740994", "9007199254740995", "9007199254740996"];
    expect(await rows.locator("td.plant-row-id").allInnerTexts()).toEqual(ids);
    const bars = page.getByRole("complementary", { name: "Tags" }).getByRole("listitem");
    await bars.first().waitFor();
    expect(await bars.allInnerTexts()).toEqual(["tree\n2", "tropical\n2", "herb\n1", "Without a tag"]);
    const herb = button(/^herb/).first();
    await herb.click();
    await sees(["Mentha spicata"]);
    expect(await herb.getAttribute("aria-pressed")).toBe("true");
    await herb.click();
    await sees(ALL);
  });

  it("searches as people type, filters by tag, and goes back step by step", async () => {
    await place.plant(FEW);
    const { page, signIn, sees, field, button, address } = await place.visit();
    await signIn();
    await sees(ALL);
    await field("Search names").pressSequentially("mons", { delay: 30 });
    await sees(["Monstera deliciosa", "Monstera adansonii"]);
    expect(address()).toBe("/?q=mons");
    await field("Search names").press("Enter");
    await field("Search names").fill("");
    await sees(ALL);
    await button(/^tree/).first().click();
    await sees(["Acer palmatum", "Ginkgo biloba"]);
    expect(address()).toBe("/?tag=tree");
    await page.goBack();
    await sees(ALL);
    await page.goBack();
    await sees(["Monstera deliciosa", "Monstera adansonii"]);
    expect(await field("Search names").inputValue()).toBe("mons");
    // What was typed in one go is one step.
    await page.goBack();
    await sees(ALL);
    await page.goForward();
    await sees(["Monstera deliciosa", "Monstera adansonii"]);
  });

  it("opens a shared link after the sign-in, shows the plants without a tag, and the tags of what a search finds", async () => {
    await place.plant([...FEW, `${BASE + 5n},Monstera obliqua,`]);
    const { page, signIn, sees, field, button, reads } = await place.visit("/?untagged=true");
    await signIn();
    await sees(["Monstera obliqua"]);
    await button("Remove the filter Without a tag").click();
    await field("Search names").fill("mons");
    await sees(["Monstera deliciosa", "Monstera adansonii", "Monstera obliqua"]);
    await reads("3 plants found.");
    await page.locator(".tag-bars-label").getByText("tree").waitFor({ state: "detached" });
    expect(await page.locator(".tag-bars li").allInnerTexts()).toEqual(["tropical\n2", "Without a tag"]);
  });

  it("opens the plant whose id is searched for, or says that there is none, and gives the caret back", async () => {
    place.expectStatus(404);
    await place.plant(FEW);
    const { page, signIn, field, button, dialog } = await place.visit();
    await signIn();
    await field("Search names").fill(`${BASE + 3n}`);
    await button(`Plant with the id ${BASE + 3n}`).click();
    expect(await dialog.getByLabel("Name").inputValue()).toBe("Monstera adansonii");
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    // As wide as a Japanese keyboard types digits.
    await field("Search names").fill("４７１１");
    await page.keyboard.press("Enter");
    await dialog.getByText("There is no plant with the id 4711.", { exact: true }).waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.type("x");
    expect(await field("Search names").inputValue()).toBe("x");
  });

  it("says once that nothing matches, searches without the tag, shows everything again, and that signs leave nothing out", async () => {
    await place.plant(FEW);
    const { page, signIn, sees, reads, field, button, address } = await place.visit("/?q=mentha&tag=tree");
    await signIn();
    await page.getByRole("status").filter({ hasText: "No plants match." }).waitFor();
    const seen = await page.evaluate<string>("document.querySelector('main').innerText");
    expect(seen.match(/match|0 plants/g)).toHaveLength(2);
    await button("Search without the tag").click();
    await sees(["Mentha spicata"]);
    expect(address()).toBe("/?q=mentha");
    await field("Search names").fill("nothing");
    await button("Show all plants").click();
    await sees(ALL);
    for (const q of ["\u{1f335}", "-"]) {
      await field("Search names").fill(q);
      await reads(`Names are searched by letters and digits, and “${q}” has none, so it leaves nothing out. 5 plants.`);
    }
  });

  it("sorts by its headings, the other way round when they are chosen again, in the address, and keeps what is selected", async () => {
    const names = ["Zinnia elegans", "acer palmatum", "Äpfel"];
    for (const [at, name] of names.entries()) await place.put(at + 1, { name });
    const { page, signIn, sees, box, button, reads, address } = await place.visit();
    await signIn();
    await sees(names);
    await box("Zinnia elegans").click();
    const sorted = () =>
      page.evaluate<(string | null)[]>(
        "[...document.querySelectorAll('th[aria-sort]')].flatMap((one) => [one.ariaSort, one.querySelector('[aria-pressed=true]').title])",
      );
    const byName = ["acer palmatum", "Äpfel", "Zinnia elegans"];
    for (const { label, seen, query, says } of [
      { label: "Id", seen: names.toReversed(), query: "?sort=-id", says: ["descending", "Sort by id, the lowest first"] },
      { label: "Name", seen: byName, query: "?sort=name", says: ["ascending", "Sort by name, from Z to A"] },
      { label: "Name", seen: byName.toReversed(), query: "?sort=-name", says: ["descending", "Sort by name, from A to Z"] },
      { label: "Newest", seen: names.toReversed(), query: "?sort=newest", says: ["other", "Sort the oldest first"] },
      { label: "Newest", seen: names, query: "?sort=oldest", says: ["other", "Sort the newest first"] },
    ]) {
      await button(label).click();
      await sees(seen);
      expect([address(), await sorted()]).toEqual([`/${query}`, says]);
    }
    await reads("1 plant selected");
    await button("Oldest").waitFor();
    await page.goBack();
    await sees(names.toReversed());
  });

  it("counts plants that it has not loaded, loads them as people scroll, and keeps only the visible rows in the page", async () => {
    await place.plant(Array.from({ length: 2_000 }, (_, at) => `${BASE + BigInt(at)},Plant ${at},tag ${at % 7}`));
    const { page, signIn, rows, reads } = await place.visit();
    await signIn();
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

  it("is where it was after a reload, and after Back", async () => {
    await place.plant(Array.from({ length: 1_500 }, (_, at) => `${at},Plant ${at},${at % 2 === 0 ? "even" : "odd"}`));
    const { page, signIn, rows, button } = await place.visit();
    await signIn();
    await rows.first().waitFor();
    const rowInSight = () => page.evaluate<string>("document.elementFromPoint(innerWidth / 2, innerHeight / 2).closest('tr').dataset.at");
    await until("a far row is in sight", async () => {
      await page.evaluate("scrollTo(0, 1200 * document.querySelector('tbody tr').offsetHeight)");
      return page.getByText("Plant 1200", { exact: true }).isVisible();
    });
    const before = await rowInSight();
    expect(Number(before)).toBeGreaterThan(1_000);
    await page.reload();
    await page.getByText("Plant 1200", { exact: true }).waitFor();
    expect(Math.abs(Number(await rowInSight()) - Number(before))).toBeLessThanOrEqual(1);
    await button(/^even/).first().click();
    await until("it is so on the page", () => page.evaluate<boolean>("scrollY === 0"));
    await page.goBack();
    await page.getByText("Plant 1200", { exact: true }).waitFor();
    expect(Math.abs(Number(await rowInSight()) - Number(before))).toBeLessThanOrEqual(1);
  });

  it("is read again when it comes into sight, when somebody asks, and when another tab changes something", async () => {
    await place.plant(["1,Acer,tree", "2,Ginkgo,tree"]);
    const { page, signIn, sees, button, openTab } = await place.visit();
    await signIn();
    await sees(["Acer", "Ginkgo"]);
    await place.put(2, { name: "Ginkgo biloba" });
    await showAgain(page);
    await sees(["Acer", "Ginkgo biloba"]);
    await place.put(2, { name: "Maidenhair" });
    await button("Refresh").click();
    await sees(["Acer", "Maidenhair"]);
    const other = await openTab();
    await other.signIn();
    await other.button("Edit Acer").click();
    await other.enter({ Name: "Maple" });
    await other.button("Save").click();
    await sees(["Maple", "Maidenhair"]);
  });

  it("leaves the focus with its plant when others come and go, so that no other one is deleted", async () => {
    await place.plant(["1,Acer,tree", "2,Ginkgo,tree"]);
    const { page, signIn, sees, button } = await place.visit();
    await signIn();
    await sees(["Acer", "Ginkgo"]);
    await button("Delete Ginkgo").focus();
    await place.put(0, { name: "Abies" });
    await showAgain(page);
    await sees(["Abies", "Acer", "Ginkgo"]);
    expect(await page.evaluate<string>("document.activeElement.ariaLabel")).toBe("Delete Ginkgo");
    await place.remove(2);
    await showAgain(page);
    await sees(["Abies", "Acer"]);
    await until("the plants have the focus", async () => (await page.evaluate<string>("document.activeElement.id")) === "plants");
  });

  it("welcomes the first visitor, says what can be imported, and has thirty plants to try", async () => {
    const { page, signIn, reads, button, rows, saves } = await place.visit();
    await signIn();
    await reads("Nothing grows here yet");
    await reads("import a whole spreadsheet, as .xlsx or CSV.");
    const sample = await saves(() => page.getByRole("link", { name: "save the sample file" }).click());
    expect(sample.name).toBe("sample.csv");
    await button("Try thirty real plants").click();
    await button("Import 30 plants").click();
    await reads("30 plants added.");
    await button("Done").click();
    await rows.first().waitFor();
    expect(await rows.count()).toBe(30);
    expect(await rows.first().innerText()).toContain("9007199254740993");
  });

  it("shows names of code as text, everywhere", async () => {
    const code = "<img src=x onerror=alert(1)>";
    await place.put(1, { name: code, tag: code });
    const { page, signIn, button, sees, reads } = await place.visit();
    page.on("dialog", () => expect.unreachable());
    await signIn();
    await sees([code]);
    await button(`Edit ${code}`).click();
    await button("Cancel").click();
    await button(/^<img/).first().click();
    await button("Rename this tag…").click();
    await reads(`Rename “${code}” everywhere`);
    expect(await page.locator("img").count()).toBe(0);
  });
});

describe("when things go wrong, the page", () => {
  it("says that it is offline, and recovers by itself when it is online again", async () => {
    place.expectStatus(0);
    await place.plant(FEW);
    const { page, signIn, sees, reads, button } = await place.visit();
    await signIn();
    await sees(ALL);
    await page.context().setOffline(true);
    await reads("You are offline.");
    await button(/^herb/).first().click();
    await reads("The service cannot be reached: check the connection, then try again.");
    await page.context().setOffline(false);
    await page.getByText("You are offline.").waitFor({ state: "hidden" });
    await sees(["Mentha spicata"]);
  });

  it("keeps what is typed while the service does not answer, and saves it when it is back", async () => {
    place.expectStatus(0);
    await place.plant(["1,Acer,tree"]);
    const { page, signIn, button, enter, sees, reads } = await place.visit();
    await signIn();
    await button("Edit Acer").click();
    await enter({ Name: "Maple" });
    await page.route(`${place.service.url}/**`, (route) => route.abort("connectionrefused"));
    await button("Save").click();
    await reads("The service cannot be reached: check the connection, then try again.");
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await button("Save").click();
    await sees(["Maple"]);
    await page.getByText("The service does not respond.").waitFor({ state: "hidden" });
  });

  it("says in plain words that the service is busy, keeps what it shows, and tries again if asked to", async () => {
    place.expectStatus(503);
    await place.plant(FEW);
    const { page, signIn, sees, reads, button, field } = await place.visit();
    await signIn();
    await sees(ALL);
    const answer = (body: string, after: string) => ({
      status: 503,
      headers: { "retry-after": after },
      contentType: "application/json",
      body,
    });
    await page.route("**/plants?*", (route) => route.fulfill(answer('{"error":50304,"message":""}', "0")));
    await field("Search names").fill("m");
    await reads("The search is not ready yet: try again in a moment.");
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await field("Search names").fill("");
    await sees(ALL);
    await page.route("**/plants?*", (route) => route.fulfill(answer("", "60")));
    await button(/^herb/).first().click();
    await reads("Something else responded instead of the service (503): try again.");
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await button("Try again").click();
    await sees(["Mentha spicata"]);
  });
});
