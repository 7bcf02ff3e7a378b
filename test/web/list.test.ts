// What the page lists, counts and selects, by its state modules alone.
import { describe, expect, it, jest } from "bun:test";
import { ServiceError } from "../../src/client/client.ts";
import type { Client, Page, Plant } from "../../src/client/client.ts";
import { until } from "../support/until.ts";
import { rowsOf } from "../support/web/garden.ts";
import { ALL, createStorage, modules, plantOf, usePages } from "../support/web/page-state.ts";
import type { Listing, View } from "../support/web/page-state.ts";

const { open, put, remove, plant: plantRows, service } = usePages();

const ACER: View = { ...ALL, q: "acer" };
const TREE: View = { ...ALL, tag: "tree" };
const LIST = /^\/plants\?/;

/** A list of these pages, one for each question, whether they are still wanted or not. */
function listOf(view: View, ...pages: ReadonlyArray<Promise<Page> | readonly Plant[]>): Listing {
  const left = [...pages];
  const page = () => {
    const next = left.shift()!;
    return next instanceof Promise ? next : Promise.resolve({ plants: next });
  };
  return new modules.Listing({ page } as unknown as Client, view);
}

function namesIn({ state }: Listing): string[] {
  return state.get().plants.map(({ name }) => name);
}

describe("the list", () => {
  it.each([ALL, ACER])("has what someone else has made of a plant since, in a search too", async (view) => {
    const listing = listOf(view, [plantOf(1, "Theirs")]);
    listing.note(plantOf(1, "Before"), plantOf(1, "Mine"));
    await listing.show(view);
    expect(namesIn(listing)).toEqual(["Theirs"]);
  });

  it("takes neither a late answer to an earlier question, nor its failure", async () => {
    const [first, second] = [Promise.withResolvers<Page>(), Promise.withResolvers<Page>()];
    const listing = listOf(ALL, first.promise, second.promise, [plantOf(3, "Last")]);
    const asked = [listing.show(ALL), listing.show(ACER), listing.show(ALL)];
    await asked[2];
    first.resolve({ plants: [plantOf(1, "First")] });
    second.reject(new Error("Broken."));
    await Promise.all(asked);
    expect([namesIn(listing), listing.state.get().phase, listing.state.get().view.q]).toEqual([["Last"], "whole", ""]);
  });

  it("stays as it is when it cannot be read again", async () => {
    const listing = listOf(ALL, [plantOf(1, "Acer")], Promise.reject<Page>(new Error("Broken.")));
    await listing.show(ALL);
    await listing.refresh();
    expect([namesIn(listing), listing.state.get().phase, listing.state.get().failure]).toEqual([["Acer"], "whole", undefined]);
  });

  it("is that of the search on its way when it is read again meanwhile", async () => {
    const page = await open(["1,Acer,tree", "2,Ginkgo,tree"]);
    const search = page.hold("GET", /q=gink/);
    page.views.show({ ...ALL, q: "gink" }, "push");
    await search.came;
    await page.refresh();
    search.release();
    await until("it is searched", () => page.names().join() === "Ginkgo");
    expect(page.listing.state.get().view.q).toBe("gink");
  });

  it("loses what many changes have deleted, or taken out of the view", async () => {
    const plants = [1, 2, 3].map((id) => plantOf(id, `Acer ${id}`, "tree"));
    const listing = listOf(TREE, plants);
    await listing.show(TREE);
    const afters = [undefined, plantOf(2, "Acer 2"), plantOf(3, "Acer rubrum", "tree")];
    listing.noteAll(plants.map((before, at) => ({ before, after: afters[at] })));
    expect(namesIn(listing)).toEqual(["Acer rubrum"]);
  });

  it("shows a change though a list comes that was read before it, and also what else that list has", async () => {
    const page = await open(["1,Acer,tree", "2,Ginkgo,tree"]);
    await put(3, { name: "Salix" });
    const old = page.hold("GET", LIST, "answer");
    const reading = page.refresh();
    await old.came;
    const after = plantOf(2, "Maidenhair", "tree");
    await page.client.put(after, {});
    page.note(page.find("Ginkgo")[0], after);
    old.release();
    await reading;
    expect(page.names()).toEqual(["Acer", "Maidenhair", "Salix"]);
  });

  it("shows no plants again that were deleted, when a list comes that was read before", async () => {
    const page = await open(rowsOf(300));
    await page.listing.loadMore();
    await put(999, { name: "Salix" });
    page.deletions.remove(page.listing.state.get().plants.slice(1));
    const old = page.hold("GET", LIST, "answer");
    const reading = page.refresh();
    await old.came;
    await page.deletions.flush();
    old.release();
    await reading;
    await until("it is read again", () => page.names().join() === "Plant 1,Salix");
  });

  it("shows what someone else changed after one's own change, though that is answered last", async () => {
    const page = await open(["1,Acer,tree", "2,Ginkgo,tree"]);
    const changing = page.hold("POST", /^\/plants\/changes$/, "answer");
    const removing = page.tagging.setTag(page.find("Acer", "Ginkgo"), undefined);
    await changing.came;
    await put(1, { name: "Theirs", tag: "herb" });
    const [mine] = page.find("Ginkgo");
    await put(2, { name: "Theirs too" });
    await page.refresh();
    changing.release();
    await removing;
    page.note(mine, plantOf(2, "Mine"));
    await until("it has both", () => page.names().join() === "Theirs,Theirs too");
  });

  it("begins again when it is read again after rows behind it did not come, and goes on there", async () => {
    const page = await open(rowsOf(1000));
    page.route(({ path }) => (path.includes("after=") ? Promise.resolve(new Response(null, { status: 500 })) : undefined));
    await page.listing.loadMore();
    expect(page.listing.state.get().phase).toBe("failed");
    await remove(1);
    page.route();
    await page.refresh();
    await page.listing.loadMore();
    expect(page.names()[0]).toBe("Plant 2");
    expect(page.names().length).toBeGreaterThan(500);
  });

  const NAMES = ["Zinnia elegans", "acer palmatum", "Äpfel", "Mentha spicata"];
  const BY_NAME = ["acer palmatum", "Äpfel", "Begonia", "Mentha spicata", "Zinnia elegans"];
  for (const { sort, after } of [
    { sort: "id", after: [...NAMES, "Begonia"] },
    { sort: "-id", after: ["Begonia", ...NAMES.toReversed()] },
    { sort: "name", after: BY_NAME },
    { sort: "-name", after: BY_NAME.toReversed() },
    { sort: "newest", after: ["Begonia", ...NAMES.toReversed()] },
    { sort: "oldest", after: [...NAMES, "Begonia"] },
  ] as const)
    it(`puts a new plant at its place, sort=${sort}, which is where the service has it`, async () => {
      const page = await open();
      for (const [at, name] of NAMES.entries()) await page.client.create(plantOf(at + 1, name));
      await page.listing.show({ ...ALL, sort });
      await page.client.create(plantOf(9, "Begonia"));
      page.note(undefined, plantOf(9, "Begonia"));
      expect(page.names()).toEqual([...after]);
      await page.refresh();
      expect(page.names()).toEqual([...after]);
    });
});

describe("a plant that was added", () => {
  for (const { where, plants = 400, view = {}, name = "Acer palmatum", isHere } of [
    { where: "at the end of a list that is loaded", plants: 50, isHere: true },
    { where: "far behind what is loaded", isHere: false },
    { where: "with another tag than the shown one", view: { tag: "shrub" }, isHere: false },
    { where: "with a tag where those without are shown", view: { tag: null }, isHere: false },
    { where: "that a search does not find", view: { q: "plant", sort: "name" }, isHere: false },
    { where: "that a search finds", view: { q: "acer" }, isHere: true },
    { where: "in the order of names", view: { sort: "name" }, isHere: true },
    { where: "at the end of the order of names", view: { sort: "name" }, name: "Zinnia", isHere: false },
    { where: "among the newest", view: { sort: "newest" }, isHere: true },
    { where: "with a name of no letter", name: "\u{1f335}", isHere: false },
  ] as const)
    it(`${where} ${isHere ? "is in the list" : "is not in the list"}, and the view stays`, async () => {
      const page = await open(rowsOf(plants, (id) => ["shrub", "herb", ""][id % 3]!));
      page.views.show({ ...ALL, ...view }, "push");
      await page.reload();
      const added = plantOf(999_999, name, "tree");
      await page.client.create(added);
      page.note(undefined, added);
      page.added.set(added);
      expect([page.views.state.get(), page.names().includes(name), page.added.get()]).toEqual([{ ...ALL, ...view }, isHere, added]);
      page.note(added, { ...added, name: "Acer rubrum" });
      expect(page.added.get()?.name).toBe("Acer rubrum");
      page.views.show({ ...ALL, q: "rubrum" }, "push");
      expect(page.added.get()).toBeUndefined();
    });

  it("is no reason to leave a hybrid's search, which finds it with an x", async () => {
    const page = await open(["1,Salix × sepulcralis,"]);
    const view = { ...ALL, q: "salix x sepul" };
    await page.listing.show(view);
    page.note(page.find("Salix × sepulcralis")[0], plantOf(1, "Salix ×sepulcralis"));
    expect(page.names()).toEqual(["Salix ×sepulcralis"]);
  });
});

/** What is selected of a list that this answers. */
async function openTicks(client: object) {
  const listing = new modules.Listing(client as Client, ALL);
  const ticks = new modules.Ticks({ client: client as Client, listing, notices: new modules.Notices() });
  await listing.show(ALL);
  return { listing, ticks };
}

describe("what is selected", () => {
  it("is what the list has now, and beyond it what was changed here", async () => {
    // As others came before the second, it is not loaded any more.
    const loaded = [plantOf(1, "Theirs"), ...Array.from({ length: 99 }, (_, at) => plantOf(-at, "Other"))];
    const pages = [{ plants: [plantOf(1, "One"), plantOf(2, "Two")] }, { plants: loaded, next: { after: 1n } }];
    const { listing, ticks } = await openTicks({ page: () => Promise.resolve(pages.shift()!) });
    ticks.toggleLoaded();
    await listing.show(ALL);
    ticks.note([{ before: plantOf(2, "Two"), after: plantOf(2, "Two", "tree") }]);
    expect(ticks.seen()).toEqual([plantOf(1, "Theirs"), plantOf(2, "Two", "tree")]);
    ticks.note([{ before: plantOf(2, "Two", "tree"), after: undefined }]);
    expect(ticks.seen()).toEqual([plantOf(1, "Theirs")]);
  });

  it("is a range from the plant that was chosen last, and deselected in the same way", async () => {
    const page = await open(rowsOf(9));
    const names = () => page.ticks.seen().map(({ name }) => name);
    page.ticks.toggle(1, false);
    page.ticks.toggle(5, true);
    expect(names().toSorted()).toEqual([2, 3, 4, 5, 6].map((id) => `Plant ${id}`));
    page.ticks.toggle(3, true);
    expect(names().toSorted()).toEqual(["Plant 2", "Plant 3"]);
    page.ticks.toggleLoaded();
    expect(names()).toHaveLength(9);
    page.ticks.toggleLoaded();
    expect(names()).toEqual([]);
  });

  it("loses what someone has deleted, or put elsewhere, once the list is read again", async () => {
    const page = await open(rowsOf(5));
    await page.listing.show(TREE);
    page.ticks.toggleLoaded();
    await remove(1);
    await put(2, { name: "Plant 2", tag: "herb" });
    await put(3, { name: "Theirs", tag: "tree" });
    await page.refresh();
    expect(page.ticks.seen().map(({ name }) => name)).toEqual(["Theirs", "Plant 4", "Plant 5"]);
  });

  it("keeps a plant that was changed by itself and left the view, as it is now", async () => {
    const page = await open(rowsOf(2));
    await page.listing.show(TREE);
    page.ticks.toggleLoaded();
    page.note(page.find("Plant 1")[0], plantOf(1, "Plant 1", "herb"));
    expect([page.names(), page.ticks.seen().map(({ tag }) => tag)]).toEqual([["Plant 2"], ["herb", "tree"]]);
  });

  it("leaves out what waits for its deletion, and what is deselected while all is being selected", async () => {
    const page = await open(rowsOf(300));
    page.deletions.remove(page.find("Plant 3"));
    const all = page.hold("GET", /limit=1000/);
    const selecting = page.ticks.tickFound();
    await all.came;
    page.ticks.toggle(page.names().indexOf("Plant 5"), false);
    all.release();
    await selecting;
    const names = page.ticks.seen().map(({ name }) => name);
    expect([names.length, names.includes("Plant 3"), names.includes("Plant 5")]).toEqual([298, false, false]);
  });

  it("gets nothing more once it was cleared, though more is on its way", async () => {
    const more = Promise.withResolvers<void>();
    const { ticks } = await openTicks({
      page: () => Promise.resolve({ plants: [plantOf(1, "One")], next: { after: 1n } }),
      async *list() {
        yield plantOf(1, "One");
        await more.promise;
        yield* [plantOf(2, "Two"), plantOf(3, "Three")];
      },
    });
    const gathered = ticks.tickFound();
    ticks.clear();
    more.resolve();
    await gathered;
    expect(ticks.seen()).toEqual([]);
  });

  it("is at most half a million plants, and says so when there are more", async () => {
    const { ticks } = await openTicks({
      page: () => Promise.resolve({ plants: [plantOf(0, "P")], next: { after: 0n } }),
      async *list() {
        for (let id = 0; ; id += 1) yield plantOf(id, "P");
      },
    });
    await ticks.tickFound();
    expect([ticks.seen().length, ticks.state.get().isCut]).toEqual([500_000, true]);
    ticks.clear();
    expect(ticks.state.get().isCut).toBe(false);
  });
});

describe("how many plants a tag has", () => {
  const counted = (plants: number) => Promise.resolve({ plants, precision: "exact" });

  it("follows each change that is made here, and is no line any more when none is left", async () => {
    const tags = ["tree", "herb"].map((tag, at) => ({ tag, plants: 2 - at }));
    const client = { tags: () => Promise.resolve({ tags }), count: () => counted(2) } as unknown as Client;
    const counts = new modules.LiveTagCounts(client, new modules.State(TREE));
    await counts.load();
    counts.note(plantOf(1, "Mint", "herb"), undefined);
    counts.note(plantOf(2, "Acer", "tree"), plantOf(2, "Acer"));
    counts.note(undefined, plantOf(3, "Aloe", "succulent"));
    expect(counts.state.get()).toEqual(["tree", "succulent"].map((tag) => ({ tag, plants: 1 })));
    expect(counts.total.get()).toMatchObject({ plants: 1 });
  });

  it("is not taken from a late answer to an earlier question", async () => {
    const late = Promise.withResolvers<object>();
    const answers = [late.promise, counted(2)];
    const client = { tags: () => Promise.resolve({ tags: [] }), count: () => answers.shift()! } as unknown as Client;
    const counts = new modules.LiveTagCounts(client, new modules.State(ALL));
    const first = counts.load();
    await counts.load();
    late.resolve(await counted(1));
    await first;
    expect(counts.total.get()).toMatchObject({ plants: 2 });
  });

  it("is asked for until it comes, though the service refuses it several times", async () => {
    const refusal = { status: 503, error: 50300, message: "Refused.", isRepeatable: true, requestId: undefined, retryAfterMs: 60_000 };
    const trees = [{ tag: "tree", plants: 2 }];
    let asked = 0;
    const tags = async () => {
      asked += 1;
      if (asked < 4) throw new ServiceError(refusal);
      return { tags: trees };
    };
    jest.useFakeTimers();
    try {
      const counts = new modules.LiveTagCounts({ tags, count: () => counted(2) } as unknown as Client, new modules.State(ALL));
      await counts.load();
      for (const said of [undefined, undefined, trees]) {
        jest.advanceTimersByTime(10_000);
        await new Promise(process.nextTick);
        expect([asked, counts.state.get()]).toEqual([asked, said]);
      }
      expect(asked).toBe(4);
    } finally {
      jest.useRealTimers();
    }
  });
});

it("a list is asked for with the ETag of what is here, and comes again only if it has changed", async () => {
  await plantRows(["1,Acer,tree"]);
  const statuses: number[] = [];
  const changes: string[] = [];
  async function sendOn(url: string, init: RequestInit): Promise<Response> {
    const response = await fetch(url, init);
    statuses.push(response.status);
    return response;
  }
  const send = modules.createCatalogueFetch(sendOn, () => changes.push("changed"));
  const headers = { authorization: `Bearer ${service().token}` };
  const list = async () => (await send(`${service().url}/plants?limit=9`, { method: "GET", headers })).text();
  const first = await list();
  expect([await list(), statuses, changes]).toEqual([first, [200, 304], []]);
  await send(`${service().url}/plants/1`, { method: "DELETE", headers });
  expect([await list(), statuses, changes]).toEqual(["[]", [200, 304, 204, 200], ["changed"]]);
});

it("a request that the page itself has ended says nothing about the service", async () => {
  const window = { navigator: { onLine: true }, addEventListener: () => undefined };
  const { state, fetch: send } = modules.watchReach({ window, livenessUrl: "", onAnswer: () => undefined });
  await send("http://127.0.0.1:1/", { signal: AbortSignal.abort() }).catch(() => undefined);
  expect(state.get()).toBe("reached");
});

it("positions in the list are kept for a hundred views, the latest, and not in a tab that has none", () => {
  const tab = createStorage();
  const positions = new modules.Positions(tab);
  for (let view = 0; view < 101; view += 1) positions.keep(`?q=${view}`, view);
  positions.save();
  const again = new modules.Positions(tab);
  expect([again.find("?q=0"), again.find("?q=1"), again.find("?q=100")]).toEqual([undefined, 1, 100]);
  for (let view = 0; view < 101; view += 1) again.keep(`?q=${view}`, undefined);
  again.save();
  expect(tab.items.size).toBe(0);
});
