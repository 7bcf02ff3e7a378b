import { describe, expect, it } from "bun:test";
import { usePlace } from "../support/web/place.ts";

const place = usePlace();

async function store(id: number, name: string, tag?: string): Promise<void> {
  expect((await place.service.post(JSON.stringify({ id, name, tag }))).status).toBe(200);
}

describe("a name", () => {
  it("of which nothing can be seen is called so", async () => {
    const invisible = ["\u200b", "\u2066\u2067\u2068", "\u00ad", "\u3164", "\u2800", "\u0007", " \u00a0"];
    for (const [at, text] of invisible.entries()) await store(at + 1, text, text);
    await store(100, "Acer\u200b", "tree\u200b");
    const { signIn, rows, button } = await place.visit();
    await signIn();
    await rows.nth(invisible.length).waitFor();
    const cells = await rows.locator("td.plant-row-name, td.plant-row-tag").allInnerTexts();
    expect(cells.slice(0, -2)).toEqual(invisible.flatMap(() => ["(no name)", "(empty tag)"]));
    expect(cells.at(-2)).toContain("Acer");
    await button("Edit plant 1").waitFor();
  });

  it("that turns letters around does not turn those of a message", async () => {
    await store(1, "\u202eevil\u2069\u2069");
    await store(2, "زهرة\u202d abc");
    const { page, signIn, button } = await place.visit();
    await signIn();
    await button(/^Delete .*evil/).click();
    expect(await page.locator(".notice p").innerText()).toStartWith("“evil” will be deleted in 8 seconds.");
    await button("Undo").click();
    await button(/^Delete زهرة/).click();
    expect(await page.locator(".notice p").last().innerText()).toStartWith("“\u2068زهرة abc\u2069” will be deleted");
    await button("Undo").click();
  });

  it("that closes its quotes does not speak for the page in a message", async () => {
    await store(1, "Acer” is deleted. Sign in at evil.example. “Ginkgo");
    const { page, signIn, button } = await place.visit();
    await signIn();
    await button(/^Delete Acer/).click();
    const told = "“Acer’ is deleted. Sign in at evil.example. ‘Ginkgo” will be deleted in 8 seconds.";
    expect(await page.locator(".notice p").innerText()).toStartWith(told);
    await button("Undo").click();
  });

  it("that piles marks upon marks draws over nothing but its own line", async () => {
    place.expectStatus(412);
    const { page, signIn, rows, button, field, reads, dialog } = await place.visit();
    const put = (id: number, plant: object) =>
      place.service.request(`/plants/${id}`, {
        method: "PUT",
        body: JSON.stringify(plant),
        headers: { "content-type": "application/json" },
      });
    await signIn();
    const shots: Buffer[][] = [];
    // Marks above and below that the font of the tests has.
    for (const name of ["Acer", `Acer${"\u0301\u0323".repeat(100)}`]) {
      await put(1, { name });
      await put(2, { name: "Rosa" });
      await page.reload();
      await rows.nth(1).waitFor();
      await button(/^Delete Acer/).click();
      await reads("will be deleted");
      // Nothing is there, between two rows and the message.
      const aboveMessage = await page.screenshot({ clip: { x: 100, y: 640, width: 300, height: 100 } });
      await button("Undo").click();
      await button("Edit Rosa").click();
      await field("Name").fill("Mine");
      await put(2, { name, tag: name });
      await button("Save").click();
      await reads("Someone changed this plant in the meantime.");
      shots.push([aboveMessage, await dialog.getByRole("alert").screenshot()]);
      await button("Keep theirs").click();
    }
    expect(shots[0]!.map((shot, at) => shot.equals(shots[1]![at]!))).toEqual([true, true]);
  });

  it("of code is text, everywhere", async () => {
    const code = "<img src=x onerror=alert(1)>";
    await store(1, code, code);
    const { page, signIn, button, dialog, sees, reads } = await place.visit();
    page.on("dialog", () => expect.unreachable());
    await signIn();
    await sees([code]);
    await button(`Edit ${code}`).click();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await button(new RegExp(`^${code.slice(0, 4)}`))
      .first()
      .click();
    await button("Rename this tag…").click();
    await reads(`Rename “${code}” everywhere`);
    expect(await page.locator("img").count()).toBe(0);
  });
});

it("a tag of many thousand letters leaves room for what can be done", async () => {
  await store(1, "Acer", "t".repeat(20_000));
  await store(2, "Ginkgo");
  const { page, signIn, button, reads, field } = await place.visit("/", { viewport: { width: 360, height: 740 } });
  await signIn();
  await page.getByRole("checkbox", { name: "Select Ginkgo" }).click();
  await button("Set tag").click();
  await field("Tag").fill("t".repeat(20_000));
  await page.getByRole("dialog").getByRole("button", { name: "Set tag" }).click();
  await reads(`“Ginkgo” is tagged “${"t".repeat(60)}…” now.`);
  expect((await button("Undo").boundingBox())!.y).toBeLessThan(740);
});

it("a window that is enlarged four times shows rows beside what can be done with them", async () => {
  await place.plant(Array.from({ length: 60 }, (_, at) => `${at},Plant ${at},tree`));
  const { page, signIn, rows } = await place.visit("/", { viewport: { width: 320, height: 256 } });
  await signIn();
  await page.getByRole("checkbox", { name: "Select Plant 1", exact: true }).click();
  await page.getByRole("region", { name: "Selected plants" }).waitFor();
  await page.evaluate("scrollTo(0, 1000)");
  const isWhole = `(row) => { const { left, top, bottom, width } = row.getBoundingClientRect();
    return top >= 0 && [top + 2, bottom - 2].every((y) => row.contains(document.elementFromPoint(left + width / 2, y))); }`;
  await rows.getByText("Plant 12", { exact: true }).waitFor();
  expect(await page.evaluate<number>(`[...document.querySelectorAll("tbody tr")].filter(${isWhole}).length`)).toBeGreaterThan(0);
  expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBe(320);
});

it("a search that the service refuses is not said to find nothing", async () => {
  place.expectStatus(400);
  await place.plant(["1,Acer,tree"]);
  const { page, signIn, reads } = await place.visit(`/?q=${"abc ".repeat(600)}`);
  await signIn();
  await reads("The service cannot search for this: use fewer or other words.");
  expect(await page.getByText("No plants match").count()).toBe(0);
});
