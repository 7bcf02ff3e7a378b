import { join } from "node:path";
import { afterEach, beforeEach } from "bun:test";
import type { Client, Plant, PlantChange, Sort } from "../../../src/client/client.ts";
import { PROJECT } from "../process.ts";
import { startTestService } from "../service.ts";
import type { TestService } from "../service.ts";
import { until } from "../until.ts";
import { toGarden } from "./garden.ts";

// The page without a browser: its state modules, put together as web/index.tsx does, with a real service. What they decide
// needs no browser, and can be met at moments for which a browser does not wait.

export type View = Readonly<{ q: string; tag: string | null | undefined; sort: Sort }>;
type State<Value> = Readonly<{ get: () => Value; set: (value: Value) => void; watch: (listener: () => void) => () => void }>;
type Change = Readonly<{ before: Plant | undefined; after: Plant | undefined }>;
type Note = (before: Plant | undefined, after: Plant | undefined) => void;
type Who = Readonly<{ scopes: readonly string[] }>;
type SignedIn = Readonly<{ token: string; who: Who | undefined }>;
type Send = (url: string, init: RequestInit) => Promise<Response>;

export type Listing = Readonly<{
  state: State<Readonly<{ view: View; plants: readonly Plant[]; phase: string; failure: unknown }>>;
  show: (view: View, rows?: number) => Promise<void>;
  refresh: () => Promise<void>;
  loadMore: () => Promise<void>;
  hide: (ids: readonly bigint[]) => void;
  unhide: (ids: readonly bigint[]) => void;
  note: Note;
  noteAll: (changes: readonly Change[]) => void;
}>;
type Notice = Readonly<{ text: string; seen?: string; action?: Readonly<{ label: string; run: () => void }>; onClose?: () => void }>;
type Notices = Readonly<{ state: State<readonly Notice[]>; add: (notice: object) => number; withdrawActions: () => void }>;
type Ticks = Readonly<{
  state: State<Readonly<{ isCut: boolean }>>;
  toggle: (at: number, isRange: boolean) => void;
  toggleLoaded: () => void;
  areAll: () => boolean;
  tickFound: () => Promise<void>;
  clear: () => void;
  seen: () => readonly Plant[];
  note: (changes: readonly Change[]) => void;
  hear: (plants: ReadonlyMap<bigint, Plant | undefined>) => void;
}>;
export type PageSession = Readonly<{
  state: State<(SignedIn & Readonly<{ kind: "in" }>) | Readonly<{ kind: "out"; before: SignedIn | undefined }>>;
  canRemember: boolean;
  signIn: (token: string, who?: Who, isRemembered?: boolean) => void;
  signOut: () => void;
  expire: (authorization: string | null, reason: string) => void;
}>;
type BulkChanges = Readonly<{
  run: (
    bulk: Readonly<{
      changes: readonly PlantChange[];
      doing: string;
      phrases: (plants: string) => Readonly<{ doing: string; done: string }>;
    }>,
  ) => Promise<boolean>;
  offerEdit: (change: PlantChange, said: Readonly<{ kind: "done" | "problem"; text: string }>) => void;
  offer: () => void;
}>;
/** What others changed. */
export type News = Readonly<{ appeared: number; gone: ReadonlyMap<bigint, boolean>; moved: number; isCut: boolean }>;
type Sight = Readonly<{ rowsInSight: () => number; focused: () => bigint | undefined }>;
type Parts = Readonly<{ listing: Listing; ticks: Pick<Ticks, "hear">; news: State<News | undefined> }>;
type Heard = Readonly<{ changes: ReadonlyArray<Readonly<{ id: bigint; plant?: Plant }>>; cursor: string }>;
type Stream = Readonly<{ isLive: boolean; run: (signal: AbortSignal) => Promise<void> }>;
type StreamOptions = Readonly<{
  client: Pick<Client, "changes">;
  base: string;
  token: string;
  onHeard: (heard: Heard) => void;
  onGap: () => void;
}>;

type TagCounts = Readonly<{ state: State<unknown>; total: State<unknown>; load: () => Promise<void>; note: Note }>;
type Catalogue = Readonly<{
  client: Client;
  listing: Listing;
  tagCounts: TagCounts;
  ticks: Ticks;
  deletions: Readonly<{ remove: (plants: readonly Plant[]) => void; flush: (id?: bigint) => Promise<void> }>;
  bulkChanges: BulkChanges;
  tagging: Readonly<{ setTag: (plants: readonly Plant[], tag: string | undefined) => Promise<void> }>;
  renaming: Readonly<{ rename: (tag: string, to: string | undefined, plants: number | undefined) => Promise<boolean>; offer: () => void }>;
  note: Note;
  news: State<News | undefined>;
  added: State<Plant | undefined>;
  reload: () => Promise<void>;
  refresh: () => Promise<void>;
}>;
type Views = Readonly<{ state: State<View>; show: (view: View, step: "push" | "replace") => void }>;
type Positions = Readonly<{
  find: (view: string) => number | undefined;
  keep: (view: string, px: number | undefined) => void;
  save: () => void;
}>;

/** As tests use them: their own types need those of a browser, which are not those of a test. */
type Modules = Readonly<{
  Catalogue: new (context: object) => Catalogue;
  createCatalogueFetch: (fetch: Send, onChange: () => void) => Send;
  KeptUndo: new (storage: object) => Readonly<{ keep: (undos: readonly object[]) => void }>;
  Listing: new (client: Client, view: View) => Listing;
  NewsDesk: new (
    parts: Parts & Sight,
  ) => Readonly<{ keep: () => () => void; lose: () => void; take: (heard: ReadonlyMap<bigint, Plant | undefined>) => boolean }>;
  Notices: new () => Notices;
  Positions: new (storage: object) => Positions;
  PageSession: new (tab: object, device?: object) => PageSession;
  SharedStream: new (options: StreamOptions) => Stream;
  State: new <Value>(value: Value) => State<Value>;
  LiveTagCounts: new (client: Client, views: State<View>) => TagCounts;
  Ticks: new (parts: Readonly<{ client: Client; listing: Listing; notices: Notices }>) => Ticks;
  Views: new (window: object) => Views;
  deviceStorage: () => object | undefined;
  failureText: (thrown: unknown) => string;
  foundText: (listed: object, total: object | undefined, unseen: number | undefined) => string;
  isGone: (state: object) => boolean;
  openTaking: (catalogue: object, sight: Sight) => Readonly<{ hear: (heard: Heard) => void; askAgain: () => void }>;
  quote: (name: string) => string;
  tabStorage: () => object;
  takeStep: (step: "push" | "replace", state: unknown, url: string) => void;
  watchReach: (page: object) => Readonly<{ state: State<string>; fetch: Send }>;
}>;

/** Where the page is: what it keeps in the browser is named after that. */
export const LOCATION = new URL("http://plants.example/");
Object.assign(globalThis, { location: LOCATION });
const CATALOGUE = ["catalogue", "catalogue-fetch", "found-text", "kept-undo", "listing", "tag-counts", "ticks"].map(
  (name) => `catalogue/${name}`,
);
const LIVE = ["news", "shared-stream", "taking"].map((name) => `live/${name}`);
const NAMES = [...CATALOGUE, ...LIVE, "failure-text", "notices", "positions", "reach", "session", "state", "step", "storage", "view"];
const loaded = await Promise.all(NAMES.map((name) => import(join(PROJECT, "web", `${name}.ts`)) as Promise<object>));
export const modules = Object.assign({}, ...loaded) as Modules;

export const ALL: View = { q: "", tag: undefined, sort: "id" };

export function plantOf(id: number, name: string, tag?: string): Plant {
  return { id: BigInt(id), name, ...(tag === undefined ? {} : { tag }) };
}

/** What a browser keeps for a tab, or for good. `onChange` hears what has changed, as other tabs do. */
export function createStorage(onChange: (key: string, before: string | null, after: string | null) => void = () => {}) {
  const items = new Map<string, string>();
  function change(key: string, after: string | null): void {
    const before = items.get(key) ?? null;
    if (after === null) items.delete(key);
    else items.set(key, after);
    if (before !== after) onChange(key, before, after);
  }
  return {
    items,
    get length() {
      return items.size;
    },
    key: (at: number) => [...items.keys()][at] ?? null,
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, text: string) => change(key, text),
    removeItem: (key: string) => change(key, null),
  };
}
export type FakeStorage = ReturnType<typeof createStorage>;

/** An event of the window. Whether the page let it be, such as a tab that is closed. */
export function tellWindow(kind: string, more: object = {}): boolean {
  return (globalThis as unknown as EventTarget).dispatchEvent(Object.assign(new Event(kind, { cancelable: true }), more));
}

/** A request of the page. `go` sends it to the service. */
type Sent = Readonly<{ method: string; path: string; authorization: string | null; go: () => Promise<Response> }>;
/** What becomes of a request; undefined if it is not meant. */
type Route = (sent: Sent) => Promise<Response> | undefined;

/** `reloaded`: the page as it is after a reload. */
export type PageState = Awaited<ReturnType<typeof assemble>> & Readonly<{ reloaded: () => Promise<PageState> }>;

/** A service for each test of a file, and pages that show it. */
export function usePages() {
  let service: TestService;
  beforeEach(async () => {
    service = await startTestService();
  });
  afterEach(() => service.stop());
  const garden = toGarden(() => service);
  return {
    ...garden,
    service: () => service,
    async open(rows: readonly string[] = [], token = service.token): Promise<PageState> {
      if (rows.length > 0) await garden.plant(rows);
      return openPage(service, token, createStorage());
    },
  };
}

async function openPage(service: TestService, token: string, tab: FakeStorage): Promise<PageState> {
  return Object.assign(await assemble(service, token, tab), { reloaded: () => openPage(service, token, tab) });
}

async function assemble(service: TestService, token: string, tab: FakeStorage) {
  const { fetch, ...network } = openNetwork();
  const history = { scrollRestoration: "auto", state: null, pushState: () => undefined, replaceState: () => undefined };
  Object.assign(globalThis, { sessionStorage: tab, history });
  const session = new modules.PageSession(tab);
  const who = (await (await globalThis.fetch(`${service.url}/session`, { headers: { authorization: `Bearer ${token}` } })).json()) as Who;
  session.signIn(token, who);
  const notices = new modules.Notices();
  const keptUndo = new modules.KeptUndo(tab);
  const views = new modules.Views({ history, location: LOCATION, ...ELSEWHERE });
  session.state.watch(() => {
    if (!modules.isGone(session.state.get())) return;
    notices.withdrawActions();
    keptUndo.keep([]);
  });
  const reaching = { state: new modules.State("reached"), fetch };
  const tabs = { tell: () => undefined, watch: () => () => undefined };
  const catalogue = new modules.Catalogue({ base: service.url, session, reaching, notices, keptUndo, views, tabs });
  views.state.watch(() => void catalogue.reload());
  await catalogue.reload();
  catalogue.bulkChanges.offer();
  catalogue.renaming.offer();
  const said = () => notices.state.get().map(({ text }) => text);
  const offers = () => notices.state.get().filter(({ action }) => action !== undefined);
  const plants = () => catalogue.listing.state.get().plants;
  /** Waits until it is said. */
  async function reads(text: string): Promise<void> {
    await until(`the page says ${text}, not ${said().join(" ")}`, () => said().some((one) => one.includes(text)));
  }
  /** Presses the button of a message; of the last one that has it, or that which says this. */
  function press(label: string, within = ""): void {
    const found = offers().findLast(({ text, action }) => action!.label === label && text.includes(within));
    if (!found) throw new Error(`There is no ${label} beside ${said().join(" ")}`);
    found.action!.run();
  }
  // Not spread: its access is that of the token which is in use then.
  return Object.assign(catalogue, {
    ...network,
    views,
    session,
    tab,
    said,
    reads,
    press,
    /** The names in the list. */
    names: () => plants().map(({ name }) => name),
    find: (...names: readonly string[]) => names.map((wanted) => plants().find(({ name }) => name === wanted)!),
    /** What of that which is said offers something to do. */
    offered: () => offers().map(({ text }) => text),
    /** Closes the last message that offers something to do. */
    close: () => offers().at(-1)!.onClose!(),
    /** What is seen of the last message. */
    seen: () => notices.state.get().at(-1)!.seen ?? "",
    /** Presses Undo, and waits for what is said then. */
    async undo(result: string): Promise<void> {
      press("Undo");
      await reads(result);
    },
  });
}

/** What of a window the views ask for, where nothing is scrolled. */
const ELSEWHERE = { addEventListener: () => undefined, document: { querySelector: () => null }, scrollY: 0 };

function openNetwork() {
  let routes: Route[] = [];
  /** Decides what becomes of requests, before those that were said earlier; without one, the service has them all again. */
  function route(next?: Route): void {
    routes = next === undefined ? [] : [next, ...routes];
  }
  /** The same of those that ask this. */
  function routeOf(method: string, path: RegExp, answer: (sent: Sent) => Promise<Response> | undefined): void {
    route((sent) => (sent.method === method && path.test(sent.path) ? answer(sent) : undefined));
  }
  return {
    route,
    async fetch(url: string, init: RequestInit): Promise<Response> {
      const { pathname, search } = new URL(url);
      const authorization = new Headers(init.headers).get("authorization");
      const sent = { method: init.method ?? "GET", path: `${pathname}${search}`, authorization, go: () => fetch(url, init) };
      for (const one of routes) {
        const answer = one(sent);
        if (answer) return answer;
      }
      return sent.go();
    },
    /** Holds the next request of this kind, or its answer. */
    hold(method: string, path: RegExp, where: "answer" | "request" = "request") {
      const came = Promise.withResolvers<void>();
      const gone = Promise.withResolvers<void>();
      let isTaken = false;
      async function pass({ go }: Sent): Promise<Response> {
        const answer = where === "answer" ? await go() : undefined;
        came.resolve();
        await gone.promise;
        return answer ?? go();
      }
      routeOf(method, path, (sent) => {
        if (isTaken) return undefined;
        isTaken = true;
        return pass(sent);
      });
      return { came: came.promise, release: gone.resolve };
    },
    /** The service makes what is asked, and the answer is lost. */
    lose: (method: string, path: RegExp) =>
      routeOf(method, path, ({ go }) => go().then(() => Promise.reject(new TypeError("The connection was reset.")))),
  };
}
