import { describe, expect, it } from "bun:test";
import { usePlace } from "../support/web/place.ts";

const place = usePlace();

const BY_ID = ["Zinnia elegans", "acer palmatum", "Äpfel", "Mentha spicata"];
const BY_NAME = ["acer palmatum", "Äpfel", "Mentha spicata", "Zinnia elegans"];

async function plantOneByOne(): Promise<void> {
  for (const [at, name] of BY_ID.entries())
    await place.service.request("/plants", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ id: at + 1, name, tag: at % 2 === 0 ? "even" : "odd" }),
    });
}

describe("the headings of the table", () => {
  it("sort it by id, by name and by newest, with a filter, in the address, and back again", async () => {
    await plantOneByOne();
    const { page, signIn, sees, button, address } = await place.visit();
    await signIn();
    await sees(BY_ID);
    const sorted = () =>
      page.evaluate<[string, string][]>(
        "[...document.querySelectorAll('th[aria-sort]')].map((one) => [one.ariaSort, one.querySelector('[aria-pressed=true]').textContent])",
      );
    expect(await sorted()).toEqual([["ascending", "Id"]]);
    await button("Name").click();
    await sees(BY_NAME);
    expect([address(), await sorted()]).toEqual(["/?sort=name", [["ascending", "Name"]]]);
    await button("Newest").click();
    await sees(BY_ID.toReversed());
    expect([address(), await sorted()]).toEqual(["/?sort=newest", [["other", "Newest"]]]);
    await button(/^even/).first().click();
    await sees(["Äpfel", "Zinnia elegans"]);
    expect(address()).toBe("/?tag=even&sort=newest");
    await page.goBack();
    await page.goBack();
    await sees(BY_NAME);
  });

  it("sort it the other way round when they are chosen again, and keep what is selected", async () => {
    await plantOneByOne();
    const { page, signIn, sees, button, reads, address } = await place.visit();
    await signIn();
    await sees(BY_ID);
    await page.getByRole("checkbox", { name: "Select Zinnia elegans" }).click();
    const sorted = () =>
      page.evaluate<(string | null)[]>(
        "[...document.querySelectorAll('th[aria-sort]')].flatMap((one) => [one.ariaSort, one.querySelector('[aria-pressed=true]').title])",
      );
    for (const { label, seen, query, says } of [
      { label: "Id", seen: BY_ID.toReversed(), query: "?sort=-id", says: ["descending", "Sort by id, the lowest first"] },
      { label: "Name", seen: BY_NAME, query: "?sort=name", says: ["ascending", "Sort by name, from Z to A"] },
      { label: "Name", seen: BY_NAME.toReversed(), query: "?sort=-name", says: ["descending", "Sort by name, from A to Z"] },
      { label: "Name", seen: BY_NAME, query: "?sort=name", says: ["ascending", "Sort by name, from Z to A"] },
      { label: "Newest", seen: BY_ID.toReversed(), query: "?sort=newest", says: ["other", "Sort the oldest first"] },
      { label: "Newest", seen: BY_ID, query: "?sort=oldest", says: ["other", "Sort the newest first"] },
    ]) {
      await button(label).click();
      await sees(seen);
      expect([address(), await sorted()]).toEqual([`/${query}`, says]);
    }
    await reads("1 plant selected");
    expect(await page.getByRole("checkbox", { name: "Select Zinnia elegans" }).isChecked()).toBe(true);
    await button("Oldest").waitFor();
    await page.goBack();
    await sees(BY_ID.toReversed());
    await button("Newest").waitFor();
  });

  for (const { sort, before, after } of [
    { sort: "name", before: BY_NAME, after: ["acer palmatum", "Äpfel", "Begonia", "Mentha spicata", "Zinnia elegans"] },
    {
      sort: "-name",
      before: BY_NAME.toReversed(),
      after: ["Zinnia elegans", "Mentha spicata", "Begonia", "Äpfel", "acer palmatum"],
    },
    { sort: "oldest", before: BY_ID, after: [...BY_ID, "Begonia"] },
    { sort: "-id", before: BY_ID.toReversed(), after: ["Begonia", ...BY_ID.toReversed()] },
  ])
    it(`put a new plant at its place, sort=${sort}`, async () => {
      await plantOneByOne();
      const { signIn, sees, button, field } = await place.visit(`/?sort=${sort}`);
      await signIn();
      await sees(before);
      await button("Add plant").click();
      await field("Name").fill("Begonia");
      await field("Name").press("Enter");
      await sees(after);
    });

  for (const { sort, last } of [
    { sort: "name", last: "Plant 1499" },
    { sort: "-name", last: "Plant 0000" },
    { sort: "-id", last: "Plant 0000" },
  ])
    it(`load page after page, sort=${sort}`, async () => {
      await place.plant(Array.from({ length: 1500 }, (_, at) => `${at + 1},Plant ${String((at * 7) % 1500).padStart(4, "0")},`));
      const { page, signIn, rows } = await place.visit(`/?sort=${sort}`);
      await signIn();
      await rows.filter({ hasText: "Plant" }).first().waitFor();
      for (let tries = 0; tries < 100 && (await rows.filter({ hasText: last }).count()) === 0; tries += 1) {
        await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
        await Bun.sleep(100);
      }
      expect(await rows.filter({ hasText: last }).count()).toBe(1);
    });
});
