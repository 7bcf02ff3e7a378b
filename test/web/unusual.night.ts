import { expect, it } from "bun:test";
import { until } from "../support/until.ts";
import { rowsOf } from "../support/web/garden.ts";
import { usePlace } from "../support/web/place.ts";
import type { Visit } from "../support/web/visit.ts";

// Browsers that are older than most, that alter pages or keep nothing, and names that few plants have: scripts do here what they do.

const place = usePlace();

/** The page in a browser in which this script has done its part. */
async function open(rows: readonly string[], script = ""): Promise<Visit> {
  if (rows.length > 0) await place.plant(rows);
  const visit = await place.visit();
  await visit.page.addInitScript(script);
  await visit.page.reload();
  await visit.signIn();
  if (rows.length > 0) await visit.rows.first().waitFor();
  return visit;
}

it("a page whose script another version of the service does not have says what to do, and is there after that", async () => {
  place.expectStatus(404);
  const { fail, steps } = await place.visit();
  const restore = await fail(/\/assets\/index-\w+\.js$/, 404);
  await steps("reload > reads If this stays, reload it.");
  await restore();
  await steps("reload > has Token");
});

it("an old browser, and one without JavaScript, say that they are, and one that is not says so at no time", async () => {
  const { page, field, reads } = await place.visit();
  await field("Token").waitFor();
  expect(await page.getByText("This page needs JavaScript").count()).toBe(0);
  await page.addInitScript("delete AbortSignal.any");
  await page.reload();
  await reads("This page needs JavaScript, and a browser of 2024 or later.");
  expect(await field("Token").count()).toBe(0);
  const without = await place.visit("/", { javaScriptEnabled: false });
  await without.reads("This page needs JavaScript");
});

it("a browser that would round an id says so", async () => {
  const rounds = "const { parse } = JSON; JSON.parse = (text, revive) => parse(text, revive && ((name, value) => revive(name, value)));";
  await place.plant(["9007199254740993,Monstera,"]);
  const { reads } = await open([], rounds);
  await reads("This browser rounds ids past 2^53: use a newer one.");
});

it("a range of rows is selected by the keyboard though Shift is released first, and by no click of a screen reader after it", async () => {
  const { page, reads } = await open(rowsOf(9));
  await page.getByLabel("Select Plant 2", { exact: true }).focus();
  await page.keyboard.press("Space");
  await page.getByLabel("Select Plant 6", { exact: true }).focus();
  for (const key of ["Shift", "Space"]) await page.keyboard.down(key);
  for (const key of ["Shift", "Space"]) await page.keyboard.up(key);
  await reads("5 plants selected");
  await page.evaluate(`document.querySelector('[aria-label="Select Plant 9"]').click()`);
  await reads("6 plants selected");
});

it("a range of rows is selected, and no text, in Safari too, which knows `user-select` by an older name alone", async () => {
  const { page, rows, reads } = await open(rowsOf(9));
  await page.route("**/*.css", async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: (await response.text()).replaceAll(/(?<=[;{])user-select:\w+;?/g, "") });
  });
  await page.reload();
  const ticks = rows.locator("td.plant-row-tick");
  await ticks.nth(1).click({ position: { x: 2, y: 2 } });
  await ticks.nth(5).click({ position: { x: 2, y: 2 }, modifiers: ["Shift"] });
  await reads("5 plants selected");
  expect(await page.evaluate<string>("String(getSelection())")).toBe("");
});

it("the arrow down chooses a word where words are composed, and goes to the plants where none is", async () => {
  const { page, field } = await open(["1,Acer,tree"]);
  await field("Search names").focus();
  const press = (isComposing: boolean) =>
    page.evaluate<string>(`(() => {
      const event = new KeyboardEvent("keydown", { key: "ArrowDown", isComposing: ${isComposing}, bubbles: true, cancelable: true });
      document.activeElement.dispatchEvent(event);
      return document.activeElement.tagName + (event.defaultPrevented ? " prevented" : "");
    })()`);
  expect([await press(true), await press(false)]).toEqual(["INPUT", "A prevented"]);
});

it("an extension that marks words leaves each row with its plant, and the seconds in which a deletion can be undone", async () => {
  const { page, rows, reads, click, steps } = await place.open(rowsOf(300, (id) => `tag ${id}`));
  await page.evaluate(MARK_WORDS);
  expect(await rows.locator("mark").count()).toBeGreaterThan(10);
  await steps("enter Search names = 250 > sees Plant 250 > enter Search names = ");
  await reads(/^300 plants\.$/);
  await page.evaluate("scrollTo(0, 6000)");
  await rows.getByText("Plant 130", { exact: true }).waitFor();
  const shown = (await rows.allInnerTexts()).map((text) => text.split(/\s*[\t\n]\s*/).join("|"));
  expect(shown.filter((text) => !/^\|?(\d+)\|Plant \1\|tag \1\|?$/.test(text))).toEqual([]);
  await click("Delete Plant 130");
  const seen = page.locator(".notice p span").last();
  await seen.filter({ hasText: /^“Plant 130” will be deleted in [1-6] seconds\.$/ }).waitFor();
});

/** Puts an element around each word "Plant" and each number, in what is there and in what comes. */
const MARK_WORDS = `(() => {
  function markIn(root) {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) texts.push(walker.currentNode);
    for (let text of texts.filter(({ parentElement }) => parentElement.closest("mark, script, style, title") === null)) {
      for (let at = text.data.search(/Plant|[0-9]/); at !== -1; at = text.data.search(/Plant|[0-9]/)) {
        const word = text.splitText(at);
        text = word.splitText(/^(Plant|[0-9]+)/.exec(word.data)[0].length);
        const mark = document.createElement("mark");
        word.replaceWith(mark);
        mark.append(word);
      }
    }
  }
  markIn(document.body);
  new MutationObserver((changes) => {
    for (const node of changes.flatMap(({ addedNodes }) => [...addedNodes])) if (node instanceof Element && node.tagName !== "MARK") markIn(node);
  }).observe(document.body, { childList: true, subtree: true });
})()`;

it("something else in the place of the service is not taken for the sample file", async () => {
  place.expectStatus(503);
  const { page, dialog, steps } = await place.open();
  for (const answer of [{ status: 503 }, { status: 200, contentType: "text/html" }]) {
    await page.route("**/sample.csv", (route) => route.fulfill({ ...answer, body: "<p>\nPlease sign in\n" }));
    await steps("click Try thirty real plants > reads The file could not be loaded: try again.");
    expect(await dialog.count()).toBe(0);
    await page.unrouteAll({ behavior: "ignoreErrors" });
  }
  await steps("click Try thirty real plants > reads sample.csv is CSV with 30 plants.");
});

it("what is stored is shown in a browser that translates pages, as it leaves this one alone", async () => {
  const { page, sees, steps } = await open(["1,Monstera,tropical", "2,Ginkgo,tree"]);
  await sees(["Monstera", "Ginkgo"]);
  await page.evaluate(TRANSLATE_PAGE);
  await steps("enter Search names = gink > sees Ginkgo > click Edit Ginkgo > enter Name = Ginkgo biloba > click Save");
  await steps("sees Ginkgo biloba");
});

/** As the translation of Chromium does: an element with a new text comes in the place of each text that may be translated. */
const TRANSLATE_PAGE = `
  const walker = document.createTreeWalker(document, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) texts.push(walker.currentNode);
  for (const text of texts.filter(({ parentElement }) => parentElement?.closest("script, style, [translate=no]") === null)) {
    const translated = document.createElement("font");
    translated.textContent = text.data;
    text.replaceWith(translated);
  }
`;

it("a name that is read from the right is cut at its left end, and kept it at the left", async () => {
  const { page, rows } = await place.open([`1,${"نخيل التمر ".repeat(40).trim()},شجرة`, "2,Ginkgo,"]);
  await rows.nth(1).waitFor();
  const styles = await page.evaluate<unknown>(`[...document.querySelectorAll("td.plant-row-name")].map((cell) => {
    const { direction, textAlign, textOverflow } = getComputedStyle(cell);
    return [direction, textAlign, textOverflow].join(", ");
  })`);
  expect(styles).toEqual(["rtl, left, ellipsis", "ltr, left, ellipsis"]);
});

it("paper gets all rows that are loaded, without buttons", async () => {
  const { page, reads, rows } = await place.open(Array.from({ length: 400 }, (_, at) => `${at},Plant ${at},tree`));
  await reads(/^400 plants\.$/);
  expect(await rows.count()).toBeLessThan(80);
  // What is there when the browser takes the page for the paper.
  await page.evaluate(`addEventListener("beforeprint", () => (window.printed = document.querySelectorAll("tbody tr").length))`);
  await page.pdf();
  expect(await page.evaluate<number>("window.printed")).toBe(400);
  await until("it is so on the page", () => page.evaluate<boolean>("document.querySelectorAll('tbody tr').length < 80"));
  await page.emulateMedia({ media: "print" });
  // Tags look like text.
  const printed = Array.from({ length: await rows.count() }, () => "tree");
  expect(await page.getByRole("button").filter({ visible: true }).allInnerTexts()).toEqual(printed);
  expect(await page.getByRole("searchbox").isVisible()).toBe(false);
});

it("a name that piles marks upon marks draws over nothing but its own line", async () => {
  const { page, rows, click, reads } = await place.open();
  const shots: Buffer[] = [];
  // Marks above and below that the font of the tests has.
  for (const name of ["Acer", `Acer${"\u0301\u0323".repeat(100)}`]) {
    await place.put(1, { name });
    await place.put(2, { name: "Rosa" });
    await page.reload();
    await rows.nth(1).waitFor();
    await click(/^Delete Acer/);
    await reads("will be deleted");
    // Nothing is there, between two rows and the message.
    shots.push(await page.screenshot({ clip: { x: 100, y: 640, width: 300, height: 100 } }));
    await click("Undo");
  }
  expect(shots[0]!.equals(shots[1]!)).toBe(true);
});

it("a search that the service refuses is not said to find nothing", async () => {
  place.expectStatus(400);
  const { page, reads } = await place.open([], { path: `/?q=${"abc ".repeat(600)}` });
  await reads("The service cannot search for this: use fewer or other words.");
  expect(await page.getByText("No plants match").count()).toBe(0);
});

for (const [what, script] of [
  [
    "denies pages what they keep, and their tabs a channel",
    `for (const name of ["localStorage", "sessionStorage"]) Object.defineProperty(window, name, { get() { throw new DOMException("", "SecurityError"); } });
    globalThis.BroadcastChannel = class { constructor() { throw new DOMException("", "SecurityError"); } };`,
  ],
  ["has no room for what pages keep", "Storage.prototype.setItem = () => { throw new DOMException('It is full.', 'QuotaExceededError'); }"],
] as const)
  it(`the page works in a browser that ${what}: a sign-in, a renaming, what is typed, and an undo`, async () => {
    const { click, steps } = await open(rowsOf(5), script);
    await steps("click Add plant > enter Name = Quercus > press Escape > click Add plant > holds Name = Quercus");
    await click("Cancel", /^tree/, "Rename this tag…");
    await steps("enter Tag = herb > click Rename everywhere > reads Set the tag of 5 plants to “herb”.");
    await steps("click Undo > reads Restored 5 plants.");
  });

it("numbers and days are in the reader's language and time", async () => {
  await place.plant(rowsOf(1_234));
  const { token, expires = "" } = await place.makeToken(["plants:read"], 30);
  const { page, click, reads } = await place.open([], { token, locale: "de-DE", timezoneId: "Asia/Tokyo" });
  await page.locator(".tag-bars-count", { hasText: "1.234" }).waitFor();
  await click("Account");
  await reads(`until ${new Intl.DateTimeFormat("de-DE", { dateStyle: "medium", timeZone: "Asia/Tokyo" }).format(new Date(expires))}`);
});
