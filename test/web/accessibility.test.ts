import { describe, expect, it } from "bun:test";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { usePlace } from "../support/web/place.ts";
import type { Visit } from "../support/web/visit.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const place = usePlace();

/** The dark view differs from the light one in nothing else. */
const RULES_OF_COLOUR = 'runOnly: ["color-contrast", "link-in-text-block"],';

/** Only violations are worked out and leave the page: descriptions of all that is right would take longer than the look at it. */
const BRIEFLY = 'resultTypes: ["violations"], selectors: false';

/** What axe finds wrong with the current view: the colours, the rule and the element. */
async function findViolations(page: Page): Promise<string[]> {
  // The browser itself evaluates it, so the page's policy does not block it.
  if (await page.evaluate<boolean>("!globalThis.axe")) await page.evaluate(AXE);
  const found: string[] = [];
  for (const [colorScheme, rules] of [
    ["light", ""],
    ["dark", RULES_OF_COLOUR],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    const violations = await page.evaluate<string[]>(
      `axe.run({ ${rules} ${BRIEFLY} }).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ": " + html)))`,
    );
    found.push(...violations.map((violation) => `${colorScheme}, ${violation}`));
  }
  return found;
}

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
  type Made = Readonly<{ id: string; token: string }>;
  const body = (name: string) => JSON.stringify({ name, scopes: ["plants:read", "admin"], days: 30 });
  const long = (await (await place.service.request("/tokens", { method: "POST", body: body(LONG_NAME) })).json()) as Made;
  const headers = { authorization: `Bearer ${long.token}` };
  const response = await fetch(`${place.service.url}/tokens`, { method: "POST", body: body("phone"), headers });
  await place.service.request(`/tokens/${((await response.json()) as Made).id}`, { method: "DELETE" });
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
    const init = { method: "PUT", body: `{"name":"Theirs ${Math.random()}"}`, headers: { "content-type": "application/json" } };
    await place.service.request("/plants/9007199254740994", init);
    await button("Save").click();
    await reads("Someone changed this plant in the meantime.");
  },
  "a deleted plant": async ({ button, reads }) => {
    place.expectStatus(404);
    await place.service.request("/plants/9007199254740994", { method: "DELETE" });
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
    await visit.reads("“Untagged” is tagged “herb” now.");
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
      const body = JSON.stringify({ name: "somebody", scopes, days: 30 });
      const { token } = (await (await place.service.request("/tokens", { method: "POST", body })).json()) as { token: string };
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

describe("the page", () => {
  it("can be used with the keyboard alone", async () => {
    await place.plant(PLANTS);
    const { page, sees, reads, field, button } = await place.visit();
    const { keyboard } = page;
    expect(await focused(page)).toBe("INPUT");
    await keyboard.type(place.service.token);
    await keyboard.press("Enter");
    await sees(["Monstera deliciosa", "Ginkgo biloba", "Untagged"]);
    // The first stop skips everything before the plants.
    await keyboard.press("Tab");
    await reads("Skip to the plants");
    await keyboard.press("Enter");
    expect(await focused(page)).toBe("SECTION#plants");
    // All plants, and the three headings.
    for (let stops = 0; stops < 4; stops += 1) await keyboard.press("Tab");
    expect(await focused(page)).toBe("BUTTON Sort by name, from A to Z");
    await keyboard.press("Tab");
    expect(await page.evaluate<string>("document.activeElement.ariaLabel")).toBe("Select Monstera deliciosa");
    await keyboard.press("Tab");
    expect(await focused(page)).toBe("A Monstera deliciosa");
    await keyboard.press("ArrowDown");
    expect(await focused(page)).toBe("A Ginkgo biloba");
    await keyboard.press("Enter");
    await reads("Edit plant");
    await keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await focused(page)).toBe("A Ginkgo biloba");
    await keyboard.press("ArrowUp");
    await keyboard.press("Tab");
    expect(await focused(page)).toBe("BUTTON Show only tropical");
    await keyboard.press("Tab");
    expect(await focused(page)).toBe("BUTTON Edit Monstera deliciosa");
    await keyboard.press("ArrowDown");
    expect(await focused(page)).toBe("BUTTON Edit Ginkgo biloba");
    await keyboard.press("Enter");
    await field("Name").waitFor();
    expect(await focused(page)).toBe("INPUT");
    await keyboard.press("ControlOrMeta+A");
    await keyboard.type("Ginkgo");
    await keyboard.press("Enter");
    await sees(["Monstera deliciosa", "Ginkgo", "Untagged"]);
    // The focus is back where it was.
    expect(await focused(page)).toBe("BUTTON Edit Ginkgo");
    await keyboard.press("Tab");
    await keyboard.press("Enter");
    await sees(["Monstera deliciosa", "Untagged"]);
    expect(await focused(page)).toBe("BUTTON Undo");
    await keyboard.press("Enter");
    await sees(["Monstera deliciosa", "Ginkgo", "Untagged"]);
    expect(await focused(page)).toBe("SECTION#plants");
    await keyboard.press("/");
    await keyboard.type("monst");
    await sees(["Monstera deliciosa"]);
    await keyboard.press("ArrowDown");
    expect(await focused(page)).toBe("A Monstera deliciosa");
    await button("Add plant").focus();
    await keyboard.press("Enter");
    await field("Tag").waitFor();
    await keyboard.press("Escape");
    await field("Tag").waitFor({ state: "detached" });
    expect(await focused(page)).toBe("BUTTON Add plant");
  });

  it("gives the caret back to the search box when a dialog is closed", async () => {
    await place.plant(PLANTS);
    const { page, signIn, sees, field, dialog } = await place.visit();
    await signIn();
    await sees(["Monstera deliciosa", "Ginkgo biloba", "Untagged"]);
    await page.keyboard.press("/");
    await page.keyboard.type("9007199254740994");
    await page.keyboard.press("Enter");
    await field("Name").waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.type("monst");
    await sees(["Monstera deliciosa"]);
    expect(await field("Search names").inputValue()).toBe("monst");
  });

  it("keeps the focus on the plants when their selection is cleared", async () => {
    await place.plant(PLANTS);
    const { page, signIn, button } = await place.visit();
    await signIn();
    await page.getByRole("checkbox", { name: "Select Untagged" }).check();
    await button("Clear the selection").press("Enter");
    await button("Clear the selection").waitFor({ state: "detached" });
    expect(await focused(page)).toBe("SECTION#plants");
  });

  it("keeps the focus on the plants when what has it goes with the view", async () => {
    await place.plant(PLANTS);
    const { page, signIn, button, field, sees, reads } = await place.visit("/?tag=tree");
    await signIn();
    await sees(["Ginkgo biloba"]);
    async function press(name: string): Promise<void> {
      await button(name).press("Enter");
      await button(name).waitFor({ state: "detached" });
      expect(await focused(page)).toBe("SECTION#plants");
    }
    await press("Remove the filter tree");
    await field("Search names").fill("nothing");
    await reads("No plants match.");
    await press("Show all plants");
    await sees(PLANTS.map((row) => row.split(",")[1]!));
  });

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

  it("keeps the focus in a dialog if the focused element disappears", async () => {
    const { page, signIn, button, reads, choose } = await place.visit();
    await signIn();
    await choose("Tokens");
    await button("New token").click();
    await button("Back").click();
    await reads("Anyone who has a token");
    expect(await focused(page)).toBe("H2 Tokens");
  });

  it("has menus that keys go through, and that close on Escape and when the focus leaves them", async () => {
    await place.plant(PLANTS);
    const { page, signIn, button } = await place.visit("/", { viewport: { width: 360, height: 740 } });
    await signIn();
    await button("Export").focus();
    await page.keyboard.press("Enter");
    await page.keyboard.press("ArrowDown");
    expect(await focused(page)).toBe("BUTTON Export for a spreadsheet");
    await page.keyboard.press("ArrowDown");
    expect(await focused(page)).toBe("BUTTON Export CSV");
    await page.keyboard.press("Escape");
    await button("Export CSV").waitFor({ state: "hidden" });
    expect(await focused(page)).toBe("BUTTON Export");
    await button("Settings").focus();
    await page.keyboard.press("Enter");
    await button("Sign out").focus();
    await page.keyboard.press("Tab");
    await button("Sign out").waitFor({ state: "hidden" });
  });

  it("is never wider than a phone", async () => {
    await place.plant(PLANTS);
    const { page, signIn, sees } = await place.visit("/", { viewport: { width: 360, height: 740 } });
    await signIn();
    await sees(["Monstera deliciosa", "Ginkgo biloba", "Untagged"]);
    expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBe(360);
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
      await reads(/^“Acer” is tagged/);
      expect(await findCut(page)).toEqual([]);
    });

  it("tells a screen reader how many plants there are, and how many a search found", async () => {
    await place.plant(PLANTS);
    const { page, signIn, sees, field } = await place.visit();
    await signIn();
    await sees(["Monstera deliciosa", "Ginkgo biloba", "Untagged"]);
    const table = page.getByRole("table", { name: "Plants" });
    expect(await table.getAttribute("aria-rowcount")).toBe("4");
    expect(await table.getByRole("columnheader").allInnerTexts()).toEqual(["Selected", "Id Newest", "Name", "Tag", "Change"]);
    expect(await table.getByRole("row").nth(1).getByRole("cell").nth(1).innerText()).toBe("9007199254740993");
    await field("Search names").fill("ginkgo");
    await sees(["Ginkgo biloba"]);
    await page.getByRole("status").filter({ hasText: "1 plant found." }).waitFor();
  });

  it("loads less than 45 KB, and less than 25.5 KB more to import, compressed", async () => {
    const { page, signIn, button, field } = await place.visit();
    await signIn();
    await button("Import a file").waitFor();
    const first = await findSizes(page);
    const names = [...first.keys()].map((path) => path.replace(/-\w+\./, "."));
    expect(names.toSorted()).toEqual(["/", "/assets/index.css", "/assets/index.js"]);
    expect(sum(first)).toBeLessThan(45_000);
    await button("Import a file").click();
    await field("Or paste the rows").waitFor();
    const all = await findSizes(page);
    expect(all.size).toBe(first.size + 1);
    expect(sum(all) - sum(first)).toBeLessThan(25_500);
  });
});

/** The files that the page has loaded, by their paths, and how much was sent for each. */
async function findSizes(page: Page): Promise<ReadonlyMap<string, number>> {
  const sizes = await page.evaluate<[string, number][]>(
    "performance.getEntries().filter(({ encodedBodySize }) => encodedBodySize > 0).map(({ name, encodedBodySize }) => [new URL(name).pathname, encodedBodySize])",
  );
  return new Map(sizes.filter(([path]) => path === "/" || path.startsWith("/assets/")));
}

function sum(sizes: ReadonlyMap<string, number>): number {
  return [...sizes.values()].reduce((total, size) => total + size, 0);
}

/** The element with the focus, by its kind and name. */
function focused(page: Page): Promise<string> {
  return page.evaluate<string>(`(() => {
    const { tagName, id, title, ariaLabel, textContent } = document.activeElement;
    return tagName === "INPUT" ? tagName : id === "plants" ? tagName + "#" + id : tagName + " " + (ariaLabel || title || textContent);
  })()`);
}
