import { describe, expect, it } from "bun:test";
import { askUntil } from "../support/until.ts";
import { listenTo } from "../support/web/hearing.ts";
import { usePlace } from "../support/web/place.ts";
import type { Visit } from "../support/web/visit.ts";

const place = usePlace();

const PLANTS = ["1,Acer,tree", "2,Rosa,herb", "3,Tilia,tree"];

async function open(): Promise<Visit & Readonly<{ heard: () => Promise<readonly string[]> }>> {
  await place.plant(PLANTS);
  const visit = await place.visit();
  await visit.signIn();
  await visit.sees(["Acer", "Rosa", "Tilia"]);
  await visit.page.getByRole("status").filter({ hasText: "3 plants." }).waitFor();
  return { ...visit, heard: await listenTo(visit.page) };
}

describe("a screen reader tells, once each,", () => {
  it("messages as they come, also beside those that stay", async () => {
    const { page, button, reads, heard, field, dialog } = await open();
    await page.getByRole("checkbox", { name: "Select Acer" }).check();
    await button("Set tag").click();
    await field("Tag").fill("herb");
    await dialog.getByRole("button", { name: "Set tag" }).click();
    await reads("Set the tag of “Acer” to “herb”.");
    expect((await heard()).filter((text) => text.includes("herb"))).toEqual(["Set the tag of “Acer” to “herb”."]);
    await button("Delete Rosa").click();
    await reads("“Rosa” will be deleted in 7 seconds.");
    expect(await heard()).toEqual(["“Rosa” will be deleted in 8 seconds."]);
    await button("Undo").last().click();
    await reads("“Rosa” is not deleted.");
    expect(await heard()).toEqual(["“Rosa” is not deleted."]);
  });

  it("how many plants are selected, from the first on", async () => {
    const { page, button, reads, heard } = await open();
    await page.getByRole("checkbox", { name: "Select Acer" }).check();
    await reads("1 plant selected");
    expect(await heard()).toEqual(["1 plant selected"]);
    await page.getByRole("checkbox", { name: "Select Tilia" }).check();
    await reads("2 plants selected");
    expect(await heard()).toEqual(["2 plants selected"]);
    await button("Clear the selection").click();
    await page.getByRole("checkbox", { name: "Select Rosa" }).check();
    await reads("1 plant selected");
    expect(await heard()).toEqual(["1 plant selected"]);
  });

  it("each step of an import", async () => {
    const { button, paste, reads, heard } = await open();
    await paste("id,name\n4,Quercus\nx,Bad\n");
    await reads("If you import now: 1 new, 1 refused.");
    const preview = (await heard()).filter((text) => !text.startsWith("Reading"));
    expect(preview).toEqual([
      "pasted is CSV with 1 plant and 1 line that will be refused. Nothing is stored yet.",
      "If you import now: 1 new, 1 refused.",
    ]);
    await button("Import 1 plant").click();
    await reads("1 plant added, 1 refused.");
    expect(await heard()).toEqual(["Importing. What was sent is saved, whatever happens.", "1 plant added, 1 refused."]);
  });

  it("what an import would do, not each thousand rows that the service is asked about", async () => {
    const { button, upload, reads, heard } = await open();
    await button("Import").click();
    const rows = Array.from({ length: 5_000 }, (_, at) => `${at + 10},Quercus\n`);
    await upload("oaks.csv", `id,name\n${rows.join("")}`);
    await reads("If you import now: 5,000 new.");
    expect((await heard()).filter((text) => text.includes("the service") || text.includes("new"))).toEqual([
      "If you import now: 5,000 new.",
    ]);
  });

  it("how many plants are found once nobody types any more, also if it is as many as before", async () => {
    const { field, heard } = await open();
    const hears = () => askUntil(heard, (texts) => texts.length > 0);
    await field("Search names").pressSequentially("ti");
    expect(await hears()).toEqual(["1 plant found."]);
    await field("Search names").pressSequentially("lia");
    expect(await hears()).toEqual(["1 plant found."]);
  });

  it("how many plants there are when they are read again, if that is not as before", async () => {
    const { page, button, sees, heard } = await open();
    const told = page.locator(".toolbar-found [role=status]");
    await Promise.all([page.waitForResponse(/\/plants\b/), button("Refresh").click()]);
    await page.locator("#plants[aria-busy=false]").waitFor();
    expect(await told.textContent()).toBe("3 plants.");
    await place.put(4, { name: "Zea" });
    await button("Refresh").click();
    await sees(["Acer", "Rosa", "Tilia", "Zea"]);
    expect(await askUntil(heard, (texts) => texts.length > 0)).toEqual(["4 plants."]);
  });

  it("that no plants match any more", async () => {
    const { button, field, sees, heard } = await open();
    await field("Search names").fill("tilia");
    await sees(["Tilia"]);
    await button("Delete Tilia").click();
    expect(await askUntil(heard, (texts) => texts.includes("No plants match."))).toContain("No plants match.");
  });

  it("that a tag is that of other plants already, as it is typed", async () => {
    const { button, field, dialog, reads, heard } = await open();
    await button(/^herb/).first().click();
    await button("Rename this tag…").click();
    await field("Tag").fill("tree");
    await reads("2 plants have this tag already");
    expect((await heard()).filter((text) => text.includes("tag"))).toEqual([
      "2 plants have this tag already: you will not be able to tell them apart from these.",
    ]);
    await dialog.getByRole("button", { name: "Cancel" }).click();
  });

  it("that a token is revoked, also where another of its name was", async () => {
    for (const _ of ["first", "second"]) await place.makeToken(["plants:read"], 30, "phone");
    const { page, button, choose, dialog, heard } = await open();
    await choose("Tokens");
    for (const revoked of [1, 2]) {
      await button("Revoke phone").first().click();
      // The focus stays on the button before the question, so only an alert tells of it.
      await page.getByRole("alert").getByRole("button", { name: "Revoke for good? phone" }).click();
      await dialog
        .getByText(/^revoked/)
        .nth(revoked - 1)
        .waitFor();
      expect(await heard()).toContain("“phone” is revoked.");
    }
  });
});

describe("a screen reader tells again, at each try,", () => {
  it("that a plant needs a name", async () => {
    const { button, reads, heard } = await open();
    await button("Add plant").click();
    for (const attempt of ["first", "second"]) {
      await button("Save").click();
      await reads("The plant needs a name");
      expect({ attempt, heard: await heard() }).toEqual({ attempt, heard: ["The plant needs a name: type one."] });
    }
  });

  it("that something is not a token", async () => {
    const { page, button, field, reads } = await place.visit();
    const heard = await listenTo(page);
    for (const attempt of ["first", "second"]) {
      await field("Token").fill("no token");
      await button("Sign in").click();
      await reads("That is not a token.");
      expect({ attempt, heard: await heard() }).toEqual({
        attempt,
        heard: ["That is not a token. A token is one word, such as plant_0aB1…"],
      });
    }
  });
});

it("the focus is on the heading of an empty store, after a sign-in and when the Undo of its last plant has gone", async () => {
  const visit = await place.visit();
  const readsHeading = async () => {
    await visit.reads("Nothing grows here yet");
    const focused = () => visit.page.evaluate("document.activeElement.tagName");
    expect(await askUntil(focused, (name) => name === "H1")).toBe("H1");
  };
  await visit.signIn();
  await readsHeading();
  await place.plant(["1,Acer,tree"]);
  await visit.page.reload();
  await visit.sees(["Acer"]);
  await visit.button("Delete Acer").press("Enter");
  await visit.button("Undo").focus();
  await readsHeading();
});

describe("a row that comes or goes", () => {
  it("changes none below it: a screen reader drops what it is told where too much changes at once", async () => {
    const { page, button, sees } = await open();
    await page.evaluate(`below = document.querySelectorAll("tbody tr")[2]`);
    const below = () => page.evaluate<string>(`below.isConnected + " " + below.querySelector(".plant-row-name").innerText`);
    await button("Delete Rosa").click();
    await sees(["Acer", "Tilia"]);
    expect(await below()).toBe("true Tilia");
    await button("Undo").click();
    await sees(["Acer", "Rosa", "Tilia"]);
    expect(await below()).toBe("true Tilia");
  });
});
