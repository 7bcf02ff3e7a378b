import { describe, expect, it } from "bun:test";
import { until } from "../support/until.ts";
import { usePlace } from "../support/web/place.ts";

const ID = "9223372036854775807";
const OTHER = "9007199254740993";

const place = usePlace();

/** The plant in the service: its JSON text, or the status of the error. */
async function stored(id: string): Promise<string> {
  const response = await place.service.request(`/plants/${id}`);
  return response.ok ? response.text() : String(response.status);
}

async function change(id: string, body: string): Promise<void> {
  const headers = { "content-type": "application/json" };
  expect((await place.service.request(`/plants/${id}`, { method: "PUT", body, headers })).status).toBe(200);
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

  it("is added under an id that no JavaScript number can hold, without the spaces that a keyboard adds", async () => {
    const { signIn, button, field, sees, reads } = await place.visit();
    await signIn();
    await button("Add a plant").click();
    await field("Name").fill("Monstera deliciosa ");
    await field("Tag").fill(" tropical ");
    await button("Choose the id").click();
    await field("Id").fill(ID);
    await button("Save").click();
    await reads("“Monstera deliciosa” is saved.");
    await sees(["Monstera deliciosa"]);
    expect(await stored(ID)).toBe(`{"id":${ID},"name":"Monstera deliciosa","tag":"tropical"}`);
  });

  it("is added and found under an id in the wide digits of a Japanese keyboard", async () => {
    const { page, signIn, button, field, sees, reads } = await place.visit();
    await signIn();
    await button("Add a plant").click();
    await field("Name").fill("桜");
    await button("Choose the id").click();
    await field("Id").fill("－１２３４５６７８９０");
    await button("Save").click();
    await sees(["桜"]);
    expect(await stored("-1234567890")).toBe('{"id":-1234567890,"name":"桜"}');
    await field("Search names").fill("－１２３４５６７８９０");
    await page.keyboard.press("Enter");
    await reads("Id -1234567890");
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
    expect(await field("Name").inputValue()).toBe("桜");
    expect(await dialog.count()).toBe(1);
    await page.keyboard.press("Enter");
    await sees(["桜"]);
  });

  it("is not added under an invalid or a used id", async () => {
    place.expectStatus(409);
    await place.plant([`${OTHER},Ginkgo biloba,tree`]);
    const { signIn, button, field, sees, reads, dialog } = await place.visit();
    await signIn();
    await sees(["Ginkgo biloba"]);
    await button("Add plant").click();
    await field("Name").fill("Acer palmatum");
    await button("Choose the id").click();
    for (const id of ["", "1.5", "1e3", "9223372036854775808", "one"]) {
      await field("Id").fill(id);
      await button("Save").click();
      await reads("The id is a whole number from -9223372036854775808 to 9223372036854775807.");
    }
    await field("Id").fill(OTHER);
    await button("Save").click();
    await reads("Another plant has this id: choose another one.");
    await button("Show the plant that has it").click();
    await dialog.getByText(OTHER).waitFor();
    expect(await field("Name").inputValue()).toBe("Ginkgo biloba");
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
    const response = await place.service.request("/plants?tag=tree");
    const plants = (await response.json()) as readonly { id: number; name: string }[];
    expect(plants.map(({ name }) => name).toSorted()).toEqual(["Acer palmatum", "Ginkgo biloba"]);
    await sees(plants.map(({ name }) => name));
  });

  it("is stored once if the response is lost and it is saved again", async () => {
    place.expectStatus(0);
    const { page, signIn, button, field, reads, sees } = await place.visit();
    await signIn();
    await button("Add a plant").click();
    await field("Name").fill("Acer palmatum");
    await page.route("**/plants", async (route) => {
      await route.fetch();
      await route.abort("connectionreset");
    });
    await button("Save").click();
    await reads("The service cannot be reached");
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await button("Save").click();
    await sees(["Acer palmatum"]);
    expect(await (await place.service.request("/plants")).json()).toHaveLength(1);
  });

  for (const { where, plants, query, name = "Acer palmatum", shown = query } of [
    { where: "at the end of a list that is loaded", plants: 400, query: "" },
    { where: "far behind what is loaded", plants: 2_000, query: "", shown: "?sort=newest" },
    { where: "with another tag than the shown one", plants: 400, query: "?tag=shrub", shown: "?sort=newest" },
    { where: "with a tag where those without are shown", plants: 400, query: "?untagged=true", shown: "?sort=newest" },
    { where: "that a search does not find", plants: 400, query: "?q=plant&sort=name", shown: "?sort=newest" },
    { where: "that a search finds", plants: 400, query: "?q=acer", shown: "?q=acer" },
    { where: "in the order of names", plants: 2_000, query: "?sort=name" },
    { where: "at the end of the order of names", plants: 2_000, query: "?sort=name", name: "Zinnia", shown: "?sort=newest" },
    { where: "among the newest", plants: 2_000, query: "?sort=newest" },
    { where: "with a name that all have", plants: 2_000, query: "", name: "Plant", shown: "?sort=newest" },
    { where: "with a name of no letter", plants: 2_000, query: "", name: "\u{1f335}", shown: "?sort=newest" },
  ]) {
    it(`is in view after it was added ${where}, and Back leads to the view before`, async () => {
      const rowsOf = (at: number) => `${at},${name === "Plant" ? name : `Plant ${at}`},${["shrub", "herb", ""][at % 3]}`;
      await place.plant(Array.from({ length: plants }, (_, at) => rowsOf(at)));
      const { page, signIn, button, field, reads, rows, address } = await place.visit(`/${query}`);
      await signIn();
      await page.locator('section[aria-busy="false"]').waitFor();
      await button("Add plant").click();
      await field("Name").fill(name);
      await field("Tag").fill("tree");
      await button("Save").click();
      await reads("is saved.");
      const row = page.locator("tr[data-new]");
      await row.waitFor();
      expect(await row.locator("td.plant-row-name").innerText()).toBe(name);
      expect(await rows.filter({ has: page.getByText("tree", { exact: true }) }).count()).toBe(1);
      const isInSight = `(() => { const { left, top, bottom } = document.querySelector("tr[data-new]").getBoundingClientRect();
        return top > 100 && bottom < innerHeight && document.elementFromPoint(left + 9, top + 9).closest("tr[data-new]") !== null; })()`;
      await page.waitForFunction(isInSight);
      expect(address()).toBe(`/${shown}`);
      if (shown === query) return;
      await page.goBack();
      expect(address()).toBe(`/${query}`);
    });
  }

  it("is changed, and keeps the other field", async () => {
    const odd = `{"id":${OTHER},"name":"Two\\nlines \\u0000","tag":""}`;
    await place.service.post(odd);
    const { signIn, button, field, sees, reads } = await place.visit();
    await signIn();
    await button(/^Edit/).click();
    await field("Tag").fill("strange");
    await button("Save").click();
    await reads("is saved");
    expect(await stored(OTHER)).toBe(`{"id":${OTHER},"name":"Two\\nlines \\u0000","tag":"strange"}`);
    await button(/^Edit/).click();
    await field("Name").fill("One line");
    await field("Tag").fill("");
    await button("Save").click();
    await sees(["One line"]);
    expect(await stored(OTHER)).toBe(`{"id":${OTHER},"name":"One line"}`);
    // What was typed is over once it is saved.
    await change(OTHER, '{"name":"Theirs"}');
    await button(/^Edit/).click();
    await until("The dialog has what is stored", async () => (await field("Name").inputValue()) === "Theirs");
  });

  it("is offered a hundred tags, first those that hold what is typed, also rare ones", async () => {
    const families = Array.from({ length: 300 }, (_, at) => `Family ${at + 100}`);
    await place.plant([...families, ...families.slice(0, 299)].map((tag, at) => `${at + 1},Plant ${at + 1},${tag}`));
    const { page, signIn, button, field } = await place.visit();
    await signIn();
    await button("Add plant").click();
    const offered = () => page.locator("datalist option").evaluateAll((options) => options.map((option) => option.getAttribute("value")));
    await until("The most frequent are offered", async () => Bun.deepEquals(await offered(), families.slice(0, 100)));
    await field("Tag").fill("FAMILY 39");
    const like = families.slice(290);
    await until("Those that hold it are the first", async () => Bun.deepEquals((await offered()).slice(0, 10), like));
    await field("Tag").fill("mily 399");
    await until("The rarest is", async () => Bun.deepEquals(await offered(), ["Family 399", ...families.slice(0, 99)]));
  });

  it("is a hybrid, was searched for with an x, and stays in view when it is changed", async () => {
    expect((await place.service.post('{"id":1,"name":"Salix × sepulcralis"}')).status).toBe(200);
    const { signIn, button, field, sees, reads } = await place.visit("/?q=salix%20x%20sepul");
    await signIn();
    await sees(["Salix × sepulcralis"]);
    await button("Edit Salix × sepulcralis").click();
    await field("Name").fill("Salix ×sepulcralis");
    await button("Save").click();
    await reads("is saved");
    await sees(["Salix ×sepulcralis"]);
    await reads("1 plant found.");
  });

  it("can be recognized even if its name and tag are invisible", async () => {
    await place.service.post(`{"id":${OTHER},"name":" ","tag":"\\n"}`);
    const { signIn, button, rows, reads } = await place.visit();
    await signIn();
    await button(`Edit plant ${OTHER}`).waitFor();
    expect(await rows.locator("td.plant-row-name, td.plant-row-tag").allInnerTexts()).toEqual(["(no name)", "(empty tag)"]);
    await button(`Delete plant ${OTHER}`).click();
    await reads("“(no name)” will be deleted in 8 seconds.");
  });

  it("that someone changed meanwhile becomes theirs or yours, as you choose", async () => {
    place.expectStatus(412);
    await place.plant([`${ID},Ginkgo,tree`]);
    const { page, signIn, button, field, sees, reads } = await place.visit();
    await signIn();
    await button("Edit Ginkgo").click();
    await field("Name").fill("Ginkgo mine");
    await change(ID, '{"name":"Ginkgo theirs","tag":"tree"}');
    await field("Name").press("Enter");
    await reads("Someone changed this plant in the meantime. Your change is not saved yet.");
    // Pressed again by who is impatient, it chooses nothing.
    await page.keyboard.press("Enter");
    await page.getByRole("region", { name: "Yours" }).getByText("Ginkgo mine").waitFor();
    expect(await stored(ID)).toContain("Ginkgo theirs");
    await button("Keep theirs").click();
    await sees(["Ginkgo theirs"]);

    await button("Edit Ginkgo theirs").click();
    await field("Name").fill("Ginkgo mine");
    await change(ID, '{"name":"Ginkgo again","tag":"tree"}');
    await button("Save").click();
    await reads("Someone changed this plant in the meantime.");
    await change(ID, '{"name":"Ginkgo once more","tag":"tree"}');
    await button("Replace with yours").click();
    // A later change of theirs is not overwritten either.
    await reads("Ginkgo once more");
    await button("Replace with yours").click();
    await sees(["Ginkgo mine"]);
    expect(await stored(ID)).toBe(`{"id":${ID},"name":"Ginkgo mine","tag":"tree"}`);
  });

  it("that someone deleted meanwhile can be saved as new", async () => {
    place.expectStatus(412);
    place.expectStatus(404);
    await place.plant([`${ID},Ginkgo,tree`]);
    const { signIn, button, field, sees, reads } = await place.visit();
    await signIn();
    await button("Edit Ginkgo").click();
    await field("Name").fill("Ginkgo mine");
    await place.service.request(`/plants/${ID}`, { method: "DELETE" });
    await button("Save").click();
    await reads("Someone deleted this plant in the meantime.");
    await button("Save yours as new").click();
    await sees(["Ginkgo mine"]);
    expect(await stored(ID)).toContain("Ginkgo mine");
  });

  it("is hidden when deleted, and comes back on undo; otherwise it is gone", async () => {
    await place.plant([`${OTHER},Ginkgo,tree`, `${ID},Monstera,tropical`]);
    const { page, signIn, button, sees, reads } = await place.visit();
    await signIn();
    await sees(["Ginkgo", "Monstera"]);
    await button("Delete Ginkgo").click();
    await reads("“Ginkgo” will be deleted in 8 seconds.");
    await sees(["Monstera"]);
    expect(await stored(OTHER)).toContain("Ginkgo");
    await button("Undo").click();
    await sees(["Ginkgo", "Monstera"]);
    await page.clock.install();
    await button("Delete Monstera").click();
    await sees(["Ginkgo"]);
    await page.clock.fastForward(8_000);
    for (let tries = 0; tries < 200 && (await stored(ID)) !== "404"; tries += 1) await page.waitForTimeout(100);
    expect(await stored(ID)).toBe("404");
    expect(await stored(OTHER)).toContain("Ginkgo");
    await sees(["Ginkgo"]);
  });

  it("can be brought back while a dialog is open, which keeps the focus", async () => {
    await place.plant([`${OTHER},Ginkgo,tree`, `${ID},Monstera,tropical`]);
    const { page, signIn, button, field, sees, dialog } = await place.visit();
    await signIn();
    await button("Delete Ginkgo").click();
    await button("Add plant").click();
    await page.keyboard.type("1");
    expect(await field("Name").inputValue()).toBe("1");
    await dialog.getByRole("button", { name: "Undo" }).focus();
    await page.keyboard.press("Enter");
    await sees(["Ginkgo", "Monstera"]);
    expect(await page.evaluate<string>("document.activeElement.textContent")).toBe("Add a plant");
  });

  it("that is added again right after its deletion stays, by hand and from a file", async () => {
    await place.plant(["1,Acer,tree", `${OTHER},Ginkgo,tree`, `${ID},Monstera,tropical`]);
    const { page, signIn, button, field, reads, sees } = await place.visit();
    await signIn();
    await page.clock.install();
    await button("Delete Ginkgo").click();
    await button("Delete Monstera").click();
    await button("Add plant").click();
    await button("Choose the id").click();
    await field("Id").fill(OTHER);
    await field("Name").fill("Ginkgo");
    await field("Tag").fill("tree");
    await button("Save").click();
    await reads("“Ginkgo” is saved.");
    await button("Import").click();
    await field("Or paste the rows").fill(`id,name,tag\n${ID},Monstera,tropical\n`);
    await button("Preview the rows").click();
    await button("Import 1 plant").click();
    await reads("1 plant added.");
    await button("Done").click();
    await page.clock.fastForward(8_000);
    await sees(["Acer", "Ginkgo", "Monstera"]);
    expect([await stored(OTHER), await stored(ID)]).not.toContain("404");
  });

  it("stays when the second half of a double click lands on it after it moved into the row of a deleted one", async () => {
    await place.plant([`${OTHER},Ginkgo,tree`, `${ID},Monstera,tropical`]);
    const { signIn, button, sees } = await place.visit();
    await signIn();
    await sees(["Ginkgo", "Monstera"]);
    await button("Delete Ginkgo").dblclick();
    await sees(["Monstera"]);
    expect(await button("Undo").count()).toBe(1);
  });

  it("with a very long name can be brought back like any other", async () => {
    await place.plant([`${ID},${"Longleaf ".repeat(1_000)},tree`]);
    const { signIn, button, rows, reads } = await place.visit();
    await signIn();
    await button(/^Delete Longleaf/).click();
    await reads(`“${"Longleaf ".repeat(6)}Longle…” will be deleted in 8 seconds.`);
    await button("Undo").click();
    await rows.first().waitFor();
  });

  it("leaves the table when its dialog finds that someone deleted it", async () => {
    place.expectStatus(404);
    await place.plant([`${OTHER},Ginkgo,tree`, `${ID},Monstera,tropical`]);
    const { signIn, button, sees, reads } = await place.visit();
    await signIn();
    await sees(["Ginkgo", "Monstera"]);
    await place.service.request(`/plants/${OTHER}`, { method: "DELETE" });
    await button("Edit Ginkgo").click();
    await reads("This plant no longer exists: someone deleted it.");
    await sees(["Monstera"]);
  });

  it("leaves others that wait to be deleted when it is added again", async () => {
    await place.plant(["1,Acer,tree", `${OTHER},Ginkgo,tree`]);
    const { page, signIn, button, field, reads, sees } = await place.visit();
    await signIn();
    await page.clock.install();
    await button("Delete Ginkgo").click();
    await button("Delete Acer").click();
    await button("Add plant").click();
    await button("Choose the id").click();
    await field("Id").fill("1");
    await field("Name").fill("Aloe");
    await button("Save").click();
    await reads("“Aloe” is saved.");
    expect(await stored(OTHER)).toContain("Ginkgo");
    await button("Undo").click();
    await sees(["Aloe", "Ginkgo"]);
  });

  it("is kept if someone changed it before its deletion", async () => {
    await place.plant(["1,Acer,tree", `${OTHER},Ginkgo,tree`]);
    const { page, signIn, button, reads, sees } = await place.visit();
    await signIn();
    await page.clock.install();
    await button("Delete Ginkgo").click();
    await change(OTHER, '{"name":"Ginkgo biloba"}');
    await page.clock.fastForward(8_000);
    await reads("Someone changed “Ginkgo” in the meantime, so it was kept.");
    await sees(["Acer", "Ginkgo biloba"]);
    expect(await stored(OTHER)).toContain("Ginkgo biloba");
  });

  it("is deleted at once when you sign out", async () => {
    await place.plant([`${OTHER},Ginkgo,tree`]);
    const { signIn, button, field, choose } = await place.visit();
    await signIn();
    await button("Delete Ginkgo").click();
    await choose("Sign out");
    await field("Token").waitFor();
    expect(await stored(OTHER)).toBe("404");
  });
});
