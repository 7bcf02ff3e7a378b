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

  it("keep what is selected, and say that an order has no reverse when it is chosen again", async () => {
    await plantOneByOne();
    const { page, signIn, sees, button, reads, address } = await place.visit();
    await signIn();
    await sees(BY_ID);
    await page.getByRole("checkbox", { name: "Select Zinnia elegans" }).click();
    await button("Name").click();
    await sees(BY_NAME);
    await reads("1 plant selected");
    expect(await page.getByRole("checkbox", { name: "Select Zinnia elegans" }).isChecked()).toBe(true);
    expect(await page.getByText("There is no reverse order").count()).toBe(0);
    for (let times = 0; times < 2; times += 1) await button("Name").click();
    await reads("Sorted by name. There is no reverse order.");
    expect(await page.getByText("There is no reverse order").count()).toBe(1);
    expect(address()).toBe("/?sort=name");
    await sees(BY_NAME);
  });

  it("keep a plant at its place when it is changed here, and put a new one there", async () => {
    await plantOneByOne();
    const { signIn, sees, button, field } = await place.visit("/?sort=name");
    await signIn();
    await sees(BY_NAME);
    await button("Add plant").click();
    await field("Name").fill("Begonia");
    await field("Name").press("Enter");
    await sees(["acer palmatum", "Äpfel", "Begonia", "Mentha spicata", "Zinnia elegans"]);
  });

  it("load page after page by name", async () => {
    await place.plant(Array.from({ length: 1500 }, (_, at) => `${at + 1},Plant ${String((at * 7) % 1500).padStart(4, "0")},`));
    const { page, signIn, rows } = await place.visit("/?sort=name");
    await signIn();
    await rows.filter({ hasText: "Plant 0000" }).waitFor();
    await page.keyboard.press("End");
    for (const last of ["Plant 1499"]) {
      for (let tries = 0; tries < 100 && (await rows.filter({ hasText: last }).count()) === 0; tries += 1) {
        await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
        await Bun.sleep(100);
      }
      expect(await rows.filter({ hasText: last }).count()).toBe(1);
    }
  });
});
