import { describe, expect, it } from "bun:test";
import type { Page } from "playwright-core";
import { askUntil, until } from "../support/until.ts";
import { rowsOf } from "../support/web/garden.ts";
import { usePlace } from "../support/web/place.ts";

const place = usePlace();

const PORTRAIT = { width: 360, height: 740 };
const LANDSCAPE = { width: 740, height: 360 };
const PHONE = { viewport: PORTRAIT, hasTouch: true, isMobile: true } as const;

/** The place in the list of what is in the middle of the window, in parts of rows. */
async function middleOf(page: Page): Promise<number> {
  const look = () =>
    page.evaluate<number>(`(() => {
    const middle = innerHeight / 2;
    const row = [...document.querySelectorAll("tr[data-at]")].find((one) => one.getBoundingClientRect().bottom > middle);
    if (row === undefined || row.getBoundingClientRect().top > middle) return -1;
    const { top, height } = row.getBoundingClientRect();
    return Number(row.dataset.at) + (middle - top) / height;
  })()`);
  return askUntil(look, (at) => at >= 0);
}

describe("on a phone that is turned", () => {
  for (const isMobile of [true, false]) {
    it(`the same plant stays in the middle of the list, there and back, where the browser ${isMobile ? "moves the page by itself" : "leaves the page alone"}`, async () => {
      const { page, reads, settle, comesTrue } = await place.open(rowsOf(1_000), { ...PHONE, isMobile });
      await reads("The first 600 are here");
      await page.evaluate("scrollTo(0, 20_000)");
      await reads("1,000 plants.");
      const before = await middleOf(page);
      expect(before).toBeGreaterThan(300);
      for (const size of [LANDSCAPE, PORTRAIT]) {
        await page.setViewportSize(size);
        await comesTrue(`innerWidth === ${size.width}`);
        await settle();
        expect(Math.abs((await middleOf(page)) - before)).toBeLessThan(0.2);
      }
    });
  }
});

/** Text fields with letters so small that a browser zooms in on them. */
const SMALL = `[...document.querySelectorAll("input:not([type=checkbox], [type=file]), select, textarea")]
  .filter((field) => Number.parseFloat(getComputedStyle(field).fontSize) < 16)
  .map((field) => field.outerHTML)`;

describe("where people type with their fingers", () => {
  for (const viewport of [PORTRAIT, LANDSCAPE, { width: 820, height: 1180 }]) {
    it(`no browser zooms in on what they touch, ${viewport.width} pixels wide`, async () => {
      const { page, signIn, click, steps } = await place.visit("/", { ...PHONE, viewport });
      const found: string[] = await page.evaluate(SMALL);
      const look = async () => found.push(...(await page.evaluate<string[]>(SMALL)));
      await signIn();
      await click("Add a plant", "Choose the id");
      await look();
      await steps("click Cancel > click Import a file > enter Or paste the rows = Name;Place\nAcer;Jena\n");
      await look();
      await steps("click Preview the rows > reads If you import now: 1 new.");
      await look();
      await steps("back > choose Tokens > click New token > has Days until it expires");
      await look();
      expect(found).toEqual([]);
    });
  }

  it("their phone puts no other words in the place of a name, a tag, a search or a token, and no capital into a tag", async () => {
    await place.plant(["1,Acer,tree"]);
    const { page, signIn, button, field, sees } = await place.visit("/", PHONE);
    const look = (label: string) =>
      field(label).evaluate((input) => [
        (input as unknown as { autocorrect: boolean }).autocorrect,
        (input as unknown as { autocapitalize: string }).autocapitalize,
      ]);
    expect(await look("Token")).toEqual([false, "none"]);
    await signIn();
    await sees(["Acer"]);
    expect(await look("Search names")).toEqual([false, ""]);
    await page.locator("[data-action=edit]").click();
    await button("Save").waitFor();
    expect(await look("Name")).toEqual([false, ""]);
    expect(await look("Tag")).toEqual([false, "none"]);
  });
});

describe("where the keyboard of a phone makes the window low", () => {
  const LOW = { width: 360, height: 300 };

  it("the search box stays in sight in the middle of the list", async () => {
    const { page, reads, field, rows, settle, steps } = await place.open(rowsOf(300), { ...PHONE });
    await reads(/^300 plants\.$/);
    await page.evaluate("scrollTo(0, 5_000)");
    await field("Search names").tap();
    await page.setViewportSize(LOW);
    await until("it is so on the page", () => page.evaluate<boolean>("innerHeight === 300"));
    await settle();
    expect((await field("Search names").boundingBox())!.y).toBeWithin(0, 100);
    await steps("type Plant 77 > reads 1 plant found.");
    expect(await rows.count()).toBe(1);
  });

  it("all of a form can be reached, and what is typed stays when the phone is turned", async () => {
    const { page, button, typed, comesTrue } = await place.open([], { ...PHONE });
    await button("Add a plant").tap();
    await page.keyboard.type("Acer");
    for (const size of [LOW, LANDSCAPE, PORTRAIT]) {
      await page.setViewportSize(size);
      await comesTrue(`innerHeight === ${size.height}`);
      await button("Save").scrollIntoViewIfNeeded();
      const { y, height } = (await button("Save").boundingBox())!;
      expect(y + height).toBeLessThan(size.height);
    }
    expect(await typed("Name")).toBe("Acer");
    await button("Save").tap();
    await button("Edit Acer").waitFor();
  });
});

describe("no style of the page", () => {
  /** The rules for which this holds, with the conditions around them. */
  async function findRules(page: Page, test: string): Promise<readonly string[]> {
    return page.evaluate<string[]>(`(() => {
      const flat = (rules, around) => [...rules].flatMap((rule) =>
        rule.cssRules?.length > 0 ? flat(rule.cssRules, around + (rule.conditionText ?? "") + " ") : [around + rule.cssText]);
      return [...document.styleSheets].flatMap((sheet) => flat(sheet.cssRules, "")).filter((rule) => (${test})(rule));
    })()`);
  }

  it("makes anything as high as the window would be without the bars of a phone, which hide its lower end", async () => {
    const { page } = await place.visit();
    expect(await findRules(page, "(rule) => /height: [^;]*100dvh/.test(rule)")).not.toEqual([]);
    expect(await findRules(page, "(rule) => /height: [^;]*100l?vh/.test(rule)")).toEqual([]);
  });

  it("hides a button until it is pointed at, where it may be touched too: a finger would delete what it opens", async () => {
    const { page } = await place.visit();
    const hiding = await findRules(page, "(rule) => /opacity: 0;/.test(rule) && /hover/.test(rule)");
    expect(hiding).not.toEqual([]);
    expect(hiding.filter((rule) => !rule.includes("not (any-pointer: coarse)"))).toEqual([]);
  });
});
