import { describe, expect, it } from "bun:test";
import { findViolations } from "../support/web/axe.ts";
import { rowsOf } from "../support/web/garden.ts";
import { usePlace } from "../support/web/place.ts";

const place = usePlace();

const PLANTS = ["9007199254740993,Monstera deliciosa,tropical", "9007199254740994,Ginkgo biloba,tree", "9223372036854775807,Untagged,"];
const NAMES = ["Monstera deliciosa", "Ginkgo biloba", "Untagged"];

describe("with the keyboard alone", () => {
  it("people sign in, go through the rows, change a plant, delete it, bring it back and search", async () => {
    await place.plant(PLANTS);
    const { page, sees, reads, field, leaves, focused } = await place.visit();
    const { keyboard } = page;
    /** Presses a key so many times, and says what has the focus then. */
    async function press(key: string, times = 1): Promise<string> {
      for (let at = 0; at < times; at += 1) await keyboard.press(key);
      return focused();
    }
    expect(await focused()).toBe("INPUT");
    await keyboard.type(place.service.token);
    await press("Enter");
    await sees(NAMES);
    // The first stop skips everything before the plants.
    await press("Tab");
    await reads("Skip to the plants");
    expect(await press("Enter")).toBe("SECTION#plants");
    // All plants, then each.
    await press("Tab", 2);
    expect(await page.evaluate<string>("document.activeElement.ariaLabel")).toBe("Select Monstera deliciosa");
    expect(await press("Tab")).toBe("A Monstera deliciosa");
    expect(await press("ArrowDown")).toBe("A Ginkgo biloba");
    await press("Enter");
    await reads("Edit plant");
    await press("Escape");
    await leaves();
    expect(await focused()).toBe("A Ginkgo biloba");
    await press("ArrowUp");
    expect(await press("Tab")).toBe("BUTTON Show only tropical");
    expect(await press("Tab")).toBe("BUTTON Edit Monstera deliciosa");
    expect(await press("ArrowDown")).toBe("BUTTON Edit Ginkgo biloba");
    await press("Enter");
    await field("Name").waitFor();
    expect(await press("ControlOrMeta+A")).toBe("INPUT");
    await keyboard.type("Ginkgo");
    await press("Enter");
    await sees(["Monstera deliciosa", "Ginkgo", "Untagged"]);
    // The focus is back where it was.
    expect(await focused()).toBe("BUTTON Edit Ginkgo");
    await press("Tab");
    await press("Enter");
    await sees(["Monstera deliciosa", "Untagged"]);
    expect(await focused()).toBe("BUTTON Undo");
    await press("Enter");
    await sees(["Monstera deliciosa", "Ginkgo", "Untagged"]);
    expect(await focused()).toBe("SECTION#plants");
    await press("/");
    await keyboard.type("monst");
    await sees(["Monstera deliciosa"]);
    expect(await press("ArrowDown")).toBe("A Monstera deliciosa");
  });

  it("the focus never gets lost: it stays on the plants when what has it goes, in a dialog, and in menus until Escape", async () => {
    const { page, button, box, sees, focused, steps } = await place.open(PLANTS, { path: "/?tag=tree" });
    async function press(name: string): Promise<void> {
      await button(name).press("Enter");
      await button(name).waitFor({ state: "detached" });
      expect(await focused()).toBe("SECTION#plants");
    }
    await box("Ginkgo biloba").check();
    await press("Clear the selection");
    await press("Remove the filter tree");
    await steps("enter Search names = nothing > reads No plants match.");
    await press("Show all plants");
    await sees(NAMES);
    await steps("choose Tokens > click New token > click Back > reads Anyone who has a token");
    expect(await focused()).toBe("H2 Tokens");
    await steps("press Escape > leaves");
    await button("Export").focus();
    await steps("press Enter > press ArrowDown");
    expect(await focused()).toBe("BUTTON Export for a spreadsheet");
    await page.keyboard.press("Escape");
    await button("Export CSV").waitFor({ state: "hidden" });
    expect(await focused()).toBe("BUTTON Export");
    await button("Account").focus();
    await page.keyboard.press("Enter");
    await button("Sign out").focus();
    await page.keyboard.press("Tab");
    await button("Sign out").waitFor({ state: "hidden" });
  });

  it("the focus stays near what goes: in the bar of what is selected, in a row, and beside a plant that is restored", async () => {
    await place.plant(rowsOf(650, () => "tree"));
    for (const id of [610, 620, 630]) await place.remove(id);
    const { page, button, box, rows, reads, steps, focused, hears, signIn } = await place.visit();
    await hears(signIn);
    await box("Plant 3").press(" ");
    await button("Select all").press("Enter");
    await reads("647 plants selected");
    expect(await focused()).toBe("SECTION Selected plants");
    const chip = rows.nth(4).getByTitle("Show only tree");
    await chip.focus();
    await place.put(5, { name: "Plant 5" });
    await chip.waitFor({ state: "detached" });
    expect(await focused()).toBe("A Plant 5");
    await steps("choose Past changes > offers Restore Plant 620");
    await button("Restore Plant 620").press("Enter");
    await button("Restore Plant 620").waitFor({ state: "detached" });
    expect(await page.evaluate<string>("document.activeElement.ariaLabel")).toBe("Select Plant 610");
  });
});

it("axe finds no violation, in light and dark, in the main views, and a screen reader gets the table", async () => {
  await place.plant(PLANTS);
  const { page, signIn, sees, steps } = await place.visit();
  const found: Record<string, string[]> = { "the sign-in": await findViolations(page) };
  const look = async (view: string) => (found[view] = await findViolations(page));
  await signIn();
  await sees(NAMES);
  await look("the catalogue");
  const table = page.getByRole("table", { name: "Plants" });
  expect(await table.getAttribute("aria-rowcount")).toBe("4");
  expect(await table.getByRole("columnheader").allInnerTexts()).toEqual(["Selected", "Id", "Name", "Tag", "Change"]);
  expect(await table.getByRole("row").nth(1).getByRole("cell").nth(1).innerText()).toBe("9007199254740993");
  await steps("click Add plant > click Save > reads The plant needs a name");
  await look("adding a plant, with a problem");
  await steps("click Cancel > paste id,name\n9007199254740993,Other\nx,Bad\n > reads If you import now: 2 refused.");
  await look("the preview of a file");
  await steps("press Escape > leaves > choose Tokens > reads plants:read, plants:write, admin");
  await look("the tokens");
  expect(Object.values(found).flat()).toEqual([]);
});
