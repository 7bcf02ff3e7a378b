import { describe, expect, it } from "bun:test";
import { until } from "../support/until.ts";
import { usePlace } from "../support/web/place.ts";
import { asksBeforeClosing } from "../support/web/closing.ts";

const place = usePlace();

const TWO = ["1,Acer,tree", "2,Ginkgo,tree"];

describe("what is typed", () => {
  it("for a new plant is there again after Escape, Back and a reload, until it is saved or discarded", async () => {
    await place.plant(TWO);
    const { page, signIn, button, field, enter, sees, reads, dialog } = await place.visit();
    page.on("dialog", (asked) => void asked.accept());
    await signIn();
    await button("Add plant").click();
    await enter({ Name: "Quercus robur", Tag: "oak" });
    const id = /\d{11}/.exec(await dialog.innerText())?.[0] ?? "none";
    for (const leave of ["Escape", "Back", "a reload"]) {
      if (leave === "a reload") await page.reload();
      else {
        await (leave === "Escape" ? page.keyboard.press("Escape") : page.goBack());
        await dialog.waitFor({ state: "detached" });
        await button("Add plant").click();
      }
      await reads("What you typed before is back.");
      expect([await field("Name").inputValue(), await field("Tag").inputValue()]).toEqual(["Quercus robur", "oak"]);
      expect(await dialog.innerText()).toContain(id);
    }
    await button("Save").click();
    await sees(["Acer", "Ginkgo", "Quercus robur"]);
    await button("Add plant").click();
    expect(await field("Name").inputValue()).toBe("");
    await enter({ Name: "Salix" });
    await button("Cancel").click();
    await button("Add plant").click();
    expect(await field("Name").inputValue()).toBe("");
  });

  it("for a change can be discarded when it is back, and overwrites nothing that someone saved before", async () => {
    place.expectStatus(412);
    await place.plant(TWO);
    const { page, signIn, button, field, enter, reads, dialog } = await place.visit();
    await signIn();
    await button("Edit Ginkgo").click();
    await enter({ Name: "Ginkgo biloba" });
    await page.keyboard.press("Escape");
    await button("Edit Ginkgo").click();
    expect(await field("Name").inputValue()).toBe("Ginkgo biloba");
    await dialog.getByRole("button", { name: "Discard it" }).click();
    expect(await field("Name").inputValue()).toBe("Ginkgo");
    await enter({ Name: "Ginkgo mine" });
    await page.keyboard.press("Escape");
    await place.put(2, { name: "Ginkgo theirs" });
    await button("Edit Ginkgo").click();
    await button("Save").click();
    await reads("Someone changed this plant in the meantime.");
    await reads("Ginkgo theirs");
  });

  it("or pasted to be imported is there again after Escape, even if some was refused, until all is imported or you sign out", async () => {
    const { page, signIn, button, field, reads, paste, choose } = await place.visit();
    await signIn();
    await paste("id,name\n3,Quercus\nx,Acer\n");
    await button("Import 1 plant").click();
    await reads("1 plant added, 1 refused.");
    await page.keyboard.press("Escape");
    await button("Import").click();
    expect(await field("Or paste the rows").inputValue()).toBe("id,name\n3,Quercus\nx,Acer\n");
    await field("Or paste the rows").fill("id,name\n4,Acer\n");
    await button("Preview the rows").click();
    await button("Import 1 plant").click();
    await reads("1 plant added.");
    await button("Done").click();
    await button("Import").click();
    expect(await field("Or paste the rows").inputValue()).toBe("");
    await field("Or paste the rows").fill("id,name\n5,Rosa\n");
    await page.keyboard.press("Escape");
    await choose("Sign out");
    await field("Token").waitFor();
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
  });

  it("for a new token is there again after Escape, a reload and the form's button, until it is made or discarded", async () => {
    const { page, signIn, button, field, enter, reads, dialog, choose } = await place.visit();
    page.on("dialog", (asked) => void asked.accept());
    await signIn();
    await choose("Tokens");
    await button("New token").click();
    await enter({ Name: "Anna's phone", "Days until it expires": "30" });
    await page.getByLabel("add, change, delete and import plants").uncheck();
    for (const leave of ["Escape", "a reload", "the form's button"]) {
      if (leave === "a reload") await page.reload();
      else if (leave === "the form's button") await button("Back").click();
      else {
        await page.keyboard.press("Escape");
        await dialog.waitFor({ state: "detached" });
        await choose("Tokens");
      }
      await button("New token").click();
      await reads("What you typed before is back.");
      expect([await field("Name").inputValue(), await field("Days until it expires").inputValue()]).toEqual(["Anna's phone", "30"]);
      expect(await page.getByLabel("add, change, delete and import plants").isChecked()).toBe(false);
    }
    await button("Create token").click();
    await field("The new token").waitFor();
    await button("New token").click();
    expect(await field("Name").inputValue()).toBe("");
    await enter({ Name: "Ben's phone" });
    await button("Back").click();
    await button("New token").click();
    await dialog.getByRole("button", { name: "Discard it" }).click();
    expect(await field("Name").inputValue()).toBe("");
  });
});

it("closing the tab asks first while something would be lost, and no longer after that", async () => {
  await place.plant(TWO);
  const visit = await place.visit();
  const { page, signIn, sees, button, enter, paste, reads, dialog } = visit;
  await signIn();
  await button("Delete Ginkgo").click();
  await sees(["Acer"]);
  expect(await asksBeforeClosing(visit)).toBe(true);
  await button("Undo").click();
  await button("Edit Ginkgo").click();
  await enter({ Name: "Ginkgo biloba" });
  expect(await asksBeforeClosing(visit)).toBe(true);
  await button("Cancel").click();
  await paste("id,name\n3,Quercus\n");
  await reads("If you import now: 1 new.");
  expect(await asksBeforeClosing(visit)).toBe(true);
  const { promise: isOver, resolve } = Promise.withResolvers<void>();
  await page.route("**/plants/import*", (route) => isOver.then(() => route.continue()));
  await button("Import 1 plant").click();
  await reads("0 of 1");
  expect(await asksBeforeClosing(visit)).toBe(true);
  resolve();
  await button("Done").click();
  await dialog.waitFor({ state: "detached" });
  await button("Edit Ginkgo").click();
  expect(await asksBeforeClosing(visit)).toBe(false);
});

it("a dialog has an address: a link opens it, Back closes it, and closing it leaves no step behind", async () => {
  await place.plant(TWO);
  const { page, signIn, sees, address, field, dialog, rows } = await place.visit("/?tag=tree#plant=2");
  await signIn();
  expect(await field("Name").inputValue()).toBe("Ginkgo");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  expect(address()).toBe("/?tag=tree");
  await sees(["Acer", "Ginkgo"]);
  const steps = await page.evaluate<number>("history.length");
  await rows.filter({ hasText: "Acer" }).locator(".plant-row-id").click();
  await field("Name").waitFor();
  expect(address()).toBe("/?tag=tree#plant=1");
  await page.goBack();
  await dialog.waitFor({ state: "detached" });
  await page.goForward();
  expect(await field("Name").inputValue()).toBe("Acer");
  await page.keyboard.press("Escape");
  await until("it is so on the page", () => page.evaluate<boolean>("location.hash === ''"));
  expect([address(), await page.evaluate<number>("history.length")]).toEqual(["/?tag=tree", steps + 1]);
  // No plant has an id beyond 64 bits.
  await page.evaluate(`location.hash = "#plant=${2n ** 63n}"`);
  await page.evaluate(`location.hash = "#plant=1"`);
  expect(await field("Name").inputValue()).toBe("Acer");
  expect(await dialog.count()).toBe(1);
});

it("what is saved after its dialog was closed is told, and leaves open what was opened since", async () => {
  place.expectStatus(0);
  await place.plant(TWO);
  const { page, signIn, button, field, enter, reads, dialog } = await place.visit();
  await signIn();
  for (const [name, said] of [
    ["Quercus robur", "“Quercus robur” is saved."],
    ["Quercus rubra", "Saving “Quercus rubra” failed, and what you typed is kept. The service cannot be"],
  ] as const) {
    await button("Add plant").click();
    await enter({ Name: name });
    const { promise: isAway, resolve: goOn } = Promise.withResolvers<void>();
    await page.route(/\/plants$/, (route) =>
      isAway.then(() => (name === "Quercus rubra" ? route.abort("connectionreset") : route.continue())),
    );
    await button("Save").click();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await button("Edit Acer").click();
    goOn();
    await reads(said);
    expect(await field("Name").inputValue()).toBe("Acer");
    await button("Cancel").click();
    await page.unrouteAll({ behavior: "wait" });
  }
  await button("Add plant").click();
  expect(await field("Name").inputValue()).toBe("Quercus rubra");
});

it("an import that Back has ended in its middle is told all that it has stored, and sees it", async () => {
  await place.plant(TWO);
  const { page, signIn, button, upload, reads, dialog } = await place.visit();
  await signIn();
  await button("Import").click();
  await upload("many.csv", `id,name\n${Array.from({ length: 3_000 }, (_, at) => `${at + 100},Quercus`).join("\n")}\n`);
  await reads("If you import now: 3,000 new.");
  let sent = 0;
  await page.route("**/plants/import*", async (route) => {
    sent += 1;
    const response = await route.fetch();
    // The second slice is stored, and its answer comes when the dialog is gone.
    if (sent === 2) await dialog.waitFor({ state: "detached" });
    await route.fulfill({ response }).catch(() => {});
  });
  await button("Import 3,000 plants").click();
  await reads("1,000 of 3,000");
  await page.goBack();
  await reads("The import stopped after 2,000 of 3,000 lines. Its dialog was closed. What was sent is saved");
  await reads("2,002 plants.");
  expect(await (await place.service.request("/plants/count")).json()).toMatchObject({ plants: 2_002 });
});
