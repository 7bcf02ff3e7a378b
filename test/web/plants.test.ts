import { describe, expect, it } from "bun:test";
import { until } from "../support/until.ts";
import { rowsOf } from "../support/web/garden.ts";
import { usePlace } from "../support/web/place.ts";

const ID = "9223372036854775807";
const OTHER = "9007199254740993";
const TWO = [`${OTHER},Ginkgo,tree`, `${ID},Monstera,tropical`];

const place = usePlace();

/** The plant in the service: its JSON text, or the status of the error. */
async function stored(id: string): Promise<string> {
  const response = await place.service.request(`/plants/${id}`);
  return response.ok ? response.text() : String(response.status);
}

describe("a plant", () => {
  it("is added with its name first, under an id of 11 digits that the page made and shows", async () => {
    const { page, signIn, button, sees, rows, dialog } = await place.visit();
    await signIn();
    await button("Add a plant").click();
    const id = /Its id will be ([1-9]\d{10})\./.exec(await dialog.innerText())?.[1] ?? "none";
    await page.keyboard.type("Monstera deliciosa");
    await page.keyboard.press("Tab");
    await page.keyboard.type("tropical");
    await page.keyboard.press("Enter");
    await sees(["Monstera deliciosa"]);
    expect(await rows.locator("td.plant-row-id").allInnerTexts()).toEqual([id]);
    expect(await stored(id)).toBe(`{"id":${id},"name":"Monstera deliciosa","tag":"tropical"}`);
  });

  it("is added under an id that no JavaScript number can hold, after ids that are none or used", async () => {
    place.expectStatus(409);
    await place.plant(TWO.slice(0, 1));
    const { signIn, button, enter, sees, reads, dialog, field } = await place.visit();
    await signIn();
    await button("Add plant").click();
    await button("Choose the id").click();
    await enter({ Name: "Monstera deliciosa ", Tag: " tropical ", Id: "9223372036854775808" });
    await button("Save").click();
    await reads("The id is a whole number from -9223372036854775808 to 9223372036854775807.");
    await enter({ Id: OTHER });
    await button("Save").click();
    await reads("Another plant has this id: choose another one.");
    await button("Show the plant that has it").click();
    await dialog.getByText(OTHER).waitFor();
    expect(await field("Name").inputValue()).toBe("Ginkgo");
    await button("Cancel").click();
    await button("Add plant").click();
    await enter({ Id: ID });
    await button("Save").click();
    await sees(["Ginkgo", "Monstera deliciosa"]);
    expect(await stored(ID)).toBe(`{"id":${ID},"name":"Monstera deliciosa","tag":"tropical"}`);
  });

  it("is followed by another of the same tag without closing the dialog", async () => {
    const { page, signIn, button, field, sees, reads } = await place.visit();
    await signIn();
    await button("Add a plant").click();
    await page.keyboard.type("Acer palmatum");
    await field("Tag").fill("tree");
    await button("Save and add another").click();
    await reads(/^“Acer palmatum” is saved with the id \d{11}\.$/);
    // The focus is in the name again.
    await page.keyboard.type("Ginkgo biloba");
    await button("Save and add another").click();
    await reads(/^“Ginkgo biloba” is saved/);
    await button("Close").first().click();
    const plants = await place.stored("tag=tree");
    expect(plants.map(({ name }) => name).toSorted()).toEqual(["Acer palmatum", "Ginkgo biloba"]);
    await sees(plants.map(({ name }) => name));
  });

  it("is stored once if the response is lost and it is saved again", async () => {
    place.expectStatus(0);
    const { page, signIn, button, enter, reads, sees } = await place.visit();
    await signIn();
    await button("Add a plant").click();
    await enter({ Name: "Acer palmatum" });
    await page.route("**/plants", async (route) => {
      await route.fetch();
      await route.abort("connectionreset");
    });
    await button("Save").click();
    await reads("The service cannot be reached");
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await button("Save").click();
    await sees(["Acer palmatum"]);
    expect(await place.stored()).toHaveLength(1);
  });

  for (const { where, plants, query, shown } of [
    { where: "at the end of the list", plants: 90, query: "", shown: "" },
    { where: "far behind what is loaded, and Back leads to the view before", plants: 2_000, query: "?tag=shrub", shown: "?sort=newest" },
  ]) {
    it(`is in view after it was added ${where}`, async () => {
      await place.plant(rowsOf(plants, (id) => ["shrub", "herb", ""][id % 3]!));
      const { page, signIn, button, enter, rows, address } = await place.visit(`/${query}`);
      await signIn();
      await page.locator('section[aria-busy="false"]').waitFor();
      await button("Add plant").click();
      await enter({ Name: "Acer", Tag: "tree" });
      await button("Save").click();
      const row = page.locator("tr[data-new]");
      await row.waitFor();
      expect(await row.locator("td.plant-row-name").innerText()).toBe("Acer");
      expect(await rows.filter({ has: page.getByText("tree", { exact: true }) }).count()).toBe(1);
      await page.waitForFunction(`(() => { const { left, top, bottom } = document.querySelector("tr[data-new]").getBoundingClientRect();
        return top > 100 && bottom < innerHeight && document.elementFromPoint(left + 9, top + 9).closest("tr[data-new]") !== null; })()`);
      expect(address()).toBe(`/${shown}`);
      if (shown === query) return;
      await page.goBack();
      expect(address()).toBe(`/${query}`);
    });
  }

  it("is changed, and keeps the other field exactly", async () => {
    await place.service.post(`{"id":${OTHER},"name":"Two\\nlines \\u0000","tag":""}`);
    const { signIn, button, enter, field, sees, reads } = await place.visit();
    await signIn();
    await button(/^Edit/).click();
    await enter({ Tag: "strange" });
    await button("Save").click();
    await reads("is saved");
    expect(await stored(OTHER)).toBe(`{"id":${OTHER},"name":"Two\\nlines \\u0000","tag":"strange"}`);
    await button(/^Edit/).click();
    await enter({ Name: "One line", Tag: "" });
    await button("Save").click();
    await sees(["One line"]);
    expect(await stored(OTHER)).toBe(`{"id":${OTHER},"name":"One line"}`);
    // What was typed is over once it is saved.
    await place.put(BigInt(OTHER), { name: "Theirs" });
    await button(/^Edit/).click();
    await until("the dialog has what is stored", async () => (await field("Name").inputValue()) === "Theirs");
  });

  it("is offered a hundred tags, first those that hold what is typed, even rare ones", async () => {
    const families = Array.from({ length: 300 }, (_, at) => `Family ${at + 100}`);
    await place.plant([...families, ...families.slice(0, 299)].map((tag, at) => `${at + 1},Plant ${at + 1},${tag}`));
    const { page, signIn, button, enter } = await place.visit();
    await signIn();
    await button("Add plant").click();
    const offered = () => page.locator("datalist option").evaluateAll((options) => options.map((option) => option.getAttribute("value")));
    await until("the most frequent are offered", async () => Bun.deepEquals(await offered(), families.slice(0, 100)));
    await enter({ Tag: "FAMILY 39" });
    await until("those that hold it are the first", async () => Bun.deepEquals((await offered()).slice(0, 10), families.slice(290)));
    await enter({ Tag: "mily 399" });
    await until("the rarest is", async () => Bun.deepEquals(await offered(), ["Family 399", ...families.slice(0, 99)]));
  });

  it("that someone changed meanwhile becomes theirs or yours, as you choose", async () => {
    place.expectStatus(412);
    await place.plant([`${ID},Ginkgo,tree`]);
    const { page, signIn, button, enter, sees, reads } = await place.visit();
    const theirs = (name: string) => place.put(BigInt(ID), { name, tag: "tree" });
    await signIn();
    await button("Edit Ginkgo").click();
    await enter({ Name: "Ginkgo mine" });
    await theirs("Ginkgo theirs");
    await page.keyboard.press("Enter");
    await reads("Someone changed this plant in the meantime. Your change is not saved yet.");
    // Pressed again by who is impatient, it chooses nothing.
    await page.keyboard.press("Enter");
    await page.getByRole("region", { name: "Yours" }).getByText("Ginkgo mine").waitFor();
    expect(await stored(ID)).toContain("Ginkgo theirs");
    await button("Keep theirs").click();
    await sees(["Ginkgo theirs"]);

    await button("Edit Ginkgo theirs").click();
    await enter({ Name: "Ginkgo mine" });
    await theirs("Ginkgo again");
    await button("Save").click();
    await reads("Someone changed this plant in the meantime.");
    await theirs("Ginkgo once more");
    await button("Replace with yours").click();
    // A later change of theirs is not overwritten either.
    await reads("Ginkgo once more");
    await button("Replace with yours").click();
    await sees(["Ginkgo mine"]);
    expect(await stored(ID)).toBe(`{"id":${ID},"name":"Ginkgo mine","tag":"tree"}`);
  });

  it("that someone deleted meanwhile can be saved as new, and else leaves the table", async () => {
    place.expectStatus(404, 412);
    await place.plant(TWO);
    const { signIn, button, enter, sees, reads } = await place.visit();
    await signIn();
    await button("Edit Ginkgo").click();
    await enter({ Name: "Ginkgo mine" });
    for (const id of [OTHER, ID]) await place.remove(BigInt(id));
    await button("Save").click();
    await reads("Someone deleted this plant in the meantime.");
    await button("Save yours as new").click();
    await sees(["Ginkgo mine", "Monstera"]);
    expect(await stored(OTHER)).toContain("Ginkgo mine");
    await button("Edit Monstera").click();
    await reads("This plant no longer exists: someone deleted it.");
    await sees(["Ginkgo mine"]);
  });

  it("is hidden when deleted, comes back on undo even with a dialog open, and otherwise is gone", async () => {
    await place.plant(TWO);
    const { page, signIn, button, field, sees, reads, dialog, passUndo } = await place.visit();
    await signIn();
    await page.clock.install();
    await button("Delete Ginkgo").click();
    await reads("“Ginkgo” will be deleted in 8 seconds.");
    await sees(["Monstera"]);
    expect(await stored(OTHER)).toContain("Ginkgo");
    await button("Add plant").click();
    await page.keyboard.type("1");
    expect(await field("Name").inputValue()).toBe("1");
    await dialog.getByRole("button", { name: "Undo" }).focus();
    await page.keyboard.press("Enter");
    await sees(["Ginkgo", "Monstera"]);
    // The focus stays in the dialog.
    expect(await page.evaluate<string>("document.activeElement.textContent")).toBe("Add a plant");
    await button("Cancel").click();
    await button("Delete Monstera").click();
    await sees(["Ginkgo"]);
    await passUndo();
    await until("it is deleted", async () => (await stored(ID)) === "404");
    expect(await stored(OTHER)).toContain("Ginkgo");
  });

  it("stays when the second half of a double click lands on it after it moved into the row of a deleted one", async () => {
    await place.plant(TWO);
    const { signIn, button, sees } = await place.visit();
    await signIn();
    await sees(["Ginkgo", "Monstera"]);
    await button("Delete Ginkgo").dblclick();
    await sees(["Monstera"]);
    expect(await button("Undo").count()).toBe(1);
  });

  it("that is added again right after its deletion stays, by hand and from a file", async () => {
    await place.plant(["1,Acer,tree", ...TWO]);
    const { page, signIn, button, enter, paste, reads, sees, passUndo } = await place.visit();
    await signIn();
    await page.clock.install();
    await button("Delete Ginkgo").click();
    await button("Delete Monstera").click();
    await button("Add plant").click();
    await button("Choose the id").click();
    await enter({ Id: OTHER, Name: "Ginkgo", Tag: "tree" });
    await button("Save").click();
    await reads("“Ginkgo” is saved.");
    await paste(`id,name,tag\n${ID},Monstera,tropical\n`);
    await button("Import 1 plant").click();
    await reads("1 plant added.");
    await button("Done").click();
    await passUndo();
    await sees(["Acer", "Ginkgo", "Monstera"]);
    expect([await stored(OTHER), await stored(ID)]).not.toContain("404");
  });

  it("that waits for its deletion is deleted at once when you sign out, and nothing of it can be undone then", async () => {
    await place.plant(TWO);
    const { signIn, button, field, choose, reads } = await place.visit();
    await signIn();
    for (const name of ["Ginkgo", "Monstera"]) await button(`Delete ${name}`).click();
    await choose("Sign out");
    await field("Token").waitFor();
    await reads("Deleted 2 plants.");
    expect(await button("Undo").count()).toBe(0);
    expect(await stored(OTHER)).toBe("404");
  });

  it("is not saved by the Enter that ends a composition", async () => {
    const { page, signIn, button, field, sees, dialog } = await place.visit();
    const devtools = await page.context().newCDPSession(page);
    await signIn();
    await button("Add a plant").click();
    await field("Name").focus();
    await devtools.send("Input.imeSetComposition", { text: "さくら", selectionStart: 3, selectionEnd: 3 });
    // What a browser is told of a key that the composition takes.
    await devtools.send("Input.dispatchKeyEvent", { type: "rawKeyDown", windowsVirtualKeyCode: 229, key: "Enter", code: "Enter" });
    await devtools.send("Input.insertText", { text: "桜" });
    expect(await dialog.count()).toBe(1);
    await page.keyboard.press("Enter");
    await sees(["桜"]);
  });
});
