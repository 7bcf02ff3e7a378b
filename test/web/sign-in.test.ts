import { describe, expect, it } from "bun:test";
import { usePlace } from "../support/web/place.ts";
import { toVisit } from "../support/web/visit.ts";

const place = usePlace();

/** As Firefox does where cookies are blocked. */
const BLOCK_ALL = `
  const deny = () => {
    throw new DOMException("The operation is insecure.", "SecurityError");
  };
  for (const name of ["localStorage", "sessionStorage"]) Object.defineProperty(globalThis, name, { get: deny });
  globalThis.BroadcastChannel = class {
    constructor() {
      deny();
    }
  };
`;
/** As Firefox does where a file of its profile is damaged. */
const BREAK_STORAGE = `
  for (const name of ["getItem", "setItem", "removeItem", "key"])
    Storage.prototype[name] = () => {
      throw new DOMException("", "NS_ERROR_FILE_CORRUPTED");
    };
`;

describe("signing in", () => {
  it("keeps the token only for this tab, not in the URL or anywhere else", async () => {
    const { page, signIn, address, reads } = await place.visit();
    await signIn();
    await reads("Nothing grows here yet");
    // Nobody asked to stay signed in.
    const kept = await page.evaluate("({ session: Object.values(sessionStorage), local: localStorage.length, cookie: document.cookie })");
    expect(kept).toEqual({ session: [place.service.token], local: 0, cookie: "" });
    expect(address()).toBe("/");
    await page.reload();
    await reads("Nothing grows here yet");
  });

  it("says that a token is not accepted, and accepts the next one", async () => {
    place.expectStatus(401);
    const { page, signIn, button, field, reads } = await place.visit();
    await field("Token").fill("plant_wrong");
    await button("Sign in").click();
    await reads("The service does not accept this token: it is mistyped, has expired or was revoked.");
    for (const none of ["two words", "x".repeat(20_000)]) {
      await field("Token").fill(none);
      await button("Sign in").click();
      await reads("That is not a token");
      await page.reload();
    }
    await signIn();
    await reads("Nothing grows here yet");
  });

  for (const [what, script] of [
    ["blocks what pages keep, and what their tabs tell each other", BLOCK_ALL],
    ["cannot read what pages keep", BREAK_STORAGE],
    ["has no channel between tabs", "delete globalThis.BroadcastChannel"],
  ] as const) {
    it(`works in a browser that ${what}`, async () => {
      await place.plant(["1,Ginkgo,"]);
      const { page, signIn, sees, button, field } = await place.visit();
      await page.addInitScript(script);
      await page.reload();
      await signIn();
      await button("Edit Ginkgo").click();
      await field("Name").fill("Ginkgo biloba");
      await button("Save").click();
      await sees(["Ginkgo biloba"]);
    });
  }

  it("is needed again, with the reason and the same view, after the token was revoked", async () => {
    place.expectStatus(401);
    await place.plant(["9007199254740993,Monstera deliciosa,tropical"]);
    const created = await place.service.request("/tokens", {
      method: "POST",
      body: JSON.stringify({ name: "short", scopes: ["plants:read", "plants:write"] }),
      headers: { "content-type": "application/json" },
    });
    const { id, token } = (await created.json()) as { id: string; token: string };
    const { page, signIn, field, reads, sees, address } = await place.visit("/?tag=tropical");
    await signIn(token);
    await sees(["Monstera deliciosa"]);
    await place.service.request(`/tokens/${id}`, { method: "DELETE" });
    // The service remembers a token for half a second.
    await page.waitForTimeout(700);
    await field("Search names").fill("mon");
    await reads("The service no longer accepts this token: it has expired or was revoked.");
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
    await signIn();
    await sees(["Monstera deliciosa"]);
    expect(address()).toBe("/?q=mon&tag=tropical");
  });

  it("leaves no word of a bad token in a dialog behind it, only that it was not done", async () => {
    place.expectStatus(401);
    const created = await place.service.request("/tokens", {
      method: "POST",
      body: JSON.stringify({ name: "short", scopes: ["plants:read", "plants:write"] }),
      headers: { "content-type": "application/json" },
    });
    const { id, token } = (await created.json()) as { id: string; token: string };
    const { page, signIn, button, field, reads, dialog } = await place.visit();
    await signIn(token);
    await button("Add a plant").click();
    await field("Name").fill("Ginkgo");
    await place.service.request(`/tokens/${id}`, { method: "DELETE" });
    // The service remembers a token for half a second.
    await page.waitForTimeout(700);
    await button("Save").click();
    await reads("The service no longer accepts this token: it has expired or was revoked.");
    await signIn();
    await page.getByRole("dialog", { name: "Sign in again" }).waitFor({ state: "detached" });
    await reads("This was not done, as you were not signed in any more: try again.");
    expect(await dialog.innerText()).not.toContain("token");
    await button("Save").click();
    await reads("“Ginkgo” is saved.");
  });

  for (const { pasted, what } of [
    { pasted: (token: string) => `Bearer ${token}`, what: "with its scheme" },
    { pasted: (token: string) => `Authorization: Bearer ${token}\n`, what: "with its whole header" },
    { pasted: (token: string) => `"${token}",`, what: "with the quotes of a file" },
    { pasted: (token: string) => ` “${token}” `, what: "with the quotes of a letter" },
    { pasted: (token: string) => `„${token}“.`, what: "with the quotes of a German sentence, and its full stop" },
    { pasted: (token: string) => `«\u00a0${token}\u00a0»`, what: "with the quotes of a French one" },
    { pasted: (token: string) => `(**${token}**)`, what: "with the marks of a chat" },
  ]) {
    it(`takes a token that is pasted ${what}`, async () => {
      const { page, signIn, reads } = await place.visit();
      await signIn(pasted(place.service.token));
      await reads("Nothing grows here yet");
      expect(await page.evaluate("Object.values(sessionStorage)")).toEqual([place.service.token]);
    });
  }

  it("says at once of a large paste that it is no token, also of one that is all commas", async () => {
    const { page, field, button, reads } = await place.visit();
    await field("Token").focus();
    await page.keyboard.insertText(`${",".repeat(200_000)}x`);
    await button("Sign in").click();
    await reads("That is not a token.");
  });

  it("hides the token, and shows it if asked to", async () => {
    const { page, field, button } = await place.visit();
    await field("Token").fill("plant_typed");
    const security = () => page.evaluate<string>("getComputedStyle(document.querySelector('input')).webkitTextSecurity");
    expect(await security()).toBe("disc");
    await button("Show").click();
    expect(await security()).toBe("none");
    await button("Hide").click();
    expect(await security()).toBe("disc");
  });

  it("lasts beyond the tab if asked to, in all tabs, until you sign out in one of them", async () => {
    const { page, signIn, reads, field, button } = await place.visit();
    expect(await page.getByLabel("Stay signed in on this device").isChecked()).toBe(false);
    await page.getByLabel("Stay signed in on this device").check();
    await reads("The browser keeps the token until you sign out, and anyone who uses it can do what you can.");
    await signIn();
    await reads("Nothing grows here yet");
    const other = await page.context().newPage();
    await other.goto(place.service.url);
    await other.getByText("Nothing grows here yet").waitFor();
    await other.getByRole("button", { name: "Settings" }).click();
    await other.getByRole("button", { name: "Sign out" }).click();
    await field("Token").waitFor();
    expect(await page.evaluate("localStorage.length + sessionStorage.length")).toBe(0);
    await page.reload();
    await field("Token").waitFor();
    expect(await button("Settings").count()).toBe(0);
  });

  it("of this tab alone ends in a tab that was signed in with the same token, and in no other", async () => {
    const init = { method: "POST", body: JSON.stringify({ name: "own", scopes: ["plants:read"] }) };
    const { token } = (await (await place.service.request("/tokens", init)).json()) as { token: string };
    const { page, signIn, field, choose } = await place.visit();
    await signIn();
    const [same, other] = await Promise.all(
      [place.service.token, token].map(async (typed) => {
        const visit = toVisit(await page.context().newPage(), typed);
        await visit.page.goto(place.service.url);
        await visit.signIn();
        await visit.button("Settings").waitFor();
        return visit;
      }),
    );
    await choose("Sign out");
    await field("Token").waitFor();
    await same!.field("Token").waitFor();
    await other!.page.reload();
    await other!.button("Settings").waitFor();
  });

  it("ends in a tab that was at another page too, with what was typed there, when you sign out in another tab", async () => {
    const { page, signIn, field, button } = await place.visit();
    await page.getByLabel("Stay signed in on this device").check();
    await signIn();
    await button("Add a plant").click();
    await field("Name").fill("Acer");
    page.on("dialog", (dialog) => void dialog.accept());
    await page.goto(`${place.service.url}/docs`);
    const other = await page.context().newPage();
    await other.goto(place.service.url);
    await other.getByRole("button", { name: "Settings" }).click();
    await other.getByRole("button", { name: "Sign out" }).click();
    await page.goBack();
    await field("Token").waitFor();
    expect(await page.evaluate("localStorage.length + sessionStorage.length")).toBe(0);
  });

  it("that the device keeps leaves what is typed when the reference is looked at in the same tab", async () => {
    const { page, signIn, field, button } = await place.visit();
    await page.getByLabel("Stay signed in on this device").check();
    await signIn();
    await button("Add a plant").click();
    await field("Name").fill("Acer");
    page.on("dialog", (dialog) => void dialog.accept());
    await page.goto(`${place.service.url}/docs`);
    await button("Sign out").waitFor();
    await page.goto(place.service.url);
    await button("Add a plant").click();
    expect(await field("Name").inputValue()).toBe("Acer");
  });

  it("with another token goes on where the first one ended: with the view, what is typed, and the dialog", async () => {
    place.expectStatus(401);
    await place.plant(["1,Monstera deliciosa,tropical", "2,Ginkgo biloba,tree"]);
    const body = JSON.stringify({ name: "short", scopes: ["plants:read", "plants:write"] });
    const { id, token } = (await (await place.service.request("/tokens", { method: "POST", body })).json()) as {
      id: string;
      token: string;
    };
    const { page, signIn, field, reads, sees, button, dialog } = await place.visit("/?tag=tropical");
    await signIn(token);
    await sees(["Monstera deliciosa"]);
    await button("Import").click();
    await field("Or paste the rows").fill("id,name\n7,Tilia\n");
    await button("Preview the rows").click();
    // All that the preview asks is answered before the token ends.
    await reads("If you import now: 1 new.");
    await place.service.request(`/tokens/${id}`, { method: "DELETE" });
    await page.waitForTimeout(700);
    await button("Import 1 plant").click();
    await reads("The service no longer accepts this token");
    // Escape does not get past it.
    for (let times = 0; times < 3; times += 1) await page.keyboard.press("Escape");
    await field("Token").fill(place.service.token);
    await button("Sign in").click();
    await field("Token").waitFor({ state: "detached" });
    await button("Continue").click();
    await reads("1 plant added.");
    await dialog.getByRole("button", { name: "Done" }).click();
    await sees(["Monstera deliciosa"]);
    await button("Edit Monstera deliciosa").click();
    await field("Name").fill("Monstera adansonii");
    await button("Save").click();
    await sees(["Monstera adansonii"]);
  });

  it("is needed again in another tab that stays signed in when that one notices it, with what is typed there", async () => {
    place.expectStatus(401);
    const init = { method: "POST", body: JSON.stringify({ name: "short", scopes: ["plants:read", "plants:write"] }) };
    const { id, token } = (await (await place.service.request("/tokens", init)).json()) as { id: string; token: string };
    const { page, field, button, dialog } = await place.visit();
    await field("Token").fill(token);
    await page.getByLabel("Stay signed in on this device").check();
    await button("Sign in").click();
    await button("Add a plant").click();
    await field("Name").fill("Ginkgo");
    const other = await page.context().newPage();
    await other.goto(place.service.url);
    await other.getByRole("button", { name: "Import a file" }).waitFor();
    await place.service.request(`/tokens/${id}`, { method: "DELETE" });
    // The service remembers a token for half a second.
    await page.waitForTimeout(700);
    await other.reload();
    await other.getByText("The service no longer accepts this token").waitFor();
    expect(await field("Name").inputValue()).toBe("Ginkgo");
    await button("Save").click();
    const again = page.getByRole("dialog", { name: "Sign in again" });
    await again.getByLabel("Token").fill(place.service.token);
    await again.getByRole("button", { name: "Sign in" }).click();
    await again.waitFor({ state: "detached" });
    expect(await field("Name").inputValue()).toBe("Ginkgo");
    await button("Save").click();
    await dialog.waitFor({ state: "detached" });
    await other.reload();
    await other.getByLabel("Token").waitFor();
  });

  it("is no longer asked for in front of what is typed, once another tab signs out after the token has ended", async () => {
    place.expectStatus(401);
    const init = { method: "POST", body: JSON.stringify({ name: "short", scopes: ["plants:read", "plants:write"] }) };
    const { id, token } = (await (await place.service.request("/tokens", init)).json()) as { id: string; token: string };
    const { page, field, button } = await place.visit();
    await field("Token").fill(token);
    await page.getByLabel("Stay signed in on this device").check();
    await button("Sign in").click();
    await button("Add a plant").click();
    const other = await page.context().newPage();
    await other.goto(place.service.url);
    await other.getByRole("button", { name: "Settings" }).click();
    await field("Name").fill("Ginkgo");
    await place.service.request(`/tokens/${id}`, { method: "DELETE" });
    // The service remembers a token for half a second.
    await page.waitForTimeout(700);
    await button("Save").click();
    await page.getByRole("dialog", { name: "Sign in again" }).waitFor();
    await other.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("dialog").first().waitFor({ state: "detached" });
    await field("Token").waitFor();
    expect(await page.evaluate("Object.keys(sessionStorage).filter((key) => key.includes('typed'))")).toEqual([]);
  });

  it("with a token of this tab alone ends none that the device keeps, and is not ended by one, whatever becomes of either", async () => {
    place.expectStatus(401);
    const init = { method: "POST", body: JSON.stringify({ name: "own", scopes: ["plants:read", "plants:write"] }) };
    const { id, token } = (await (await place.service.request("/tokens", init)).json()) as { id: string; token: string };
    const { page, signIn, field, button } = await place.visit();
    page.on("dialog", (dialog) => void dialog.accept());
    await signIn(token);
    await button("Add a plant").click();
    await field("Name").fill("Ginkgo");
    const page2 = await page.context().newPage();
    await page2.goto(place.service.url);
    const other = toVisit(page2, place.service.token);
    async function stay(): Promise<void> {
      await other.page.getByLabel("Stay signed in on this device").check();
      await other.signIn();
    }
    /** Whether the other tab is signed in after a reload. */
    async function isKept(): Promise<boolean> {
      await other.page.reload();
      await other.button("Settings").or(other.field("Token")).waitFor();
      return (await other.field("Token").count()) === 0;
    }
    await stay();
    await other.choose("Sign out");
    await other.field("Token").waitFor();
    // What the tab was told has come, as it is one more text of the same storage that tells it.
    await page.evaluate(`addEventListener("storage", ({ key }) => key === "told" && (document.documentElement.dataset.told = ""))`);
    await other.page.evaluate(`localStorage.setItem("told", "")`);
    await page.locator("html[data-told]").waitFor({ state: "attached" });
    expect(await field("Name").inputValue()).toBe("Ginkgo");
    await stay();
    await page.reload();
    expect(await field("Name").inputValue()).toBe("Ginkgo");
    await button("Cancel").click();
    await button("Settings").click();
    // Of the two tokens, only the other may do more.
    expect(await button("Tokens").count()).toBe(0);
    await button("Sign out").click();
    await field("Token").waitFor();
    expect(await isKept()).toBe(true);
    await signIn(token);
    await place.service.request(`/tokens/${id}`, { method: "DELETE" });
    // The service remembers a token for half a second.
    await page.waitForTimeout(700);
    await button("Add a plant").click();
    await field("Name").fill("Ginkgo");
    await button("Save").click();
    await page.getByRole("dialog", { name: "Sign in again" }).waitFor();
    expect(await isKept()).toBe(true);
  });

  it("is undone by a sign-out, which forgets the token", async () => {
    const { page, signIn, field, choose } = await place.visit();
    await signIn();
    await choose("Sign out");
    await field("Token").waitFor();
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
  });
});
