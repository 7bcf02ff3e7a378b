// A row stays where it is when someone deletes its plant, until people ask for the list as it is.
import { describe, expect, it } from "bun:test";
import { ALL, modules, plantOf, usePages } from "../support/web/page-state.ts";
import { rowsOf } from "../support/web/garden.ts";
import { usePlace } from "../support/web/place.ts";
import type { Visit } from "../support/web/visit.ts";

const { open } = usePages();

describe("a row whose plant someone has deleted", () => {
  const place = usePlace();

  async function openLive(): Promise<Visit> {
    await place.plant(["1,Acer,tree", "3,Ginkgo,tree", "5,Quercus,"]);
    const visit = await place.visit();
    await visit.hears(visit.signIn);
    await visit.rows.first().waitFor();
    return visit;
  }

  it("keeps the focus, deletes and selects nothing, and leads to its history, from where the plant comes back into it", async () => {
    const visit = await openLive();
    const { page, button, box, boxes, steps, focused, rows } = visit;
    await steps("select Acer > select Ginkgo > reads 2 plants selected");
    const before = await rows.first().boundingBox();
    await button("Delete Acer").focus();
    await place.remove(1);
    await steps("offers History of Acer, deleted > reads 1 plant selected");
    expect(await focused()).toBe("BUTTON Delete Acer, deleted");
    await steps("press Enter > press ArrowDown > press ArrowUp");
    expect([await focused(), await page.getByText("will be deleted").count()]).toEqual(["BUTTON Delete Acer, deleted", 0]);
    await box("Acer, deleted").press(" ");
    expect([await focused(), await box("Acer, deleted").isChecked(), await boxes.isChecked()]).toEqual(["INPUT", false, false]);
    await boxes.click();
    await steps("reads 2 plants selected");
    expect(await boxes.isChecked()).toBe(true);
    const history = await visit.hold("GET", /^\/plants\/1\/changes/);
    await steps("tag herb > reads Set the tag of 2 plants to “herb”. > click History of Acer, deleted > reads Loading…");
    await history.came;
    // It would only say that there is none.
    expect(await button("Back to the plant").count()).toBe(0);
    history.release();
    await steps("reads Deleted");
    expect(await button("Back to the plant").count()).toBe(0);
    await steps("click Put this back: Acer, tree > reads “Acer” is put back. > press Escape > leaves > offers Edit Acer");
    expect(await focused()).toBe("BUTTON Edit Acer");
    expect(await rows.first().boundingBox()).toEqual(before);
    expect((await place.stored()).map(({ name, tag }) => `${name} ${tag}`)).toEqual(["Acer tree", "Ginkgo herb", "Quercus herb"]);
  });

  it("takes no focus away with the bar of what is selected", async () => {
    const { button, steps, focused } = await openLive();
    await steps("select Acer");
    await button("Set tag").focus();
    await place.remove(1);
    await button("Set tag").waitFor({ state: "detached" });
    expect(await focused()).toBe("SECTION#plants");
  });
});

describe("what someone has deleted, though its row is still there,", () => {
  it("is in no selection: neither alone, nor in a range, nor among all", async () => {
    const page = await open(rowsOf(5));
    const names = () => page.ticks.seen().map(({ name }) => name);
    page.news.set({
      appeared: 0,
      gone: new Map([
        [3n, true],
        [4n, false],
      ]),
      moved: 0,
      isCut: false,
    });
    page.ticks.toggle(2, false);
    expect(names()).toEqual([]);
    page.ticks.toggle(1, false);
    page.ticks.toggle(3, true);
    expect(names()).toEqual(["Plant 2", "Plant 4"]);
    expect(page.ticks.areAll()).toBe(false);
    page.ticks.toggleLoaded();
    expect([names().toSorted(), page.ticks.areAll()]).toEqual([["Plant 1", "Plant 2", "Plant 4", "Plant 5"], true]);
    page.ticks.toggleLoaded();
    expect(names()).toEqual([]);
  });

  const listed = { view: ALL, plants: Array.from({ length: 200 }, (_, at) => plantOf(at, "Acer")), failure: undefined };
  for (const { phase, plants, unseen, says } of [
    { phase: "whole", plants: 1, unseen: undefined, says: "1 plant." },
    { phase: "partial", plants: 1, unseen: undefined, says: "1 plant." },
    { phase: "whole", plants: 5_000, unseen: undefined, says: "5,000 plants." },
    { phase: "partial", plants: 5_000, unseen: undefined, says: "5,000 plants. The first 200 are here, more as you scroll." },
    { phase: "whole", plants: 200, unseen: -20, says: "180 plants." },
  ])
    it(`is in no number: ${phase}, with ${plants} by the service and ${unseen ?? "no one knows how many"} more than rows, it says ${says}`, () => {
      expect(modules.foundText({ ...listed, phase }, { plants, precision: "exact" }, unseen)).toBe(says);
    });
});
