import { describe, expect, it } from "bun:test";
import type { Page } from "playwright-core";
import { decodeQR } from "qr/decode.js";
import { usePlace } from "../support/web/place.ts";

const place = usePlace();

const ID = 9007199254740993n;
const LONGEST = "-9223372036854775808";
const PLANTS = [
  `${LONGEST},${"Donaudampfschifffahrtsgesellschaft".repeat(9)},${"x".repeat(200)}`,
  `5,Rhododendron ${"subsp. pseudochrysanthum ".repeat(20)},Ericaceae`,
  "6,Acer palmatum,",
  `${ID},Ginkgo biloba,tree`,
];

const MM = 96 / 25.4;

/** Of points, as PDF has them. */
const toMm = (points: string) => (Number(points) / 72) * 25.4;

/** What a camera reads where this is on the screen. */
async function scan(page: Page, selector: string): Promise<string> {
  const png = (await page.locator(selector).last().screenshot()).toString("base64");
  const { width, height, data } = await page.evaluate<{ width: number; height: number; data: number[] }>(`(async () => {
    const bytes = Uint8Array.from(atob("${png}"), (character) => character.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
    context.drawImage(image, 0, 0);
    const { width, height, data } = context.getImageData(0, 0, image.width, image.height);
    return { width, height, data: Array.from(data) };
  })()`);
  return decodeQR({ width, height, data: Uint8ClampedArray.from(data) });
}

type Box = Readonly<{ left: number; top: number; right: number; bottom: number }>;

/** Where labels are on the first sheet, in millimetres, and which of their texts are outside of their label or cut at its side. */
async function measure(page: Page): Promise<Readonly<{ labels: Box[]; outside: string[] }>> {
  const { labels, outside } = await page.evaluate<{ labels: Box[]; outside: string[] }>(`(() => {
    const boxOf = (element) => element.getBoundingClientRect().toJSON();
    const sheet = document.querySelector(".labels-sheet");
    const home = boxOf(sheet);
    const labels = [...sheet.querySelectorAll(".labels-label")];
    const outside = [...document.querySelectorAll(".labels-label p, .labels-label svg")].filter((part) => {
      const [inner, outer] = [boxOf(part), boxOf(part.closest(".labels-label"))];
      const isCut = part.scrollWidth > part.clientWidth + 1 && getComputedStyle(part).textOverflow !== "ellipsis";
      return isCut || inner.left < outer.left || inner.right > outer.right || inner.top < outer.top || inner.bottom > outer.bottom;
    });
    return {
      labels: labels.map(boxOf).map(({ left, top, right, bottom }) =>
        ({ left: left - home.left, top: top - home.top, right: right - home.left, bottom: bottom - home.top })),
      outside: outside.map(({ className, textContent }) => className + ": " + textContent.slice(0, 40)),
    };
  })()`);
  const inMm = ({ left, top, right, bottom }: Box) => ({ left: left / MM, top: top / MM, right: right / MM, bottom: bottom / MM });
  return { labels: labels.map(inMm), outside };
}

describe("labels", () => {
  it("are printed of all that is shown, with a code that leads to the plant, and the list is as it was after Escape", async () => {
    const { page, click, reads, focused, steps, typed } = await place.open(PLANTS, { path: "/?tag=tree" });
    await click("Export", "Print labels");
    await reads("1 plant on 1 sheet.");
    const address = await scan(page, ".labels-code");
    expect(address).toBe(`${place.service.url}/#plant=${ID}`);
    await steps("at /?tag=tree#labels > press Escape");
    await page.locator(".labels").waitFor({ state: "detached" });
    await steps("at /?tag=tree > reads 1 plant found.");
    expect(await focused()).toBe("SECTION#plants");
    await page.goto("about:blank");
    await page.goto(address);
    await steps("has Name");
    expect(await typed("Name")).toBe("Ginkgo biloba");
  });

  it("are printed of selected plants alone, from the first free label on, and of all that is shown after a reload", async () => {
    const { page, click, field, reads, steps } = await place.open(PLANTS);
    await steps("select Ginkgo biloba > select Acer palmatum");
    await click("Save as", "Labels to print");
    await reads("2 plants on 1 sheet.");
    await field("First free label").fill("21");
    await reads("2 plants on 2 sheets.");
    const names = () => page.locator(".labels-name").allInnerTexts();
    expect(await names()).toEqual(["Ginkgo biloba", "Acer palmatum"]);
    const { labels } = await measure(page);
    expect(labels).toHaveLength(21);
    expect(await page.locator(".labels-label").nth(20).innerText()).toContain("Ginkgo biloba");
    await steps("reload > reads 4 plants on 2 sheets.");
    expect((await names()).at(-1)).toBe("Ginkgo biloba");
  });

  it("fill each sheet evenly, one page for each, and no text leaves its label, however long it is", async () => {
    const { page, click, field, reads } = await place.open(PLANTS);
    await click("Export", "Print labels");
    await reads("4 plants on 1 sheet.");
    const sheets = await field("Sheet").locator("option").allInnerTexts();
    expect(sheets.length).toBeGreaterThan(7);
    for (const name of sheets) {
      await field("Sheet").selectOption(name);
      const isRoll = name.startsWith("Roll");
      const perSheet = isRoll ? 1 : Number(await field("First free label").getAttribute("max"));
      if (!isRoll) await field("First free label").fill(String(perSheet));
      // On paper.
      await page.emulateMedia({ media: "print" });
      const { labels, outside } = await measure(page);
      const pdf = (await page.pdf({ preferCSSPageSize: true })).toString("latin1");
      await page.emulateMedia({ media: "screen" });
      const pages = Array.from(pdf.matchAll(/\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/g), ([, ...sides]) => sides.map(toMm));
      // What is left of the paper on the right and below is what is left of it on the left and above.
      const [first, last] = [labels[0]!, labels.at(-1)!];
      const uneven = [pages[0]![0]! - last.right - first.left, pages[0]![1]! - last.bottom - first.top].map((mm) => Math.abs(mm) > 0.3);
      // The labels of the first sheet but the last are used, so four plants need two sheets; a roll cuts after each.
      expect({ name, outside, uneven, pages: pages.length, labels: labels.length }).toEqual({
        name,
        outside: [],
        uneven: [false, false],
        pages: isRoll ? 4 : 2,
        labels: perSheet,
      });
      expect(
        labels.every(
          ({ left, right }, at) => right - left > 50 && (at === 0 || left >= labels[at - 1]!.right - 0.1 || left === first.left),
        ),
      ).toBe(true);
    }
  });
});
