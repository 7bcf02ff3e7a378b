// What is changed on the page, by its state modules alone: tags and deletions of many plants, renaming, and what undoes them.
import { describe, expect, it } from "bun:test";
import { CATALOGUE } from "../../contract/generated/error-catalogue.ts";
import type { Plant } from "../../src/client/client.ts";
import { until } from "../support/until.ts";
import { rowsOf } from "../support/web/garden.ts";
import { plantOf, tellWindow, usePages } from "../support/web/page-state.ts";
import type { PageState } from "../support/web/page-state.ts";

const { open, service, stored, exported, put, remove, makeToken, revoke } = usePages();

const CHANGES = /^\/plants\/changes$/;
const TEN = rowsOf(10, (id) => (id % 2 === 1 ? "tree" : ""));
const AB = ["1,A,tree", "2,B,tree"];
const ABC = [...AB, "3,C,tree"];

async function tags(): Promise<Record<string, string | undefined>> {
  return Object.fromEntries((await stored()).map(({ name, tag }) => [name, tag]));
}

function count(text: string, word: string): number {
  return text.split(word).length - 1;
}

/** What is answered with this error. */
function refusal(status: number, error: number, message = "Refused."): Response {
  return Response.json({ error, message }, { status, headers: { "retry-after": "60" } });
}

/** Deletes plants once their undo is over. */
async function deleteNow(page: PageState, ...names: readonly string[]): Promise<void> {
  page.deletions.remove(page.find(...names));
  await page.deletions.flush();
}

/** All plants that are found, loaded or not. */
async function all(page: PageState): Promise<readonly Plant[]> {
  await page.ticks.tickFound();
  return page.ticks.seen();
}

/** Calls `act` before the second request that changes plants, or in its place. */
function beforeSecond(page: PageState, act: () => Promise<Response | undefined>): void {
  let requests = 0;
  page.route(({ path, go }) => (!CHANGES.test(path) || (requests += 1) !== 2 ? undefined : act().then((answer) => answer ?? go())));
}

// First: what is cut off in other tests holds the page for good.
it("an undo that is too large to be kept lets the browser ask before the tab is closed", async () => {
  const asksBeforeLeaving = () => !tellWindow("beforeunload");
  const page = await open(Array.from({ length: 40 }, (_, at) => `${at},${"n".repeat(60_000)} ${at},tree`));
  await page.tagging.setTag(page.listing.state.get().plants, undefined);
  expect(asksBeforeLeaving()).toBe(true);
  page.close();
  expect(asksBeforeLeaving()).toBe(false);
});

describe("a tag for many plants", () => {
  it("is set and removed, and undone exactly, except for plants that someone changed or deleted", async () => {
    const page = await open(TEN);
    const before = await stored();
    await page.tagging.setTag(page.find("Plant 2", "Plant 3", "Plant 4", "Plant 5"), "herb");
    expect(page.said()).toEqual(["Set the tag of 4 plants to “herb”."]);
    await put(3, { name: "Theirs", tag: "herb" });
    await page.undo("Restored 3 plants. Someone changed “Plant 3” in the meantime, so it was kept.");
    const theirs = { id: 3, name: "Theirs", tag: "herb" };
    expect(await stored()).toEqual(before.map((plant) => (plant.id === 3 ? theirs : plant)));
    await page.tagging.setTag(page.find("Plant 1", "Plant 5", "Plant 7", "Plant 8"), undefined);
    await page.reads("Removed the tag from 3 plants.");
    await remove(1);
    await put(5, { name: "Mine" });
    await page.undo(
      "Restored “Plant 7”. Someone changed “Plant 5” in the meantime, so it was kept. Someone deleted “Plant 1” in the meantime.",
    );
    expect((await stored()).map(({ id }) => id)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  it("leaves to others what they did first, and their undo to earlier changes", async () => {
    const page = await open(TEN);
    for (const id of [2, 9, 10]) await put(id, { name: `Plant ${id}`, tag: "herb" });
    await page.tagging.setTag(page.find("Plant 1", "Plant 2", "Plant 3", "Plant 4"), "herb");
    await page.reads("Set the tag of 3 plants to “herb”. “Plant 2” needed no change.");
    await page.tagging.setTag(page.find("Plant 9", "Plant 10"), "herb");
    await page.reads("2 plants needed no change.");
    page.press("Undo", "Set the tag");
    await page.reads("Restored 3 plants.");
    expect((await stored("tag=herb")).map(({ id }) => id)).toEqual([2, 9, 10]);
    expect(page.said()).not.toContain("There is nothing to change.");
    await page.tagging.setTag(page.find("Plant 2"), "herb");
    await page.reads("There is nothing to change.");
  });

  it("can be stopped on its way, and what was done is undone", async () => {
    const page = await open(rowsOf(3000));
    const plants = await all(page);
    const stopped = Promise.withResolvers<undefined>();
    beforeSecond(page, () => stopped.promise);
    const setting = page.tagging.setTag(plants, undefined);
    await until("its progress is shown", () => page.said().includes("Changing the tag…"));
    page.press("Stop");
    stopped.resolve(undefined);
    await setting;
    await page.reads("You stopped it.");
    expect(page.said().join()).toMatch(/[\d,]+ plants left as they were\./);
    expect(count(await exported(), '"tree"')).toBeGreaterThanOrEqual(999);
    await page.undo("Restored");
    expect(count(await exported(), '"tree"')).toBe(3000);
  });

  // What the service did is not always what the page heard.
  for (const { what, says, answers } of [
    { what: "whose answers were all lost", says: "Removing the tag from 5 plants may have failed.", answers: ["lost"] },
    { what: "whose first answer was lost", says: "Removed the tag from 5 plants.", answers: ["lost", "told"] },
    { what: "that a browser sent twice by itself", says: "5 plants needed no change.", answers: ["twice"] },
    { what: "that a service made, and failed then", says: "Removing the tag from 5 plants may have failed.", answers: [500] },
    { what: "that was refused when sent again", says: "Removing the tag from 5 plants may have failed.", answers: ["lost", 403] },
    { what: "of which one may have failed", says: "Removing the tag from “Plant 9” may have failed.", answers: ["failed"] },
  ] as const)
    it(`is undone after a change ${what}`, async () => {
      const page = await open(TEN);
      const before = await stored();
      let tries = 0;
      async function answer(made: Response, how: (typeof answers)[number], again: () => Promise<Response>): Promise<Response> {
        if (how === "told") return made;
        if (how === "twice") return again();
        if (how === "lost") throw new TypeError("The connection was reset.");
        if (how !== "failed") return refusal(how, how * 100);
        const told = (await made.json()) as { outcomes: ReadonlyArray<{ id?: number }> };
        const failed = { id: 9, outcome: "failed", ...CATALOGUE.store_unavailable };
        return Response.json({ ...told, outcomes: told.outcomes.map((one) => (one.id === 9 ? failed : one)) });
      }
      page.route(({ path, go }) => {
        if (!CHANGES.test(path)) return undefined;
        const how = answers[Math.min(tries, answers.length - 1)]!;
        tries += 1;
        return go().then((made) => answer(made, how, go));
      });
      await page.tagging.setTag(page.listing.state.get().plants, undefined);
      await page.reads(says);
      page.route();
      expect(Object.values(await tags()).filter((tag) => tag !== undefined)).toEqual([]);
      await page.undo("Restored 5 plants.");
      expect(await stored()).toEqual(before);
    });

  it("reports the number of plants that were left when the service refuses the rest, or all", async () => {
    const page = await open(rowsOf(1100));
    const limited = () => Promise.resolve(refusal(429, 42900));
    page.route(({ path }) => (CHANGES.test(path) ? limited() : undefined));
    await page.tagging.setTag(page.find("Plant 1"), undefined);
    await page.reads("1 plant left as it was. Too many requests came from here: try again in a moment.");
    page.route();
    beforeSecond(page, () => Promise.resolve(refusal(403, 40300, "This needs the scope plants:write.")));
    expect(await page.renaming.rename("tree", "herb", undefined)).toBe(false);
    await page.reads("Set the tag of 1,000 plants to “herb”. All others are left as they were. Your token may only read");
    expect(count(await exported(), '"tree"')).toBe(100);
  });

  it("reports exactly what was done when its token is revoked in the middle, and is undone after another sign-in", async () => {
    const short = await makeToken(["plants:read", "plants:write"]);
    const page = await open(rowsOf(3000), short.token);
    const before = await exported();
    beforeSecond(page, () => revoke(short).then(() => undefined));
    await page.tagging.setTag(await all(page), undefined);
    await page.reads("Removed the tag from 1,000 plants. 2,000 plants left as they were. The service does not accept this token");
    page.session.expire(`Bearer ${short.token}`, "It was revoked.");
    page.session.signIn(service().token, { scopes: ["plants:read", "plants:write"] });
    await page.undo("Restored");
    expect(await exported()).toBe(before);
  });
});

describe("a second change of plants whose first change is still on its way", () => {
  /** A page whose first change of these plants, to this tag, is on its way. */
  async function openDuring(rows: readonly string[], names: readonly string[], tag: string | undefined) {
    const page = await open(rows);
    const first = page.hold("POST", CHANGES);
    const setting = page.tagging.setTag(page.find(...names), tag);
    await first.came;
    return { page, release: () => (first.release(), setting) };
  }

  it("follows it if it is a tag, and is undone to it", async () => {
    const { page, release } = await openDuring(AB, ["A", "B"], "shrub");
    // The tag of before, which the list still shows.
    const second = page.tagging.setTag(page.find("A", "B"), "tree");
    await Promise.all([release(), second]);
    expect(await tags()).toEqual({ A: "tree", B: "tree" });
    expect(page.offered()).toEqual(["Set the tag of 2 plants to “tree”."]);
    await page.undo("Restored 2 plants.");
    expect(await tags()).toEqual({ A: "shrub", B: "shrub" });
  });

  it("keeps what someone else has changed since, and says so", async () => {
    const { page, release } = await openDuring(AB, ["A", "B"], undefined);
    const second = page.tagging.setTag(page.find("A", "B"), "herb");
    await put(1, { name: "Acer", tag: "tree" });
    await Promise.all([release(), second]);
    await page.reads("Set the tag of “B” to “herb”. Someone changed “A” in the meantime, so it was kept.");
    expect(await tags()).toEqual({ Acer: "tree", B: "herb" });
  });

  it("is of other plants: neither their tag nor a deletion waits, and each keeps its undo", async () => {
    const { page, release } = await openDuring(ABC, ["A"], undefined);
    const second = page.tagging.setTag(page.find("A"), "herb");
    await page.tagging.setTag(page.find("B"), undefined);
    await page.reads("Removed the tag from “B”.");
    await deleteNow(page, "C");
    expect(await tags()).toEqual({ A: "tree", B: undefined });
    await Promise.all([release(), second]);
    expect(page.offered().toSorted()).toEqual(["Removed the tag from “B”.", "Set the tag of “A” to “herb”."]);
  });

  it("deletes them, if it is a deletion", async () => {
    const { page, release } = await openDuring(ABC, ["A", "B"], undefined);
    page.deletions.remove(page.find("A", "B"));
    expect(page.names()).toEqual(["C"]);
    await release();
    await page.deletions.flush();
    await page.reads("Deleted 2 plants.");
    expect(await tags()).toEqual({ C: "tree" });
  });

  it("is not made, and has no undo, once the user has signed out", async () => {
    const { page, release } = await openDuring(AB, ["A"], undefined);
    const second = page.tagging.setTag(page.find("A"), "herb");
    page.session.signOut();
    await Promise.all([release(), second]);
    await page.reads("1 plant left as it was. You signed out before it was finished.");
    expect([page.offered(), page.tab.items.size, (await tags())["A"]]).toEqual([[], 0, undefined]);
  });
});

it("a change of 3,000 plants ends with a sign-out, reports what it did, and sends nothing with the token that comes next", async () => {
  const page = await open(rowsOf(3000));
  await page.tagging.setTag(page.find("Plant 2"), "herb");
  const plants = await all(page);
  const next = await makeToken(["plants:read", "plants:write"]);
  const sent = new Set<string | null>();
  page.route(({ path, authorization, go }) => (CHANGES.test(path) ? (sent.add(authorization), go()) : undefined));
  const [came, second] = [Promise.withResolvers<void>(), Promise.withResolvers<undefined>()];
  beforeSecond(page, () => (came.resolve(), second.promise));
  const setting = page.tagging.setTag(plants, undefined);
  await came.promise;
  page.session.signOut();
  page.session.signIn(next.token, { scopes: ["plants:read", "plants:write"] });
  second.resolve(undefined);
  await setting;
  await page.reads("Removed the tag from 2,000 plants. 1,000 plants left as they were. You signed out before it was finished.");
  expect([...sent]).toEqual([`Bearer ${service().token}`]);
  expect(page.offered()).toEqual([]);
  expect([...page.tab.items.keys()].filter((key) => key.endsWith("undos"))).toEqual([]);
});

describe("a deletion", () => {
  it("has one message and one undo for seven plants, and sends nothing while it can be undone", async () => {
    const page = await open(rowsOf(8));
    page.route(({ method }) => (method === "GET" ? undefined : Promise.reject(new Error("Nothing is to be sent."))));
    for (let id = 1; id <= 7; id += 1) page.deletions.remove(page.find(`Plant ${id}`));
    expect(page.names()).toEqual(["Plant 8"]);
    expect(page.said()).toEqual(["7 plants will be deleted in 8 seconds."]);
    page.press("Undo");
    expect(page.said()).toEqual(["7 plants are not deleted."]);
    expect(page.names()).toHaveLength(8);
  });

  it("can be undone for as long as ever after the back button has brought its page back", async () => {
    const page = await open(AB);
    page.deletions.remove(page.find("A"));
    const seen = () => page.seen();
    await until("a second is over", () => /in [1-7] seconds/.test(seen()));
    tellWindow("pageshow", { persisted: true });
    expect(seen()).toContain("in 8 seconds.");
    page.press("Undo");
  });

  it("can be undone after it was made, and reports what someone changed or deleted meanwhile, which it does not bring back", async () => {
    const page = await open(rowsOf(6));
    page.deletions.remove(page.find("Plant 1", "Plant 2", "Plant 3", "Plant 4", "Plant 6"));
    await put(2, { name: "Theirs" });
    await remove(6);
    await page.deletions.flush();
    await page.reads("Deleted 3 plants. “Plant 6” needed no change. Someone changed “Plant 2” in the meantime, so it was kept.");
    expect(page.names()).toEqual(["Theirs", "Plant 5"]);
    await put(3, { name: "New" });
    await page.undo("Restored 2 plants. Someone changed “Plant 3” in the meantime, so it was kept.");
    expect(page.names()).toEqual(["Plant 1", "Theirs", "New", "Plant 4", "Plant 5"]);
    expect((await stored()).map(({ name }) => name)).toEqual(page.names());
  });

  it("is over before a plant is added under its id, and leaves others that wait", async () => {
    const page = await open(ABC);
    const sent = page.hold("POST", CHANGES);
    page.deletions.remove(page.find("A", "B"));
    const first = page.deletions.flush(1n);
    await sent.came;
    let isOver = false;
    const second = page.deletions.flush(1n).then(() => (isOver = true));
    await Bun.sleep(20);
    expect(isOver).toBe(false);
    sent.release();
    await Promise.all([first, second]);
    expect(await tags()).toEqual({ B: "tree", C: "tree" });
    page.press("Undo");
    expect(page.names()).toEqual(["B", "C"]);
  });

  it("deletes plants as they are when their tag changed while they waited", async () => {
    const page = await open(ABC);
    page.ticks.toggleLoaded();
    page.deletions.remove(page.find("A"));
    await page.tagging.setTag(page.find("B", "C"), undefined);
    await page.deletions.flush();
    expect(await tags()).toEqual({ B: undefined, C: undefined });
    expect(page.ticks.seen().map(({ name }) => name)).toEqual(["B", "C"]);
  });

  it("is not made if someone signs out in another tab while it waits, and the page says so", async () => {
    const page = await open(AB);
    page.deletions.remove(page.find("A"));
    page.session.signOut();
    expect(page.said()).toEqual(["“A” is not deleted, because you signed out before."]);
    expect(Object.keys(await tags())).toEqual(["A", "B"]);
  });

  it("is made after the next sign-in if its token ends while it waits, though the next token has other scopes", async () => {
    const [short, next] = [await makeToken(["plants:read", "plants:write"]), await makeToken(["plants:write"])];
    const page = await open(AB, short.token);
    page.deletions.remove(page.find("A"));
    await revoke(short);
    page.session.expire(`Bearer ${short.token}`, "It was revoked.");
    page.session.signIn(next.token, { scopes: ["plants:write"] });
    await until("its time is over", () => page.offered().length === 0);
    await page.deletions.flush();
    expect(await tags()).toEqual({ B: "tree" });
  });

  it("is not shown as undone once the list is read again if its outcome is unknown", async () => {
    const page = await open(AB);
    page.lose("POST", CHANGES);
    await deleteNow(page, "A");
    await page.reads("Deleting “A” may have failed.");
    page.route();
    await page.refresh();
    expect(page.names()).toEqual(["B"]);
  });
});

describe("the renaming of a tag", () => {
  it("reaches every plant, leaves no trace in the tab, and is undone", async () => {
    const page = await open(rowsOf(1200, (id) => (id <= 1100 ? "tre" : "tree")));
    expect(await page.renaming.rename("tre", "tree", 1100)).toBe(true);
    await page.reads("Set the tag of 1,100 plants to “tree”.");
    expect([count(await exported(), '"tre"'), [...page.tab.items.keys()].some((key) => key.endsWith("renaming"))]).toEqual([0, false]);
    await page.undo("Restored 1,100 plants.");
    expect([count(await exported(), '"tre"'), count(await exported(), '"tree"')]).toEqual([1100, 100]);
  });

  it("is finished on request after a reload has cut it off", async () => {
    const page = await open(rowsOf(2500, () => "tre"));
    beforeSecond(page, () => new Promise(() => {}));
    void page.renaming.rename("tre", "tree", 2500);
    await until("some are renamed", async () => count(await exported(), '"tree"') === 1000);
    const again = await page.reloaded();
    await again.reads("Renaming the tag “tre” was interrupted. Some plants still have it.");
    again.press("Go on", "was interrupted");
    await again.reads("Set the tag of 1,500 plants to “tree”.");
    expect(await stored("tag=tre")).toEqual([]);
  });
});

describe("the undo of changes of many plants", () => {
  async function untag(page: PageState): Promise<void> {
    await page.tagging.setTag(page.find("A", "B"), undefined);
    await page.reads("Removed the tag from 2 plants.");
  }

  it("is offered after a reload, until it is used or its message is closed", async () => {
    const page = await open(AB);
    for (const over of ["used", "closed"]) {
      await untag(page);
      const again = await page.reloaded();
      expect(again.offered()).toEqual(["Removed the tag from 2 plants."]);
      if (over === "used") await again.undo("Restored 2 plants.");
      else again.close();
      expect((await again.reloaded()).offered()).toEqual([]);
      expect(await tags()).toEqual(over === "used" ? { A: "tree", B: "tree" } : { A: undefined, B: undefined });
      await page.refresh();
    }
  });

  it("is beside that of a deletion which was asked for before and made after it", async () => {
    const page = await open([...ABC, "4,D,tree"]);
    const before = await exported();
    page.deletions.remove(page.find("C", "D"));
    await untag(page);
    await page.deletions.flush();
    const again = await page.reloaded();
    expect(again.offered()).toEqual(["Removed the tag from 2 plants.", "Deleted 2 plants."]);
    for (const text of ["Removed", "Deleted"]) again.press("Undo", text);
    await until("all is as before", async () => (await exported()) === before);
  });

  it("is offered, as nothing is certain, of what a reload cut off, even if something else ended meanwhile", async () => {
    const page = await open([...ABC, "4,D,tree"]);
    const before = await exported();
    page.deletions.remove(page.find("C", "D"));
    const made = Promise.withResolvers<void>();
    let requests = 0;
    page.route(({ path, go }) => {
      if (!CHANGES.test(path) || (requests += 1) !== 1) return undefined;
      return go().then(() => (made.resolve(), new Promise(() => {})));
    });
    void page.tagging.setTag(page.find("A", "B"), "shrub");
    await made.promise;
    await page.deletions.flush();
    const again = await page.reloaded();
    const cutOff = "Setting the tag of 2 plants to “shrub” was interrupted, and may be incomplete.";
    expect(again.offered().toSorted()).toEqual(["Deleted 2 plants.", cutOff]);
    for (const text of [cutOff, "Deleted"]) again.press("Undo", text);
    await until("all is as before", async () => (await exported()) === before);
  });

  it("continues after a reload when it lost the connection on its way", async () => {
    const page = await open(rowsOf(3000));
    const before = await exported();
    await page.tagging.setTag(await all(page), undefined);
    let requests = 0;
    page.route(({ path, go }) => {
      if (!CHANGES.test(path) || (requests += 1) === 1) return undefined;
      return (requests === 2 ? go() : Promise.resolve()).then(() => Promise.reject(new TypeError("The connection was reset.")));
    });
    await page.undo("may have failed");
    const again = await page.reloaded();
    again.press("Go on undoing");
    await again.reads("Restored 2,000 plants.");
    expect(await exported()).toBe(before);
  });
});

describe("the undo of an edit", () => {
  const UNTOUCHED = [1, 2, 3].map((id) => plantOf(id, `Plant ${id}`, "tree"));
  const openThree = () => open(rowsOf(3));

  async function edit(page: PageState, to: Plant): Promise<void> {
    const from = (await page.client.find(to.id))!.plant;
    await page.client.put(to, {});
    page.bulkChanges.offerEdit({ from, to }, { kind: "done", text: `${to.name} is saved.` });
  }

  const plants = async (page: PageState) => (await page.client.page({})).plants;

  it("is offered for each of several, the last one first, also of one plant that was edited to and fro, and after a reload", async () => {
    const page = await openThree();
    for (const to of [plantOf(1, "One"), plantOf(2, "Two", ""), UNTOUCHED[0]!, plantOf(1, "Uno", "x")]) await edit(page, to);
    const again = await page.reloaded();
    for (const [text, result, first] of [
      ["Uno is saved.", "Restored “Uno”.", UNTOUCHED[0]],
      ["Plant 1 is saved.", "Restored “Plant 1”.", plantOf(1, "One")],
      ["Two is saved.", "Restored “Two”.", plantOf(1, "One")],
      ["One is saved.", "Restored “One”.", UNTOUCHED[0]],
    ] as const) {
      expect(again.offered()).toEqual([text]);
      await again.undo(result);
      expect((await plants(again))[0]).toEqual(first);
    }
    expect([await plants(again), again.offered(), again.tab.items.has("plant-store-/-undos")]).toEqual([UNTOUCHED, [], false]);
  });

  it("waits for the one before it, however slow that is", async () => {
    const page = await openThree();
    for (const name of ["One", "Uno"]) await edit(page, plantOf(1, name));
    const first = page.hold("POST", CHANGES);
    page.press("Undo");
    page.press("Undo");
    await first.came;
    // Time for the second one to come first.
    await Bun.sleep(50);
    first.release();
    await page.reads("Restored “One”.");
    expect(page.said()).toEqual(["Restored “Uno”.", "Restored “One”."]);
    expect(await plants(page)).toEqual(UNTOUCHED);
  });

  it("comes before those of earlier edits when it failed", async () => {
    const page = await openThree();
    for (const name of ["One", "Uno"]) await edit(page, plantOf(1, name));
    page.route(({ path }) => (CHANGES.test(path) ? Promise.resolve(refusal(403, 40300)) : undefined));
    await page.undo("left as it was");
    page.route();
    expect(page.offered()).toHaveLength(1);
    page.press("Go on undoing");
    await page.reads("Restored “Uno”.");
    await page.undo("Restored “One”.");
    expect(await plants(page)).toEqual(UNTOUCHED);
  });

  it("stays beside the undo of many plants, unless these were changed with them", async () => {
    const page = await openThree();
    for (const id of [1, 2]) await edit(page, plantOf(id, `Mine ${id}`, "tree"));
    const from = plantOf(2, "Mine 2", "tree");
    const phrases = (what: string) => ({ doing: `Tagging ${what}`, done: `Tagged ${what}` });
    await page.bulkChanges.run({ changes: [{ from, to: plantOf(2, "Mine 2") }], doing: "Tagging", phrases });
    expect(page.offered()).toEqual(["Mine 1 is saved.", "Tagged “Mine 2”."]);
  });

  it("is offered once for an edit that was sent twice, not for one that changed nothing, nor after a sign-out", async () => {
    const page = await openThree();
    const change = { from: UNTOUCHED[0]!, to: plantOf(1, "Mine") };
    page.bulkChanges.offerEdit(change, { kind: "problem", text: "It is not certain." });
    page.bulkChanges.offerEdit(change, { kind: "done", text: "It is saved." });
    page.bulkChanges.offerEdit({ from: change.to, to: change.to }, { kind: "done", text: "The same is saved." });
    expect(page.offered()).toEqual(["It is saved."]);
    expect(count([...page.tab.items.values()].join(), '"isEdit"')).toBe(1);
    page.session.signOut();
    page.bulkChanges.offerEdit(change, { kind: "done", text: "It is saved." });
    expect([page.offered(), page.tab.items.size]).toEqual([[], 0]);
  });

  it("is kept of the last twenty, and goes for all of them when their message is closed", async () => {
    const page = await openThree();
    const offer = (id: number) =>
      page.bulkChanges.offerEdit({ from: plantOf(id, "Before"), to: plantOf(id, "After") }, { kind: "done", text: `${id}` });
    for (let id = 0; id < 25; id += 1) offer(id);
    expect(count([...page.tab.items.values()].join(), '"isEdit"')).toBe(20);
    page.close();
    expect([page.offered(), page.tab.items.has("plant-store-/-undos")]).toEqual([[], false]);
  });
});
