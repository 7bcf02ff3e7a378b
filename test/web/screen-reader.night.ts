import { describe, expect, it } from "bun:test";
import type { Page } from "playwright-core";
import { askUntil } from "../support/until.ts";
import { usePlace } from "../support/web/place.ts";
import type { Visit } from "../support/web/visit.ts";

const place = usePlace();

/**
 * Listens to a page as a screen reader does. A status is heard when its text changes, the whole of it unless it says that it is not atomic; one
 * that comes together with its text is heard by few, and counts as silence. An alert is heard when it comes, too. Nothing is heard that is
 * behind a dialog, or hidden from screen readers.
 */
async function listenTo(page: Page): Promise<() => Promise<readonly string[]>> {
  // The browser itself evaluates it, so the page's policy does not block it.
  await page.evaluate(LISTEN);
  return () => page.evaluate<string[]>("heard.splice(0)");
}

const LISTEN = `(() => {
  const LIVE = "[role=status], [role=alert]";
  window.heard = [];
  function textOf(element) {
    const copy = element.cloneNode(true);
    for (const silent of copy.querySelectorAll("[aria-hidden=true], button")) silent.remove();
    return copy.textContent.trim().replace(/\\s+/g, " ");
  }
  function isHeard(element) {
    return element.closest("[aria-hidden=true]") === null && (document.querySelector("dialog:modal") === null || element.closest("dialog") !== null);
  }
  new MutationObserver((changes) => {
    const said = new Map();
    const changed = changes.flatMap(({ target, addedNodes }) => (addedNodes.length > 0 ? [...addedNodes] : target.nodeType === Node.TEXT_NODE ? [target] : []));
    for (const node of changed.filter(({ isConnected }) => isConnected)) {
      const element = node instanceof Element ? node : node.parentElement;
      const region = element.closest(LIVE);
      for (const alert of element.querySelectorAll("[role=alert]")) said.set(alert, textOf(alert));
      if (!region || !isHeard(element)) continue;
      const isNew = changed.some((other) => other instanceof Element && other.contains(region));
      if (isNew && region.role !== "alert") continue;
      if (region.ariaAtomic === "false") said.set(element, textOf(element));
      else said.set(region, textOf(region));
    }
    heard.push(...[...said.values()].filter((text) => text !== ""));
  }).observe(document, { childList: true, subtree: true, characterData: true });
})()`;

/** What people do, and what they hear then. */
type Step = readonly [act: (visit: Visit) => Promise<unknown>, ...hears: readonly string[]];

/** `about`: what of all that is heard the test is about. */
type Row = Readonly<{ what: string; about?: RegExp; steps: readonly Step[]; tokens?: number }>;

const NO_NAME: Step = [({ click }) => click("Save"), "The plant needs a name: type one."];
const select = (name: string, text: string): Step => [({ box }) => box(name).check(), text];
const revoke = async ({ page, click }: Visit) => {
  await click(/^Revoke phone/);
  // The focus stays on the button before the question, so only an alert tells of it.
  await page.getByRole("alert").getByRole("button", { name: "Revoke for good? phone" }).click();
};
const oaks = Array.from({ length: 5_000 }, (_, at) => `${at + 10},Quercus\n`).join("");

const ROWS: readonly Row[] = [
  {
    what: "messages as they come, also beside those that stay",
    about: /“/,
    steps: [
      [async ({ box, setTag }) => (await box("Acer").check(), await setTag("herb")), "Set the tag of “Acer” to “herb”."],
      [
        async ({ click, reads }) => (await click("Delete Rosa"), await reads("“Rosa” will be deleted in 7 seconds.")),
        "“Rosa” will be deleted in 8 seconds.",
      ],
      [({ button }) => button("Undo").last().click(), "“Rosa” is not deleted."],
    ],
  },
  {
    what: "how many plants are selected, from the first on",
    steps: [
      select("Acer", "1 plant selected"),
      select("Tilia", "2 plants selected"),
      [({ click }) => click("Clear the selection")],
      select("Rosa", "1 plant selected"),
    ],
  },
  {
    what: "each step of an import",
    about: /^(?!Reading)/,
    steps: [
      [
        ({ paste }) => paste("id,name\n4,Quercus\nx,Bad\n"),
        "pasted is CSV with 1 plant and 1 line that will be refused. Nothing is stored yet.",
        "If you import now: 1 new, 1 refused.",
      ],
      [({ click }) => click("Import 1 plant"), "Importing. What was sent is saved, whatever happens.", "1 plant added, 1 refused."],
    ],
  },
  {
    what: "what an import would do, not each thousand rows that the service is asked about",
    about: /the service|new/,
    steps: [[({ openImport }) => openImport()], [({ upload }) => upload("oaks.csv", `id,name\n${oaks}`), "If you import now: 5,000 new."]],
  },
  {
    what: "how many plants are found once no one types any more, also if it is as many as before",
    steps: ["ti", "lia"].map((text) => [({ field }) => field("Search names").pressSequentially(text), "1 plant found."]),
  },
  {
    what: "how many plants there are when they are read again, if that is not as before",
    steps: [
      [
        async ({ page, click }) => {
          await Promise.all([page.waitForResponse(/\/plants\b/), click("Refresh")]);
          await page.locator("#plants[aria-busy=false]").waitFor();
          expect(await page.locator(".toolbar-found > [role=status]").textContent()).toBe("3 plants.");
          await place.put(4, { name: "Zea" });
        },
      ],
      [({ click }) => click("Refresh"), "4 plants."],
    ],
  },
  {
    what: "that no plants match any more",
    about: /^No plants/,
    steps: [
      [async ({ enter, sees }) => (await enter({ "Search names": "tilia" }), await sees(["Tilia"]))],
      [({ click }) => click("Delete Tilia"), "No plants match."],
    ],
  },
  {
    what: "that a tag is that of other plants already, as it is typed",
    about: /tag/,
    steps: [
      [({ click }) => click(/^herb/, "Rename this tag…")],
      [({ enter }) => enter({ Tag: "tree" }), "2 plants have this tag already: you will not be able to tell them apart from these."],
    ],
  },
  {
    what: "that a token is revoked, also where another of its name was",
    about: /^“/,
    tokens: 2,
    steps: [[({ choose }) => choose("Tokens")], [revoke, "“phone” is revoked."], [revoke, "“phone” is revoked."]],
  },
  { what: "that a plant needs a name, again at each try", about: /needs/, steps: [[({ click }) => click("Add plant")], NO_NAME, NO_NAME] },
];

describe("a screen reader", () => {
  for (const { what, about = /./, steps, tokens = 0 } of ROWS)
    it(`says once ${what}`, async () => {
      for (let at = 0; at < tokens; at += 1) await place.makeToken(["plants:read"], 30, "phone");
      const visit = await place.open(["1,Acer,tree", "2,Rosa,herb", "3,Tilia,tree"]);
      await visit.page.getByRole("status").filter({ hasText: "3 plants." }).waitFor();
      const listen = await listenTo(visit.page);
      for (const [act, ...hears] of steps) {
        const heard: string[] = [];
        await act(visit);
        await askUntil(
          async () => heard.push(...(await listen()).filter((text) => about.test(text))),
          () => heard.length >= hears.length,
        );
        expect(heard).toEqual([...hears]);
      }
      expect((await listen()).filter((text) => about.test(text))).toEqual([]);
    });

  it("says that something is not a token, again at each try", async () => {
    const { page, steps } = await place.visit();
    const heard = await listenTo(page);
    for (const attempt of ["first", "second"]) {
      await steps("enter Token = no token > click Sign in > reads That is not a token.");
      const hears = ["That is not a token. A token is one word, such as plant_0aB1…"];
      expect({ attempt, heard: await heard() }).toEqual({ attempt, heard: hears });
    }
  });
});

it("the focus is on the heading of an empty store, after a sign-in and when the Undo of its last plant has gone", async () => {
  const { page, signIn, reads, button, steps } = await place.visit();
  const readsHeading = async () => {
    await reads("Nothing grows here yet");
    const focused = () => page.evaluate("document.activeElement.tagName");
    expect(await askUntil(focused, (name) => name === "H1")).toBe("H1");
  };
  await signIn();
  await readsHeading();
  await place.plant(["1,Acer,tree"]);
  await steps("reload > sees Acer");
  await button("Delete Acer").press("Enter");
  await button("Undo").focus();
  await readsHeading();
});

it("a row that comes or goes changes none below it: a screen reader drops what it is told where too much changes at once", async () => {
  const { page, steps } = await place.open(["1,Acer,tree", "2,Rosa,herb", "3,Tilia,tree"]);
  await page.evaluate(`below = document.querySelectorAll("tbody tr")[2]`);
  const below = () => page.evaluate<string>(`below.isConnected + " " + below.querySelector(".plant-row-name").innerText`);
  await steps("click Delete Rosa > sees Acer, Tilia");
  expect(await below()).toBe("true Tilia");
  await steps("click Undo > sees Acer, Rosa, Tilia");
  expect(await below()).toBe("true Tilia");
});
