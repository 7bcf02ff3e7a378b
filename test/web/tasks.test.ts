import { describe, expect, it } from "bun:test";
import type { FileChooser } from "playwright-core";
import { makeWorkbook } from "../support/shelf/workbook.ts";
import { usePlace } from "../support/web/place.ts";
import type { Visit } from "../support/web/visit.ts";

const place = usePlace({ reducedMotion: "no-preference" });

type Plant = Readonly<{ id: number; name: string; tag?: string }>;

/** "mons" finds more than "monst": a search on the way is not taken for its end. */
const GENERA = ["Acer", "Begonia", "Dahlia", "Ginkgo", "Iris", "Lilium", "Monstera", "Monsonia", "Rosa", "Salvia"];
const TAGS = ["tree", "herb", ""];
const PLANTS = Array.from({ length: 300 }, (_, at) => ({ id: 1001 + at, name: `${GENERA[at % 10]} ${300 - at}`, tag: TAGS[at % 3]! }));
const FOUND = PLANTS.filter(({ name }) => name.startsWith("Monstera"));

/** People at a keyboard, without a mouse. */
type Keyboard = Readonly<{
  /** A step: presses keys on what has the focus. */
  press: (keys: string) => Promise<void>;
  /** A step: types into what has the focus. */
  type: (text: string) => Promise<void>;
  /** A step: chooses a file in the window of the system, which has opened. */
  choose: (file: Readonly<{ name: string; buffer: Buffer }>) => Promise<void>;
  /** No step: keys that only move the focus. */
  move: (...keys: readonly string[]) => Promise<void>;
  /** No step: moves the focus to what has this name, forward or back. */
  reach: (name: string, key?: "Shift+Tab" | "Tab") => Promise<void>;
  steps: () => number;
}>;

const STOPS_MAX = 60;

/** What a screen reader calls the element with the focus. */
const FOCUSED = `(({ ariaLabel, labels, textContent }) => (ariaLabel ?? labels?.[0]?.textContent ?? textContent).trim())(document.activeElement)`;

function toKeyboard({ page }: Visit): Keyboard {
  let steps = 0;
  // From the beginning: the browser must know before the keys are pressed.
  const chooser = new Promise<FileChooser>((resolve) => page.once("filechooser", resolve));
  return {
    async press(keys) {
      steps += 1;
      await page.keyboard.press(keys);
    },
    async type(text) {
      steps += 1;
      await page.keyboard.type(text);
    },
    async choose(file) {
      steps += 1;
      await (await chooser).setFiles({ ...file, mimeType: "" });
    },
    async move(...keys) {
      for (const key of keys) await page.keyboard.press(key);
    },
    async reach(name, key = "Tab") {
      const passed: string[] = [];
      for (let stops = 0; stops < STOPS_MAX; stops += 1) {
        const focused = await page.evaluate<string>(FOCUSED);
        if (focused === name) return;
        passed.push(focused.slice(0, 30));
        await page.keyboard.press(key);
      }
      throw new Error(`The focus passes ${passed.join(", ")}, never ${name}`);
    },
    steps: () => steps,
  };
}

async function ask(path: string): Promise<unknown> {
  return (await place.service.request(path)).json();
}

async function list(query: string): Promise<readonly Plant[]> {
  return (await ask(`/plants?limit=1000&${query}`)) as readonly Plant[];
}

type Task = (keyboard: Keyboard, visit: Visit) => Promise<void>;

/** Each task, with what it leads to on the page and in the service. */
const TASKS: Readonly<Record<keyof typeof STEPS, Task>> = {
  async "find plants by a part of their name"({ move, type }, { reads, rows }) {
    await move("/");
    await type("monst");
    await reads("30 plants found.");
    expect(await rows.first().locator("td.plant-row-name").innerText()).toBe(FOUND[0]!.name);
    expect((await list("q=monst")).map(({ id }) => id)).toEqual(FOUND.map(({ id }) => id));
  },

  async "see how many plants have a tag"({ reach }) {
    await reach("tree100");
    expect(await ask("/plants/count?tag=tree")).toMatchObject({ plants: 100 });
  },

  async "sort by name, from A to Z"({ reach, press }, { page, rows }) {
    await reach("Name");
    await press("Enter");
    const [first] = await list("sort=name");
    await rows.first().getByText(first!.name, { exact: true }).waitFor();
    expect(new URL(page.url()).search).toBe("?sort=name");
    expect(first!.name).toBe(PLANTS.map(({ name }) => name).toSorted()[0]!);
  },

  async "find a plant by its id"({ move, type, press }, { field }) {
    await move("/");
    await type("1150");
    await press("Enter");
    await field("Name").waitFor();
    expect(await field("Name").inputValue()).toBe(((await ask("/plants/1150")) as Plant).name);
  },

  async "add a plant"({ reach, press, type, move }, { reads }) {
    await reach("Add plant");
    await press("Enter");
    await type("Acer palmatum");
    await move("Tab");
    await type("tree");
    await press("Enter");
    await reads("“Acer palmatum” is saved.");
    expect((await list("q=palmatum")).map(({ name, tag }) => [name, tag])).toEqual([["Acer palmatum", "tree"]]);
  },

  async "change the tag of a plant"({ reach, move, press, type }, { reads, field }) {
    const { id, name } = PLANTS[2]!;
    await reach(PLANTS[0]!.name);
    await move("ArrowDown", "ArrowDown");
    await press("Enter");
    await field("Tag").waitFor();
    await reach("Tag");
    await type("rare");
    await press("Enter");
    await reads(`“${name}” is saved.`);
    expect(await ask(`/plants/${id}`)).toEqual({ id, name, tag: "rare" });
  },

  async "delete a plant and get it back"({ reach, press }, { page, rows, button }) {
    const { id, name, tag } = PLANTS[0]!;
    const row = rows.getByText(name, { exact: true });
    await page.clock.install();
    await reach(`Delete ${name}`);
    await press("Enter");
    await row.waitFor({ state: "detached" });
    await reach("Undo");
    await press("Enter");
    await row.waitFor();
    // Past the time of the undo.
    await page.clock.fastForward(20_000);
    expect(await button("Undo").count()).toBe(0);
    expect(await ask(`/plants/${id}`)).toEqual({ id, name, tag });
  },

  async "delete seven plants"({ reach, press, move }, { page, reads }) {
    await reach(`Select ${PLANTS[0]!.name}`);
    await press("Space");
    await move(...Array<string>(6).fill("ArrowDown"));
    await press("Shift+Space");
    await reads("7 plants selected");
    await move("Enter");
    await page.clock.install();
    await reach("Delete selected");
    await press("Enter");
    await page.clock.fastForward(9_000);
    await reads("Deleted 7 plants.");
    expect((await list("")).map(({ id }) => id)).toEqual(PLANTS.slice(7).map(({ id }) => id));
  },

  async "set a tag on all plants that a search finds"({ move, type, reach, press }, { reads }) {
    await move("/");
    await type("monst");
    await reads("30 plants found.");
    await reach("Select all plants that are loaded");
    await press("Space");
    await reads("30 plants selected");
    await reach(`Select ${FOUND[0]!.name}`);
    await move("Enter");
    await reach("Set tag");
    await press("Enter");
    await type("rare");
    await press("Enter");
    await reads("Set the tag of 30 plants to “rare”.");
    expect((await list("tag=rare")).map(({ id, name }) => [id, name])).toEqual(FOUND.map(({ id, name }) => [id, name]));
  },

  async "import a spreadsheet whose columns have other names"({ reach, press, choose }, { reads }) {
    const buffer = Buffer.from(
      makeWorkbook([
        ["Pflanzenname", "Gruppe", "Standort"],
        ["Bärlauch", "Kräuter", "Süd"],
        ["Weißdorn", "Strauch", "Nord"],
      ]),
    );
    await reach("Import");
    await press("Enter");
    await reach("Choose a file");
    await press("Enter");
    await choose({ name: "garten.xlsx", buffer });
    await reads("If you import now: 2 new.");
    await reach("Import 2 plants");
    await press("Enter");
    await reads("2 plants added.");
    // A search may follow later.
    const added = (await list("")).filter(({ id }) => PLANTS.every((plant) => plant.id !== id));
    expect(added.map(({ name, tag }) => `${name}: ${tag}`).toSorted()).toEqual(["Bärlauch: Kräuter", "Weißdorn: Strauch"]);
  },

  async "besides these, export what a search finds as CSV"({ move, type, reach, press }, { page, reads }) {
    await move("/");
    await type("monst");
    await reads("30 plants found.");
    await reach("Export", "Shift+Tab");
    await press("Enter");
    await reach("Export CSV");
    const [download] = await Promise.all([page.waitForEvent("download"), press("Enter")]);
    const rows = FOUND.map(({ id, name, tag }) => `${id},${name},${tag}\n`);
    expect(await Bun.file(await download.path()).text()).toBe(`id,name,tag\n${rows.join("")}`);
  },
};

/**
 * How many steps a task takes: here; and elsewhere, where it is offered, by documents and source, with a mouse where that
 * is quicker: in the dashboard of PocketBase 0.39.11, and on the table page of Datasette 1.0a37. A step changes something
 * on the page; what only moves the focus or the pointer is none.
 */
const STEPS = {
  "find plants by a part of their name": { here: 1, elsewhere: [2, 2] },
  "see how many plants have a tag": { here: 0, elsewhere: [2, 1] },
  "sort by name, from A to Z": { here: 1, elsewhere: [2, 1] },
  "find a plant by its id": { here: 2, elsewhere: [2, 2] },
  "add a plant": { here: 4, elsewhere: [4, 4] },
  "change the tag of a plant": { here: 3, elsewhere: [3, 3] },
  "delete a plant and get it back": { here: 2, elsewhere: [] },
  "delete seven plants": { here: 3, elsewhere: [4, 14] },
  "set a tag on all plants that a search finds": { here: 5, elsewhere: [5, 5] },
  "import a spreadsheet whose columns have other names": { here: 4, elsewhere: [6] },
  "besides these, export what a search finds as CSV": { here: 3, elsewhere: [5, 3] },
} as const satisfies Record<string, Readonly<{ here: number; elsewhere: readonly number[] }>>;

describe("with the keyboard alone, and in no more steps than elsewhere, people can", () => {
  for (const [task, take] of Object.entries(TASKS)) {
    it(task, async () => {
      await place.plant(PLANTS.map(({ id, name, tag }) => `${id},${name},${tag}`));
      const visit = await place.visit();
      await visit.page.keyboard.type(place.service.token);
      await visit.page.keyboard.press("Enter");
      await visit.reads(/^300 plants\.$/);
      const keyboard = toKeyboard(visit);
      const { here, elsewhere } = STEPS[task as keyof typeof STEPS];
      await take(keyboard, visit);
      expect(keyboard.steps()).toBe(here);
      for (const steps of elsewhere) expect(keyboard.steps()).toBeLessThanOrEqual(steps);
    });
  }
});
