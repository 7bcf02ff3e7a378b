import { describe, expect, it } from "bun:test";
import type { Route } from "playwright-core";
import { usePlace } from "../support/web/place.ts";
import type { Visit } from "../support/web/visit.ts";
import { asksBeforeClosing } from "../support/web/closing.ts";

const place = usePlace();

const GINKGO = ["1,Acer,tree", "2,Ginkgo,tree"];

describe("what is typed", () => {
  for (const leave of ["Escape", "a reload", "Back"]) {
    it(`for a new plant is there again after ${leave}, until it is saved`, async () => {
      await place.plant(GINKGO);
      const { page, signIn, button, field, sees, reads, dialog } = await place.visit();
      page.on("dialog", (asked) => void asked.accept());
      await signIn();
      await sees(["Acer", "Ginkgo"]);
      await button("Add plant").click();
      await field("Name").fill("Quercus robur");
      await field("Tag").fill("oak");
      const id = /\d{11}/.exec(await dialog.innerText())?.[0] ?? "none";
      if (leave === "a reload") await page.reload();
      else {
        await (leave === "Escape" ? page.keyboard.press("Escape") : page.goBack());
        await dialog.waitFor({ state: "detached" });
        await button("Add plant").click();
      }
      await reads("What you typed before is back.");
      expect([await field("Name").inputValue(), await field("Tag").inputValue()]).toEqual(["Quercus robur", "oak"]);
      expect(await dialog.innerText()).toContain(id);
      await button("Save").click();
      await sees(["Acer", "Ginkgo", "Quercus robur"]);
      await button("Add plant").click();
      expect(await field("Name").inputValue()).toBe("");
    });
  }

  it("can be discarded: by Cancel, and when it comes back", async () => {
    await place.plant(GINKGO);
    const { page, signIn, button, field, sees, dialog } = await place.visit();
    await signIn();
    await sees(["Acer", "Ginkgo"]);
    await button("Add plant").click();
    await field("Name").fill("Quercus robur");
    await button("Cancel").click();
    await button("Add plant").click();
    expect(await field("Name").inputValue()).toBe("");
    await field("Name").fill("Quercus robur");
    await page.keyboard.press("Escape");
    await button("Edit Ginkgo").click();
    await field("Name").fill("Ginkgo biloba");
    await page.keyboard.press("Escape");
    await button("Edit Ginkgo").click();
    expect(await field("Name").inputValue()).toBe("Ginkgo biloba");
    await dialog.getByRole("button", { name: "Discard it" }).click();
    expect(await field("Name").inputValue()).toBe("Ginkgo");
  });

  it("for a change does not overwrite what someone else saved before it came back", async () => {
    place.expectStatus(412);
    await place.plant(GINKGO);
    const { page, signIn, button, field, sees, reads } = await place.visit();
    await signIn();
    await sees(["Acer", "Ginkgo"]);
    await button("Edit Ginkgo").click();
    await field("Name").fill("Ginkgo mine");
    await page.keyboard.press("Escape");
    const headers = { "content-type": "application/json" };
    await place.service.request("/plants/2", { method: "PUT", body: '{"name":"Ginkgo theirs"}', headers });
    await button("Edit Ginkgo").click();
    await button("Save").click();
    await reads("Someone changed this plant in the meantime.");
    await reads("Ginkgo theirs");
  });

  it("or pasted to be imported is there again after Escape, until it is imported", async () => {
    await place.plant(GINKGO);
    const { page, signIn, button, field, sees, reads } = await place.visit();
    await signIn();
    await sees(["Acer", "Ginkgo"]);
    await button("Import").click();
    await field("Or paste the rows").fill("id,name\n3,Quercus\n");
    await page.keyboard.press("Escape");
    await button("Import").click();
    expect(await field("Or paste the rows").inputValue()).toBe("id,name\n3,Quercus\n");
    await button("Preview the rows").click();
    await button("Import 1 plant").click();
    await reads("1 plant added.");
    await button("Done").click();
    await sees(["Acer", "Ginkgo", "Quercus"]);
    await button("Import").click();
    expect(await field("Or paste the rows").inputValue()).toBe("");
  });

  it("for a new token is there again after Escape, Back and a reload, until it is made or discarded", async () => {
    const { page, signIn, button, field, reads, dialog, choose } = await place.visit();
    page.on("dialog", (asked) => void asked.accept());
    await signIn();
    await choose("Tokens");
    await button("New token").click();
    await field("Name").fill("Anna's phone");
    await page.getByLabel("add, change, delete and import plants").uncheck();
    await field("Days until it expires").fill("30");
    for (const leave of ["Escape", "Back", "a reload", "the form's button"]) {
      if (leave === "a reload") await page.reload();
      else if (leave === "the form's button") await button("Back").click();
      else {
        await (leave === "Escape" ? page.keyboard.press("Escape") : page.goBack());
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
    await field("Name").fill("Ben's phone");
    await button("Back").click();
    await button("New token").click();
    await dialog.getByRole("button", { name: "Discard it" }).click();
    expect(await field("Name").inputValue()).toBe("");
  });

  it("or pasted is there again after Escape where the browser has no room for it, and as it was last", async () => {
    const { page, signIn, button, field, choose } = await place.visit();
    await signIn();
    await button("Import a file").click();
    await field("Or paste the rows").fill("id,name\n3,Quercus\n");
    await page.evaluate(`{
      const { setItem } = Storage.prototype;
      Storage.prototype.setItem = function (name, text) {
        if (name.includes("typed")) throw new DOMException("It is full.", "QuotaExceededError");
        setItem.call(this, name, text);
      };
    }`);
    await field("Or paste the rows").fill("id,name\n3,Quercus\n4,Acer\n");
    await page.keyboard.press("Escape");
    await button("Import a file").click();
    expect(await field("Or paste the rows").inputValue()).toBe("id,name\n3,Quercus\n4,Acer\n");
    await page.keyboard.press("Escape");
    await choose("Sign out");
    await signIn();
    await button("Import a file").click();
    expect(await field("Or paste the rows").inputValue()).toBe("");
  });

  it("or pasted and refused is not forgotten", async () => {
    const { page, signIn, button, field, reads } = await place.visit();
    await signIn();
    await button("Import a file").click();
    await field("Or paste the rows").fill("id,name\n3,Quercus\nx,Acer\n");
    await button("Preview the rows").click();
    await button("Import 1 plant").click();
    await reads("1 plant added, 1 refused.");
    await page.keyboard.press("Escape");
    await button("Import").click();
    expect(await field("Or paste the rows").inputValue()).toBe("id,name\n3,Quercus\nx,Acer\n");
  });

  it("is forgotten when you sign out", async () => {
    await place.plant(GINKGO);
    const { page, signIn, button, field, sees, choose } = await place.visit();
    await signIn();
    await sees(["Acer", "Ginkgo"]);
    await button("Add plant").click();
    await field("Name").fill("Quercus robur");
    await page.keyboard.press("Escape");
    await choose("Sign out");
    await field("Token").waitFor();
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
  });
});

describe("work whose dialog was closed before it ended", () => {
  /** Begins to save, closes the dialog, opens another one, and lets the request go on. */
  async function saveAndLeave({ page, dialog, button, field }: Visit, act: (route: Route) => Promise<void>): Promise<void> {
    const { promise: isAway, resolve: goOn } = Promise.withResolvers<void>();
    await page.route(/\/plants(\/\d+)?$/, async (route) => {
      if (route.request().method() === "GET") return route.continue();
      await isAway;
      return act(route);
    });
    await button("Save").click();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await button("Edit Acer").click();
    await field("Name").waitFor();
    goOn();
  }

  it("is told, and leaves open what was opened since: a plant that was saved, and one that was not", async () => {
    place.expectStatus(0);
    await place.plant(GINKGO);
    const visit = await place.visit();
    const { page, signIn, button, field, reads, dialog } = visit;
    await signIn();
    for (const name of ["Quercus robur", "Quercus rubra"]) {
      await button("Add plant").click();
      await field("Name").fill(name);
      const isLost = name === "Quercus rubra";
      await saveAndLeave(visit, (route) => (isLost ? route.abort("connectionreset") : route.continue()));
      await reads(
        isLost ? "Saving “Quercus rubra” failed, and what you typed is kept. The service cannot be" : "“Quercus robur” is saved.",
      );
      expect(await dialog.count()).toBe(1);
      await button("Cancel").click();
      await page.unrouteAll({ behavior: "wait" });
    }
    await button("Add plant").click();
    expect(await field("Name").inputValue()).toBe("Quercus rubra");
  });

  it("is told of a change that somebody else was faster with", async () => {
    place.expectStatus(412);
    await place.plant(GINKGO);
    const visit = await place.visit();
    const { signIn, button, field, reads } = visit;
    await signIn();
    await button("Edit Ginkgo").click();
    await field("Name").fill("Ginkgo mine");
    await saveAndLeave(visit, async (route) => {
      const headers = { "content-type": "application/json" };
      await place.service.request("/plants/2", { method: "PUT", body: '{"name":"Ginkgo theirs"}', headers });
      await route.continue();
    });
    await reads("Saving “Ginkgo mine” failed, and what you typed is kept. Someone changed it in the meantime.");
    expect(await field("Name").inputValue()).toBe("Acer");
  });

  it("is told of a token of which nobody knows whether it was made", async () => {
    place.expectStatus(0);
    const { page, signIn, button, field, reads, dialog, choose } = await place.visit();
    await signIn();
    await choose("Tokens");
    await button("New token").click();
    await field("Name").fill("phone");
    await page.route("**/tokens", async (route) => {
      await dialog.waitFor({ state: "detached" });
      await route.abort("connectionreset");
    });
    await button("Create token").click();
    await page.keyboard.press("Escape");
    await reads("The token “phone” may have been made: look at the list. The service cannot be reached");
  });

  it("is told all that an import has stored which Back has ended in its middle, and sees it", async () => {
    await place.plant(GINKGO);
    const { page, signIn, button, field, reads, dialog } = await place.visit();
    await signIn();
    await button("Import").click();
    const rows = Array.from({ length: 3_000 }, (_, at) => `${at + 100},Quercus`);
    await field("File to import").setInputFiles({ name: "many.csv", mimeType: "", buffer: Buffer.from(`id,name\n${rows.join("\n")}\n`) });
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

  it("is told what may be stored of an import that Back has ended", async () => {
    await place.plant(GINKGO);
    const { page, signIn, button, field, reads, dialog } = await place.visit();
    await signIn();
    await button("Import").click();
    await field("Or paste the rows").fill("id,name\n3,Quercus\n");
    await button("Preview the rows").click();
    await reads("If you import now: 1 new.");
    // Never answered.
    await page.route("**/plants/import*", () => {});
    await button("Import 1 plant").click();
    await reads("0 of 1");
    await page.goBack();
    await dialog.waitFor({ state: "detached" });
    await reads("The import stopped after 0 of 1 lines. Its dialog was closed. The next one may be saved too");
    await button("Import").click();
    expect(await field("Or paste the rows").inputValue()).toBe("id,name\n3,Quercus\n");
  });
});

describe("closing the tab", () => {
  it("asks first while a deletion can be undone, and no longer after that", async () => {
    await place.plant(GINKGO);
    const visit = await place.visit();
    const { signIn, sees, button } = visit;
    await signIn();
    await sees(["Acer", "Ginkgo"]);
    await button("Delete Ginkgo").click();
    await sees(["Acer"]);
    expect(await asksBeforeClosing(visit)).toBe(true);
    await button("Undo").click();
    await sees(["Acer", "Ginkgo"]);
    expect(await asksBeforeClosing(visit)).toBe(false);
  });

  it("asks first during an import", async () => {
    await place.plant(GINKGO);
    const visit = await place.visit();
    const { page, signIn, button, field, reads } = visit;
    await signIn();
    await button("Import").click();
    await field("Or paste the rows").fill("id,name\n3,Quercus\n");
    await button("Preview the rows").click();
    // Never answered.
    await page.route("**/plants/import*", () => {});
    await button("Import 1 plant").click();
    await reads("0 of 1");
    expect(await asksBeforeClosing(visit)).toBe(true);
  });

  it("asks first if rows are pasted and not imported", async () => {
    const visit = await place.visit();
    const { signIn, button, field, reads } = visit;
    await signIn();
    await button("Import a file").click();
    await field("Or paste the rows").fill("id,name\n3,Quercus\n");
    await button("Preview the rows").click();
    await reads("If you import now: 1 new.");
    expect(await asksBeforeClosing(visit)).toBe(true);
  });

  it("asks first if something is typed and not saved", async () => {
    await place.plant(GINKGO);
    const visit = await place.visit();
    const { signIn, button, field } = visit;
    await signIn();
    await button("Edit Ginkgo").click();
    await field("Name").fill("Ginkgo biloba");
    expect(await asksBeforeClosing(visit)).toBe(true);
  });

  it("does not ask if nothing would be lost", async () => {
    await place.plant(GINKGO);
    const visit = await place.visit();
    const { signIn, button, field } = visit;
    await signIn();
    await button("Edit Ginkgo").click();
    await field("Name").waitFor();
    expect(await asksBeforeClosing(visit)).toBe(false);
  });
});

describe("a dialog", () => {
  it("has an address: a link opens it, Back closes it, and closing it leaves no step behind", async () => {
    await place.plant(GINKGO);
    const { page, signIn, sees, address, field, button, dialog, rows } = await place.visit("/?tag=tree#plant=2");
    await signIn();
    await field("Name").waitFor();
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
    await dialog.waitFor({ state: "detached" });
    await page.waitForFunction("location.hash === ''");
    expect(address()).toBe("/?tag=tree");
    expect(await page.evaluate<number>("history.length")).toBe(steps + 1);
    await button("Remove the filter tree").click();
    await rows.filter({ hasText: "Acer" }).locator(".plant-row-id").click();
    await field("Name").waitFor();
    await page.keyboard.press("Escape");
    await page.waitForFunction("location.hash === ''");
    await page.goBack();
    expect(address()).toBe("/?tag=tree");
  });

  it("opens for no link to an id beyond 64 bits, which no plant has", async () => {
    await place.plant([`${2n ** 63n - 1n},Acer,`]);
    const { page, signIn, sees, dialog, field } = await place.visit(`/#plant=${2n ** 63n}`);
    await signIn();
    await sees(["Acer"]);
    expect(await dialog.count()).toBe(0);
    await page.evaluate(`location.hash = "#plant=${2n ** 63n - 1n}"`);
    expect(await field("Name").inputValue()).toBe("Acer");
  });

  it("shows the whole plant to those who may only read, and nothing that would change it", async () => {
    const name = "Longleaf ".repeat(60).trim();
    await place.plant([`7,${name},tree`]);
    const body = JSON.stringify({ name: "somebody", scopes: ["plants:read"] });
    const { token } = (await (await place.service.request("/tokens", { method: "POST", body })).json()) as { token: string };
    const { page, signIn, rows, dialog, field } = await place.visit();
    await signIn(token);
    await rows.first().click();
    await dialog.getByText(name).waitFor();
    expect(await field("Name").count()).toBe(0);
    expect(await dialog.getByRole("button").allInnerTexts()).toEqual(["", "Close"]);
    // A link to what the token does not allow opens nothing.
    for (const fragment of ["add", "import", "tokens"]) {
      await page.goto(`${place.service.url}/#${fragment}`);
      await rows.first().waitFor();
      expect(await dialog.count()).toBe(0);
    }
  });
});
