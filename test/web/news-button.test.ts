import { expect, it } from "bun:test";
import { usePlace } from "../support/web/place.ts";
import type { Visit } from "../support/web/visit.ts";

const place = usePlace();

const LONG = "an extraordinarily long tag of a bed in the north east corner of the old walled garden";

/** Phones, a tablet, desks. */
const WIDTHS = [320, 360, 390, 641, 768, 1024, 1280, 1440];

/** What the button lies on, or what cuts it: texts as far as their letters go, unless they have given way to it. */
const COVERED = `(() => {
  const button = document.querySelector(".news-button");
  const over = button.getBoundingClientRect();
  const found = over.left < 0 || document.documentElement.scrollWidth > innerWidth ? ["the edge of the window"] : [];
  if (button.scrollWidth > button.clientWidth) found.push("its own edge");
  for (const one of document.querySelectorAll("main :is(p, th, td, .button, .chip, select, input):not(.news-button, .unseen, :has(> .unseen))")) {
    const letters = document.createRange();
    letters.selectNodeContents(one);
    const { left, right, top, bottom } = (one.matches("p, th, td") ? letters : one).getBoundingClientRect();
    const isMet = left < over.right && right > over.left && top < over.bottom && bottom > over.top;
    if (isMet && one.checkVisibility({ visibilityProperty: true })) found.push(one.ariaLabel || one.textContent);
  }
  return found;
})()`;

/** Where the first row is, in each width. */
async function placesOf({ page, rows, settle }: Visit): Promise<readonly number[]> {
  const places: number[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 });
    await settle();
    places.push((await rows.first().boundingBox())!.y);
  }
  return places;
}

/** What is covered, in any width. */
async function findCovered({ page, settle }: Visit): Promise<readonly string[]> {
  const found: string[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 });
    await settle();
    for (const covered of await page.evaluate<string[]>(COVERED)) found.push(`${width}: ${covered}`);
  }
  return found;
}

for (const { what, path, tag, told } of [
  { what: "in a list without a filter", path: "/", tag: "tree", told: "1,234 new plants, 10 plants gone" },
  { what: "in a list by name", path: "/?sort=name", tag: "tree", told: "1,245 plants have changed" },
  { what: "beside a long filter", path: `/?tag=${encodeURIComponent(LONG)}`, tag: LONG, told: "1,234 new plants, 10 plants gone" },
])
  it(`what others changed is told ${what} in any width so that it covers nothing and moves no row, however much it is`, async () => {
    // In the same order by id and by name.
    await place.plant(Array.from({ length: 30 }, (_, at) => `${at + 1},Plant ${at + 11},${tag}`));
    const visit = await place.visit(path);
    await visit.hears(visit.signIn);
    await visit.rows.first().waitFor();
    // Above the rows, where the window is narrow.
    await visit.page.locator(".tag-bars-count").first().waitFor();
    const before = await placesOf(visit);
    for (let id = 1; id <= 10; id += 1) await place.remove(id);
    await visit.button("10 plants gone").waitFor();
    expect(await findCovered(visit)).toEqual([]);
    const body = Array.from({ length: 1_234 }, (_, at) => `{"id":${-1 - at},"name":"Acer ${at}","tag":"${tag}"}\n`).join("");
    await place.service.request("/plants/import", { method: "POST", body });
    await place.put(11, { name: "Zelkova", tag });
    await visit.button(told).waitFor();
    expect(await findCovered(visit)).toEqual([]);
    expect(await placesOf(visit)).toEqual(before);
  });
