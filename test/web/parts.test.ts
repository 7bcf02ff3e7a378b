// Parts of the page by themselves, at moments that a browser does not wait for.
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "bun:test";
import { ConnectionError, createClient } from "../../src/client/client.ts";
import type { Client, Page, Plant, PlantChange } from "../../src/client/client.ts";
import { PROJECT } from "../support/process.ts";
import { savePlant } from "../../web/plants/save-plant.ts";
import { nameProblem, toDraft, toPlant } from "../../web/plants/draft.ts";
import { rejectionOf } from "../support/rejection.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

type View = Readonly<{ q: string; tag: string | undefined; sort: "id" }>;
type State<Value> = Readonly<{ get: () => Value }>;
type Change = Readonly<{ before: Plant | undefined; after: Plant | undefined }>;
type Listing = Readonly<{
  state: State<Readonly<{ view: View; plants: readonly Plant[]; phase: string; failure: unknown }>>;
  show: (view: View) => Promise<void>;
  refresh: () => Promise<void>;
  note: (before: Plant | undefined, after: Plant | undefined) => void;
  noteAll: (changes: readonly Change[]) => void;
}>;
type Notice = Readonly<{ text: string; action?: Readonly<{ run: () => void }>; onClose?: () => void }>;
type Notices = Readonly<{ state: State<readonly Notice[]>; add: (notice: object) => number }>;
type BulkChanges = Readonly<{
  run: (bulk: Readonly<{ changes: readonly PlantChange[]; doing: string; done: string; isQuiet?: boolean }>) => Promise<boolean>;
  offerEdit: (change: PlantChange, said: Readonly<{ kind: "done" | "problem"; text: string }>) => void;
  offer: () => void;
}>;
type Ticks = Readonly<{
  toggleLoaded: () => void;
  tickFound: () => Promise<void>;
  clear: () => void;
  seen: () => readonly Plant[];
  note: (changes: readonly Change[]) => void;
}>;
type TagCounts = Pick<Listing, "note"> & Readonly<{ state: State<unknown>; total: State<unknown>; load: () => Promise<void> }>;
type Send = (url: string, init: RequestInit) => Promise<Response>;

/** The parts as this test uses them. Their own types need those of a browser, which are not those of a test. */
type Parts = Readonly<{
  createBulkChanges: (
    parts: Readonly<{
      client: Client;
      notices: Notices;
      keptUndo: object;
      changesSent: () => number;
      signedOut: AbortSignal;
      onChanged: () => void;
    }>,
  ) => BulkChanges;
  createKeptUndo: (storage: Pick<Storage, "getItem" | "removeItem" | "setItem">) => object;
  createListing: (client: Client, view: View) => Listing;
  createNotices: () => Notices;
  createSignedInFetch: (fetch: Send, signedOut: AbortSignal) => Readonly<{ fetch: Send; changesSent: () => number }>;
  failureText: (thrown: unknown) => string;
  createState: <Value>(value: Value) => State<Value>;
  createTagCounts: (client: Client, views: State<View>) => TagCounts;
  createTicks: (parts: Readonly<{ client: Client; listing: Listing; notices: Notices }>) => Ticks;
  watchReach: (
    page: Readonly<{ window: object; livenessUrl: string; onAnswer: () => void }>,
  ) => Readonly<{ state: State<string>; fetch: Send }>;
  SignedOutError: new () => Error;
}>;

// What is kept in the browser is named after where the page is.
Object.assign(globalThis, { location: new URL("http://plants.example/") });
const CATALOGUE = ["bulk-changes", "kept-undo", "listing", "sign-out", "tag-counts", "ticks"].map((name) => `catalogue/${name}`);
const NAMES = [...CATALOGUE, "failure-text", "notices", "reach", "state"];
const modules = await Promise.all(NAMES.map((name) => import(join(PROJECT, "web", `${name}.ts`)) as Promise<object>));
const parts = Object.assign({}, ...modules) as Parts;
const { createBulkChanges, createKeptUndo, createListing, createNotices, createSignedInFetch } = parts;
const { failureText, createState, createTagCounts, createTicks, watchReach, SignedOutError } = parts;

const ALL = { q: "", tag: undefined, sort: "id" } as const;
const ACER = { ...ALL, q: "acer" };

function plant(id: number, name: string, tag?: string): Plant {
  return { id: BigInt(id), name, ...(tag === undefined ? {} : { tag }) };
}

/** A client whose pages are these, whether they are still wanted or not. */
function clientOf(page: () => Promise<Page>): Client {
  return { page } as unknown as Client;
}

function pageOf(...plants: readonly Plant[]): Promise<Page> {
  return Promise.resolve({ plants });
}

describe("the list", () => {
  function namesIn({ state }: Listing): string[] {
    return state.get().plants.map(({ name }) => name);
  }

  it.each([ALL, ACER])("has what somebody else has made of it since, in a search too", async (view) => {
    const listing = createListing(
      clientOf(() => pageOf(plant(1, "Theirs"))),
      view,
    );
    listing.note(plant(1, "Before"), plant(1, "Mine"));
    await listing.show(view);
    expect(namesIn(listing)).toEqual(["Theirs"]);
  });

  it("takes neither what was asked for before, nor its failure, when it comes late", async () => {
    const late = [Promise.withResolvers<Page>(), Promise.withResolvers<Page>()] as const;
    const pages = [late[0].promise, late[1].promise, pageOf(plant(3, "Last"))];
    const listing = createListing(
      clientOf(() => pages.shift()!),
      ALL,
    );
    const asked = [listing.show(ALL), listing.show(ACER), listing.show(ALL)];
    await asked[2];
    late[0].resolve({ plants: [plant(1, "First")] });
    late[1].reject(new Error("Broken."));
    await Promise.all(asked);
    expect([namesIn(listing), listing.state.get().phase, listing.state.get().view.q]).toEqual([["Last"], "whole", ""]);
  });

  it("says nothing of a failure to read it again", async () => {
    const pages = [pageOf(plant(1, "Acer")), Promise.reject<Page>(new Error("Broken."))];
    const listing = createListing(
      clientOf(() => pages.shift()!),
      ALL,
    );
    await listing.show(ALL);
    await listing.refresh();
    expect([namesIn(listing), listing.state.get().phase, listing.state.get().failure]).toEqual([["Acer"], "whole", undefined]);
  });

  it("loses what many changes have deleted, or taken out of the view", async () => {
    const tree = { ...ALL, tag: "tree" };
    const [first, second, third] = [1, 2, 3].map((id) => plant(id, `Acer ${id}`, "tree")) as [Plant, Plant, Plant];
    const listing = createListing(
      clientOf(() => pageOf(first, second, third)),
      tree,
    );
    await listing.show(tree);
    listing.noteAll([
      { before: first, after: undefined },
      { before: second, after: plant(2, "Acer 2") },
      { before: third, after: plant(3, "Acer rubrum", "tree") },
    ]);
    expect(namesIn(listing)).toEqual(["Acer rubrum"]);
  });
});

describe("what is selected", () => {
  it("is what the list has now, and beyond it what was changed here", async () => {
    // As others came before the second, it is not loaded any more.
    const loaded = [plant(1, "Theirs"), ...Array.from({ length: 99 }, (_, at) => plant(-at, "Other"))];
    const pages = [pageOf(plant(1, "One"), plant(2, "Two")), Promise.resolve({ plants: loaded, next: { after: 1n } })];
    const client = clientOf(() => pages.shift()!);
    const listing = createListing(client, ALL);
    const ticks = createTicks({ client, listing, notices: createNotices() });
    await listing.show(ALL);
    ticks.toggleLoaded();
    await listing.show(ALL);
    ticks.note([{ before: plant(2, "Two"), after: plant(2, "Two", "tree") }]);
    expect(ticks.seen()).toEqual([plant(1, "Theirs"), plant(2, "Two", "tree")]);
    ticks.note([{ before: plant(2, "Two", "tree"), after: undefined }]);
    expect(ticks.seen()).toEqual([plant(1, "Theirs")]);
  });

  it("gets nothing more once it was cleared, though more is on its way", async () => {
    const { promise: wait, resolve: goOn } = Promise.withResolvers<void>();
    const client = {
      page: () => Promise.resolve({ plants: [plant(1, "One")], next: { after: 1n } }),
      async *list() {
        yield plant(1, "One");
        await wait;
        yield* [plant(2, "Two"), plant(3, "Three")];
      },
    } as unknown as Client;
    const listing = createListing(client, ALL);
    const ticks = createTicks({ client, listing, notices: createNotices() });
    listing.note(undefined, plant(1, "One"));
    const gathered = ticks.tickFound();
    ticks.clear();
    goOn();
    await gathered;
    expect(ticks.seen()).toEqual([]);
  });
});

describe("how many plants a tag has", () => {
  it("follows each change that is made here, and is no line any more when none is left", async () => {
    const client = {
      tags: () =>
        Promise.resolve({
          tags: [
            { tag: "tree", plants: 2 },
            { tag: "herb", plants: 1 },
          ],
        }),
      count: () => Promise.resolve({ plants: 2, precision: "exact" }),
    } as unknown as Client;
    const counts = createTagCounts(client, createState({ ...ALL, tag: "tree" }));
    await counts.load();
    counts.note(plant(1, "Mint", "herb"), undefined);
    counts.note(plant(2, "Acer", "tree"), plant(2, "Acer"));
    counts.note(undefined, plant(3, "Aloe", "succulent"));
    expect(counts.state.get()).toEqual(["tree", "succulent"].map((tag) => ({ tag, plants: 1 })));
    expect(counts.total.get()).toMatchObject({ plants: 1 });
  });
});

it("counts that were asked for before are not taken when they come late", async () => {
  const late = Promise.withResolvers<object>();
  const answers = [late.promise, Promise.resolve({ plants: 2, precision: "exact" })];
  const client = { tags: () => Promise.resolve({ tags: [] }), count: () => answers.shift()! } as unknown as Client;
  const counts = createTagCounts(client, createState(ALL));
  const first = counts.load();
  await counts.load();
  late.resolve({ plants: 1, precision: "exact" });
  await first;
  expect(counts.total.get()).toMatchObject({ plants: 2 });
});

it("a message that asks for something is not pushed out by others, however many there are", () => {
  const notices = createNotices();
  const action = { label: "Undo", run: () => undefined };
  for (const text of ["one", "two", "three"]) notices.add({ kind: "done", text, action });
  for (const text of ["four", "five"]) notices.add({ kind: "done", text });
  expect(notices.state.get().map(({ text }) => text)).toEqual(["one", "two", "three", "five"]);
});

it("nothing is sent any more for somebody who has signed out", async () => {
  const out = new AbortController();
  const sent: string[] = [];
  const { fetch, changesSent } = createSignedInFetch((url) => {
    sent.push(url);
    return Promise.resolve(new Response());
  }, out.signal);
  await fetch("/plants", { method: "POST" });
  out.abort(new SignedOutError());
  for (const method of ["POST", "GET"]) expect(await rejectionOf(fetch("/plants", { method }))).toBeInstanceOf(SignedOutError);
  expect([sent, changesSent()]).toEqual([["/plants"], 1]);
});

it("a request that the page itself has ended says nothing about the service", async () => {
  const window = { navigator: { onLine: true }, addEventListener: () => undefined };
  const { state, fetch } = watchReach({ window, livenessUrl: "", onAnswer: () => undefined });
  await rejectionOf(fetch("http://127.0.0.1:1/", { signal: AbortSignal.abort() }));
  expect(state.get()).toBe("reached");
});

describe("a plant that is changed", () => {
  let service: TestService;
  let client: Client;
  beforeAll(async () => {
    service = await startTestService();
    client = createClient({ url: service.url, token: service.token });
  });
  afterAll(() => service.stop());

  /** The service makes the change, or it never comes there. */
  function losing(isMade: boolean): Client {
    return {
      ...client,
      async put(...given) {
        if (isMade) await client.put(...given);
        throw new ConnectionError({ message: "Lost.", isRepeatable: true });
      },
    };
  }

  it("keeps exactly what nobody touched, even where an input cannot show it", () => {
    for (const odd of [plant(1, " Acer\n", " tree\t"), plant(1, "\u200b", "\u200b"), plant(1, "a", "")]) {
      const draft = toDraft(odd);
      expect(toPlant(1n, draft, odd)).toEqual(odd);
      expect(toPlant(1n, { ...draft, name: "b " }, odd)).toEqual({ ...odd, name: "b" });
      expect(toPlant(1n, { ...draft, tag: "b " }, odd)).toEqual({ ...odd, tag: "b" });
    }
  });

  it("is saved if it is as wanted, though the answer was lost", async () => {
    await client.create(plant(1, "Acer"));
    const seen = await client.find(1n);
    expect(await savePlant(losing(true), plant(1, "Mine"), seen)).toEqual({ kind: "saved", plant: plant(1, "Mine") });
  });

  it("takes no place that somebody else has taken, if it is a new one", async () => {
    await client.create(plant(3, "Theirs"));
    expect(await savePlant(client, plant(3, "Mine"), undefined)).toMatchObject({ kind: "conflict", theirs: { plant: { name: "Theirs" } } });
  });

  it("is not saved behind a proxy that makes tags weak, which is said, and shows no conflict of two equal plants", async () => {
    await client.put(plant(4, "Acer"), {});
    const weak: Client = {
      ...client,
      find: async (...given) => {
        const found = await client.find(...given);
        return found && { ...found, etag: `W/${found.etag}` };
      },
    };
    const refusal = await rejectionOf(savePlant(weak, plant(4, "Mine"), await weak.find(4n)));
    expect(failureText(refusal)).toBe("Something on the way to the service alters what is sent: tell its operator.");
  });

  it("is not saved if it is as it was, and theirs if it is neither", async () => {
    await client.create(plant(2, "Acer"));
    const seen = await client.find(2n);
    expect(await rejectionOf(savePlant(losing(false), plant(2, "Mine"), seen))).toBeInstanceOf(ConnectionError);
    await client.put(plant(2, "Theirs"), {});
    expect(await savePlant(losing(false), plant(2, "Mine"), seen)).toMatchObject({
      kind: "conflict",
      theirs: { plant: { name: "Theirs" } },
    });
  });

  describe("is refused without a name,", () => {
    for (const { name, before, isRefused } of [
      { name: "", before: undefined, isRefused: true },
      { name: "", before: "Acer", isRefused: true },
      { name: " \t", before: "Acer", isRefused: true },
      { name: "\u200b", before: undefined, isRefused: true },
      { name: "\u3164\u2800", before: "Acer", isRefused: true },
      { name: "\u200b", before: "", isRefused: true },
      { name: "", before: "", isRefused: false },
      { name: "\u200b", before: "\u200b", isRefused: false },
      { name: "A", before: "", isRefused: false },
    ])
      it(`${JSON.stringify(name)} after ${JSON.stringify(before)}: ${isRefused}`, () => {
        const original = before === undefined ? undefined : plant(1, before);
        const problem = nameProblem(plant(1, name), original);
        expect(problem).toBe(isRefused ? "The plant needs a name: type one." : undefined);
      });
  });
});

describe("the undo of an edit", () => {
  let service: TestService;
  let client: Client;
  let kept: Map<string, string>;
  let signedOut: AbortController;
  beforeAll(async () => {
    service = await startTestService();
    client = createClient({ url: service.url, token: service.token });
  });
  afterAll(() => service.stop());
  beforeEach(async () => {
    kept = new Map();
    signedOut = new AbortController();
    for (const id of [1, 2, 3]) await client.put(plant(id, `Plant ${id}`, "tree"));
  });

  /** The page as a load of it makes it: what the tab kept is there, and nothing else. */
  function load(through: Client = client) {
    const storage = {
      getItem: (name: string) => kept.get(name) ?? null,
      setItem: (name: string, text: string) => void kept.set(name, text),
      removeItem: (name: string) => void kept.delete(name),
    };
    const notices = createNotices();
    const signal = signedOut.signal;
    const options = {
      client: through,
      notices,
      keptUndo: createKeptUndo(storage),
      changesSent: () => 0,
      signedOut: signal,
      onChanged: () => undefined,
    };
    const changes = createBulkChanges(options);
    changes.offer();
    const offered = () => notices.state.get().filter(({ action }) => action !== undefined);
    return {
      ...changes,
      begin: () => offered()[0]!.action!.run(),
      offered: () => offered().map(({ text }) => text),
      said: () => notices.state.get().map(({ text }) => text),
      close: () => offered()[0]!.onClose!(),
      async undo() {
        const results = () => notices.state.get().filter(({ text }) => /as before|in the meantime/.test(text)).length;
        const before = results();
        offered()[0]!.action!.run();
        await until("the undo is over", () => results() > before);
      },
    };
  }

  async function edit(page: BulkChanges, to: Plant): Promise<void> {
    const from = (await client.find(to.id))!.plant;
    await client.put(to, {});
    page.offerEdit({ from, to }, { kind: "done", text: `${to.name} is saved.` });
  }

  async function stored(): Promise<readonly Plant[]> {
    return (await client.page({})).plants;
  }

  const UNTOUCHED = [1, 2, 3].map((id) => plant(id, `Plant ${id}`, "tree"));

  it("is offered for each of several, the last one first, also of one plant that was edited twice", async () => {
    const page = load();
    for (const to of [plant(1, "One"), plant(2, "Two", ""), plant(1, "Uno", "x")]) await edit(page, to);
    expect(page.offered()).toEqual(["Uno is saved."]);
    await page.undo();
    expect(await stored()).toEqual([plant(1, "One"), plant(2, "Two", ""), UNTOUCHED[2]!]);
    expect(page.offered()).toEqual(["Two is saved."]);
    await page.undo();
    await page.undo();
    expect(await stored()).toEqual(UNTOUCHED);
    expect([page.offered(), kept.size]).toEqual([[], 0]);
  });

  it("is offered for each of a plant that was edited to and fro", async () => {
    const page = load();
    const first = UNTOUCHED[0]!;
    for (const to of [plant(1, "One"), first, plant(1, "Uno")]) await edit(page, to);
    for (const expected of [first, plant(1, "One"), first]) {
      await page.undo();
      expect((await stored())[0]).toEqual(expected);
    }
  });

  it("waits for the one before it, however slow that is", async () => {
    const { promise: held, resolve } = Promise.withResolvers<void>();
    let sent = 0;
    async function* change(...request: Parameters<Client["change"]>) {
      if ((sent += 1) === 1) await held;
      yield* client.change(...request);
    }
    const page = load({ ...client, change });
    for (const name of ["One", "Uno"]) await edit(page, plant(1, name));
    page.begin();
    page.begin();
    // Time for the second one to come first.
    await Bun.sleep(50);
    resolve();
    await until("both are over", () => page.offered().length === 0 && page.said().length === 2);
    expect(page.said()).toEqual(["“Uno” is as before.", "“One” is as before."]);
    expect(await stored()).toEqual(UNTOUCHED);
  });

  it("that failed comes before those of earlier edits", async () => {
    let sent = 0;
    const page = load({
      ...client,
      change(...request) {
        if ((sent += 1) === 1) throw new ConnectionError({ message: "Lost.", isRepeatable: true });
        return client.change(...request);
      },
    });
    for (const name of ["One", "Uno"]) await edit(page, plant(1, name));
    page.begin();
    await until("it failed", () => page.said().some((text) => text.includes("left as it was")));
    expect(page.offered()).toHaveLength(1);
    await page.undo();
    await page.undo();
    expect(await stored()).toEqual(UNTOUCHED);
  });

  it("is there after a reload", async () => {
    const before = load();
    for (const id of [1, 2]) await edit(before, plant(id, ""));
    const page = load();
    await page.undo();
    await page.undo();
    expect(await stored()).toEqual(UNTOUCHED);
  });

  it("leaves what somebody changed since, and says so", async () => {
    const page = load();
    await edit(page, plant(1, "Mine"));
    await client.put(plant(1, "Theirs"), {});
    await page.undo();
    expect(page.said().at(-1)).toBe("Someone changed “Mine” in the meantime, so it was kept.");
    expect((await stored())[0]).toEqual(plant(1, "Theirs"));
  });

  it("brings back nothing in the place of what somebody deleted since", async () => {
    const page = load();
    await edit(page, plant(1, "Mine"));
    await client.remove(1n);
    await page.undo();
    expect(await stored()).toEqual(UNTOUCHED.slice(1));
  });

  it("stays beside the undo of many plants, unless these were changed with them", async () => {
    const page = load();
    for (const id of [1, 2]) await edit(page, plant(id, `Mine ${id}`, "tree"));
    const from = plant(2, "Mine 2", "tree");
    await page.run({ changes: [{ from, to: plant(2, "Mine 2") }], doing: "Tagging", done: "tagged" });
    expect(page.offered()).toEqual(["Mine 1 is saved.", "“Mine 2” is tagged."]);
  });

  it("is offered to nobody after a sign-out", async () => {
    const page = load();
    signedOut.abort();
    await edit(page, plant(1, "Mine"));
    expect([page.said(), page.offered(), kept.size]).toEqual([["Mine is saved."], [], 0]);
  });

  it("goes for all of them when its message is closed", async () => {
    const page = load();
    for (const id of [1, 2]) await edit(page, plant(id, "Mine"));
    page.close();
    expect([page.offered(), kept.size]).toEqual([[], 0]);
  });

  it("is offered once for an edit that was sent twice, and not at all for one that changed nothing", async () => {
    const page = load();
    const change = { from: UNTOUCHED[0]!, to: plant(1, "Mine") };
    page.offerEdit(change, { kind: "problem", text: "It is not certain." });
    page.offerEdit(change, { kind: "done", text: "It is saved." });
    page.offerEdit({ from: change.to, to: change.to }, { kind: "done", text: "The same is saved." });
    expect(page.offered()).toEqual(["It is saved."]);
    expect([...kept.values()][0]!.match(/"isEdit"/g)).toHaveLength(1);
  });

  it("is kept of the last twenty", async () => {
    const page = load();
    for (let at = 0; at < 25; at += 1)
      page.offerEdit({ from: plant(at, "Before"), to: plant(at, "After") }, { kind: "done", text: `${at}` });
    expect([...kept.values()][0]!.match(/"isEdit"/g)).toHaveLength(20);
  });
});
