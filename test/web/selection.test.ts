import { readFileSync } from "node:fs";
import { describe, expect, it } from "bun:test";
import { CATALOGUE } from "../../contract/generated/error-catalogue.ts";
import { until } from "../support/until.ts";
import { asks, hold } from "../support/web/hold.ts";
import { usePlace } from "../support/web/place.ts";
import type { Visit } from "../support/web/visit.ts";

const place = usePlace();

type Plant = Readonly<{ id: number; name: string; tag?: string }>;

async function stored(query = "limit=1000"): Promise<readonly Plant[]> {
  return (await (await place.service.request(`/plants?${query}`)).json()) as readonly Plant[];
}

async function put(id: number, body: string): Promise<void> {
  const init = { method: "PUT", body, headers: { "content-type": "application/json" } };
  expect((await place.service.request(`/plants/${id}`, init)).status).toBe(200);
}

const TEN = Array.from({ length: 10 }, (_, at) => `${at + 1},Plant ${at + 1},${at % 2 === 0 ? "tree" : ""}`);

function box({ page }: Visit, at: number) {
  return page.getByRole("checkbox", { name: `Select Plant ${at}`, exact: true });
}

async function open(rows: readonly string[] = TEN, width = 1280): Promise<Visit> {
  await place.plant(rows);
  const visit = await place.visit("/", { viewport: { width, height: 740 } });
  await visit.signIn();
  await visit.rows.first().waitFor();
  return visit;
}

describe("plants that are selected", () => {
  it("get a tag, lose it, and are exactly as before after each undo, but for what somebody changed", async () => {
    const visit = await open();
    const { page, button, field, reads } = visit;
    const before = await stored();
    await box(visit, 2).click();
    await box(visit, 5).click({ modifiers: ["Shift"] });
    await reads("4 plants selected");
    await button("Set tag").click();
    await field("Tag").fill("herb");
    await page.getByRole("dialog").getByRole("button", { name: "Set tag" }).click();
    await reads("4 plants are tagged “herb” now.");
    expect((await stored()).map(({ tag }) => tag ?? "")).toEqual(["tree", "herb", "herb", "herb", "herb", "", "tree", "", "tree", ""]);
    await put(3, '{"name":"Theirs","tag":"herb"}');
    await button("Undo").click();
    await reads("3 plants are as before. Someone changed “Plant 3” in the meantime, so it was kept.");
    expect(await stored()).toEqual(before.map((plant) => (plant.id === 3 ? { id: 3, name: "Theirs", tag: "herb" } : plant)));
    await button("Remove tag").click();
    await reads("2 plants are without a tag now.");
    expect((await stored()).filter(({ tag }) => tag !== undefined).map(({ id }) => id)).toEqual([1, 7, 9]);
    await button("Undo").click();
    await reads("2 plants are as before.");
    expect(await stored()).toEqual(before.map((plant) => (plant.id === 3 ? { id: 3, name: "Theirs", tag: "herb" } : plant)));
  });

  it("lose their tag in the dialog that asks for one, when it is left empty as it says", async () => {
    const visit = await open();
    const { button, dialog, page, reads } = visit;
    await box(visit, 1).click();
    await box(visit, 3).click();
    await button("Set tag").click();
    await reads("Leave it empty to remove the tag.");
    await dialog.getByRole("button", { name: "Set tag" }).click();
    await reads("2 plants are without a tag now.");
    expect((await stored()).filter(({ tag }) => tag !== undefined).map(({ id }) => id)).toEqual([5, 7, 9]);
    await page.getByRole("button", { name: "Undo" }).click();
    await reads("2 plants are as before.");
  });

  it("that somebody deleted meanwhile stay deleted after an undo, which says so", async () => {
    const visit = await open();
    const { button, reads } = visit;
    await box(visit, 1).click();
    await box(visit, 7).click({ modifiers: ["Shift"] });
    await button("Remove tag").click();
    await reads("4 plants are without a tag now.");
    for (const id of [1, 3]) await place.service.request(`/plants/${id}`, { method: "DELETE" });
    await put(5, '{"name":"Theirs"}');
    await button("Undo").click();
    await reads(
      "“Plant 7” is as before. Someone changed “Plant 5” in the meantime, so it was kept. Someone deleted “Plant 1” and “Plant 3” in the meantime.",
    );
    expect((await stored()).map(({ id }) => id)).toEqual([2, 4, 5, 6, 7, 8, 9, 10]);
  });

  it("are deleted together, with an undo before and after", async () => {
    const visit = await open();
    const { page, button, reads, sees } = visit;
    const before = await stored();
    await page.getByRole("checkbox", { name: "Select all plants that are loaded" }).click();
    await reads("10 plants selected");
    await box(visit, 1).click();
    await reads("9 plants selected");
    await page.clock.install();
    await button("Delete selected").click();
    await sees(["Plant 1"]);
    await reads("9 plants will be deleted in 8 seconds.");
    expect(await button("Set tag").count()).toBe(0);
    await button("Undo").click();
    await sees(before.map(({ name }) => name));
    await page.getByRole("checkbox", { name: "Select all plants that are loaded" }).click();
    await box(visit, 1).click();
    await button("Delete selected").click();
    await page.clock.fastForward(9000);
    await reads("9 plants are deleted.");
    expect(await stored()).toHaveLength(1);
    await button("Undo").click();
    await reads("9 plants are as before.");
    expect(await stored()).toEqual(before);
    await sees(before.map(({ name }) => name));
  });

  it("leave to others what these have done, also when it is undone", async () => {
    const visit = await open();
    const { page, button, field, reads } = visit;
    await box(visit, 1).click();
    await box(visit, 4).click({ modifiers: ["Shift"] });
    await reads("4 plants selected");
    await put(2, '{"name":"Plant 2","tag":"herb"}');
    await button("Set tag").click();
    await field("Tag").fill("herb");
    await page.getByRole("dialog").getByRole("button", { name: "Set tag" }).click();
    await reads("3 plants are tagged “herb” now. “Plant 2” was so already.");
    await button("Undo").click();
    await reads("3 plants are as before.");
    expect((await stored("tag=herb")).map(({ id }) => id)).toEqual([2]);
    await page.clock.install();
    for (const id of [1, 2]) await place.service.request(`/plants/${id}`, { method: "DELETE" });
    await button("Delete selected").click();
    await page.clock.fastForward(9000);
    await reads("2 plants are deleted. 2 plants were so already.");
    await button("Undo").click();
    await reads("2 plants are as before.");
    expect((await stored()).map(({ id }) => id)).toEqual([3, 4, 5, 6, 7, 8, 9, 10]);
  });

  it("are selected, tagged and left by the keyboard alone", async () => {
    const visit = await open();
    const { page, reads, dialog } = visit;
    await box(visit, 3).focus();
    await page.keyboard.press("Space");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Shift+Space");
    await reads("3 plants selected");
    await page.keyboard.press("Enter");
    for (let tabs = 0; tabs < 5; tabs += 1) {
      await page.keyboard.press("Tab");
      if ((await page.evaluate<string>("document.activeElement.textContent")) === "Set tag") break;
    }
    await page.keyboard.press("Enter");
    await dialog.waitFor();
    await page.keyboard.type("herb");
    await page.keyboard.press("Enter");
    await reads("3 plants are tagged “herb” now.");
    expect((await stored("tag=herb&limit=100")).map(({ id }) => id)).toEqual([3, 4, 5]);
  });

  it("are saved as a file that imports the same", async () => {
    const visit = await open(['1,"a,""b",', '2,=1+1,""', "3,Plant 3,tree"]);
    const { page, button } = visit;
    const before = await stored();
    await page.getByRole("checkbox", { name: "Select all plants that are loaded" }).click();
    for (const [label, type] of [
      ["Save CSV", "text/csv"],
      ["Save NDJSON", "application/x-ndjson"],
    ] as const) {
      const [download] = await Promise.all([page.waitForEvent("download"), button(label).click()]);
      const body = await Bun.file(await download.path()).text();
      for (const { id } of before) await place.service.request(`/plants/${id}`, { method: "DELETE" });
      const init = { method: "POST", body, headers: { "content-type": type } };
      expect(await (await place.service.request("/plants/import", init)).json()).toMatchObject({ created: 3 });
      expect(await stored()).toEqual(before);
    }
  });

  it("are saved for a spreadsheet without formulas, with the mark of UTF-8", async () => {
    const { page, button } = await open(["2,=1+1,+2", "3,Plant 3,tree"]);
    await page.getByRole("checkbox", { name: "Select all plants that are loaded" }).click();
    const [download] = await Promise.all([page.waitForEvent("download"), button("Save for a spreadsheet").click()]);
    expect(download.suggestedFilename()).toEndWith(".csv");
    expect(readFileSync(await download.path(), "utf8")).toBe("\ufeffid,name,tag\n2,'=1+1,'+2\n3,Plant 3,tree\n");
  });

  it("may be all that is found, beyond what is loaded, and no others", async () => {
    const many = Array.from({ length: 2600 }, (_, at) => `${at + 1},Plant ${at + 1},${at % 2 === 0 ? "tree" : "herb"}`);
    const visit = await open(many);
    const { button, reads } = visit;
    await button(/^tree/).first().click();
    await reads(/^1,300 plants found/);
    await box(visit, 1).click();
    await button("Select all").click();
    await reads("1,300 plants selected");
    await button("Remove tag").click();
    await reads("1,300 plants are without a tag now.");
    expect(await stored("tag=tree&limit=1000")).toEqual([]);
    expect(await stored("tag=herb&limit=1000")).toHaveLength(1000);
    await button("Undo").click();
    await reads("1,300 plants are as before.");
    expect(((await (await place.service.request("/plants/export")).text()).match(/"tree"/g) ?? []).length).toBe(1300);
  });

  it("are at most half a million, and the page says that these are not all", async () => {
    const visit = await open();
    const { page, button, reads, rows } = visit;
    // A catalogue without an end. Each response brings ten times what was asked for: half a million take fewer of them.
    await page.route("**/plants?*", (route) => {
      const { searchParams } = new URL(route.request().url());
      const after = Number(searchParams.get("after") ?? 0);
      const limit = Number(searchParams.get("limit"));
      const count = 10 * limit;
      const body = Array.from({ length: count }, (_, at) => `{"id":${after + at + 1},"name":"P"}`).join();
      const link = `<?limit=${limit}&after=${after + count}>; rel="next"`;
      return route.fulfill({ body: `[${body}]`, contentType: "application/json", headers: { link } });
    });
    await button("Refresh").click();
    await rows.getByText("P", { exact: true }).first().waitFor();
    await page.getByRole("checkbox", { name: "Select P" }).first().click();
    await button("Select all").click();
    await page.getByText("500,000 plants selected. No more can be selected at once").waitFor({ timeout: 60_000 });
    expect(await button("Select all").count()).toBe(0);
    await button("Clear the selection").click();
    await page.getByRole("checkbox", { name: "Select P" }).first().click();
    await reads(/^1 plant selected$/);
  });

  it("are no longer selected in another view", async () => {
    const visit = await open();
    await box(visit, 1).click();
    await visit.reads("1 plant selected");
    await visit.button(/^tree/).first().click();
    await visit.page.getByText("1 plant selected").waitFor({ state: "detached" });
    expect(await visit.page.getByRole("checkbox", { checked: true }).count()).toBe(0);
  });

  it("of the list before are no longer selected when those of another view are there", async () => {
    const visit = await open();
    const { page, button, reads, sees } = visit;
    const { promise: isSelected, resolve: goOn } = Promise.withResolvers<void>();
    const isOfTag = ({ pathname, searchParams }: URL) => pathname === "/plants" && searchParams.get("tag") === "tree";
    await page.route(isOfTag, async (route) => {
      await isSelected;
      await route.continue();
    });
    await button(/^tree/).first().click();
    await page.waitForURL(/tag=tree/);
    await box(visit, 2).click();
    await reads("1 plant selected");
    goOn();
    await sees([1, 3, 5, 7, 9].map((at) => `Plant ${at}`));
    expect(await page.getByText("1 plant selected").count()).toBe(0);
    expect(await page.getByRole("checkbox", { checked: true }).count()).toBe(0);
  });

  it("are taken as they are when one of them was changed by itself, and has left the view", async () => {
    const visit = await open();
    const { page, button, field, reads, sees } = visit;
    await button(/^tree/).first().click();
    await sees(["Plant 1", "Plant 3", "Plant 5", "Plant 7", "Plant 9"]);
    await page.getByRole("checkbox", { name: "Select all plants that are loaded" }).click();
    await button("Edit Plant 1").click();
    await field("Tag").fill("herb");
    await button("Save").click();
    await sees(["Plant 3", "Plant 5", "Plant 7", "Plant 9"]);
    await button("Remove tag").click();
    await reads("5 plants are without a tag now.");
    expect((await stored()).filter(({ tag }) => tag !== undefined)).toEqual([]);
  });

  it("are no longer selected once the list is read again without them, as somebody has deleted them or put them elsewhere", async () => {
    const visit = await open();
    const { page, button, reads } = visit;
    await button(/^tree/).first().click();
    await reads("5 plants found.");
    await page.getByRole("checkbox", { name: "Select all plants that are loaded" }).click();
    await place.service.request("/plants/1", { method: "DELETE" });
    await put(3, '{"name":"Plant 3","tag":"herb"}');
    await put(5, '{"name":"Theirs","tag":"tree"}');
    await button("Refresh").click();
    await reads("3 plants selected");
    const [file] = await Promise.all([page.waitForEvent("download"), button("Save CSV").click()]);
    expect(readFileSync(await file.path(), "utf8")).toBe("id,name,tag\n5,Theirs,tree\n7,Plant 7,tree\n9,Plant 9,tree\n");
  });

  it("are not those that wait for their deletion", async () => {
    const visit = await open(Array.from({ length: 300 }, (_, at) => `${at + 1},Plant ${at + 1},`));
    const { page, button, reads, rows } = visit;
    // All others are asked for by themselves, and are not there yet.
    const more = await hold(page, asks("GET", /^\/plants\?limit=500/));
    await page.reload();
    await more.came;
    await rows.first().waitFor();
    await page.clock.install();
    await page.clock.pauseAt((await page.evaluate<number>("Date.now()")) + 1_000);
    await button("Delete Plant 3").click();
    await box(visit, 1).click();
    await button("Select all").click();
    await reads("299 plants selected");
    more.release();
  });

  it("are undone though the browser has sent their change twice by itself, and heard only that it was so already", async () => {
    const visit = await open();
    const { page, button, reads } = visit;
    const before = await stored();
    await page.getByRole("checkbox", { name: "Select all plants that are loaded" }).click();
    // As Chromium does when a connection that it has used before is reset after the service has got the request.
    await page.route("**/plants/changes", async (route) => {
      await route.fetch();
      await route.continue();
    });
    await button("Remove tag").click();
    await reads("5 plants were so already.");
    expect((await stored()).filter(({ tag }) => tag !== undefined)).toEqual([]);
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await button("Undo").click();
    await reads("5 plants are as before.");
    expect(await stored()).toEqual(before);
  });

  it("that others had changed already take no undo away from what was done before", async () => {
    const visit = await open();
    const { page, reads } = visit;
    const before = await stored();
    async function setTag(from: number, to: number): Promise<void> {
      await box(visit, from).click();
      await box(visit, to).click({ modifiers: ["Shift"] });
      await visit.button("Set tag").click();
      await visit.field("Tag").fill("herb");
      await page.getByRole("dialog").getByRole("button", { name: "Set tag" }).click();
    }
    await setTag(1, 2);
    await reads("2 plants are tagged “herb” now.");
    for (const id of [3, 4]) await put(id, `{"name":"Plant ${id}","tag":"herb"}`);
    await setTag(3, 4);
    await reads("2 plants were so already.");
    await page.locator(".notice", { hasText: "are tagged" }).getByRole("button", { name: "Undo" }).click();
    await reads("2 plants are as before.");
    expect((await stored()).slice(0, 2)).toEqual(before.slice(0, 2));
    expect((await stored("tag=herb")).map(({ id }) => id)).toEqual([3, 4]);
  });

  it("can be stopped on the way, and all of what was done is undone", async () => {
    const visit = await open(Array.from({ length: 3000 }, (_, at) => `${at + 1},Plant ${at + 1},tree`));
    const { page, button, reads } = visit;
    let requests = 0;
    const { promise: isStopped, resolve: goOn } = Promise.withResolvers<void>();
    await page.route("**/plants/changes", async (route) => {
      requests += 1;
      if (requests === 2) await isStopped;
      await route.continue();
    });
    await box(visit, 1).click();
    await button("Select all").click();
    await reads("3,000 plants selected");
    await button("Remove tag").click();
    await reads("1,000 of 3,000");
    await button("Stop").click();
    goOn();
    await reads(/You stopped it\. [\d,]+ plants left as they were\./);
    await page.unrouteAll({ behavior: "wait" });
    // Of those behind the second request, the client has read one ahead.
    expect((await stored("tag=tree&limit=1000")).length).toBeGreaterThanOrEqual(999);
    await button("Undo").click();
    await reads("plants are as before.");
    expect(((await (await place.service.request("/plants/export")).text()).match(/"tree"/g) ?? []).length).toBe(3000);
  });

  it("that may have been changed when the connection broke are undone too", async () => {
    place.expectStatus(0);
    const visit = await open();
    const { page, button, reads } = visit;
    const before = await stored();
    await page.getByRole("checkbox", { name: "Select all plants that are loaded" }).click();
    await page.route("**/plants/changes", async (route) => {
      // The service makes the changes, and nobody hears of it.
      await route.fetch();
      await route.abort("connectionreset");
    });
    await button("Remove tag").click();
    await reads("It is not certain that 5 plants are without a tag now.");
    await page.unrouteAll({ behavior: "wait" });
    expect((await stored()).filter(({ tag }) => tag !== undefined)).toEqual([]);
    await button("Undo").click();
    await reads("5 plants are as before.");
    expect(await stored()).toEqual(before);
  });

  for (const { what, says, answers } of [
    { what: "whose first answer was lost", says: "5 plants are without a tag now.", answers: ["lost", "told"] },
    { what: "that a service has made which failed then", says: "It is not certain that 5 plants are without a tag now.", answers: [500] },
    {
      what: "that were refused only when they were sent again",
      says: "It is not certain that 5 plants are without a tag now.",
      answers: ["lost", 403],
    },
    {
      what: "of which the service says that one may have failed",
      says: "It is not certain that “Plant 9” is without a tag now.",
      answers: ["failed"],
    },
  ] as const)
    it(`${what} are undone too`, async () => {
      for (const status of [0, 403, 500]) place.expectStatus(status);
      const visit = await open();
      const { page, button, reads } = visit;
      const before = await stored();
      await page.getByRole("checkbox", { name: "Select all plants that are loaded" }).click();
      let tries = 0;
      await page.route("**/plants/changes", async (route) => {
        const answer = answers[Math.min(tries, answers.length - 1)]!;
        tries += 1;
        const made = await route.fetch();
        if (answer === "told") return route.fulfill({ response: made });
        if (answer === "lost") return route.abort("connectionreset");
        if (answer !== "failed") return route.fulfill({ status: answer, json: { error: answer * 100, message: "Refused." } });
        const told = (await made.json()) as { outcomes: object[] };
        const { error, message } = CATALOGUE.store_unavailable;
        const failed = told.outcomes.map((one) => ("id" in one && one.id === 9 ? { id: 9, outcome: "failed", error, message } : one));
        return route.fulfill({ json: { ...told, outcomes: failed } });
      });
      await button("Remove tag").click();
      await reads(says);
      await page.unrouteAll({ behavior: "wait" });
      expect((await stored()).filter(({ tag }) => tag !== undefined)).toEqual([]);
      await button("Undo").click();
      await reads("5 plants are as before.");
      expect(await stored()).toEqual(before);
    });
});

describe("a tag", () => {
  it("is renamed everywhere, and back", async () => {
    const visit = await open(Array.from({ length: 1200 }, (_, at) => `${at + 1},Plant ${at + 1},${at < 1100 ? "tre" : "tree"}`));
    const { page, button, field, reads } = visit;
    await button(/^tre\b/)
      .first()
      .click();
    await button("Rename this tag…").click();
    await reads("Leave it empty to remove the tag.");
    await field("Tag").fill("tree ");
    await reads("100 plants have this tag already: nothing will tell them apart from these.");
    await button("Rename everywhere").click();
    await reads("1,100 plants are tagged “tree” now.");
    await reads("1,200 plants found.");
    expect(visit.address()).toBe("/?tag=tree");
    expect(await stored("tag=tre")).toEqual([]);
    await button("Undo").click();
    await reads("1,100 plants are as before.");
    const text = await (await place.service.request("/plants/export")).text();
    expect([text.match(/"tre"/g)!.length, text.match(/"tree"/g)!.length]).toEqual([1100, 100]);
    expect(await page.evaluate("sessionStorage.getItem('plant-store-/-renaming')")).toBeNull();
  });

  it("that is not among the thousand that are listed is still said to be that of a plant already", async () => {
    const visit = await open(Array.from({ length: 1200 }, (_, at) => `${at + 1},Plant ${at + 1},Bed ${at + 1001}`));
    const { button, field, reads } = visit;
    await button(/^Bed 1001/)
      .first()
      .click();
    await button("Rename this tag…").click();
    await field("Tag").fill("Bed 2200");
    await reads("1 plant has this tag already: nothing will tell it apart from these.");
    await field("Tag").fill("Bed 2201");
    await reads("Leave it empty to remove the tag.");
  });

  it("is not said to be in use because the one typed before it is", async () => {
    const { page, button, field, reads } = await open(["1,Acer,tree", "2,Salvia,herb"]);
    await button(/^tree/).first().click();
    await button("Rename this tag…").click();
    await field("Tag").fill("herb");
    await reads("1 plant has this tag already");
    const count = await hold(page, asks("GET", /^\/plants\/count\?tag=herbs/));
    await field("Tag").fill("herbs");
    await count.came;
    expect(await page.getByText("has this tag already").count()).toBe(0);
    count.release();
  });

  it("whose renaming a reload has cut off can be renamed to the end", async () => {
    const visit = await open(Array.from({ length: 2500 }, (_, at) => `${at + 1},Plant ${at + 1},tre`));
    const { page, button, field, reads } = visit;
    await button(/^tre\b/)
      .first()
      .click();
    await button("Rename this tag…").click();
    await field("Tag").fill("tree");
    let requests = 0;
    await page.route("**/plants/changes", (route) => (++requests > 1 ? undefined : route.continue()));
    await button("Rename everywhere").click();
    for (let tries = 0; tries < 200 && requests < 2; tries += 1) await page.waitForTimeout(50);
    page.on("dialog", (question) => void question.accept());
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.reload();
    await reads("Renaming the tag “tre” was cut off. Some plants still have it.");
    expect((await stored("tag=tree&limit=1000")).length).toBeGreaterThan(0);
    await button("Go on").click();
    await reads("plants are tagged “tree” now.");
    expect(await stored("tag=tre")).toEqual([]);
  });
});

it("a token that may only read can select and save plants, and nothing else", async () => {
  await place.plant(TEN);
  const init = { method: "POST", body: '{"name":"reader","scopes":["plants:read"]}', headers: { "content-type": "application/json" } };
  const { token } = (await (await place.service.request("/tokens", init)).json()) as { token: string };
  const visit = await place.visit();
  await visit.signIn(token);
  await box(visit, 1).click();
  const bar = visit.page.getByRole("region", { name: "Selected plants" });
  expect(await bar.getByRole("button").allInnerTexts()).toEqual(["Select all", "Save CSV", "Save NDJSON", "Save for a spreadsheet", ""]);
  expect(await visit.button("Rename this tag…").count()).toBe(0);
});

it("the bar of the selection fits 360 pixels, and covers no row", async () => {
  const visit = await open(
    Array.from({ length: 40 }, (_, at) => `${at + 1},Plant ${at + 1},tree`),
    360,
  );
  const { page, rows } = visit;
  await box(visit, 1).click();
  const bar = page.getByRole("region", { name: "Selected plants" });
  await bar.waitFor();
  expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBe(360);
  // The page makes room for the bar once it has a height.
  await until("The last row is above the bar", async () => {
    await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
    const last = (await rows.filter({ hasText: "Plant 40" }).boundingBox())!;
    return last.y + last.height <= (await bar.boundingBox())!.y + 1;
  });
  expect((await bar.boundingBox())!.height).toBeLessThan(150);
});
