import { describe, expect, it } from "bun:test";
import type { Page } from "playwright-core";
import { until } from "../support/until.ts";
import { asks, hold } from "../support/web/hold.ts";
import type { Held } from "../support/web/hold.ts";
import { usePlace } from "../support/web/place.ts";
import { settle } from "../support/web/settle.ts";
import type { Visit } from "../support/web/visit.ts";

const place = usePlace();

const CHANGES = asks("POST", /^\/plants\/changes$/);
const CREATE = asks("POST", /^\/plants$/);
const LIST = asks("GET", /^\/plants\?/);

const REFUSED = '{"error":40101,"message":"It was revoked."}';

async function stored(): Promise<string> {
  return (await place.service.request("/plants?limit=1000")).text();
}

/** As somebody else does. */
async function put(id: number, body: string): Promise<void> {
  const init = { method: "PUT", body, headers: { "content-type": "application/json" } };
  expect((await place.service.request(`/plants/${id}`, init)).ok).toBe(true);
}

async function setTag({ button, field, dialog }: Visit, tag: string): Promise<void> {
  await button("Set tag").click();
  await field("Tag").fill(tag);
  await dialog.getByRole("button", { name: "Set tag" }).click();
}

/** Takes the tag of the selected plants away, which stays on its way. */
async function holdRemovalOfTag({ page, button }: Visit): Promise<Held> {
  const removal = await hold(page, CHANGES);
  await button("Remove tag").click();
  await removal.came;
  return removal;
}

/** As a change in another tab does. */
async function tellOfChange(page: Page, other: Page): Promise<void> {
  const name = JSON.stringify(`plant-store ${place.service.url}`);
  // It listens before anything is said.
  await page.evaluate(
    `new BroadcastChannel(${name}).addEventListener("message", () => (document.documentElement.dataset.heard = ""), { once: true })`,
  );
  await other.evaluate(`new BroadcastChannel(${name}).postMessage("changed")`);
  await page.locator("html[data-heard]").waitFor({ state: "attached" });
  await page.evaluate("delete document.documentElement.dataset.heard");
  await page.clock.runFor(1_000);
}

describe("on a slow connection", () => {
  it("a plant that is added under the id of one whose deletion is still on its way stays", async () => {
    await place.plant(["7,Acer,tree", "8,Ginkgo,tree"]);
    const { page, signIn, button, field, sees, reads } = await place.visit();
    await signIn();
    await sees(["Acer", "Ginkgo"]);
    const deletion = await hold(page, CHANGES);
    await page.clock.install();
    await button("Delete Acer").click();
    await page.clock.fastForward(9_000);
    await deletion.came;
    const events: string[] = [];
    page.on("request", (request) => void (CREATE(request) && events.push("it is sent")));
    page.on("response", (response) => void (CHANGES(response.request()) && events.push("the other one is deleted")));
    await button("Add plant").click();
    await field("Name").fill("Acer");
    await field("Tag").fill("tree");
    await button("Choose the id").click();
    await field("Id").fill("7");
    await button("Save").click();
    await button("Saving…").waitFor();
    deletion.release();
    await reads("“Acer” is saved.");
    expect(events).toEqual(["the other one is deleted", "it is sent"]);
    expect(await stored()).toContain("Acer");
  });

  it("a sign-out waits for a deletion for some seconds only", async () => {
    await place.plant(["7,Acer,tree"]);
    const { page, signIn, button, field, sees, choose } = await place.visit();
    await signIn();
    await sees(["Acer"]);
    const deletion = await hold(page, CHANGES);
    await page.clock.install();
    await page.clock.pauseAt((await page.evaluate<number>("Date.now()")) + 1_000);
    await button("Delete Acer").click();
    await choose("Sign out");
    await deletion.came;
    await page.clock.fastForward(5_000);
    await field("Token").waitFor();
    deletion.release();
    await until("it is deleted", async () => (await stored()) === "[]");
  });

  it("the late refusal of a token does not end the sign-in with the one after it", async () => {
    place.expectStatus(401);
    await place.plant(["7,Acer,tree"]);
    const init = {
      method: "POST",
      body: JSON.stringify({ name: "first", scopes: ["plants:read", "plants:write"] }),
      headers: { "content-type": "application/json" },
    };
    const { token } = (await (await place.service.request("/tokens", init)).json()) as { token: string };
    const { page, signIn, field, button, sees, dialog } = await place.visit();
    await signIn(token);
    await sees(["Acer"]);
    await page.route("**/*", (route) => {
      if (route.request().headers()["authorization"] !== `Bearer ${token}`) return route.fallback();
      return route.fulfill({ status: 401, contentType: "application/json", body: REFUSED });
    });
    // A question would be asked again with the token that comes next, and its response be given up.
    await page.getByRole("checkbox", { name: "Select Acer", exact: true }).click();
    const late = await hold(page, CHANGES);
    await button("Remove tag").click();
    await late.came;
    await button("Refresh").click();
    await dialog.waitFor();
    await field("Token").fill(place.service.token);
    await button("Sign in").click();
    await dialog.waitFor({ state: "detached" });
    const refused = page.waitForResponse((response) => response.status() === 401);
    late.release();
    await refused;
    await settle(page);
    expect(await dialog.count()).toBe(0);
    await page.reload();
    await sees(["Acer"]);
  });

  it("a sign-out in another tab holds in one that is just coming", async () => {
    await place.plant(["7,Acer,tree"]);
    const { page, button, field, sees } = await place.visit();
    await field("Token").fill(place.service.token);
    await page.getByLabel("Stay signed in on this device").check();
    await button("Sign in").click();
    await sees(["Acer"]);
    const other = await page.context().newPage();
    await other.goto(place.service.url);
    await other.getByRole("button", { name: "Settings" }).click();
    const session = await hold(page, asks("GET", /^\/session$/));
    await page.reload();
    await session.came;
    await other.getByRole("button", { name: "Sign out" }).click();
    await field("Token").waitFor();
    const answered = page.waitForResponse(/session$/);
    session.release();
    await answered;
    await settle(page);
    expect(await field("Token").count()).toBe(1);
    expect(await page.evaluate<number>("sessionStorage.length + localStorage.length")).toBe(0);
  });

  it("a change stays in sight when a list comes that was read before it, however long that was on its way", async () => {
    await place.plant(["7,Acer,tree", "8,Ginkgo,tree"]);
    const { page, signIn, button, field, sees } = await place.visit();
    await signIn();
    await sees(["Acer", "Ginkgo"]);
    await page.clock.install();
    await put(9, '{"name":"Salix"}');
    const list = await hold(page, LIST, "answer");
    await button("Refresh").click();
    await list.came;
    await button("Edit Ginkgo").click();
    await field("Name").fill("Maidenhair");
    await button("Save").click();
    await sees(["Acer", "Maidenhair"]);
    await page.clock.fastForward(5_000);
    list.release();
    await sees(["Acer", "Maidenhair", "Salix"]);
  });

  it("a change of somebody else stays in sight when an earlier one of one's own is answered after it", async () => {
    await place.plant(["7,Acer,tree", "8,Ginkgo,tree"]);
    const { page, signIn, button, field, sees, reads } = await place.visit();
    await signIn();
    await sees(["Acer", "Ginkgo"]);
    await button("Edit Acer").click();
    const saving = await hold(page, asks("PUT", /^\/plants\/7/), "answer");
    await field("Name").fill("Mine");
    await button("Save").click();
    await saving.came;
    await put(7, '{"name":"Theirs","tag":"tree"}');
    await page.keyboard.press("Escape");
    await button("Refresh").click();
    await sees(["Theirs", "Ginkgo"]);
    saving.release();
    await reads("“Mine” is saved.");
    await sees(["Theirs", "Ginkgo"]);
  });

  it("a change of somebody else stays in sight when an earlier one of many plants is answered after it", async () => {
    await place.plant(["7,Acer,tree", "8,Ginkgo,tree"]);
    const { page, signIn, button, sees, reads } = await place.visit();
    await signIn();
    await sees(["Acer", "Ginkgo"]);
    await page.getByRole("checkbox", { name: "Select all plants that are loaded" }).click();
    const changing = await hold(page, CHANGES, "answer");
    await button("Remove tag").click();
    await changing.came;
    await put(7, '{"name":"Theirs","tag":"herb"}');
    await button("Refresh").click();
    await sees(["Theirs", "Ginkgo"]);
    changing.release();
    await reads("2 plants are without a tag now.");
    await sees(["Theirs", "Ginkgo"]);
  });

  it("many plants that were deleted do not come back with a list that was read before", async () => {
    await place.plant(Array.from({ length: 300 }, (_, at) => `${at},Plant ${at},tree`));
    const { page, signIn, button, reads, sees } = await place.visit();
    await signIn();
    await reads("300 plants.");
    await page.clock.install();
    await page.getByRole("checkbox", { name: "Select all plants that are loaded" }).click();
    await page.getByRole("checkbox", { name: "Select Plant 0", exact: true }).click();
    await button("Delete selected").click();
    await put(999, '{"name":"Salix"}');
    const list = await hold(page, LIST, "answer");
    await button("Refresh").click();
    await list.came;
    await page.clock.fastForward(9_000);
    await reads("299 plants are deleted.");
    list.release();
    await sees(["Plant 0", "Salix"]);
  });

  it("nobody can go on with a plant as it was while what was typed is discarded", async () => {
    await place.plant(["7,Acer,tree"]);
    const { page, signIn, button, field, sees, dialog } = await place.visit();
    await signIn();
    await sees(["Acer"]);
    await button("Edit Acer").click();
    await field("Name").fill("Acer rubrum");
    await page.keyboard.press("Escape");
    await put(7, '{"name":"Acer","tag":"theirs"}');
    await button("Edit Acer").click();
    const read = await hold(page, asks("GET", /^\/plants\/7$/));
    await button("Discard it").click();
    await read.came;
    expect(await field("Name").count()).toBe(0);
    read.release();
    await field("Name").fill("Acer palmatum");
    await button("Save").click();
    await dialog.waitFor({ state: "detached" });
    expect(await stored()).toBe('[{"id":7,"name":"Acer palmatum","tag":"theirs"}]');
  });

  for (const { open, method } of [
    { open: "Add plant", method: "POST" },
    { open: "Edit Acer", method: "PUT" },
  ]) {
    it(`what is being saved cannot be typed on, and is kept as it says if it is cancelled and fails, after ${open}`, async () => {
      place.expectStatus(0);
      await place.plant(["7,Acer,tree"]);
      const { page, signIn, button, field, sees, reads } = await place.visit();
      await signIn();
      await sees(["Acer"]);
      await button(open).click();
      await field("Name").fill("Quercus");
      await page.route(/\/plants(\/7)?$/, (route) => route.abort());
      const saving = await hold(page, asks(method, /^\/plants/));
      await page.keyboard.press("Enter");
      await saving.came;
      await button("Saving…").waitFor();
      await page.keyboard.type(" rubra");
      expect(await field("Name").inputValue()).toBe("Quercus");
      await button("Cancel").click();
      saving.release();
      await reads("Saving “Quercus” failed, and what you typed is kept.");
      await page.unrouteAll({ behavior: "ignoreErrors" });
      await button(open).click();
      expect(await field("Name").inputValue()).toBe("Quercus");
    });
  }

  for (const { what, id } of [
    { what: "an id that the page made", id: undefined },
    { what: "an id that was typed", id: "77" },
  ]) {
    it(`a plant with ${what} is stored once, though responses were lost and its name was corrected twice`, async () => {
      place.expectStatus(0);
      const { page, signIn, button, field, reads, dialog } = await place.visit();
      await signIn();
      await button("Add a plant").click();
      await field("Name").fill("Ginko");
      if (id !== undefined) {
        await button("Choose the id").click();
        await field("Id").fill(id);
      }
      const { promise: isCreated, resolve: created } = Promise.withResolvers<unknown>();
      await page.route("**/plants", (route) => void route.fetch().then(created));
      await button("Save").click();
      await isCreated;
      // While it is still being saved.
      await page.reload();
      await page.unrouteAll({ behavior: "ignoreErrors" });
      await field("Name").fill("Ginkgo");
      await page.route("**/plants/changes", async (route) => {
        await route.fetch();
        await route.abort();
      });
      await button("Save").click();
      await reads("The service cannot be reached: check the connection, then try again.");
      await page.unrouteAll({ behavior: "ignoreErrors" });
      await field("Name").fill("Ginkgo biloba");
      await button("Save").click();
      await dialog.waitFor({ state: "detached" });
      const plants = (await (await place.service.request("/plants")).json()) as readonly { name: string }[];
      expect(plants.map(({ name }) => name)).toEqual(["Ginkgo biloba"]);
    });
  }

  it("a plant that was refused corrects none that has the id of its next try", async () => {
    place.expectStatus(409);
    await place.plant(["5,Fern,", "6,Rose,"]);
    const { signIn, button, field, reads, page } = await place.visit();
    await signIn();
    await button("Add plant").click();
    await button("Choose the id").click();
    await field("Name").fill("Rose");
    for (const { id, tag } of [
      { id: "5", tag: "" },
      { id: "6", tag: "shrub" },
    ]) {
      await field("Id").fill(id);
      await field("Tag").fill(tag);
      const refused = page.waitForResponse((response) => response.status() === 409);
      await button("Save").click();
      await refused;
      await reads("Another plant has this id");
    }
    expect(await (await place.service.request("/plants/6")).json()).toEqual({ id: 6, name: "Rose" });
  });

  it("a search that was begun since stays when a plant is saved behind it", async () => {
    await place.plant(["7,Acer,tree", "8,Ginkgo,"]);
    const { page, signIn, button, field, sees, reads } = await place.visit();
    await signIn();
    await sees(["Acer", "Ginkgo"]);
    await button("Add plant").click();
    await field("Name").fill("Quercus");
    const saving = await hold(page, CREATE);
    await button("Save").click();
    await saving.came;
    await page.keyboard.press("Escape");
    await field("Search names").fill("gink");
    await sees(["Ginkgo"]);
    saving.release();
    await reads("“Quercus” is saved.");
    await settle(page);
    expect(await field("Search names").inputValue()).toBe("gink");
    await sees(["Ginkgo"]);
  });

  it("a list that is read again is not given up when another tab changes something once more, and is read again after it", async () => {
    await place.plant(["7,Acer,tree"]);
    const { page, signIn, sees } = await place.visit();
    await signIn();
    await sees(["Acer"]);
    await page.clock.install();
    const other = await page.context().newPage();
    await other.goto(`${place.service.url}/livez`);
    const tell = () => tellOfChange(page, other);
    await put(8, '{"name":"Salix"}');
    const list = await hold(page, LIST, "answer");
    let lists = 0;
    page.on("request", (request) => void (LIST(request) && (lists += 1)));
    await tell();
    await list.came;
    await put(9, '{"name":"Ulmus"}');
    await tell();
    expect(lists).toBe(1);
    list.release();
    await sees(["Acer", "Salix"]);
    await page.clock.runFor(1_000);
    await sees(["Acer", "Salix", "Ulmus"]);
  });

  it("a list that is to be read again is read with the token of whoever has signed in since", async () => {
    place.expectStatus(401);
    await place.plant(["7,Acer,tree"]);
    const init = { method: "POST", body: '{"name":"reader","scopes":["plants:read"]}' };
    const { token } = (await (await place.service.request("/tokens", init)).json()) as { token: string };
    const { page, signIn, sees, field, button, dialog } = await place.visit();
    await signIn(token);
    await sees(["Acer"]);
    await page.clock.install();
    const other = await page.context().newPage();
    await other.goto(`${place.service.url}/livez`);
    await page.route("**/tags*", (route) => route.fulfill({ status: 401, contentType: "application/json", body: REFUSED }));
    const list = await hold(page, LIST, "answer");
    await tellOfChange(page, other);
    await list.came;
    await tellOfChange(page, other);
    await field("Token").fill(place.service.token);
    await page.unroute("**/tags*");
    await button("Sign in").click();
    await dialog.waitFor({ state: "detached" });
    await put(7, '{"name":"Theirs","tag":"tree"}');
    const tokens: Array<string | undefined> = [];
    page.on("request", (request) => void (LIST(request) && tokens.push(request.headers()["authorization"])));
    list.release();
    await settle(page);
    await page.clock.runFor(1_000);
    await sees(["Theirs"]);
    expect(tokens).toEqual([`Bearer ${place.service.token}`]);
  });

  it("the tags come, though they did not for a while", async () => {
    place.expectStatus(503);
    await place.plant(["7,Acer,tree"]);
    const { page, signIn, sees } = await place.visit();
    await page.clock.install();
    let refusals = 0;
    await page.route("**/tags*", (route) => {
      refusals += 1;
      return route.fulfill({ status: 503, headers: { "retry-after": "60" }, body: "" });
    });
    await signIn();
    await sees(["Acer"]);
    const goOn = () => page.clock.runFor(7_000);
    await until("they were refused three times", async () => {
      await goOn();
      return refusals >= 3;
    });
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await goOn();
    await page.locator(".tag-bars-bar", { hasText: "tree" }).waitFor();
  });

  it("a service that is silent is said not to respond, and what did not come comes when it is back", async () => {
    place.expectStatus(0);
    await place.plant(["7,Acer,tree"]);
    const { page, signIn, sees, field } = await place.visit();
    await signIn();
    await sees(["Acer"]);
    await page.clock.install();
    await page.route("**/*", () => undefined);
    await field("Search names").fill("acer");
    const isTold = () => page.getByText("The service does not respond.").isVisible();
    await until("it is told", async () => {
      await page.clock.runFor(5_000);
      return isTold();
    });
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await until("it is back", async () => {
      await page.clock.runFor(5_000);
      // What is tried once more may come after the sentence has gone.
      return !(await isTold()) && (await page.locator("td.plant-row-name").count()) === 1;
    });
    await sees(["Acer"]);
  });

  it("a plant that is deselected while all are being selected stays so", async () => {
    await place.plant(Array.from({ length: 300 }, (_, at) => `${at},Plant ${at},tree`));
    const { page, signIn, button, reads } = await place.visit();
    const more = await hold(page, asks("GET", /^\/plants\?.*after=/));
    await signIn();
    await reads("The first 100 are here");
    const box = (name: string) => page.getByRole("checkbox", { name, exact: true });
    await box("Select Plant 0").click();
    const all = await hold(page, asks("GET", /^\/plants\?.*limit=1000/));
    await button("Select all").click();
    await all.came;
    await box("Select Plant 3").click();
    await reads("99 plants selected");
    all.release();
    more.release();
    await reads("299 plants selected");
    expect(await box("Select Plant 3").isChecked()).toBe(false);
  });

  it("a selected plant that is deleted by itself is no longer selected", async () => {
    await place.plant(["1,A,tree", "2,B,tree", "3,C,tree"]);
    const { page, signIn, button, sees, reads } = await place.visit();
    await signIn();
    await sees(["A", "B", "C"]);
    await page.clock.install();
    await page.clock.pauseAt((await page.evaluate<number>("Date.now()")) + 1_000);
    await page.getByRole("checkbox", { name: "Select all plants that are loaded" }).click();
    await button("Delete A").click();
    await reads("2 plants selected");
    await button("Remove tag").click();
    await reads("2 plants are without a tag now.");
    await page.clock.fastForward(9_000);
    await until("only that one is deleted", async () => (await stored()) === '[{"id":2,"name":"B"},{"id":3,"name":"C"}]');
  });

  it("plants that are deleted while their tag is still being removed are deleted", async () => {
    await place.plant(["1,A,tree", "2,B,tree", "3,C,tree"]);
    const { page, signIn, button, sees, reads } = await place.visit();
    await signIn();
    await sees(["A", "B", "C"]);
    await page.clock.install();
    for (const name of ["A", "B"]) await page.getByRole("checkbox", { name: `Select ${name}`, exact: true }).click();
    const changing = await hold(page, CHANGES);
    await button("Remove tag").click();
    await changing.came;
    await button("Delete selected").click();
    await sees(["C"]);
    changing.release();
    await reads("2 plants are without a tag now.");
    await page.clock.fastForward(9_000);
    await reads("2 plants are deleted.");
    expect(await stored()).toBe('[{"id":3,"name":"C","tag":"tree"}]');
  });

  it("a second tag for plants whose first is still on its way follows it, and is undone to it", async () => {
    await place.plant(["1,A,tree", "2,B,tree"]);
    const visit = await place.visit();
    const { page, signIn, button, sees, reads } = visit;
    await signIn();
    await sees(["A", "B"]);
    await page.getByRole("checkbox", { name: "Select all plants that are loaded" }).click();
    const first = await hold(page, CHANGES);
    await setTag(visit, "shrub");
    await first.came;
    // That of before, which is what the list still says.
    await setTag(visit, "tree");
    first.release();
    await reads("2 plants are tagged “tree” now.");
    expect(await stored()).toBe('[{"id":1,"name":"A","tag":"tree"},{"id":2,"name":"B","tag":"tree"}]');
    // That of the first would only say that the plants have changed.
    expect(await button("Undo").count()).toBe(1);
    await button("Undo").click();
    await reads("2 plants are as before.");
    expect(await stored()).toBe('[{"id":1,"name":"A","tag":"shrub"},{"id":2,"name":"B","tag":"shrub"}]');
  });

  it("a second tag that was asked for before the first was over, and given afterwards, takes the plants as they are then", async () => {
    await place.plant(["1,A,tree"]);
    const visit = await place.visit();
    const { page, signIn, button, field, dialog, sees, reads } = visit;
    await signIn();
    await sees(["A"]);
    await page.getByRole("checkbox", { name: "Select A", exact: true }).click();
    const first = await holdRemovalOfTag(visit);
    await button("Set tag").click();
    await field("Tag").fill("herb");
    first.release();
    await reads("“A” is without a tag now.");
    await dialog.getByRole("button", { name: "Set tag" }).click();
    await reads("“A” is tagged “herb” now.");
  });

  it("a tag that waits leaves the undo of what was done meanwhile to other plants", async () => {
    await place.plant(["1,A,tree", "2,B,tree"]);
    const visit = await place.visit();
    const { page, signIn, button, sees, reads } = visit;
    await signIn();
    await sees(["A", "B"]);
    const select = (name: string) => page.getByRole("checkbox", { name: `Select ${name}`, exact: true }).click();
    await select("A");
    const first = await holdRemovalOfTag(visit);
    await setTag(visit, "herb");
    await select("A");
    await select("B");
    await button("Remove tag").click();
    await reads("“B” is without a tag now.");
    first.release();
    await reads("“A” is tagged “herb” now.");
    expect(await button("Undo").count()).toBe(2);
  });

  it("a tag that waits when the user signs out is not set, and offered to nobody to be undone", async () => {
    await place.plant(["1,A,tree"]);
    const visit = await place.visit();
    const { page, signIn, field, choose, sees, reads } = visit;
    await signIn();
    await sees(["A"]);
    await page.getByRole("checkbox", { name: "Select A", exact: true }).click();
    const first = await holdRemovalOfTag(visit);
    await setTag(visit, "herb");
    await choose("Sign out");
    await field("Token").waitFor();
    first.release();
    await reads("1 plant left as it was. You signed out before it was over.");
    expect(await page.evaluate("sessionStorage.getItem('plant-store-/-undos')")).toBeNull();
    expect(await stored()).not.toContain("herb");
  });

  it("neither a tag for other plants nor a deletion waits for a tag that is still on its way", async () => {
    await place.plant(["1,A,tree", "2,B,tree", "3,C,tree"]);
    const visit = await place.visit();
    const { page, signIn, button, sees, reads } = visit;
    await signIn();
    await sees(["A", "B", "C"]);
    const select = (name: string) => page.getByRole("checkbox", { name: `Select ${name}`, exact: true }).click();
    await select("A");
    const first = await holdRemovalOfTag(visit);
    // Only now: the first request keeps a real clock, which does not run out here.
    await page.clock.install();
    await select("A");
    await select("B");
    await button("Remove tag").click();
    await reads("“B” is without a tag now.");
    await button("Delete C").click();
    await page.clock.fastForward(9_000);
    await until("C is deleted", async () => (await stored()) === '[{"id":1,"name":"A","tag":"tree"},{"id":2,"name":"B"}]');
    first.release();
    await reads("“A” is without a tag now.");
  });

  it("plants that somebody else has changed meanwhile are kept by a second tag, which says so", async () => {
    await place.plant(["1,A,tree", "2,B,tree"]);
    const visit = await place.visit();
    const { page, signIn, sees, reads } = visit;
    await signIn();
    await sees(["A", "B"]);
    await page.getByRole("checkbox", { name: "Select all plants that are loaded" }).click();
    const first = await holdRemovalOfTag(visit);
    await setTag(visit, "herb");
    await put(1, '{"name":"Acer","tag":"tree"}');
    first.release();
    await reads("“B” is tagged “herb” now. Someone changed “A” in the meantime, so it was kept.");
    expect(await stored()).toBe('[{"id":1,"name":"Acer","tag":"tree"},{"id":2,"name":"B","tag":"herb"}]');
  });

  it("tokens are listed as they are, though the response to an earlier question comes last", async () => {
    for (const name of ["one", "two"]) {
      const init = {
        method: "POST",
        body: JSON.stringify({ name, scopes: ["plants:read"] }),
        headers: { "content-type": "application/json" },
      };
      await place.service.request("/tokens", init);
    }
    const { page, signIn, choose, dialog } = await place.visit();
    await signIn();
    await choose("Tokens");
    await dialog.getByRole("rowheader", { name: "two" }).waitFor();
    async function revoke(name: string): Promise<void> {
      await dialog.getByRole("button", { name: `Revoke ${name}` }).click();
      // A second click at once counts as a double click.
      await dialog.getByRole("button", { name: `Revoke for good? ${name}` }).press("Enter");
    }
    const earlier = await hold(page, asks("GET", /^\/tokens/), "answer");
    await revoke("one");
    await earlier.came;
    await revoke("two");
    const revoked = dialog.getByText(/^revoked /);
    await revoked.nth(1).waitFor();
    const answered = page.waitForResponse((response) => response.request().method() === "GET" && response.url().endsWith("/tokens"));
    earlier.release();
    await answered;
    await settle(page);
    expect(await revoked.count()).toBe(2);
  });

  it("a token that was made though the response was lost is in the list that one goes back to", async () => {
    place.expectStatus(0);
    const { page, signIn, choose, button, field, reads, dialog } = await place.visit();
    await signIn();
    await choose("Tokens");
    await button("New token").click();
    await field("Name").fill("robot");
    await page.route("**/tokens", async (route) => {
      await route.fetch();
      await route.abort();
    });
    await button("Create token").click();
    await reads("The service cannot be reached: check the connection, then try again.");
    await page.unrouteAll({ behavior: "wait" });
    await button("Back").click();
    await dialog.getByRole("rowheader", { name: "robot" }).waitFor();
    expect(await dialog.getByRole("alert").count()).toBe(0);
  });

  it("a reload shows where the plants will be, before it is known who is signed in", async () => {
    await place.plant(["7,Acer,tree"]);
    const { page, signIn, sees } = await place.visit();
    await signIn();
    await sees(["Acer"]);
    const session = await hold(page, asks("GET", /^\/session$/));
    await page.reload();
    await session.came;
    await page.locator(".skeleton").waitFor();
    expect((await page.locator(".skeleton").boundingBox())!.height).toBeGreaterThan(100);
    session.release();
    await sees(["Acer"]);
  });
});
