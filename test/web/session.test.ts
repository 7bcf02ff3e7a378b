// Who is signed in, in tabs of one browser, by the session of the page alone.
import { describe, expect, it } from "bun:test";
import { createStorage, LOCATION, modules } from "../support/web/page-state.ts";
import type { FakeStorage, PageSession } from "../support/web/page-state.ts";

const TOKENS: Readonly<Record<string, string>> = {
  mine: `plant_${"a".repeat(38)}`,
  theirs: `plant_${"b".repeat(38)}`,
  password: "hunter2",
};
const MINE = TOKENS["mine"]!;
const PREFIX = "plant-store-/-";
const KEY = `${PREFIX}token`;
const TYPED = `${PREFIX}typed-add`;
const WHO = { scopes: ["plants:read"] };

type Listener = (event: object) => void;
type Tab = Readonly<{ session: PageSession; storage: FakeStorage; hear: (kind: string, event: object) => void }>;

function nameOf(token: string): string {
  return Object.keys(TOKENS).find((name) => TOKENS[name] === token) ?? token;
}

/** A tab: who is signed in, or was and is asked again; where the token is; and whether something is typed. */
function describeTab({ session, storage }: Tab): string {
  const now = session.state.get();
  const who = now.kind === "in" ? nameOf(now.token) : now.before ? `again ${nameOf(now.before.token)}` : "out";
  const own = storage.getItem(KEY);
  return [who, ...(own === null ? [] : [own === "" ? "on device" : "in tab"]), ...(storage.getItem(TYPED) === null ? [] : ["typed"])].join(
    " ",
  );
}

/** A browser whose tabs hear what the others change in the storage of the device. A tab opens when it is first named. */
function openBrowser() {
  const tabs = new Map<string, Tab>();
  const asleep = new Set<string>();
  let acting = "";
  const device = createStorage((key, oldValue, newValue) => {
    for (const [name, tab] of tabs)
      if (name !== acting && !asleep.has(name)) tab.hear("storage", { storageArea: device, key, oldValue, newValue });
  });
  function open(name: string, held: Iterable<readonly [string, string]> = []): Tab {
    const storage = createStorage();
    for (const [key, text] of held) storage.setItem(key, text);
    const listeners: Array<readonly [string, Listener]> = [];
    const { addEventListener } = globalThis;
    Object.assign(globalThis, { localStorage: device, addEventListener: (kind: string, hear: Listener) => listeners.push([kind, hear]) });
    const session = new modules.PageSession(storage, device);
    Object.assign(globalThis, { addEventListener });
    const hear = (kind: string, event: object) => listeners.filter(([one]) => one === kind).forEach(([, listen]) => listen(event));
    tabs.set(name, { session, storage, hear });
    return tabs.get(name)!;
  }
  const ACTS: Readonly<Record<string, (tab: Tab, token: string, isKept: boolean) => unknown>> = {
    opens: () => undefined,
    in: ({ session }, token, isKept) => session.signIn(token, WHO, isKept),
    out: ({ session }) => session.signOut(),
    types: ({ storage }) => storage.setItem(TYPED, "Acer"),
    /** The service refuses a token of it. */
    refused: ({ session }, token) => session.expire(`Bearer ${token}`, "It was revoked."),
    /** It is at another page, and hears nothing. */
    sleeps: () => asleep.add(acting),
    reloads: ({ storage }) => open(acting, storage.items),
    /** Firefox reopens it with what it held seconds before it was closed. */
    reopens: () => open(acting, Object.entries({ [KEY]: MINE, [TYPED]: "Acer" })),
  };
  return {
    tab: (name: string) => tabs.get(name) ?? open(name),
    act(script: string): string {
      for (const step of script.split(", ")) {
        const [name = "", act = "", token = "", kept] = step.split(" ");
        acting = name;
        ACTS[act]!(tabs.get(name) ?? open(name), TOKENS[token] ?? "", kept === "kept");
        acting = "";
      }
      const held = [...device.items].map(([key, text]) => `${key.slice(PREFIX.length)}=${nameOf(text)}`);
      return [...tabs].map(([name, tab]) => `${name} ${describeTab(tab)}`).join(", ") + ` | ${held.join(", ")}`;
    },
  };
}

describe("a token", () => {
  for (const [what, ...steps] of [
    [
      "is kept for its tab alone, and beyond it only if people ask for that",
      ["a in mine, b opens, a reloads", "a mine in tab, b out | "],
      ["a in mine kept, c opens", "a mine on device, b out, c mine | token=mine"],
    ],
    [
      "that the device keeps is gone in all its tabs after a sign-out in one, with what is typed there, even in one that heard nothing",
      [
        "a in mine kept, b in mine, b types, c in mine, c types, c sleeps",
        "a mine on device, b mine on device typed, c mine on device typed | token=mine",
      ],
      ["a out, c reloads", "a out, b out, c out | "],
    ],
    [
      "of a tab alone ends in a tab that has the same one, and in no other, whatever the device keeps",
      [
        "a in mine, b in mine, c in theirs, d in theirs kept, a out, d reloads",
        "a out, b out, c theirs in tab, d theirs on device | token=theirs, out-aaaaaa=",
      ],
    ],
    [
      "that the device keeps ends none of a tab alone, and the other way round",
      ["a in mine, a types, b in theirs kept, b out", "a mine in tab typed, b out | "],
      ["b in theirs kept, a reloads", "a mine in tab typed, b theirs on device | token=theirs"],
      ["a refused mine, b reloads", "a again mine typed, b theirs on device | token=theirs"],
    ],
    [
      "that the service refuses is asked for again in its tab, with what is typed, and a late refusal of it does not end the next one",
      ["a in mine, a types, a refused theirs", "a mine in tab typed | "],
      ["a refused mine", "a again mine typed | "],
      ["a in theirs, a refused mine", "a theirs in tab typed | "],
    ],
    [
      "that the service refuses leaves the other tabs of the device as they are until it refuses them, or someone signs out",
      ["a in mine kept, b in mine, b types, a refused mine, c opens", "a again mine on device, b mine on device typed, c out | token="],
      ["b refused mine, a out", "a out, b out, c out | "],
    ],
    [
      "is in no tab that Firefox reopens after a sign-out, for which only the checksum of the token is kept",
      ["a in mine, a out", "a out | out-aaaaaa="],
      ["a reopens", "a out | out-aaaaaa="],
    ],
    [
      "is in a tab that Firefox reopens if someone came back with it, unless they stayed signed in and signed out of that",
      ["a in mine, a out, a in mine, a reopens", "a mine in tab typed | "],
      ["a out, a in mine kept, a out, a reopens", "a out | out-aaaaaa="],
    ],
    ["that is none, such as a password that was pasted by mistake, leaves no mark", ["a in password, a out", "a out | "]],
  ] as const)
    it(what, () => {
      const { act } = openBrowser();
      for (const [script, world] of steps) expect(act(script)).toBe(world);
    });
});

describe("a page that the back button brings back as it was", () => {
  for (const { what, meanwhile, isReloaded } of [
    { what: "is loaded again when its user has signed out meanwhile", meanwhile: undefined, isReloaded: true },
    { what: "is loaded again when someone else has signed in meanwhile", meanwhile: TOKENS["theirs"], isReloaded: true },
    { what: "stays as it was when no one did", meanwhile: MINE, isReloaded: false },
  ])
    it(what, async () => {
      const { session, storage, hear } = openBrowser().tab("a");
      session.signIn(MINE, WHO);
      if (meanwhile === undefined) storage.items.clear();
      else storage.items.set(KEY, meanwhile);
      let reloads = 0;
      Object.assign(LOCATION, { reload: () => (reloads += 1) });
      hear("pageshow", { persisted: true });
      expect(modules.isGone(session.state.get())).toBe(isReloaded);
      await Bun.sleep(5);
      expect(reloads).toBe(isReloaded ? 1 : 0);
    });
});

describe("where a browser keeps nothing for pages", () => {
  const damaged = { getItem: () => expect.unreachable("damaged") };
  for (const [what, property] of [
    ["denies its storages", { get: () => expect.unreachable("denied"), configurable: true }],
    ["has damaged ones", { value: damaged, configurable: true, writable: true }],
  ] as const)
    it(`a sign-in lasts as long as the page, and none that stays is offered, as it ${what}`, () => {
      for (const name of ["localStorage", "sessionStorage"]) Object.defineProperty(globalThis, name, property);
      const tab = new modules.PageSession(modules.tabStorage(), undefined);
      expect([tab.canRemember, modules.deviceStorage()]).toEqual([false, undefined]);
      tab.signIn(MINE, WHO);
      expect(tab.state.get()).toMatchObject({ kind: "in", token: MINE });
      expect(new modules.PageSession(modules.tabStorage()).state.get()).toMatchObject({ kind: "in", token: MINE });
      tab.signOut();
      for (const name of ["localStorage", "sessionStorage"])
        Object.defineProperty(globalThis, name, { value: undefined, writable: true, configurable: true });
    });

  it("a sign-in that should stay lasts as long as the page, as it has no room", () => {
    const full = { ...createStorage(), setItem: () => expect.unreachable("full") };
    const tab = new modules.PageSession(full, full);
    tab.signIn(MINE, WHO, true);
    expect(tab.state.get()).toMatchObject({ kind: "in", token: MINE });
  });
});
