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
  it("is added with its name first, under an id of 11 digits that the page made and shows, and followed by another of its tag", async () => {
    const { sees, reads, dialog, click, steps } = await place.open();
    await click("Add a plant");
    const id = /Its id will be ([1-9]\d{10})\./.exec(await dialog.innerText())?.[1] ?? "none";
    await steps("type Acer palmatum > press Tab > type tree > click Save and add another");
    await reads(`“Acer palmatum” is saved with the id ${id}.`);
    // The focus is in the name again.
    await steps("type Ginkgo biloba > press Enter > reads “Ginkgo biloba” is saved.");
    const plants = await place.stored("tag=tree");
    expect(plants.map(({ name }) => name).toSorted()).toEqual(["Acer palmatum", "Ginkgo biloba"]);
    expect(await stored(id)).toBe(`{"id":${id},"name":"Acer palmatum","tag":"tree"}`);
    await sees(plants.map(({ name }) => name));
  });

  it("is added under an id that no JavaScript number can hold, after ids that are none or used", async () => {
    place.expectStatus(409);
    const { enter, dialog, steps } = await place.open(TWO.slice(0, 1));
    await steps("click Add plant > click Choose the id > enter Name = Monstera deliciosa  > enter Tag =  tropical ");
    await steps("enter Id = 9223372036854775808 > click Save");
    await steps("reads The id is a whole number from -9223372036854775808 to 9223372036854775807.");
    await enter({ Id: OTHER });
    await steps("click Save > reads Another plant has this id: choose another one. > click Show the plant that has it");
    await dialog.getByText(OTHER).waitFor();
    await steps("holds Name = Ginkgo > click Cancel > click Add plant");
    await enter({ Id: ID });
    await steps("click Save > sees Ginkgo, Monstera deliciosa");
    expect(await stored(ID)).toBe(`{"id":${ID},"name":"Monstera deliciosa","tag":"tropical"}`);
  });

  it("is stored once if the response is lost and it is saved again", async () => {
    place.expectStatus(0);
    const { page, steps } = await place.open();
    await steps("click Add a plant > enter Name = Acer palmatum");
    await page.route("**/plants", async (route) => {
      await route.fetch();
      await route.abort("connectionreset");
    });
    await steps("click Save > reads The service cannot be reached");
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await steps("click Save > sees Acer palmatum");
    expect(await place.stored()).toHaveLength(1);
  });

  it("is in sight after it was added, in the order that was chosen, or named above a list that it is not in", async () => {
    const plants = rowsOf(400, (id) => ["shrub", "herb", ""][id % 3]!);
    const { page, field, steps, comesTrue } = await place.open(plants, { path: "/?sort=name" });
    await steps("click Add plant > enter Name = Plant 22 and a half > enter Tag = tree > click Save");
    const row = page.locator("tr[data-new]");
    await row.waitFor();
    expect(await row.locator("td.plant-row-name").innerText()).toBe("Plant 22 and a half");
    await comesTrue(`(() => { const { left, top, bottom } = document.querySelector("tr[data-new]").getBoundingClientRect();
      return top > 100 && bottom < innerHeight && document.elementFromPoint(left + 9, top + 9).closest("tr[data-new]") !== null; })()`);
    await steps("at /?sort=name > filter shrub > click Add plant > enter Name = Acer > click Save");
    await steps("click Added: Acer > holds Name = Acer > press Escape > leaves > at /?tag=shrub&sort=name");
    expect(await field("Sort").inputValue()).toBe("name");
    await steps("filter shrub > reads 402 plants.");
    expect(await page.getByText("Added: Acer").count()).toBe(0);
  });

  it("is changed, and keeps the other field exactly", async () => {
    await place.service.post(`{"id":${OTHER},"name":"Two\\nlines \\u0000","tag":""}`);
    const { click, typed, steps } = await place.open();
    await steps("filter Edit > enter Tag = strange > click Save > reads is saved");
    expect(await stored(OTHER)).toBe(`{"id":${OTHER},"name":"Two\\nlines \\u0000","tag":"strange"}`);
    await steps("filter Edit > enter Name = One line > enter Tag =  > click Save > sees One line");
    expect(await stored(OTHER)).toBe(`{"id":${OTHER},"name":"One line"}`);
    // What was typed is over once it is saved.
    await place.put(BigInt(OTHER), { name: "Theirs" });
    await click(/^Edit/);
    await until("the dialog has what is stored", async () => (await typed("Name")) === "Theirs");
  });

  it("is offered a hundred tags, first those that hold what is typed, even rare ones", async () => {
    const families = Array.from({ length: 300 }, (_, at) => `Family ${at + 100}`);
    const tags = [...families, ...families.slice(0, 299)];
    const { page, enter, click } = await place.open(rowsOf(tags.length, (id) => tags[id - 1]!));
    await click("Add plant");
    const offered = () => page.locator("datalist option").evaluateAll((options) => options.map((option) => option.getAttribute("value")));
    await until("the most frequent are offered", async () => Bun.deepEquals(await offered(), families.slice(0, 100)));
    await enter({ Tag: "FAMILY 39" });
    await until("those that hold it are the first", async () => Bun.deepEquals((await offered()).slice(0, 10), families.slice(290)));
    await enter({ Tag: "mily 399" });
    await until("the rarest is", async () => Bun.deepEquals(await offered(), ["Family 399", ...families.slice(0, 99)]));
  });

  it("becomes theirs or yours, as you choose, when someone changed it meanwhile", async () => {
    place.expectStatus(412);
    const { page, click, steps } = await place.open([`${ID},Ginkgo,tree`], { isDeaf: true });
    const theirs = (name: string) => place.put(BigInt(ID), { name, tag: "tree" });
    await steps("click Edit Ginkgo > enter Name = Ginkgo mine");
    await theirs("Ginkgo theirs");
    await steps("press Enter > reads Someone changed this plant in the meantime. Your change is not saved yet.");
    // Pressed again by who is impatient, it chooses nothing.
    await page.keyboard.press("Enter");
    await page.getByRole("region", { name: "Yours" }).getByText("Ginkgo mine").waitFor();
    expect(await stored(ID)).toContain("Ginkgo theirs");
    await steps("click Keep theirs > sees Ginkgo theirs");

    await steps("click Edit Ginkgo theirs > enter Name = Ginkgo mine");
    await theirs("Ginkgo again");
    await steps("click Save > reads Someone changed this plant in the meantime.");
    await theirs("Ginkgo once more");
    await click("Replace with yours");
    // A later change of theirs is not overwritten either.
    await steps("reads Ginkgo once more > click Replace with yours > sees Ginkgo mine");
    expect(await stored(ID)).toBe(`{"id":${ID},"name":"Ginkgo mine","tag":"tree"}`);
  });

  it("can be saved as new when someone deleted it meanwhile, and otherwise leaves the table", async () => {
    place.expectStatus(404, 412);
    const { steps } = await place.open(TWO, { isDeaf: true });
    await steps("click Edit Ginkgo > enter Name = Ginkgo mine");
    for (const id of [OTHER, ID]) await place.remove(BigInt(id));
    await steps("click Save > reads Someone deleted this plant in the meantime. > click Save yours as new > sees Ginkgo mine, Monstera");
    expect(await stored(OTHER)).toContain("Ginkgo mine");
    await steps("click Edit Monstera > reads This plant no longer exists: someone deleted it. > sees Ginkgo mine");
  });

  it("is hidden when deleted, but not the one that moves under a double click, comes back on undo, even in a dialog, and else is gone", async () => {
    const { page, dialog, passUndo, button, steps } = await place.open(TWO);
    await page.clock.install();
    await button("Delete Ginkgo").dblclick();
    await steps("reads “Ginkgo” will be deleted in 8 seconds. > sees Monstera");
    expect(await stored(OTHER)).toContain("Ginkgo");
    await steps("click Add plant > type 1 > holds Name = 1");
    await dialog.getByRole("button", { name: "Undo" }).focus();
    await steps("press Enter > sees Ginkgo, Monstera");
    // The focus stays in the dialog.
    expect(await page.evaluate<string>("document.activeElement.textContent")).toBe("Add a plant");
    await steps("click Cancel > click Delete Monstera > sees Ginkgo");
    await passUndo();
    await until("it is deleted", async () => (await stored(ID)) === "404");
    expect(await stored(OTHER)).toContain("Ginkgo");
  });

  it("stays when it is added again right after its deletion, by hand and from a file", async () => {
    const { page, enter, paste, sees, passUndo, click, steps } = await place.open(["1,Acer,tree", ...TWO]);
    await page.clock.install();
    await click("Delete Ginkgo", "Delete Monstera", "Add plant", "Choose the id");
    await enter({ Id: OTHER, Name: "Ginkgo", Tag: "tree" });
    await steps("click Save > reads “Ginkgo” is saved.");
    await paste(`id,name,tag\n${ID},Monstera,tropical\n`);
    await steps("click Import 1 plant > reads 1 plant added. > click Done");
    await passUndo();
    await sees(["Acer", "Ginkgo", "Monstera"]);
    expect([await stored(OTHER), await stored(ID)]).not.toContain("404");
  });

  it("is deleted at once when you sign out while it waits for that, and nothing of it can be undone then", async () => {
    const { button, steps } = await place.open(TWO);
    await steps("click Delete Ginkgo > click Delete Monstera > choose Sign out > has Token > reads Deleted 2 plants.");
    expect(await button("Undo").count()).toBe(0);
    expect(await stored(OTHER)).toBe("404");
  });

  it("is not saved by the Enter that ends a composition", async () => {
    const { page, dialog, click, field, steps } = await place.open();
    const devtools = await page.context().newCDPSession(page);
    await click("Add a plant");
    await field("Name").focus();
    await devtools.send("Input.imeSetComposition", { text: "さくら", selectionStart: 3, selectionEnd: 3 });
    // What a browser is told of a key that the composition takes.
    await devtools.send("Input.dispatchKeyEvent", { type: "rawKeyDown", windowsVirtualKeyCode: 229, key: "Enter", code: "Enter" });
    await devtools.send("Input.insertText", { text: "桜" });
    expect(await dialog.count()).toBe(1);
    await steps("press Enter > sees 桜");
  });
});
