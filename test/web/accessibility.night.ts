import { describe, expect, it } from "bun:test";
import type { Page } from "playwright-core";
import { findViolations } from "../support/web/axe.ts";
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

const PLANTS = ["9007199254740993,Monstera deliciosa,tropical", "9007199254740994,Ginkgo biloba,tree", "9223372036854775807,Untagged,"];

/** However a view has left the plants: a deletion is made when its undo is over, and axe may take longer. */
async function plantAnew(): Promise<void> {
  const init = { method: "POST", body: `id,name,tag\n${PLANTS.join("\n")}\n`, headers: { "content-type": "text/csv" } };
  expect(await (await place.service.request("/plants/import?onConflict=replace", init)).json()).toMatchObject({ refused: 0 });
}

const LONG_NAME = "greenhouse".repeat(9);

/** A token with a long name, and one made with it that is revoked. */
async function keepOldTokens(): Promise<void> {
  const long = await place.makeToken(["plants:read", "admin"], 30, LONG_NAME);
  const headers = { authorization: `Bearer ${long.token}` };
  const made = await fetch(`${place.service.url}/tokens`, { method: "POST", body: '{"name":"phone","scopes":["plants:read"]}', headers });
  await place.service.request(`/tokens/${((await made.json()) as { id: string }).id}`, { method: "DELETE" });
}

/** Each view, starting from the catalogue of PLANTS. */
const VIEWS: Readonly<Record<string, (visit: Visit) => Promise<void>>> = {
  "the catalogue": async ({ sees }) => sees(["Monstera deliciosa", "Ginkgo biloba", "Untagged"]),
  "a search with a filter": async ({ button, reads }) => {
    await button(/^tree/).first().click();
    await reads("1 plant found.");
  },
  "nothing found": async ({ field, reads }) => {
    await field("Search names").fill("zzz");
    await reads("No plants match.");
  },
  "adding a plant, with a problem": async ({ button, reads }) => {
    await button("Add plant").click();
    await button("Save").click();
    await reads("The plant needs a name");
  },
  "adding a plant after another, under an id of one's own": async ({ button, field, reads, dialog }) => {
    await button("Add plant").click();
    await field("Name").fill("Acer palmatum");
    await button("Save and add another").click();
    await reads("“Acer palmatum” is saved with the id");
    await button("Choose the id").click();
    const [id = ""] = /\d{11}/.exec(await dialog.innerText()) ?? [];
    await place.service.request(`/plants/${id}`, { method: "DELETE" });
  },
  "changing a plant": async ({ button, field }) => {
    await button("Edit Ginkgo biloba").click();
    await field("Name").waitFor();
  },
  "yours or theirs": async ({ button, field, reads }) => {
    place.expectStatus(412);
    await button("Edit Ginkgo biloba").click();
    await field("Name").fill("Mine");
    await place.put(9007199254740994n, { name: `Theirs ${Math.random()}` });
    await button("Save").click();
    await reads("Someone changed this plant in the meantime.");
  },
  "a deleted plant": async ({ button, reads }) => {
    place.expectStatus(404);
    await place.remove(9007199254740994n);
    await button("Edit Ginkgo biloba").click();
    await reads("This plant no longer exists");
  },
  "a service that does not answer": async ({ page, field, reads }) => {
    place.expectStatus(0);
    await page.route(`${place.service.url}/**`, (route) => route.abort("connectionrefused"));
    await field("Search names").fill("m");
    await reads("The service cannot be reached");
  },
  "a deletion that can be undone": async ({ button }) => {
    await button("Delete Untagged").click();
    await button("Undo").waitFor();
  },
  "a deletion that can be undone in a dialog": async ({ button, dialog }) => {
    await button("Delete Untagged").click();
    await button("Add plant").click();
    await dialog.getByRole("button", { name: "Undo" }).waitFor();
  },
  "a token that has ended": async ({ page, button, field, reads }) => {
    place.expectStatus(401);
    await button("Add plant").click();
    await page.route("**/plants", (route) =>
      route.fulfill({ status: 401, contentType: "application/json", body: '{"error":40101,"message":"It is invalid."}' }),
    );
    await field("Name").fill("Acer");
    await button("Save").click();
    await reads("Sign in again");
  },
  "selected plants": async ({ page, button, reads }) => {
    await page.getByRole("checkbox", { name: "Select Untagged" }).click();
    await reads("1 plant selected");
    await button("Remove tag").click();
    await reads("There is nothing to change.");
  },
  "a tag for selected plants": async (visit) => {
    await VIEWS["selected plants"]!(visit);
    await visit.button("Set tag").click();
    await visit.field("Tag").waitFor();
  },
  "what was typed before, in the dialog of a tag": async (visit) => {
    await VIEWS["a tag for selected plants"]!(visit);
    await visit.field("Tag").fill("herb");
    await visit.page.keyboard.press("Escape");
    await visit.dialog.waitFor({ state: "detached" });
    await visit.button("Set tag").click();
    await visit.reads("What you typed before is back.");
  },
  "another name for a tag": async ({ button, dialog, page }) => {
    await button(/^tree/).first().click();
    await page.waitForURL(/tag=tree/);
    await button("Rename this tag…").click();
    await dialog.getByLabel("Tag").waitFor();
  },
  "selected plants that were changed": async (visit) => {
    await VIEWS["a tag for selected plants"]!(visit);
    await visit.field("Tag").fill("herb");
    await visit.dialog.getByRole("button", { name: "Set tag" }).click();
    await visit.reads("Set the tag of “Untagged” to “herb”.");
  },
  "the exports": async ({ button }) => {
    await button("Export").click();
    await button("Export NDJSON").waitFor();
  },
  "the settings": async ({ button }) => {
    await button("Settings").click();
    await button("Sign out").waitFor();
  },
  "choosing a file": async ({ button, field }) => {
    await button("Import").click();
    await field("Or paste the rows").waitFor();
  },
  "an import that an update has taken away": async ({ page, button, reads }) => {
    place.expectStatus(404);
    await page.route("**/assets/*", (route) => route.fulfill({ status: 404 }));
    await button("Import").click();
    await reads("The service was updated");
  },
  "the preview of a file": async (visit) => {
    await VIEWS["choosing a file"]!(visit);
    await visit.field("Or paste the rows").fill("id,name\n9007199254740993,Other\nx,Bad\n");
    await visit.button("Preview the rows").click();
    await visit.reads("1 line that will be refused");
  },
  "a question before chosen columns are forgotten": async (visit) => {
    await VIEWS["choosing a file"]!(visit);
    await visit.field("Or paste the rows").fill("id,name,other\n1,Acer,Maple\n");
    await visit.button("Preview the rows").click();
    await visit.field("Name").selectOption({ label: "other" });
    await visit.reads("Maple");
    await visit.page.keyboard.press("Escape");
    await visit.reads("Closing forgets the columns that you chose.");
  },
  "the preview of a table without ids": async (visit) => {
    await VIEWS["choosing a file"]!(visit);
    await visit.field("Or paste the rows").fill("Pflanze;Gruppe;Ort\nBärlauch;Kräuter;Jena\n");
    await visit.button("Preview the rows").click();
    await visit.reads("If you import now: 1 new.");
    await visit.field("New ids").selectOption("free");
    await visit.field("First id").waitFor();
  },
  "a file during the import": async (visit) => {
    await VIEWS["the preview of a file"]!(visit);
    // Never answered.
    await visit.page.route("**/plants/import*", () => {});
    await visit.button("Import 1 plant").click();
    await visit.reads("0 of 2");
  },
  "the result of an import": async (visit) => {
    await VIEWS["the preview of a file"]!(visit);
    await visit.button("Import 1 plant").click();
    await visit.reads("0 plants added, 2 refused.");
  },
  "the tokens": async ({ reads, choose }) => {
    await choose("Tokens");
    await reads("plants:read, plants:write, admin");
  },
  "a new token": async ({ button, field, choose }) => {
    await choose("Tokens");
    await button("New token").click();
    await field("Name").fill("somebody");
  },
  "tokens that are revoked or named at length, and one about to be revoked": async ({ button, reads, choose }) => {
    await keepOldTokens();
    await choose("Tokens");
    await reads("revoked");
    await button(`Revoke ${LONG_NAME}`).click();
    await reads("Revoke for good?");
  },
  "a token that was typed before, and cannot be made": async (visit) => {
    place.expectStatus(0);
    await VIEWS["a new token"]!(visit);
    await visit.button("Back").click();
    await visit.button("New token").click();
    await visit.reads("What you typed before is back.");
    await visit.page.route("**/tokens", (route) => route.abort("connectionrefused"));
    await visit.button("Create token").click();
    await visit.reads("The service cannot be reached");
  },
  "a created token": async (visit) => {
    await VIEWS["a new token"]!(visit);
    await visit.button("Create token").click();
    await visit.field("The new token").waitFor();
  },
};

/** What a tablet shows is shown by a phone or by a desk, only in other places: axe has seen it there. */
const TABLET = 768;
/** A phone, a tablet, a desk. */
const WIDTHS = [360, TABLET, 1440] as const;

/** All other views are dialogs. */
const WITHOUT_DIALOG: readonly string[] = [
  "the catalogue",
  "a search with a filter",
  "nothing found",
  "a service that does not answer",
  "a deletion that can be undone",
  "selected plants",
  "selected plants that were changed",
  "the exports",
  "the settings",
];

describe("in light and dark, axe finds no violation in", () => {
  it("the sign-in, with and without a problem", async () => {
    place.expectStatus(401);
    const { page, field, button, reads } = await place.visit();
    expect(await findViolations(page)).toEqual([]);
    await field("Token").fill("wrong");
    await button("Sign in").click();
    await reads("The service does not accept this token");
    expect(await findViolations(page)).toEqual([]);
  });

  it("the first visit", async () => {
    const { page, signIn, reads } = await place.visit();
    await signIn();
    await reads("Nothing grows here yet");
    expect(await findViolations(page)).toEqual([]);
  });

  for (const scopes of [["plants:read"], ["plants:write", "admin"]]) {
    it(`the page of a token with ${scopes.join(" and ")}`, async () => {
      await place.plant(PLANTS);
      const { token } = await place.makeToken(scopes, 30);
      for (const width of [360, 1440]) {
        const { page, signIn, reads } = await place.visit("/", { viewport: { width, height: 800 } });
        await signIn(token);
        await reads(scopes.length === 1 ? "Monstera deliciosa" : "Your token cannot see plants");
        expect(await findViolations(page)).toEqual([]);
      }
    });
  }

  it(`any other view, ${WIDTHS.join(", ")} pixels wide`, async () => {
    const found: Record<string, string[]> = {};
    const visit = await place.visit();
    const { page } = visit;
    await visit.signIn();
    const session = await page.evaluate<string>("JSON.stringify(sessionStorage)");
    for (const [name, open] of Object.entries(VIEWS)) {
      await plantAnew();
      await page.unrouteAll({ behavior: "ignoreErrors" });
      // A page that has just signed in: as clean as a new browser, and cheaper.
      await page.evaluate(`localStorage.clear(), sessionStorage.clear(), Object.assign(sessionStorage, ${session})`);
      await page.setViewportSize({ width: WIDTHS[0], height: 800 });
      await page.goto(place.service.url);
      await visit.sees(["Monstera deliciosa", "Ginkgo biloba", "Untagged"]);
      await open(withMenu(visit));
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 800 });
        const violations = width === TABLET ? [] : await findViolations(page);
        const cut = await findCut(page);
        if (cut.length > 0) found[`${name}, ${width}, cut off`] = cut;
        if (violations.length > 0) found[`${name}, ${width}`] = violations;
        // What axe has looked at.
        expect([name, await visit.dialog.first().isVisible()]).toEqual([name, !WITHOUT_DIALOG.includes(name)]);
      }
    }
    expect(found).toEqual({});
  });
});

/** On a phone, some buttons are in a menu. */
function withMenu(visit: Visit): Visit {
  const { button } = visit;
  function buttonInMenu(name: RegExp | string) {
    const found = button(name);
    return Object.assign(Object.create(found) as typeof found, {
      async click() {
        for (const opener of [button(/^Show \d+$/)]) {
          if (await found.first().isVisible()) break;
          if (await opener.isVisible()) await opener.click();
        }
        await found.click();
      },
      first: () => buttonInFold(name),
    });
  }
  function buttonInFold(name: RegExp | string) {
    const found = button(name).first();
    return Object.assign(Object.create(found) as typeof found, {
      async click() {
        const fold = button(/^Show \d+$/);
        if (await fold.isVisible()) await fold.click();
        await found.click();
      },
    });
  }
  return { ...visit, button: buttonInMenu };
}

it("the reference has no violation of axe in light and dark, with everything open, fits a phone, and leaves translators its prose alone", async () => {
  const { page } = await place.visit("/docs");
  await page.locator("#createPlant").waitFor();
  await page.setViewportSize({ width: 360, height: 800 });
  await page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })");
  await page.locator("#createToken form").waitFor();
  expect(await findViolations(page)).toEqual([]);
  expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBe(0);
  const translated = `({ translate, textContent }) => translate && textContent.trim() !== ""`;
  expect(await page.evaluate(`[...document.querySelectorAll("code, pre, form, nav a")].filter(${translated}).length`)).toBe(0);
  expect(await page.evaluate(`[...document.querySelectorAll("h2, .docs-summary, dd")].every(({ translate }) => translate)`)).toBe(true);
});

describe("the page", () => {
  for (const size of [
    { width: 1280, height: 800 },
    { width: 360, height: 640 },
  ])
    it(`shows what the keyboard is at, forwards and backwards through the rows, in ${size.width} x ${size.height} pixels`, async () => {
      await place.plant(Array.from({ length: 40 }, (_, at) => `${at + 1},Plant ${at + 1},tree`));
      const { page, signIn, button, reads } = await place.visit("/", { viewport: size });
      await signIn();
      await reads("40 plants.");
      // Bars at the lower edge, too.
      await page.getByRole("checkbox", { name: "Select Plant 1", exact: true }).check();
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
      expect(await focused(page)).toBe("BUTTON Edit Plant 31");
      // Over the lower edge, and over the upper one.
      await go("Tab", 12);
      await go("ArrowUp", 27);
      await go("Shift+Tab", 12);
      expect(await focused(page)).toBe("BUTTON Edit Plant 4");
      expect(found).toEqual([]);
    });

  for (const width of [360, 768])
    it(`is not wider than ${width} pixels where a long tag without a space is shown, chosen, renamed and told`, async () => {
      await place.plant([`1,Acer,${"x".repeat(300)}`, "2,Rosa,"]);
      const { page, signIn, reads, button, field, dialog } = await place.visit("/", { viewport: { width, height: 740 } });
      await signIn();
      await reads("2 plants.");
      await page.locator(".plant-row-tag .chip").click();
      await reads("1 plant found.");
      expect(await findCut(page)).toEqual([]);
      // The whole of what can be done is in the window.
      const { x, width: refresh } = (await button("Refresh").boundingBox())!;
      expect(x + refresh).toBeLessThanOrEqual(width);
      if (width < 640) await button("Show 1").click();
      await button("Rename this tag…").click();
      await dialog.waitFor();
      expect(await findCut(page)).toEqual([]);
      await field("Tag").fill("y".repeat(300));
      await dialog.getByRole("button", { name: "Rename everywhere" }).click();
      await reads(/^Set the tag of “Acer”/);
      expect(await findCut(page)).toEqual([]);
    });
});

/** The element with the focus, by its kind and name. */
function focused(page: Page): Promise<string> {
  return page.evaluate<string>(`(() => {
    const { tagName, id, title, ariaLabel, textContent } = document.activeElement;
    return tagName === "INPUT" ? tagName : id === "plants" ? tagName + "#" + id : tagName + " " + (ariaLabel || title || textContent);
  })()`);
}
