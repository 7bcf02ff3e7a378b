import { describe, expect, it } from "bun:test";
import type { ListQuery } from "../../src/client/client.ts";
import { findSameNames } from "../../web/same-names/same-names.ts";
import { plantOf } from "../support/web/page-state.ts";
import { usePlace } from "../support/web/place.ts";

const place = usePlace();

describe("names that several plants have", () => {
  it("are found where they are apart by a page, letter case and spaces, and each page says how far it is", async () => {
    const many = Array.from({ length: 1000 }, (_, at) => plantOf(100 + at, `Begonia ${String(at).padStart(4, "0")}`));
    const pages = [
      [plantOf(1, "Acer"), plantOf(2, "Äcer"), plantOf(3, "acer"), ...many.slice(0, 996), plantOf(4, "Begonia  x")],
      [plantOf(5, "BEGONIA X"), ...many.slice(0, 998), plantOf(6, "Zinnia")],
      [plantOf(7, "zinnia "), plantOf(8, "Zinnia x")],
    ];
    const client = {
      page: async ({ limit, cursor = "0" }: ListQuery = {}) => {
        const at = Number(cursor);
        return { plants: pages[at]!, ...(at < 2 ? { next: { limit: limit ?? 0, cursor: String(at + 1) } } : {}) };
      },
    };
    const told: string[] = [];
    for await (const { found, read } of findSameNames(client, {})) {
      const small = found.filter(([first]) => first!.id < 100n);
      told.push(`${read}: ${small.map((same) => same.map(({ id }) => id).join("+")).join()} of ${found.length}`);
    }
    expect(told).toEqual(["1000:  of 0", "2000: 1+3 of 1", "2002: 4+5,6+7 of 998"]);
  });

  it("are merged into the plant that is chosen, which takes a tag, and are back after an undo, with the keyboard alone", async () => {
    await place.plant(["1,Acer,", "2,acer,tree", "3,Acer,herb", "4,Ginkgo,", "5,Ginkgo,", "6,Rosa,"]);
    const before = await place.stored();
    const { page, reads, steps, dialog } = await place.open([], { path: "/?sort=name" });
    await reads("6 plants.");
    await page.getByRole("button", { name: "Same names" }).focus();
    await steps("press Enter > reads 6 plants were looked at: 2 names have more than one plant.");
    const acer = dialog.getByRole("group", { name: "Acer" });
    // The first that has a tag is kept, unless people choose another.
    expect(await acer.getByRole("radio").nth(1).isChecked()).toBe(true);
    await acer.getByRole("radio").nth(1).focus();
    await steps("press ArrowUp > press Tab > press Enter > reads Merged 3 plants into “Acer”.");
    expect((await place.stored()).slice(0, 2)).toEqual([
      { id: 1, name: "Acer", tag: "tree" },
      { id: 4, name: "Ginkgo" },
    ]);
    await reads("1 name has more than one plant.");
    await dialog.getByRole("button", { name: "Undo" }).press("Enter");
    await reads("Restored 3 plants.");
    expect(await place.stored()).toEqual(before);
    await steps("press Escape > leaves > at /?sort=name");
  });

  it("are not merged into a plant that someone has deleted or changed meanwhile: nothing goes", async () => {
    await place.plant(["1,Acer,", "2,Acer,tree", "3,Ginkgo,", "4,Ginkgo,"]);
    const { dialog, reads } = await place.open([], { path: "/?sort=name#same-names" });
    await reads("4 plants were looked at: 2 names have more than one plant.");
    await place.service.request("/plants/2", { method: "DELETE" });
    await place.service.request("/plants/3", { method: "PUT", body: '{"name":"Ginkgo biloba"}' });
    const before = await place.stored();
    for (const name of ["Acer", "Ginkgo"]) await dialog.getByRole("group", { name }).getByRole("button", { name: "Merge both" }).click();
    for (const name of ["Acer", "Ginkgo"]) await dialog.getByRole("group", { name }).getByText("nothing was merged").waitFor();
    expect(await place.stored()).toEqual(before);
  });

  it("are looked for until twenty thousand plants are read, and on from there if people want", async () => {
    await place.plant(Array.from({ length: 21_000 }, (_, at) => `${at + 1},Plant ${String(at % 20_999).padStart(5, "0")},`));
    const { click, steps, reads } = await place.open([], { path: "/?sort=name#same-names" });
    await reads("20,000 plants were looked at: 1 name has more than one plant.");
    await click("Look on");
    await steps("reads 21,000 plants were looked at: 1 name has more than one plant.");
  });
});
