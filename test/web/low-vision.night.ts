import { describe, expect, it } from "bun:test";
import type { Page } from "playwright-core";
import { runAxe } from "../support/web/axe.ts";
import { until } from "../support/until.ts";
import { usePlace } from "../support/web/place.ts";
import type { Visit } from "../support/web/visit.ts";

const place = usePlace();

/** Words with less than 7:1, or 4.5:1 if they are large. */
const PALE = ["color-contrast-enhanced"];

const PLANTS = ["1,Acer,tree", "2,Rosa,herb", "3,Tilia,tree"];

/** Whether elements stand out from what is behind them, with the colours that are really drawn. */
function look({ page }: Visit, selector: string): Promise<readonly { border: boolean; fill: boolean }[]> {
  return page.evaluate<{ border: boolean; fill: boolean }[]>(`[...document.querySelectorAll("${selector}")].map((element) => {
    const { backgroundColor, borderTopWidth, borderTopColor } = getComputedStyle(element);
    const canvas = getComputedStyle(document.body).backgroundColor;
    return { border: borderTopWidth !== "0px" && borderTopColor !== canvas, fill: backgroundColor !== canvas };
  })`);
}

/** The colours of a picture of an element at these parts of its width, in the middle of its height. */
async function coloursOf({ page }: Visit, selector: string, parts: readonly number[]): Promise<readonly string[]> {
  const png = (await page.locator(selector).screenshot()).toString("base64");
  return page.evaluate<string[]>(`(async () => {
    const bytes = Uint8Array.from(atob("${png}"), (letter) => letter.charCodeAt(0));
    const picture = await createImageBitmap(new Blob([bytes]));
    const context = new OffscreenCanvas(picture.width, picture.height).getContext("2d");
    context.drawImage(picture, 0, 0);
    return ${JSON.stringify(parts)}.map((part) => context.getImageData(part * picture.width, picture.height / 2, 1, 1).data.join());
  })()`);
}

describe("where colours are forced", () => {
  const FORCED = { forcedColors: "active" } as const;

  it("people still see that tags can be pressed, and how many plants each has", async () => {
    const visit = await place.open(PLANTS, { ...FORCED });
    expect((await look(visit, "td .chip")).map(({ border }) => border)).toEqual([true, true, true]);
    // Tags are counted in a request of their own.
    await visit.page.locator(".tag-bars-track span").nth(1).waitFor({ state: "attached" });
    expect((await look(visit, ".tag-bars-track span")).map(({ fill }) => fill)).toEqual([true, true]);
    await visit.button(/^tree/).first().click();
    await visit.sees(["Acer", "Tilia"]);
    expect((await look(visit, ".chip.chosen")).map(({ border }) => border)).toEqual([true]);
  });

  it("how far an import is", async () => {
    const visit = await place.open([], { ...FORCED });
    await visit.steps("paste id,name\n1,Acer\n > reads If you import now: 1 new.");
    // Never answered.
    await visit.page.route("**/plants/import*", () => {});
    await visit.steps("click Import 1 plant > reads 0 of 1");
    expect(await look(visit, "progress")).toMatchObject([{ border: true }]);
    // The dialog may not have come to rest yet.
    await until("What is done has another colour than the rest", async () => {
      await visit.page.evaluate(`document.querySelector("progress").value = 0.5`);
      const [done, open] = await coloursOf(visit, "progress", [0.25, 0.75]);
      return done !== open;
    });
  });
});

for (const { times, width, height } of [
  { times: "four times", width: 320, height: 256 },
  { times: "five times", width: 256, height: 205 },
])
  it(`most of a screen that is enlarged ${times} is for the plants, the tag shown is not cut, and nothing is wider`, async () => {
    const { page, button, steps } = await place.open(PLANTS, { path: "/?tag=tree", viewport: { width, height } });
    const overflow = "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)";
    expect(await page.evaluate(`${overflow}(document.querySelector('.toolbar-found .chip'))`)).toBe(0);
    const headings = await page.getByRole("columnheader").allInnerTexts();
    expect(headings.map((text) => text.replaceAll(/\s+/g, " ").trim())).toEqual(["Selected", "Id", "Name", "Tag", "Change"]);
    await steps("select Acer > click Delete Tilia > reads “Tilia” will be deleted in");
    const docked = await page.evaluate<number>(
      "[...document.querySelectorAll('.dock')].reduce((sum, { offsetHeight }) => sum + offsetHeight, 0)",
    );
    expect(docked).toBeWithin(60, height / 2);
    expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBe(width);
    // What does not fit is reached all the same.
    const last = button("Clear the selection");
    await last.focus();
    const area = (await last.boundingBox())!;
    expect(area.x + area.width).toBeLessThanOrEqual(width);
  });

it("the name that has the focus has a ring around it on a screen that is enlarged four times, however long it is", async () => {
  const visit = await place.open([`1,${"Acer ".repeat(30)},tree`], { viewport: { width: 320, height: 256 } });
  await visit.page.getByRole("checkbox", { name: /^Select Acer/ }).focus();
  const [before] = await coloursOf(visit, ".plant-row-name", [0]);
  await visit.page.keyboard.press("Tab");
  const [ring] = await coloursOf(visit, ".plant-row-name", [0]);
  expect(ring).not.toBe(before);
});

describe("with letters twice as large as usual", () => {
  it("icons grow with the words, a phone leaves its width to the search box, and nothing is wider than it", async () => {
    await place.plant(PLANTS);
    const { page, signIn, sees, field } = await place.visit("/", { viewport: { width: 360, height: 740 } });
    const devtools = await page.context().newCDPSession(page);
    await devtools.send("Page.enable");
    await devtools.send("Page.setFontSizes", { fontSizes: { standard: 32 } });
    await page.reload();
    await signIn();
    await sees(["Acer", "Rosa", "Tilia"]);
    expect(await page.locator(".header .brand svg").boundingBox()).toMatchObject({ width: 52, height: 52 });
    expect(await page.locator(".search-box .icon").boundingBox()).toMatchObject({ width: 40, height: 40 });
    expect((await field("Search names").boundingBox())!.width).toBeGreaterThan(250);
    expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBe(360);
  });
});

describe("where people ask for more contrast", () => {
  for (const colorScheme of ["light", "dark"] as const) {
    it(`all words stand out as WCAG's level AAA asks for, and edges as words do, ${colorScheme}`, async () => {
      await place.plant(PLANTS);
      const visit = await place.visit("/", { contrast: "more", colorScheme });
      const { page, signIn, sees, button, steps } = visit;
      const found = await runAxe(page, PALE);
      await signIn();
      await sees(["Acer", "Rosa", "Tilia"]);
      found.push(...(await runAxe(page, PALE)));
      await steps("filter tree > sees Acer, Tilia");
      await page.getByRole("checkbox", { name: "Select Acer" }).click();
      await button("Delete selected").waitFor();
      found.push(...(await runAxe(page, PALE)));
      await steps("click Add plant > enter Name =  > click Save > reads The plant needs a name");
      found.push(...(await runAxe(page, PALE)));
      expect(found).toEqual([]);
      expect(await contrastOf(page, "--edge", "--sheet")).toBeGreaterThan(7);
      expect(await contrastOf(page, "--line", "--sheet")).toBeGreaterThan(7);
    });
  }
});

/** How much a colour of the page stands out from another (WCAG 2.2). */
function contrastOf(page: Page, one: string, other: string): Promise<number> {
  return page.evaluate<number>(`(() => {
    const context = new OffscreenCanvas(1, 1).getContext("2d");
    const probe = document.body.appendChild(document.createElement("i"));
    const [light, dark] = ["${one}", "${other}"].map((name) => {
      probe.style.color = "var(" + name + ")";
      context.fillStyle = getComputedStyle(probe).color;
      context.fillRect(0, 0, 1, 1);
      const [red, green, blue] = [...context.getImageData(0, 0, 1, 1).data].map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    }).sort((left, right) => right - left);
    probe.remove();
    return (light + 0.05) / (dark + 0.05);
  })()`);
}
