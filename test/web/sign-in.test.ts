import { describe, expect, it } from "bun:test";
import { usePlace } from "../support/web/place.ts";
import type { Visit } from "../support/web/visit.ts";

const place = usePlace();

/** All that the browser keeps. */
function kept({ page }: Visit): Promise<object> {
  return page.evaluate("({ session: Object.values(sessionStorage), local: localStorage.length, cookie: document.cookie })");
}

const NOTHING = { session: [], local: 0, cookie: "" };

describe("signing in", () => {
  it("keeps the token only for this tab, hides it, and takes the next one after a wrong one", async () => {
    place.expectStatus(401);
    const visit = await place.visit();
    const { page, signIn, field, address, reads, click, steps } = visit;
    await field("Token").fill("plant_wrong");
    const security = () => page.evaluate<string>("getComputedStyle(document.querySelector('input')).webkitTextSecurity");
    expect(await security()).toBe("disc");
    await click("Show");
    expect(await security()).toBe("none");
    await steps("click Sign in > reads The service does not accept this token: it is mistyped, has expired or was revoked.");
    await steps("enter Token = two words > click Sign in > reads That is not a token");
    await signIn(`Authorization: Bearer ${place.service.token}\n`);
    await reads("Nothing grows here yet");
    // No one asked to stay signed in.
    expect(await kept(visit)).toEqual({ ...NOTHING, session: [place.service.token] });
    expect([address(), await page.getByText(/until \d/).count()]).toEqual(["/", 0]);
    await steps("reload > reads Nothing grows here yet");
  });

  it("lasts beyond the tab if asked to, in all tabs, until you sign out in one of them, which forgets what is typed", async () => {
    const visit = await place.visit();
    const { page, signIn, reads, field, openTab, steps } = visit;
    await page.getByLabel("Stay signed in on this device").check();
    await reads("The browser keeps the token until you sign out, and anyone who uses it can do what you can.");
    await signIn();
    await steps("click Add a plant > enter Name = Acer");
    const other = await openTab();
    await other.steps("reads Nothing grows here yet > choose Sign out");
    await field("Token").waitFor();
    expect(await kept(visit)).toEqual(NOTHING);
    await steps("reload > has Token");
  });

  it("is needed again, with the reason, after the token was revoked, and goes on with view, dialog and what is typed", async () => {
    place.expectStatus(401);
    await place.plant(["1,Monstera deliciosa,tropical", "2,Ginkgo biloba,tree"]);
    const short = await place.makeToken(["plants:read", "plants:write"]);
    const { page, signIn, field, dialog, steps } = await place.open([], {
      path: "/?tag=tropical",
      token: short.token,
      isDeaf: true,
    });
    await steps("sees Monstera deliciosa > paste id,name\n7,Tilia\n > reads If you import now: 1 new.");
    await place.revoke(short);
    await place.put(1, { name: "Monstera", tag: "tropical" });
    await steps("click Import 1 plant > reads The service no longer accepts this token: it has expired or was revoked.");
    // Escape does not get past it.
    for (let times = 0; times < 3; times += 1) await page.keyboard.press("Escape");
    await signIn();
    await field("Token").waitFor({ state: "detached" });
    await steps("click Continue > reads 1 plant added.");
    await dialog.getByRole("button", { name: "Done" }).click();
    // The list may have been old for hours.
    await steps("sees Monstera > at /?tag=tropical > click Edit Monstera > enter Name = Monstera adansonii > click Save");
    await steps("sees Monstera adansonii");
  });

  it("is needed again soon after the token was revoked, also where no one does anything", async () => {
    place.expectStatus(401);
    const short = await place.makeToken(["plants:read"]);
    const { steps } = await place.open(["1,Acer,tree"], { token: short.token });
    await place.revoke(short);
    await steps("reads The service no longer accepts this token: it has expired or was revoked.");
  });

  it("can be undone while the service is too busy to say who is signed in, and goes on when it is not", async () => {
    place.expectStatus(503);
    const visit = await place.open();
    const { page, reads, steps } = visit;
    await reads("Nothing grows here yet");
    await page.route("**/session", (route) => route.fulfill({ status: 503, json: { error: 50301, message: "" } }));
    await steps("reload > reads The service cannot reach its store");
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await steps("click Try again > reads Nothing grows here yet");
    await page.route("**/session", (route) => route.fulfill({ status: 503, json: { error: 50301, message: "" } }));
    await steps("reload > click Sign out > has Token");
    // A mark, that this token is signed out.
    expect(await kept(visit)).toEqual({ ...NOTHING, local: 1 });
  });
});

// A refused request logs an error in the browser's console, which fails the test: the page must not send one.
describe("the page", () => {
  /** Which kinds of buttons the page has, anywhere. */
  async function offered({ page, click }: Visit): Promise<readonly string[]> {
    const isBehindDialog = (await page.getByRole("dialog").count()) > 0;
    if (!isBehindDialog) await click("Account");
    const kinds = ["Add", "Edit", "Delete", "Import", "Export", "Tokens"];
    const counts = await Promise.all(kinds.map((kind) => page.getByRole("button", { name: new RegExp(`^${kind}`) }).count()));
    await page.keyboard.press(isBehindDialog ? "Shift" : "Escape");
    return kinds.filter((_, at) => counts[at]! > 0);
  }

  async function visitWith(scopes: readonly string[]): Promise<Visit> {
    const visit = await place.open([], { token: (await place.makeToken(scopes, 30)).token });
    return visit;
  }

  it("shows plants, whole too, to a token that may only read, and offers no change, not even by a link", async () => {
    const name = "Longleaf ".repeat(60).trim();
    await place.plant([`7,${name},tree`]);
    const visit = await visitWith(["plants:read"]);
    const { page, rows, boxes, dialog, field } = visit;
    await rows.first().waitFor();
    expect(await offered(visit)).toEqual(["Export"]);
    await boxes.click();
    const bar = page.getByRole("region", { name: "Selected plants" });
    expect(await bar.getByRole("button").allInnerTexts()).toEqual(["Save as", ""]);
    const headings = await page.getByRole("table", { name: "Plants" }).getByRole("columnheader").allInnerTexts();
    expect(headings).toEqual(["Selected", "Id", "Name", "Tag"]);
    await rows.first().click();
    await dialog.getByText(name).waitFor();
    expect(await field("Name").count()).toBe(0);
    expect(await dialog.getByRole("button").allInnerTexts()).toEqual(["", "History", "Close"]);
    for (const fragment of ["add", "import", "tokens"]) {
      await page.goto(`${place.service.url}/#${fragment}`);
      await rows.first().waitFor();
      expect(await dialog.count()).toBe(0);
    }
  });

  it("adds and imports plants for a token that may only write, and requests none", async () => {
    const visit = await visitWith(["plants:write"]);
    const { page, button, reads, steps } = visit;
    await page.clock.install();
    await reads("It can add and import plants.");
    expect(await offered(visit)).toEqual(["Add", "Import"]);
    await steps("click Add a plant > enter Name = Monstera > click Save > reads “Monstera” is saved.");
    await steps("paste id,name\n2,Ginkgo\n > click Import 1 plant > reads 1 plant added");
    // Tags are counted again six seconds after a change, for those who may see them.
    await page.clock.fastForward(7000);
    await button("Close").first().click();
    await reads("It can add and import plants.");
    expect(await place.stored()).toHaveLength(2);
  });

  it("begins with the tokens for one that may only manage them, and offers nothing else", async () => {
    const visit = await visitWith(["admin"]);
    const { dialog, click, steps } = visit;
    await dialog.locator("tbody tr").first().waitFor();
    await steps("click Done > reads It can create and revoke tokens.");
    expect(await offered(visit)).toEqual(["Tokens"]);
    await click("Manage tokens");
    await dialog.locator("tbody tr").first().waitFor();
  });
});
