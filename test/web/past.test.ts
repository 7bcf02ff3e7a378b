import { describe, expect, it } from "bun:test";
import { until } from "../support/until.ts";
import { rowsOf } from "../support/web/garden.ts";
import { usePlace } from "../support/web/place.ts";
import type { Visit } from "../support/web/visit.ts";

const place = usePlace();

const PLANTS = ["1,Acer,tree", "2,Ginkgo,tree"];

/** What the dialog says of changes, one after the other. */
const textsOf = ({ dialog }: Visit) => dialog.locator(".past-list > li").allInnerTexts();

describe("the history of a plant", () => {
  it("says what it was, when and by whom, marks what differs, and puts any of it back, with undo", async () => {
    const visit = await place.open(PLANTS);
    await place.put(1, { name: "Maple", tag: "tree" });
    await place.put(1, { name: "Maple", tag: "shrub" });
    await visit.steps("click Edit Maple > click History > reads Added");
    const [tag, name, added, ...others] = await textsOf(visit);
    expect(others).toEqual([]);
    expect(tag).toMatch(
      /^Changed \w+ \d+, \d{4}, .* by “first”\n+Before\n+Name\n+Maple\n+Tag\n+tree\n+Put this back\n+After\n+Name\n+Maple\n+Tag\n+shrub/,
    );
    expect(name).toMatch(/Before\n+Name\n+Acer\n+Tag\n+tree\n+Put this back\n+After\n+Name\n+Maple\n+Tag\n+tree/);
    expect(added).toMatch(/^Added .*, in an import\n+Added\n+Name\n+Acer\n+Tag\n+tree$/);
    expect(await visit.dialog.locator(".plants-differs").allInnerTexts()).toEqual(["tree", "shrub", "Acer", "Maple"]);
    await visit.steps("click Put this back: Acer, tree > reads “Acer” is put back.");
    expect(await place.stored("q=acer")).toEqual([{ id: 1, name: "Acer", tag: "tree" }]);
    await until("it is a change as well", async () => (await textsOf(visit)).length === 4);
    await visit.dialog.getByRole("button", { name: "Undo" }).click();
    await visit.reads("Restored “Acer”.");
    expect(await place.stored("q=maple")).toEqual([{ id: 1, name: "Maple", tag: "shrub" }]);
    await visit.steps("click Back to the plant > holds Tag = shrub");
  });

  it("is paged, and text alone for those who may not write, who hear of no token's name", async () => {
    await place.plant(PLANTS);
    for (let at = 0; at < 24; at += 1) await place.put(1, { name: `Acer ${at}` });
    const { token } = await place.makeToken(["plants:read"]);
    const visit = await place.visit("/#history=1");
    await visit.signIn(token);
    await visit.reads("Changed");
    expect(await textsOf(visit)).toHaveLength(20);
    await visit.steps("click Earlier > reads Added");
    const texts = await textsOf(visit);
    expect(texts).toHaveLength(25);
    expect(texts.join()).not.toContain("first");
    expect(await visit.dialog.getByRole("button", { name: /^Put/ }).count()).toBe(0);
  });

  it("is not offered to put back over what someone has changed since", async () => {
    const visit = await place.open(PLANTS);
    await place.put(1, { name: "Maple", tag: "tree" });
    await visit.sees(["Maple", "Ginkgo"]);
    const stop = await visit.fail(/\/plants\/changes\?/, 503);
    place.expectStatus(503);
    await visit.steps("click Edit Maple > click History > reads Added");
    await place.put(1, { name: "Theirs" });
    await visit.steps("click Put this back: Acer, tree > reads Someone changed “Maple” in the meantime, so it was kept.");
    expect(await place.stored("q=theirs")).toHaveLength(1);
    await stop();
  });

  it("moves no button when someone changes the plant, and shows that on request", async () => {
    await place.plant(PLANTS);
    await place.put(1, { name: "Maple" });
    const visit = await place.visit("/#history=1");
    await visit.hears(visit.signIn);
    const back = visit.button("Put this back: Acer, tree");
    await back.waitFor();
    const before = await back.boundingBox();
    await place.put(1, { name: "Theirs" });
    await visit.button("Show the latest change").waitFor();
    expect(await back.boundingBox()).toEqual(before);
    await visit.steps(
      "click Show the latest change > offers Put this back: Maple, no tag > click Put this back: Acer, tree > reads “Acer” is put back.",
    );
    expect(await place.stored("q=acer")).toHaveLength(1);
    await until("all is shown", async () => (await visit.button("Show the latest change").count()) === 0);
  });

  it("says where the service keeps no changes", async () => {
    place.expectStatus(501);
    const visit = await place.open(PLANTS);
    await visit.fail(/\/plants\/1\/changes/, 501);
    await visit.steps("click Edit Acer > click History > offers Try again > offers Back to the plant");
  });
});

describe("deleted plants", () => {
  it("are listed, the last one first, and restored one by one or together, with undo", async () => {
    const visit = await place.open(rowsOf(5));
    for (const id of [1, 2, 3]) await place.remove(id);
    await place.put(1, { name: "Again" });
    await place.remove(1);
    await visit.steps("choose Past changes > offers Restore Again");
    expect((await textsOf(visit)).map((text) => text.split("\n")[0])).toEqual(["Again", "Plant 3 tree", "Plant 2 tree"]);
    await visit.steps("click Restore Again > reads Restored “Again”.");
    for (const name of ["Plant 3", "Plant 2"]) await visit.dialog.getByRole("checkbox", { name: `Select ${name}`, exact: true }).click();
    await visit.steps("click Restore 2 plants > reads Restored 2 plants.");
    expect((await place.stored()).map(({ name }) => name)).toEqual(["Again", "Plant 2", "Plant 3", "Plant 4", "Plant 5"]);
    await visit.reads("No deleted plant is kept.");
    await visit.dialog.getByRole("button", { name: "Undo" }).last().click();
    await until("they are gone again", async () => (await place.stored()).length === 3);
  });
});

it("keeps the undo of what was done last in sight, and a mark of direction inside its name", async () => {
  const visit = await place.open([...rowsOf(20), "21,\u202Ecba,tree"], { viewport: { width: 390, height: 800 } });
  for (let id = 1; id <= 21; id += 1) await place.remove(id);
  await visit.steps("choose Past changes > click Restore Plant 20 > reads Restored “Plant 20”.");
  const undo = await visit.dialog.getByRole("button", { name: "Undo" }).boundingBox();
  expect(undo!.y + undo!.height).toBeLessThan(800);
  const row = visit.dialog.locator(".past-row").first();
  const [name, tag] = [await row.locator("bdi").boundingBox(), await row.locator(".chip").boundingBox()];
  expect(tag!.x).toBeGreaterThanOrEqual(name!.x + name!.width);
});

it("keeps what is below a name of 60 KB within reach", async () => {
  const long = "W".repeat(60_000);
  await place.put(1, { name: long });
  await place.put(1, { name: `${long}W` });
  const visit = await place.open(["2,Acer,tree"], { path: "/#history=1", viewport: { width: 390, height: 800 } });
  const heightOf = async (part: string) => (await visit.dialog.locator(part).first().boundingBox())!.height;
  await visit.reads("Added");
  expect(await heightOf(".past-list > li")).toBeLessThan(1_000);
  await place.remove(1);
  await visit.steps(`press Escape > leaves > choose Past changes > offers Restore ${long}W`);
  expect(await heightOf(".past-row")).toBeLessThan(500);
});

describe("an import", () => {
  it("is taken back after its result, but for what someone has changed since; done again, it goes on", async () => {
    const visit = await place.open(["1,Acer,tree", "2,Ginkgo,tree"]);
    const { page, steps, reads, dialog } = visit;
    await steps("paste id,name,tag\n1,Maple,tree\n2,Maidenhair,tree\n3,Oak,\n4,Elm,\n");
    await page.getByRole("checkbox", { name: /^Replace/ }).check();
    await steps("click Import 4 plants > reads 2 plants added, 2 replaced.");
    await place.put(2, { name: "Theirs" });
    await place.put(4, { name: "Theirs too" });
    await steps("click Take this import back > reads Took back 2 plants. Changed since, and left alone: 2 plants.");
    await reads("Not all was taken back. What someone has changed since stays as it is.");
    expect((await place.stored()).map(({ id, name }) => `${id} ${name}`)).toEqual(["1 Acer", "2 Theirs", "4 Theirs too"]);
    // Both are as the import has left them again.
    await place.put(2, { name: "Maidenhair", tag: "tree" });
    await place.put(4, { name: "Elm" });
    await steps("press Escape > leaves > choose Past changes > click Imports > reads 2 replaced");
    await reads("“Elm”, “Oak”");
    expect((await textsOf(visit))[0]).toMatch(/^2 plants added, 2 replaced\n+“Elm”, “Oak”\n+.* by “first”\n+Take this import back$/);
    await dialog.getByRole("button", { name: /^Take this import back: 2 plants added, 2 replaced/ }).click();
    await reads("Took back 2 plants. 2 plants needed no change.");
    expect(await place.stored()).toEqual([
      { id: 1, name: "Acer", tag: "tree" },
      { id: 2, name: "Ginkgo", tag: "tree" },
    ]);
  });

  it("is taken back only when someone asks for it: not again by a look at the deleted plants after an undo", async () => {
    const { steps, reads, dialog } = await place.open(["1,Acer,tree"]);
    await steps(
      "paste id,name\n2,Oak\n3,Elm\n > click Import 2 plants > reads 2 plants added. > click Take this import back > reads Took back 2 plants.",
    );
    await dialog.getByRole("button", { name: "Undo" }).click();
    // In the dialog: what is behind it no one can read.
    await dialog.getByText("Restored 2 plants.").waitFor();
    await steps("reads Restored 2 plants. > click Deleted plants > reads No deleted plant is kept. > click Imports > reads 2 plants added");
    const again = dialog.getByRole("button", { name: /^Take this import back: 2 plants added, / });
    await until("it can be taken back again", () => again.isEnabled());
    expect((await place.stored()).map(({ name }) => name)).toEqual(["Acer", "Oak", "Elm"]);
    await again.click();
    await reads("Took back 2 plants.");
  });

  it("is told apart by some of its plants, with no button moved when they come, from others of that minute with as many", async () => {
    for (let at = 0; at < 22; at += 1) await place.plant([`${at},Acer ${at},tree`, `${100 + at},Oak ${at},tree`]);
    const visit = await place.open();
    const examples = await visit.hold("GET", /^\/imports\/.*changes/);
    await visit.steps("choose Past changes > click Imports > reads 2 plants added");
    await examples.came;
    const [takes, earlier] = [visit.button(/^Take this import back/), visit.button("Earlier")];
    const heights = async () => (await takes.first().boundingBox())!.y - (await earlier.boundingBox())!.y;
    const before = await heights();
    examples.release();
    const textOf = (at: number) => `“Oak ${at}”, “Acer ${at}”`;
    await visit.reads(textOf(2));
    expect([await takes.count(), await heights()]).toEqual([20, before]);
    await visit.steps(`click Earlier > reads ${textOf(0)}`);
    const labels = await visit.page.evaluate<string[]>("Array.from(document.querySelectorAll('.past-row button'), (one) => one.ariaLabel)");
    const plants = labels.map((label) => /^Take this import back: 2 plants added, (.*), \w+ \d+, \d{4}, \d+:\d\d:\d\d/.exec(label)?.[1]);
    expect(plants).toEqual(Array.from({ length: 22 }, (_, at) => textOf(21 - at)));
    await takes.nth(20).click();
    await visit.reads("Took back 2 plants.");
    expect((await place.stored("q=1")).filter(({ name }) => name.endsWith(" 1"))).toEqual([]);
  });

  it("is told apart by some of its plants even where those of another one do not come", async () => {
    for (const id of [1, 2, 3]) await place.plant([`${id},Acer ${id},tree`]);
    const visit = await place.open();
    place.expectStatus(410);
    const [newest] = (await (await place.service.request("/imports")).json()) as [{ id: string }];
    await visit.fail(new RegExp(`/imports/${newest.id}/changes`), 410);
    await visit.steps("choose Past changes > click Imports > reads “Acer 2” > reads “Acer 1”");
    expect(await visit.dialog.locator(".past-examples").allInnerTexts()).toEqual(["", "“Acer 2”", "“Acer 1”"]);
  });

  it("is one though it was sent in slices, can be stopped while it is taken back, and goes on after the page was left", async () => {
    const visit = await place.open(["-1,Acer,tree"]);
    const { page, steps, reads, hold } = visit;
    await steps("click Import");
    await visit.upload("plants.csv", `id,name,tag\n${rowsOf(2_500).join("\n")}\n`);
    await steps(
      "click Import 2,500 plants > reads 2,500 plants added. > click Done > choose Past changes > click Imports > reads 1 plant added",
    );
    expect((await textsOf(visit)).map((text) => text.split("\n")[0])).toEqual(["2,500 plants added", "1 plant added"]);
    // The second thousand.
    let sent = 0;
    page.on("request", (request) => void (request.url().endsWith("/plants/changes") && (sent += 1)));
    await visit.dialog.getByRole("button", { name: /^Take this import back: 2,500 plants/ }).click();
    const second = await hold("POST", /^\/plants\/changes$/);
    await second.came;
    await visit.dialog.getByRole("button", { name: "Stop" }).click();
    second.release();
    await reads("You stopped it.");
    const left = (await (await place.service.request("/plants/count")).json()) as { plants: number };
    expect(left.plants).toBeGreaterThan(1);
    page.on("dialog", (asked) => void asked.accept());
    await steps("reload > click Imports > reads 1 plant added");
    await visit.dialog.getByRole("button", { name: /^Take this import back: 2,500 plants/ }).click();
    await reads("needed no change.");
    expect(await place.stored()).toEqual([{ id: -1, name: "Acer", tag: "tree" }]);
    expect(sent).toBeLessThan(10);
  });
});
