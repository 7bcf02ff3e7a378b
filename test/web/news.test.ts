// What becomes of the list when others change plants, by the state modules of the page alone.
import { describe, expect, it } from "bun:test";
import type { Client, ListQuery, Page, Plant } from "../../src/client/client.ts";
import { sleepPatiently } from "../support/patient-clock.ts";
import { until } from "../support/until.ts";
import { ALL, modules, plantOf } from "../support/web/page-state.ts";
import type { Listing, News, View } from "../support/web/page-state.ts";

const TREES = [1, 3, 5, 7, 9].map((id) => plantOf(id, `Tree ${id}`, "tree"));
const IN_SIGHT = 3;

type Heard = readonly Plant[];
const gone = (id: number): Plant => plantOf(id, "");

/** A list of these plants, of which three are in sight, and what is told of it. */
async function openList(plants: readonly Plant[], view: View = ALL, next?: Page["next"], focused?: bigint) {
  let asked = 0;
  let isFailing = false;
  let now = plants;
  let held = Promise.resolve();
  const page = async ({ limit = 0 }: ListQuery): Promise<Page> => {
    asked += 1;
    const all = now;
    await held;
    if (isFailing) throw new Error("Broken.");
    const more = next ?? (all.length > limit ? MORE : undefined);
    return { plants: all.slice(0, limit), ...(more ? { next: more } : {}) };
  };
  const listing: Listing = new modules.Listing({ page } as unknown as Client, view);
  async function* list(): AsyncGenerator<Plant> {
    yield* now;
  }
  const ticks = new modules.Ticks({ client: { list } as unknown as Client, listing, notices: new modules.Notices() });
  await listing.show(view);
  const news = new modules.State<News | undefined>(undefined);
  const sight = { rowsInSight: () => IN_SIGHT, focused: () => focused };
  const desk = new modules.NewsDesk({ listing, ticks, news, ...sight });
  desk.keep();
  return {
    listing,
    ticks,
    news,
    sight,
    desk,
    asked: () => asked,
    fail: (fails: boolean) => (isFailing = fails),
    /** From now on the service has these. */
    become: (others: readonly Plant[]) => (now = others),
    /** Its answers are on their way until this is undone. */
    hold: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return resolve;
    },
    /** A plant without a name is gone. */
    take: (...heard: Heard) => desk.take(new Map(heard.map((plant) => [plant.id, plant.name === "" ? undefined : plant]))),
    names: () => listing.state.get().plants.map(({ name }) => name),
    told: () => toText(news.get()),
  };
}

function toText(news: News | undefined): string {
  if (!news) return "";
  const { appeared, moved, isCut } = news;
  const left = [...news.gone].map(([id, isDeleted]) => `${isDeleted ? "deleted" : "left"} ${id}`);
  return [appeared > 0 ? `${appeared} new` : "", ...left, moved > 0 ? `${moved} moved` : "", isCut ? "more" : ""]
    .filter(Boolean)
    .join(", ");
}

const NAMES = TREES.map(({ name }) => name);
const TREE: View = { ...ALL, tag: "tree" };
const MANY = Array.from({ length: 100 }, (_, at) => plantOf(2 * at + 1, `Tree ${2 * at + 1}`, "tree"));
const MORE = { after: 199n } as Page["next"];

describe("when someone else changes a plant", () => {
  for (const { what, heard, view = TREE, next, focused, rows, says = "" } of [
    { what: "its row has the new text in its place", heard: [plantOf(3, "Oak", "tree")], rows: NAMES.with(1, "Oak") },
    {
      what: "its row keeps its place also where its name belongs elsewhere",
      heard: [plantOf(3, "Zelkova", "tree")],
      view: { ...TREE, sort: "name" },
      rows: NAMES.with(1, "Zelkova"),
      says: "1 moved",
    },
    { what: "its row in sight stays when it is deleted", heard: [gone(3)], says: "deleted 3" },
    {
      what: "its row in sight stays, with its text, when the view no longer shows it",
      heard: [plantOf(3, "Rose", "shrub")],
      rows: NAMES.with(1, "Rose"),
      says: "left 3",
    },
    { what: "its row below what is in sight goes with it", heard: [gone(7)], rows: NAMES.filter((name) => name !== "Tree 7") },
    { what: "its row stays where the keyboard is", heard: [gone(7)], focused: 7n, says: "deleted 7" },
    { what: "a new one gets no row among those in sight", heard: [plantOf(2, "Oak", "tree")], says: "1 new" },
    { what: "a new one gets no row above all", heard: [plantOf(-2, "Oak", "tree")], view: { ...TREE, sort: "newest" }, says: "1 new" },
    { what: "a new one gets its row below what is in sight", heard: [plantOf(8, "Oak", "tree")], rows: NAMES.toSpliced(4, 0, "Oak") },
    { what: "a new one gets its row at the end", heard: [plantOf(99, "Oak", "tree")], rows: [...NAMES, "Oak"] },
    { what: "a new one behind what is loaded gets none", heard: [plantOf(999, "Oak", "tree")], next: MORE },
    { what: "one that the view does not show gets no row", heard: [plantOf(2, "Rose", "shrub")] },
    { what: "one that comes and goes is no news", heard: [plantOf(2, "Oak", "tree"), gone(2)] },
    { what: "one that is deleted and made again has its row", heard: [gone(3), plantOf(3, "Oak", "tree")], rows: NAMES.with(1, "Oak") },
  ] as ReadonlyArray<
    Readonly<{ what: string; heard: Heard; view?: View; next?: Page["next"]; focused?: bigint; rows?: string[]; says?: string }>
  >)
    it(what, async () => {
      const plants = next ? MANY : TREES;
      const { take, names, told, asked } = await openList(plants, view, next, focused);
      for (const one of heard) take(one);
      expect([names(), told(), asked()]).toEqual([rows ?? plants.map(({ name }) => name), says, 1]);
    });

  it("an empty list shows it at once", async () => {
    const pages = [[], [plantOf(1, "Acer")]];
    const listing: Listing = new modules.Listing({ page: () => Promise.resolve({ plants: pages.shift()! }) } as unknown as Client, ALL);
    await listing.show(ALL);
    const news = new modules.State<News | undefined>(undefined);
    const ticks = { hear: () => undefined };
    new modules.NewsDesk({ listing, ticks, news, rowsInSight: () => 0, focused: () => undefined }).take(
      new Map([[1n, plantOf(1, "Acer")]]),
    );
    await until("it is there", () => listing.state.get().plants.length === 1);
    expect(news.get()).toBeUndefined();
  });

  it("all is told no more when the list is read again, and stays told when that fails", async () => {
    const { listing, take, told, fail } = await openList(TREES);
    take(plantOf(2, "Oak"), gone(3));
    fail(true);
    await listing.refresh();
    expect(told()).toBe("1 new, deleted 3");
    fail(false);
    await listing.refresh();
    expect(told()).toBe("");
  });

  it("a selected one is changed, or no longer selected", async () => {
    const { ticks, take } = await openList(TREES);
    ticks.toggleLoaded();
    take(plantOf(1, "Oak", "tree"), gone(3), gone(9));
    expect(ticks.seen().map(({ name }) => name)).toEqual(["Oak", "Tree 5", "Tree 7"]);
  });

  it("a selected one that is not loaded is no longer selected once it is deleted", async () => {
    const { ticks, take } = await openList(MANY.concat(plantOf(301, "Oak", "tree")));
    await ticks.tickFound();
    expect(ticks.seen()).toHaveLength(101);
    take(gone(301));
    expect(ticks.seen()).toHaveLength(100);
  });

  it("one whose deletion waits here is told as deleted once it is shown again", async () => {
    const { listing, take, told } = await openList(TREES);
    listing.hide([1n]);
    take(gone(1));
    expect(told()).toBe("");
    listing.unhide([1n]);
    expect(told()).toBe("deleted 1");
  });

  it("one that was deleted is told no more once it is restored here", async () => {
    const { listing, take, told } = await openList(TREES);
    take(gone(1), gone(3));
    listing.note(undefined, plantOf(3, "Tree 3", "tree"));
    expect(told()).toBe("deleted 1");
  });

  it("the list is not asked for, and of more than ten thousand it is only said that there are more", async () => {
    const { take, told, asked, names } = await openList(TREES);
    for (let at = 0; at < 4; at += 1) take(...Array.from({ length: 5_000 }, (_, id) => plantOf(-1 - at * 5_000 - id, "Oak")));
    expect([told(), asked(), names()]).toEqual(["10000 new, more", 1, NAMES]);
  });
});

const NEWEST: View = { ...ALL, sort: "newest" };
const OLD = Array.from({ length: 300 }, (_, at) => plantOf(300 - at, `Tree ${300 - at}`));
const WHOLE = OLD.slice(150).toReversed();

/** What takes over what is heard, in a page whose changes have their responses at this time. */
async function openPage(changedAt: () => number, plants: readonly Plant[] = TREES, view: View = TREE) {
  const list = await openList(plants, view);
  const { listing, ticks, news, sight } = list;
  let counted = 0;
  const found: bigint[] = [];
  /** Of those that the list misses, one is gone, and the other one has another tag now. */
  const page = ({ after }: ListQuery) => {
    found.push(after! + 1n);
    return Promise.resolve({ plants: [after === 4n ? plantOf(5, "Moved", "shrub") : plantOf(Number(after) + 2, "Rose", "shrub")] });
  };
  const heard = new modules.State<ReadonlyMap<bigint, Plant | undefined>>(new Map());
  const tagCounts = { load: () => (counted += 1) };
  const { hear, askAgain } = modules.openTaking({ listing, ticks, news, heard, tagCounts, changedAt, client: { page } }, sight);
  return { ...list, heard, hear, askAgain, found, counted: () => counted };
}

describe("what the page hears", () => {
  it("is no news if the page has changed it itself, though it hears of that before it has the response", async () => {
    let changedAt = Infinity;
    const { listing, hear, told, news, names, heard } = await openPage(() => changedAt);
    const seen = new Set<string>();
    news.watch(() => seen.add(told()));
    hear({ changes: [{ id: 2n, plant: plantOf(2, "Mine", "tree") }, { id: 3n }], cursor: "A" });
    await sleepPatiently(1_000);
    expect(heard.get().size).toBe(0);
    listing.noteAll([
      { before: undefined, after: plantOf(2, "Mine", "tree") },
      { before: TREES[1], after: undefined },
    ]);
    changedAt = performance.now();
    await until("it is taken over", () => heard.get().size === 2);
    expect([names(), [...seen]]).toEqual([["Tree 1", "Mine", "Tree 5", "Tree 7", "Tree 9"], []]);
  });

  it("changes nothing that the list was asked for after it", async () => {
    const { listing, hear, names, heard } = await openPage(() => -Infinity);
    hear({ changes: [{ id: 3n, plant: plantOf(3, "Old", "tree") }], cursor: "A" });
    await listing.refresh();
    await until("it is heard", () => heard.get().size === 1);
    expect(names()).toEqual(NAMES);
  });

  it("is taken over a few times, however much it is, and tags are counted less and less often", async () => {
    const { hear, heard, told, counted, asked } = await openPage(() => -Infinity);
    let times = 0;
    heard.watch(() => (times += 1));
    for (let at = 0; at < 100; at += 1) {
      hear({
        changes: Array.from({ length: 100 }, (_, id) => ({ id: BigInt(-1 - at * 100 - id), plant: plantOf(-1, "Oak", "tree") })),
        cursor: "A",
      });
      await Bun.sleep(5);
    }
    await until("all is taken over", () => told() === "10000 new");
    expect(times).toBeLessThan(20);
    expect(counted()).toBeLessThan(5);
    expect(asked()).toBe(1);
  });

  it("is told as such where it is too much to remember", async () => {
    const { listing, hear, told, counted } = await openPage(() => -Infinity);
    const reading = listing.refresh();
    hear({ changes: Array.from({ length: 30_000 }, (_, id) => ({ id: BigInt(-1 - id) })), cursor: "A" });
    expect([told(), counted()]).toEqual(["more", 1]);
    await reading;
  });

  it("has a gap: what the service has now is taken over as if it was heard, and no row moves", async () => {
    const { become, askAgain, told, names, found, heard, counted } = await openPage(() => -Infinity);
    become([plantOf(1, "Oak", "tree"), plantOf(2, "Elm", "tree"), ...TREES.slice(3), plantOf(99, "Ash", "tree")]);
    askAgain();
    await until("it is taken over", () => told() !== "");
    expect([names(), told(), found]).toEqual([["Oak", "Tree 3", "Moved", "Tree 7", "Tree 9", "Ash"], "1 new, deleted 3, left 5", [3n, 5n]]);
    expect([heard.get().get(1n)?.name, counted()]).toEqual(["Oak", 1]);
  });

  it("has a gap: the service is not asked where the list was read since", async () => {
    const { listing, askAgain, asked } = await openPage(() => -Infinity);
    askAgain();
    await listing.refresh();
    await sleepPatiently(500);
    expect(asked()).toBe(2);
  });

  for (const { what, view, plants, now = plants, says = "", rows } of [
    // The service orders some signs otherwise than the page.
    { what: "in which nothing changed", view: { ...ALL, sort: "name" }, plants: [plantOf(1, "Betula"), plantOf(2, "Acer")], rows: 2 },
    {
      what: "in which one of a long list was deleted",
      view: NEWEST,
      plants: OLD,
      now: OLD.toSpliced(1, 1),
      says: "deleted 299",
      rows: 100,
    },
    { what: "in which one more came to all that there were", view: ALL, plants: WHOLE, now: [...WHOLE, plantOf(999, "Oak")], rows: 151 },
    {
      what: "in which more changed than is looked up",
      view: TREE,
      plants: MANY,
      now: MANY.slice(21),
      says: "deleted 1, deleted 3, left 5, more",
      rows: 83,
    },
  ] as ReadonlyArray<Readonly<{ what: string; view: View; plants: readonly Plant[]; now?: readonly Plant[]; says?: string; rows: number }>>)
    it(`has a gap ${what}`, async () => {
      const { become, askAgain, told, names, listing } = await openPage(() => -Infinity, plants, view);
      if (plants === WHOLE) await listing.show(view, plants.length);
      become(now);
      askAgain();
      await sleepPatiently(500);
      expect([told(), names().length]).toEqual([says, rows]);
    });

  it("has a gap while the service is too busy: it is asked again a while later", async () => {
    const { become, askAgain, told, fail } = await openPage(() => -Infinity);
    become(TREES.slice(1));
    fail(true);
    askAgain();
    await sleepPatiently(500);
    expect(told()).toBe("");
    fail(false);
    await until("it is asked again", () => told() === "deleted 1");
  });

  it("has a gap while another list is on its way: what was asked for before it is not put over it", async () => {
    const { become, hold, askAgain, listing, asked, names, told } = await openPage(() => -Infinity);
    become(TREES.slice(0, 4));
    const release = hold();
    askAgain();
    await until("it is asked", () => asked() === 2);
    become(TREES);
    const releaseList = hold();
    const showing = listing.show({ ...TREE, q: "tree" });
    release();
    await sleepPatiently(300);
    releaseList();
    await showing;
    await sleepPatiently(500);
    expect([names(), told()]).toEqual([NAMES, ""]);
  });

  it("has a gap while the page changes plants itself: what it was told before that is not taken over", async () => {
    let changedAt = -Infinity;
    const { become, hold, askAgain, listing, asked, names } = await openPage(() => changedAt);
    const seen = new Set<string | undefined>();
    listing.state.watch(() => seen.add(names()[0]));
    const release = hold();
    askAgain();
    await until("it is asked", () => asked() === 2);
    listing.note(TREES[0], plantOf(1, "Mine", "tree"));
    changedAt = performance.now();
    become([plantOf(1, "Mine too", "tree"), ...TREES.slice(1)]);
    release();
    await until("the second answer is taken over", () => names()[0] === "Mine too");
    expect([...seen, asked()]).toEqual(["Mine", "Mine too", 3]);
  });

  it("has a gap while the list did not come: it is asked for by those who see that", async () => {
    const { listing, askAgain, asked, fail } = await openPage(() => -Infinity);
    fail(true);
    await listing.show({ ...TREE, q: "oak" });
    askAgain();
    await sleepPatiently(500);
    expect([listing.state.get().phase, asked()]).toEqual(["failed", 2]);
  });
});
