import { describe, expect, it } from "bun:test";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { usePlace } from "../support/web/place.ts";
import type { Visit } from "../support/web/visit.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const place = usePlace();

/** Without it, axe would look at elements that are still fading in. */
const CALM = { reducedMotion: "reduce" } as const;

type Results = Readonly<{ violations: readonly { id: string; nodes: readonly { html: string }[] }[] }>;

/** What axe finds wrong with the current view: the colours, the rule and the element. */
async function findViolations(page: Page): Promise<string[]> {
  // The browser itself evaluates it, so the page's policy does not block it.
  await page.evaluate(AXE);
  const found: string[] = [];
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    const { violations } = await page.evaluate<Results>("axe.run()");
    found.push(...violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${colorScheme}, ${id}: ${html}`)));
  }
  return found;
}

const PLANTS = ["9007199254740993,Monstera deliciosa,tropical", "9007199254740994,Ginkgo biloba,tree", "9223372036854775807,Untagged,"];

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
    await reads("The id is a whole number");
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
    await place.service.request("/plants/9007199254740994", { ...init, body: '{"name":"Ginkgo biloba","tag":"tree"}' });
  },
  "a deleted plant": async ({ button, reads }) => {
    place.expectStatus(404);
    await place.service.request("/plants/9007199254740994", { method: "DELETE" });
    await button("Edit Ginkgo biloba").click();
    await reads("This plant no longer exists");
    await place.plant(PLANTS.slice(1, 2));
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
  "choosing a file": async ({ button, field }) => {
    await button("Import").click();
    await field("Or paste the rows").waitFor();
  },
  "the preview of a file": async (visit) => {
    await VIEWS["choosing a file"]!(visit);
    await visit.field("Or paste the rows").fill("id,name\n9007199254740993,Other\nx,Bad\n");
    await visit.button("Preview the rows").click();
    await visit.reads("1 line that will be refused");
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
  "the tokens": async ({ button, reads }) => {
    await button("Tokens").click();
    await reads("plants:read, plants:write, admin");
  },
  "a new token": async ({ button, field }) => {
    await button("Tokens").click();
    await button("New token").click();
    await field("Name").fill("somebody");
  },
  "a created token": async (visit) => {
    await VIEWS["a new token"]!(visit);
    await visit.button("Create token").click();
    await visit.field("The new token").waitFor();
  },
};

describe("in light and dark, axe finds no violation in", () => {
  it("the sign-in, with and without a problem", async () => {
    place.expectStatus(401);
    const { page, field, button, reads } = await place.visit("/", CALM);
    expect(await findViolations(page)).toEqual([]);
    await field("Token").fill("wrong");
    await button("Sign in").click();
    await reads("The bearer token is invalid");
    expect(await findViolations(page)).toEqual([]);
  });

  it("the first visit", async () => {
    const { page, signIn, reads } = await place.visit("/", CALM);
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
        const { page, signIn, reads } = await place.visit("/", { ...CALM, viewport: { width, height: 800 } });
        await signIn(token);
        await reads(scopes.length === 1 ? "Monstera deliciosa" : "Your token cannot see plants");
        expect(await findViolations(page)).toEqual([]);
      }
    });
  }

  for (const widths of [[360], [1440, 768]]) {
    it(`any other view, ${widths.join(" and ")} pixels wide`, async () => {
      await place.plant(PLANTS);
      const found: Record<string, string[]> = {};
      for (const [name, open] of Object.entries(VIEWS)) {
        const visit = await place.visit("/", { ...CALM, viewport: { width: widths[0]!, height: 800 } });
        await visit.signIn();
        await visit.sees(["Monstera deliciosa", "Ginkgo biloba", "Untagged"]);
        await open(withMenu(visit));
        for (const width of widths) {
          await visit.page.setViewportSize({ width, height: 800 });
          const violations = await findViolations(visit.page);
          if (violations.length > 0) found[`${name}, ${width}`] = violations;
        }
        await visit.page.close();
      }
      expect(found).toEqual({});
    });
  }
});

/** On a phone, some buttons are in a menu. */
function withMenu(visit: Visit): Visit {
  const { page, button } = visit;
  function buttonInMenu(name: RegExp | string) {
    const found = button(name);
    return Object.assign(Object.create(found) as typeof found, {
      async click() {
        for (const opener of [page.getByRole("button", { name: "Menu" }), button(/^Show \d+$/)]) {
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
    await button("Add plant").focus();
    await keyboard.press("Enter");
    await field("Id").waitFor();
    await keyboard.press("Escape");
    await field("Id").waitFor({ state: "detached" });
    expect(await focused(page)).toBe("BUTTON Add plant");
  });

  it("keeps the focus in a dialog if the focused element disappears", async () => {
    const { page, signIn, button, reads } = await place.visit();
    await signIn();
    await button("Tokens").click();
    await button("New token").click();
    await button("Back").click();
    await reads("Anyone who has a token");
    expect(await focused(page)).toBe("H2 Tokens");
  });

  it("closes its menu when the focus leaves it", async () => {
    await place.plant(PLANTS);
    const { page, signIn, button } = await place.visit("/", { viewport: { width: 360, height: 740 } });
    await signIn();
    await button("Menu").focus();
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

  it("tells a screen reader how many plants there are, and how many a search found", async () => {
    await place.plant(PLANTS);
    const { page, signIn, sees, field } = await place.visit();
    await signIn();
    await sees(["Monstera deliciosa", "Ginkgo biloba", "Untagged"]);
    const table = page.getByRole("table", { name: "Plants" });
    expect(await table.getAttribute("aria-rowcount")).toBe("4");
    expect(await table.getByRole("columnheader").allInnerTexts()).toEqual(["Id", "Name", "Tag", "Change"]);
    expect(await table.getByRole("row").nth(1).getByRole("cell").first().innerText()).toBe("9007199254740993");
    await field("Search names").fill("ginkgo");
    await sees(["Ginkgo biloba"]);
    await page.getByRole("status").filter({ hasText: "1 plant found." }).waitFor();
  });

  it("has less than 60 KB in all, compressed", async () => {
    const { page } = await place.visit();
    await page.getByLabel("Token").waitFor();
    const sizes = await page.evaluate<[string, number][]>(
      "performance.getEntries().filter(({ encodedBodySize }) => encodedBodySize > 0).map(({ name, encodedBodySize }) => [name, encodedBodySize])",
    );
    expect(sizes).toHaveLength(3);
    expect(sizes.reduce((sum, [, size]) => sum + size, 0)).toBeLessThan(60_000);
  });
});

/** The element with the focus, by its kind and name. */
function focused(page: Page): Promise<string> {
  return page.evaluate<string>(`(() => {
    const { tagName, id, title, ariaLabel, textContent } = document.activeElement;
    return tagName === "INPUT" ? tagName : id === "plants" ? tagName + "#" + id : tagName + " " + (ariaLabel || title || textContent);
  })()`);
}
