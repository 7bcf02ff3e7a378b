import { describe, expect, it } from "bun:test";
import type { Page } from "playwright-core";
import { until } from "../support/until.ts";
import { usePlace } from "../support/web/place.ts";

/** Past 2^53, where neighbouring ids are the same number in JavaScript. */
const BASE = 2n ** 53n;

const place = usePlace();

const FEW = [
  `${BASE + 1n},Monstera deliciosa,tropical`,
  `${BASE + 2n},Ginkgo biloba,tree`,
  `${BASE + 3n},Monstera adansonii,tropical`,
  `${BASE + 4n},Mentha spicata,herb`,
  `-9223372036854775808,Acer palmatum,tree`,
];
const ALL = ["Acer palmatum", "Monstera deliciosa", "Ginkgo biloba", "Monstera adansonii", "Mentha spicata"];

async function untilFound(q: string, plants: number): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    const found = (await (await place.service.request(`/plants?q=${q}`)).json()) as unknown[];
    if (found.length === plants) return;
    await Bun.sleep(50);
  }
  throw new Error(`${q} is not found`);
}

describe("the catalogue", () => {
  it("shows all plants by id, every digit of it", async () => {
    await place.plant(FEW);
    const { signIn, sees, rows } = await place.visit();
    await signIn();
    await sees(ALL);
    expect(await rows.locator("td.plant-row-id").allInnerTexts()).toEqual([
      "-9223372036854775808",
      "9007199254740993",
      "9007199254740994",
      "9007199254740995",
      "9007199254740996",
    ]);
  });

  it("searches while you type, filters by tag, and goes back step by step", async () => {
    await place.plant(FEW);
    await untilFound("mon", 2);
    const { page, signIn, sees, field, button, address } = await place.visit();
    await signIn();
    await sees(ALL);
    await field("Search names").pressSequentially("mons", { delay: 100 });
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

  it("shows the plants without a tag, and the tags of what a search finds", async () => {
    await place.plant([...FEW, `${BASE + 5n},Monstera obliqua,`]);
    await untilFound("mon", 3);
    const { page, signIn, sees, field, button, address, reads } = await place.visit();
    await signIn();
    await button("Without a tag").click();
    await sees(["Monstera obliqua"]);
    expect(address()).toBe("/?untagged=true");
    await page.reload();
    await sees(["Monstera obliqua"]);
    await button("Remove the filter Without a tag").click();
    await field("Search names").fill("mons");
    await sees(["Monstera deliciosa", "Monstera adansonii", "Monstera obliqua"]);
    await reads("3 plants found.");
    await page.locator(".tag-bars-label").getByText("tree").waitFor({ state: "detached" });
    expect(await page.locator(".tag-bars li").allInnerTexts()).toEqual(["tropical\n2", "Without a tag"]);
  });

  it("offers the plant whose id is searched for", async () => {
    await place.plant(FEW);
    const { signIn, field, button, dialog } = await place.visit();
    await signIn();
    await field("Search names").fill(`${BASE + 3n}`);
    await button(`Plant with the id ${BASE + 3n}`).click();
    expect(await dialog.getByLabel("Name").inputValue()).toBe("Monstera adansonii");
  });

  it("says that there is no plant with an id, not that someone deleted it", async () => {
    place.expectStatus(404);
    await place.plant(FEW);
    const { page, signIn, field, dialog } = await place.visit();
    await signIn();
    await field("Search names").fill("4711");
    await page.keyboard.press("Enter");
    await dialog.getByText("There is no plant with the id 4711.", { exact: true }).waitFor();
  });

  it("says how many plants there are, though it has not loaded them", async () => {
    await place.plant(Array.from({ length: 1234 }, (_, at) => `${at},Salix ${at},${at % 2 === 0 ? "willow" : ""}`));
    const { signIn, button, reads } = await place.visit();
    await signIn();
    await reads(/^1,234 plants\. The first [\d,]+ are here, more as you scroll\.$/);
    await button(/^willow/)
      .first()
      .click();
    await reads(/^617 plants found\. The first [\d,]+ are here/);
  });

  it("opens a shared link after the sign-in", async () => {
    await place.plant(FEW);
    await untilFound("mon", 2);
    const { signIn, sees, field, button } = await place.visit("/?q=adans&tag=tropical");
    await signIn();
    await sees(["Monstera adansonii"]);
    expect(await field("Search names").inputValue()).toBe("adans");
    await button("Remove the filter tropical").click();
    await sees(["Monstera adansonii"]);
  });

  it("ignores a response that arrives after that of a later search", async () => {
    await place.plant(FEW);
    await untilFound("mon", 2);
    const { page, signIn, sees, field } = await place.visit();
    await signIn();
    await sees(ALL);
    await page.route("**/plants?*q=gink*", async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      // It is aborted by then.
      await route.continue().catch(() => {});
    });
    await field("Search names").fill("gink");
    await page.waitForTimeout(200);
    await field("Search names").fill("mentha");
    await sees(["Mentha spicata"]);
    await page.waitForTimeout(1_200);
    await sees(["Mentha spicata"]);
  });

  it("says that nothing matches, and shows everything again", async () => {
    await place.plant(FEW);
    const { signIn, sees, reads, button, address } = await place.visit("/?q=nothing");
    await signIn();
    await reads("No plants match.");
    await button("Show all plants").click();
    await sees(ALL);
    expect(address()).toBe("/");
  });

  it("says once that nothing matches, and searches without the tag if asked to", async () => {
    await place.plant(FEW);
    await untilFound("mentha", 1);
    const { page, signIn, sees, reads, button, address } = await place.visit("/?q=mentha&tag=tree");
    await signIn();
    await reads("No plants match.");
    await page.getByRole("status").filter({ hasText: "No plants match." }).waitFor();
    const seen = await page.evaluate<string>("document.querySelector('main').innerText");
    expect(seen.match(/match|0 plants/g)).toHaveLength(2);
    expect(await page.locator(".toolbar-found > p:not(.unseen)").innerText()).toBe("");
    await button("Search without the tag").click();
    await sees(["Mentha spicata"]);
    expect(address()).toBe("/?q=mentha");
  });

  for (const q of ["\u{1f335}", "-", "…"]) {
    it(`says that a search for ${q} leaves nothing out, as names are searched by letters and digits`, async () => {
      await place.plant(FEW);
      const { signIn, sees, reads, field } = await place.visit();
      await signIn();
      await field("Search names").fill(q);
      await reads(`Names are searched by letters and digits, and “${q}” has none, so it leaves nothing out. 5 plants.`);
      await sees(ALL);
    });
  }

  it("shows numbers in the reader's language", async () => {
    await place.plant(Array.from({ length: 1_234 }, (_, at) => `${at},Plant ${at},tree`));
    for (const { locale, count } of [
      { locale: "de-DE", count: "1.234" },
      { locale: "en-US", count: "1,234" },
    ]) {
      const { page, signIn } = await place.visit("/", { locale });
      await signIn();
      await page.locator(".tag-bars-count", { hasText: count }).waitFor();
    }
  });

  it("cuts a name that is read from the right at its left end, and keeps it at the left", async () => {
    await place.plant([`1,${"نخيل التمر ".repeat(40).trim()},شجرة`, "2,Ginkgo,"]);
    const { page, signIn, rows } = await place.visit();
    await signIn();
    await rows.nth(1).waitFor();
    const styles = await page.evaluate<unknown>(`[...document.querySelectorAll("td.plant-row-name")].map((cell) => {
      const { direction, textAlign, textOverflow } = getComputedStyle(cell);
      return [direction, textAlign, textOverflow].join(", ");
    })`);
    expect(styles).toEqual(["rtl, left, ellipsis", "ltr, left, ellipsis"]);
  });

  it("prints all rows that are loaded, without buttons", async () => {
    await place.plant(Array.from({ length: 400 }, (_, at) => `${at},Plant ${at},tree`));
    const { page, signIn, reads, rows } = await place.visit();
    await signIn();
    await reads(/^400 plants\.$/);
    expect(await rows.count()).toBeLessThan(80);
    // What is there when the browser takes the page for the paper.
    await page.evaluate(`addEventListener("beforeprint", () => (window.printed = document.querySelectorAll("tbody tr").length))`);
    await page.pdf();
    expect(await page.evaluate<number>("window.printed")).toBe(400);
    await page.waitForFunction("document.querySelectorAll('tbody tr').length < 80");
    // The pointer, or the finger that was there last, leaves its tag as black as the others.
    await page.locator("td .chip").nth(1).hover();
    await page.emulateMedia({ media: "print" });
    const colours = await page.evaluate<string[]>("[...document.querySelectorAll('td .chip')].map((chip) => getComputedStyle(chip).color)");
    expect(new Set(colours).size).toBe(1);
    // Headings and tags look like text.
    expect(await page.getByRole("button").filter({ visible: true }).allInnerTexts()).toEqual([
      "Id",
      "Newest",
      "Name",
      ...Array.from({ length: await rows.count() }, () => "tree"),
    ]);
    expect(await page.getByRole("searchbox").isVisible()).toBe(false);
  });

  it("shows where rows will be while the first ones are on their way", async () => {
    await place.plant(FEW);
    const { page, signIn, sees } = await place.visit();
    let go = (): void => {};
    const gate = new Promise<void>((resolve) => (go = resolve));
    await page.route("**/plants?*", async (route) => {
      await gate;
      await route.continue();
    });
    await signIn();
    await page.locator(".plant-table-skeleton").waitFor();
    go();
    await sees(ALL);
    await until("Nothing is on its way", async () => (await page.locator(".skeleton").count()) === 0);
  });

  it("shows the plants of each tag as bars, the largest first, and filters by them", async () => {
    await place.plant([...FEW, `${BASE + 5n},Quercus robur,tree`]);
    const { page, signIn, sees, button } = await place.visit();
    await signIn();
    const bars = page.getByRole("complementary", { name: "Tags" }).getByRole("listitem");
    await bars.first().waitFor();
    expect(await bars.allInnerTexts()).toEqual(["tree\n3", "tropical\n2", "herb\n1", "Without a tag"]);
    await button(/^herb/).first().click();
    await sees(["Mentha spicata"]);
    expect(await button(/^herb/).first().getAttribute("aria-pressed")).toBe("true");
    await button(/^herb/).first().click();
    await sees([...ALL, "Quercus robur"]);
  });

  it("does not say that a thousand tags are all that there are", async () => {
    const rows = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => `${from + at},Plant,Bed ${from + at}`);
    await place.plant(rows(0, 999));
    const { page, signIn, button, reads } = await place.visit();
    await signIn();
    await button("Show all 999").click();
    await place.plant(rows(999, 1001));
    await page.reload();
    await reads("1,001 plants.");
    await button("Show the first 1,000").click();
    expect(await page.locator(".tag-bars li").count()).toBe(1001);
  });

  it("loads ten thousand plants while you scroll, and keeps only the visible ones in the page", async () => {
    await place.plant(Array.from({ length: 10_000 }, (_, at) => `${BASE + BigInt(at)},Plant ${at},tag ${at % 7}`));
    const { page, signIn, rows, reads } = await place.visit();
    await signIn();
    await rows.first().waitFor();
    const table = page.locator("table.plant-table");
    expect(await table.getAttribute("aria-rowcount")).toBe("-1");
    for (let tries = 0; tries < 500 && (await table.getAttribute("aria-rowcount")) === "-1"; tries += 1) {
      await page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)");
      await page.waitForTimeout(20);
    }
    expect(await table.getAttribute("aria-rowcount")).toBe("10001");
    await reads("10,000 plants.");
    await page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)");
    await reads("Plant 9999");
    const last = rows.filter({ hasText: "Plant 9999" });
    expect(await last.getAttribute("aria-rowindex")).toBe("10001");
    expect(await last.locator("td.plant-row-id").innerText()).toBe(String(BASE + 9_999n));
    expect(await rows.count()).toBeLessThan(80);
    expect(await countNodes(page)).toBeLessThan(2_000);
  });

  it("welcomes the first visitor, says what can be imported, and has thirty plants to try", async () => {
    const { page, signIn, reads, button, rows } = await place.visit();
    await signIn();
    await reads("Nothing grows here yet");
    await reads("import a whole spreadsheet, as .xlsx or CSV.");
    await button("Add a plant").waitFor();
    await button("Import a file").waitFor();
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "save the sample file" }).click()]);
    expect(download.suggestedFilename()).toBe("sample.csv");
    await button("Try thirty real plants").click();
    await button("Import 30 plants").click();
    await reads("30 plants added.");
    await button("Done").click();
    await rows.first().waitFor();
    expect(await rows.count()).toBe(30);
    expect(await rows.first().innerText()).toContain("9007199254740993");
  });
});

/** All nodes that the memory of the page holds, also those that it shows no more. */
async function countNodes(page: Page): Promise<number> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("HeapProfiler.collectGarbage");
  return (await devtools.send("Memory.getDOMCounters")).nodes;
}
