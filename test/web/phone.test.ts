import { describe, expect, it } from "bun:test";
import type { Page } from "playwright-core";
import { usePlace } from "../support/web/place.ts";

const place = usePlace();

const PORTRAIT = { width: 360, height: 740 };
const LANDSCAPE = { width: 740, height: 360 };
const PHONE = { viewport: PORTRAIT, hasTouch: true, isMobile: true, reducedMotion: "reduce" } as const;

/** The place in the list of what is in the middle of the window, in parts of rows. */
async function middleOf(page: Page): Promise<number> {
  const found = await page.waitForFunction<number>(`(() => {
    const middle = innerHeight / 2;
    const row = [...document.querySelectorAll("tr[data-at]")].find((one) => one.getBoundingClientRect().bottom > middle);
    if (row === undefined || row.getBoundingClientRect().top > middle) return false;
    const { top, height } = row.getBoundingClientRect();
    return Number(row.dataset.at) + (middle - top) / height;
  })()`);
  return found.jsonValue();
}

describe("on a phone that is turned", () => {
  for (const isMobile of [true, false]) {
    it(`the same plant stays in the middle of the list, there and back, where the browser ${isMobile ? "moves the page by itself" : "leaves the page alone"}`, async () => {
      await place.plant(Array.from({ length: 1_000 }, (_, at) => `${at + 1},Plant ${at + 1},`));
      const { page, signIn, reads } = await place.visit("/", { ...PHONE, isMobile });
      await signIn();
      await reads("The first 600 are here");
      await page.evaluate("scrollTo(0, 20_000)");
      await reads("1,000 plants.");
      const before = await middleOf(page);
      expect(before).toBeGreaterThan(300);
      for (const size of [LANDSCAPE, PORTRAIT]) {
        await page.setViewportSize(size);
        await page.waitForFunction(`innerWidth === ${size.width}`);
        await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))");
        expect(Math.abs((await middleOf(page)) - before)).toBeLessThan(0.2);
      }
    });
  }
});
