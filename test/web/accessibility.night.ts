import { describe, expect, it } from "bun:test";
import type { Page } from "playwright-core";
import { findViolations } from "../support/web/axe.ts";
import { rowsOf } from "../support/web/garden.ts";
import { usePlace } from "../support/web/place.ts";
import type { Visit } from "../support/web/visit.ts";

const place = usePlace();

/** What of the dialogs is cut off, or makes them scroll sideways. Inputs scroll what is typed. */
function findCut(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(() => {
    const found = document.documentElement.scrollWidth > innerWidth ? ["the page"] : [];
    for (const dialog of document.querySelectorAll("dialog[open]")) {
      const home = dialog.getBoundingClientRect();
      for (const element of [dialog, ...dialog.querySelectorAll("*:not(input, textarea, datalist, option, .unseen, thead, thead *)")]) {
        const { left, right } = element.getBoundingClientRect();
        const isOutside = left < Math.max(0, home.left) - 1 || right > Math.min(innerWidth, home.right) + 1;
        const isCut = getComputedStyle(element).display !== "inline" && element.scrollWidth > element.clientWidth + 1;
        if (isOutside || isCut) found.push(element.outerHTML.slice(0, 120));
      }
    }
    return found;
  })()`);
}

/** What has the focus, if it is not in sight, or something else is in front of it. */
const COVERED = `(() => {
  const { activeElement: focused } = document;
  const { x, y, width, height } = focused.getBoundingClientRect();
  const seen = document.elementFromPoint(x + width / 2, y + height / 2);
  return focused.contains(seen) ? null : (focused.ariaLabel || focused.textContent) + " behind " + seen?.outerHTML;
})()`;

const GINKGO = 9007199254740994n;
const PLANTS = ["9007199254740993,Monstera deliciosa,tropical", `${GINKGO},Ginkgo biloba,tree`, "9223372036854775807,Untagged,"];
const NAMES = ["Monstera deliciosa", "Ginkgo biloba", "Untagged"];
const LONG_NAME = "greenhouse".repeat(9);

/** Plants PLANTS, whatever a view has left: a deletion is made when its undo is over, and axe may take longer. */
async function plantAgain(): Promise<void> {
  const init = { method: "POST", body: `id,name,tag\n${PLANTS.join("\n")}\n`, headers: { "content-type": "text/csv" } };
  expect(await (await place.service.request("/plants/import?onConflict=replace", init)).json()).toMatchObject({ refused: 0 });
}

/** A token with a long name, and one made with it that is revoked. */
async function keepOldTokens(): Promise<void> {
  const long = await place.makeToken(["plants:read", "admin"], 30, LONG_NAME);
  const headers = { authorization: `Bearer ${long.token}` };
  const made = await fetch(`${place.service.url}/tokens`, { method: "POST", body: '{"name":"phone","scopes":["plants:read"]}', headers });
  await place.service.request(`/tokens/${((await made.json()) as { id: string }).id}`, { method: "DELETE" });
}

/** Steps of a user (Visit), or what has none. */
type Step = string | ((visit: Visit) => Promise<unknown>);

async function take(visit: Visit, ...steps: readonly Step[]): Promise<void> {
  for (const step of steps) {
    if (typeof step === "function") await step(visit);
    else for (const one of step.split(" > ")) await takeOnPhone(visit, one);
  }
}

/** On a phone, the tags are in a fold. */
async function takeOnPhone(visit: Visit, step: string): Promise<void> {
  const fold = visit.button(/^Show \d+$/);
  const isHidden = async (name: string) => !(await visit.button(name).first().isVisible());
  if (step.startsWith("click ") && (await isHidden(step.slice("click ".length))) && (await fold.isVisible())) await fold.click();
  await visit.steps(step);
}

const filter: Step = async ({ page, reads }) => {
  await page.goto(`${place.service.url}/?tag=tree`);
  await reads("1 plant found.");
};

/** Requests of these addresses are answered like this from now on; without an answer, the service cannot be reached. */
function answer(url: string, response?: Readonly<{ status: number; json?: object }>): Step {
  return ({ page }) => page.route(url, (route) => (response ? route.fulfill(response) : route.abort()));
}

const hear: Step = ({ page, hears }) => hears(() => page.reload());

const UNREACHED = "The service cannot be reached";
const BACK = "What you typed before is back.";

/** Views in the page itself, and how one comes from the catalogue of PLANTS to them. */
const IN_PAGE: Readonly<Record<string, readonly Step[]>> = {
  "the catalogue": [],
  "a search with a filter": [filter],
  "nothing found": ["enter Search names = zzz > reads No plants match."],
  "a service that does not answer": [answer("**/*"), "enter Search names = m", `reads ${UNREACHED}`],
  "a deletion that can be undone": ["click Delete Untagged > reads will be deleted in"],
  "selected plants": ["select Untagged > click Remove tag > reads There is nothing to change."],
  "selected plants that were changed": ["select Untagged > tag herb > reads Set the tag of “Untagged” to “herb”."],
  "files of selected plants": ["select Untagged > click Save as > reads NDJSON"],
  labels: ["click Export > click Print labels > reads 3 plants on 1 sheet."],
  "what others changed": [hear, () => place.remove(GINKGO), "reads 1 plant gone"],
  "compact rows": ["choose Compact rows"],
  "the exports": ["click Export > reads Export NDJSON"],
  "the account": ["click Account > reads Sign out"],
};

const CHOSEN: readonly Step[] = ["click Import > has Or paste the rows"];
const previewed = (rows: string): readonly Step[] => [...CHOSEN, `enter Or paste the rows = ${rows}`, "click Preview the rows"];
const PREVIEWED: readonly Step[] = [...previewed("id,name\n9007199254740993,Other\nx,Bad\n"), "reads 1 line that will be refused"];
const NEW_TOKEN: readonly Step[] = ["choose Tokens > offers New token > click New token > enter Name = someone"];
const EDITED: readonly Step[] = ["click Edit Ginkgo biloba > has Name"];

/** The same of dialogs. */
const IN_DIALOG: Readonly<Record<string, readonly Step[]>> = {
  "adding a plant, with a problem": ["click Add plant > click Save > reads The plant needs a name"],
  "adding a plant after another, under an id of one's own": [
    "click Add plant > enter Name = Acer palmatum > click Save and add another > reads “Acer palmatum” is saved with the id > click Choose the id",
    async ({ dialog }) => place.remove(BigInt(/\d{11}/.exec(await dialog.innerText())![0])),
  ],
  "changing a plant": EDITED,
  "yours or theirs": [
    ...EDITED,
    "enter Name = Mine",
    () => place.put(GINKGO, { name: `Theirs ${Math.random()}` }),
    "click Save > reads Someone changed this plant in the meantime.",
  ],
  "a plant that was changed while another text is typed": [
    hear,
    ...EDITED,
    "enter Name = Mine",
    () => place.put(GINKGO, { name: `Theirs ${Math.random()}` }),
    "reads This plant was changed just now.",
  ],
  "the history of a plant": [
    () => place.put(GINKGO, { name: LONG_NAME }),
    ({ page }) => page.goto(`${place.service.url}/#history=${GINKGO}`),
    `reads ${LONG_NAME}`,
  ],
  "deleted plants": [
    () => place.put(GINKGO, { name: LONG_NAME, tag: LONG_NAME }),
    () => place.remove(GINKGO),
    `choose Past changes > offers Restore ${LONG_NAME} > select ${LONG_NAME}`,
  ],
  "imports of the last weeks": ["choose Past changes > offers Imports > click Imports > reads Take this import back"],
  "a deleted plant": [hear, ...EDITED, () => place.remove(GINKGO), "reads This plant no longer exists"],
  "a deletion that can be undone in a dialog": [
    "click Delete Untagged > click Add plant",
    ({ dialog }) => dialog.getByRole("button", { name: "Undo" }).waitFor(),
  ],
  "names that are duplicated": [
    () => place.put(GINKGO, { name: "untagged" }),
    ({ page }) => page.goto(`${place.service.url}/?sort=name#same-names`),
    "reads 1 name has more than one plant.",
  ],
  "a token that has ended": [
    "click Add plant",
    answer("**/plants", { status: 401, json: { error: 40101, message: "It is invalid." } }),
    "enter Name = Acer > click Save > reads Sign in again",
  ],
  "what was typed before, in the dialog of a tag": [
    "select Untagged > click Set tag > enter Tag = herb > press Escape > leaves > click Set tag",
    `reads ${BACK}`,
  ],
  "another name for a tag": [filter, "click Rename this tag… > has Tag"],
  "choosing a file": CHOSEN,
  "an import that an update has taken away": [answer("**/assets/*", { status: 404 }), "click Import > reads The service was updated"],
  "the preview of a file": PREVIEWED,
  "the question which letters of a file are right": [
    ...CHOSEN,
    ({ upload }) => upload("zahrada.csv", Buffer.from("id,name\n1,R\xf9\x9ee \x9a\xedpkov\xe1\n", "latin1")),
    "reads Which of these is right?",
  ],
  "a table whose name is in several columns, and how it is read": [
    ...previewed("Nr,Genus,Species\nA-1,Acer,palmatum\nA-2,Salix,alba\n"),
    "has Name, part 2 > click Add a column to the name > has Name, part 3",
  ],
  "a question before it is forgotten how to read a file": [
    ...previewed("id,name,other\n1,Acer,Maple\n"),
    "offers Change > click Change",
    ({ field }) => field("Name").selectOption({ label: "other" }),
    "reads Maple > press Escape > reads Closing forgets how you chose to read it.",
  ],
  "the preview of a table without ids": [
    ...previewed("Pflanze;Gruppe;Ort\nBärlauch;Kräuter;Jena\n"),
    "reads If you import now: 1 new. > click Change",
    ({ field }) => field("New ids").selectOption("free"),
    "has First id",
  ],
  "a file during the import": [
    ...PREVIEWED,
    // Never answered.
    ({ page }) => page.route("**/plants/import*", () => {}),
    "click Import 1 plant > reads 0 of 2",
  ],
  "the result of an import": [...PREVIEWED, "click Import 1 plant > reads 0 plants added, 2 refused."],
  "the tokens": ["choose Tokens > reads plants:read, plants:write, admin"],
  "tokens that are revoked or named at length, and one about to be revoked": [
    keepOldTokens,
    "choose Tokens > reads revoked",
    `click Revoke ${LONG_NAME}`,
    "reads Revoke for good?",
  ],
  "a token that was typed before, and cannot be made": [
    ...NEW_TOKEN,
    "click Back > click New token",
    `reads ${BACK}`,
    answer("**/tokens"),
    "click Create token",
    `reads ${UNREACHED}`,
  ],
  "a created token": [...NEW_TOKEN, "click Create token > has The new token"],
};

/** What a tablet shows is shown by a phone or by a desk, only in other places: axe has seen it there. */
const TABLET = 768;
/** A phone, a tablet, a desk. */
const WIDTHS = [360, TABLET, 1440] as const;

describe("in light and dark, axe finds no violation in", () => {
  it("the sign-in with a problem, and the first visit", async () => {
    place.expectStatus(401);
    const { page, enter, click, reads, signIn } = await place.visit();
    await enter({ Token: "wrong" });
    await click("Sign in");
    await reads("The service does not accept this token");
    expect(await findViolations(page)).toEqual([]);
    await signIn();
    await reads("Nothing grows here yet");
    expect(await findViolations(page)).toEqual([]);
  });

  for (const scopes of [["plants:read"], ["plants:write", "admin"]])
    it(`the page of a token with ${scopes.join(" and ")}`, async () => {
      await place.plant(PLANTS);
      const { token } = await place.makeToken(scopes, 30);
      const { page, reads } = await place.open([], { token });
      await reads(scopes.length === 1 ? "Monstera deliciosa" : "Your token cannot see plants");
      for (const width of [360, 1440]) {
        await page.setViewportSize({ width, height: 800 });
        expect(await findViolations(page)).toEqual([]);
      }
    });

  it(`any other view, ${WIDTHS.join(", ")} pixels wide, and nothing of a dialog is cut off`, async () => {
    place.expectStatus(0, 401, 404, 412);
    const found: Record<string, string[]> = {};
    const visit = await place.open();
    const { page, dialog } = visit;
    const session = await page.evaluate<string>("JSON.stringify(sessionStorage)");
    for (const [name, steps] of Object.entries({ ...IN_PAGE, ...IN_DIALOG })) {
      await plantAgain();
      await page.unrouteAll({ behavior: "ignoreErrors" });
      // A page that has just signed in: as clean as a new browser, and cheaper.
      await page.evaluate(`localStorage.clear(), sessionStorage.clear(), Object.assign(sessionStorage, ${session})`);
      await page.setViewportSize({ width: WIDTHS[0], height: 800 });
      await page.goto(place.service.url);
      await visit.sees(NAMES);
      await take(visit, ...steps);
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 800 });
        const wrong = [...(width === TABLET ? [] : await findViolations(page)), ...(await findCut(page)).map((cut) => `cut off: ${cut}`)];
        if (wrong.length > 0) found[`${name}, ${width}`] = wrong;
        // What axe has looked at.
        expect([name, await dialog.first().isVisible()]).toEqual([name, Object.hasOwn(IN_DIALOG, name)]);
      }
    }
    expect(found).toEqual({});
  });
});

it("the reference has no violation of axe in light and dark, with everything open, fits a phone, and leaves translators its prose alone", async () => {
  const { page } = await place.visit("/docs", { viewport: { width: 360, height: 800 } });
  await page.locator("#createPlant").waitFor();
  await page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })");
  await page.locator("#createToken form").waitFor();
  expect(await findViolations(page)).toEqual([]);
  expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBe(0);
  const translated = `({ translate, textContent }) => translate && textContent.trim() !== ""`;
  expect(await page.evaluate(`[...document.querySelectorAll("code, pre, form, nav a")].filter(${translated}).length`)).toBe(0);
  expect(await page.evaluate(`[...document.querySelectorAll("h2, .docs-summary, dd")].every(({ translate }) => translate)`)).toBe(true);
});

for (const viewport of [
  { width: 1280, height: 800 },
  { width: 360, height: 640 },
])
  it(`what the keyboard is at is in sight, forwards and backwards through the rows, in ${viewport.width} x ${viewport.height} pixels`, async () => {
    const { page, button, box, focused } = await place.open(rowsOf(40), { viewport });
    // Bars at the lower edge, too.
    await box("Plant 1").check();
    const found: string[] = [];
    async function go(key: string, times: number): Promise<void> {
      for (let at = 0; at < times; at += 1) {
        await page.keyboard.press(key);
        const covered = await page.evaluate<string | null>(COVERED);
        if (covered !== null) found.push(`${key}: ${covered}`);
      }
    }
    await button("Edit Plant 1").focus();
    await go("ArrowDown", 30);
    expect(await focused()).toBe("BUTTON Edit Plant 31");
    // Over the lower edge, and over the upper one.
    await go("Tab", 12);
    await go("ArrowUp", 27);
    await go("Shift+Tab", 12);
    expect(await focused()).toBe("BUTTON Edit Plant 4");
    expect(found).toEqual([]);
  });

for (const width of [360, 768])
  it(`the page is not wider than ${width} pixels where a long tag without a space is shown, chosen, renamed and told`, async () => {
    const visit = await place.open([`1,Acer,${"x".repeat(300)}`, "2,Rosa,"], { viewport: { width, height: 740 } });
    const { page, button } = visit;
    await page.locator(".plant-row-tag .chip").click();
    await visit.reads("1 plant found.");
    expect(await findCut(page)).toEqual([]);
    // The whole of what can be done is in the window.
    const { x, width: refresh } = (await button("Refresh").boundingBox())!;
    expect(x + refresh).toBeLessThanOrEqual(width);
    await take(visit, "click Rename this tag…");
    await visit.dialog.waitFor();
    expect(await findCut(page)).toEqual([]);
    await visit.enter({ Tag: "y".repeat(300) });
    await visit.click("Rename everywhere");
    await visit.reads(/^Set the tag of “Acer”/);
    expect(await findCut(page)).toEqual([]);
  });
