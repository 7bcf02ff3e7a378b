// Who is signed in, in tabs of one browser, by the session of the page alone.
import { describe, expect, it } from "bun:test";
import { createStorage, LOCATION, modules } from "../support/web/page-state.ts";
import type { FakeStorage, PageSession } from "../support/web/page-state.ts";

const MINE = `plant_${"a".repeat(38)}`;
const THEIRS = `plant_${"b".repeat(38)}`;
const KEY = "plant-store-/-token";
const TYPED = "plant-store-/-typed-add";
const WHO = { scopes: ["plants:read"] };

type Listener = (event: object) => void;
type Tab = PageSession &
  Readonly<{
    storage: FakeStorage;
    /** The token that is in use, or asked for again. */
    token: () => string | undefined;
    hear: (kind: string, event: object) => void;
    /** The tab after a reload, or as a browser reopens it with what it held. */
    reload: (held?: ReadonlyMap<string, string>) => Tab;
  }>;

/** A browser: its tabs hear what the others change in the storage of the device. */
function openBrowser({ keepsDevice = true } = {}) {
  const tabs = new Set<Tab>();
  let actor: Tab | undefined;
  const device = createStorage((key, oldValue, newValue) => {
    for (const tab of tabs) if (tab !== actor) tab.hear("storage", { storageArea: device, key, oldValue, newValue });
  });
  function openTab(storage = createStorage()): Tab {
    const listeners: Array<readonly [string, Listener]> = [];
    const globals = { addEventListener, localStorage: device };
    Object.assign(globalThis, { localStorage: device, addEventListener: (kind: string, hear: Listener) => listeners.push([kind, hear]) });
    const session = modules.createSession(storage, keepsDevice ? device : undefined);
    Object.assign(globalThis, { addEventListener: globals.addEventListener });
    const acting =
      <Given extends unknown[]>(act: (...given: Given) => void) =>
      (...given: Given) => {
        actor = tab;
        act(...given);
        actor = undefined;
      };
    const tab: Tab = {
      ...session,
      signIn: acting(session.signIn),
      signOut: acting(session.signOut),
      expire: acting(session.expire),
      storage,
      token() {
        const now = session.state.get();
        return (now.kind === "in" ? now : now.before)?.token;
      },
      hear: (kind, event) => listeners.filter(([one]) => one === kind).forEach(([, hear]) => hear(event)),
      reload(held) {
        tabs.delete(tab);
        const kept = createStorage();
        for (const [key, text] of held ?? storage.items) kept.setItem(key, text);
        return openTab(kept);
      },
    };
    tabs.add(tab);
    return tab;
  }
  return { device, openTab };
}

describe("a token", () => {
  it("is kept for its tab alone, and beyond it only if people ask for that", () => {
    const { device, openTab } = openBrowser();
    const tab = openTab();
    tab.signIn(MINE, WHO);
    expect([device.items.size, [...tab.storage.items], openTab().token(), tab.reload().token()]).toEqual([
      0,
      [[KEY, MINE]],
      undefined,
      MINE,
    ]);
    tab.signIn(MINE, WHO, true);
    expect([device.getItem(KEY), openTab().token()]).toEqual([MINE, MINE]);
    expect([...tab.storage.items.values()]).not.toContain(MINE);
  });

  it("that the device keeps is gone in all its tabs after a sign-out in one, with what is typed there", () => {
    const { device, openTab } = openBrowser();
    const tab = openTab();
    tab.signIn(MINE, WHO, true);
    const other = openTab();
    other.storage.setItem(TYPED, "Acer");
    const frozen = openTab();
    const held = new Map(frozen.storage.items.set(KEY, "").set(TYPED, "Acer"));
    tab.signOut();
    expect([other.token(), other.storage.items.size, device.items.size]).toEqual([undefined, 0, 0]);
    // It was at another page, and heard nothing.
    const back = frozen.reload(held);
    expect([back.token(), back.storage.items.size]).toEqual([undefined, 0]);
  });

  it("of a tab alone ends in a tab that has the same one, and in no other, whatever the device keeps", () => {
    const { openTab } = openBrowser();
    const [tab, same, other, remembered] = [openTab(), openTab(), openTab(), openTab()];
    for (const one of [tab, same]) one.signIn(MINE, WHO);
    other.signIn(THEIRS, WHO);
    remembered.signIn(THEIRS, WHO, true);
    tab.signOut();
    expect([same.token(), other.token(), remembered.token(), remembered.reload().token()]).toEqual([undefined, THEIRS, THEIRS, THEIRS]);
  });

  it("that the device keeps ends none of a tab alone, and the other way round", () => {
    const { openTab } = openBrowser();
    const [own, remembered] = [openTab(), openTab()];
    own.signIn(MINE, WHO);
    own.storage.setItem(TYPED, "Ginkgo");
    remembered.signIn(THEIRS, WHO, true);
    remembered.signOut();
    expect([own.token(), own.storage.getItem(TYPED)]).toEqual([MINE, "Ginkgo"]);
    remembered.signIn(THEIRS, WHO, true);
    expect(own.reload().token()).toBe(MINE);
    own.expire(`Bearer ${MINE}`, "It was revoked.");
    expect(remembered.reload().token()).toBe(THEIRS);
  });
});

describe("a token that the service refuses", () => {
  it("is asked for again in its tab, in front of what is typed, and a late refusal of it does not end the next one", () => {
    const tab = openBrowser().openTab();
    tab.signIn(MINE, WHO);
    tab.storage.setItem(TYPED, "Ginkgo");
    tab.expire(`Bearer ${THEIRS}`, "It was revoked.");
    expect(tab.state.get().kind).toBe("in");
    tab.expire(`Bearer ${MINE}`, "It was revoked.");
    expect(tab.state.get()).toMatchObject({ kind: "out", reason: "It was revoked.", before: { token: MINE } });
    expect([...tab.storage.items]).toEqual([[TYPED, "Ginkgo"]]);
    expect(modules.isGone(tab.state.get())).toBe(false);
    tab.signIn(THEIRS, WHO);
    tab.expire(`Bearer ${MINE}`, "It was revoked.");
    expect(tab.state.get()).toMatchObject({ kind: "in", token: THEIRS });
  });

  it("leaves the other tabs of the device as they are until the service refuses them, or somebody signs out", () => {
    const { openTab } = openBrowser();
    const tab = openTab();
    tab.signIn(MINE, WHO, true);
    const other = openTab();
    other.signIn(MINE, WHO);
    other.storage.setItem(TYPED, "Ginkgo");
    tab.expire(`Bearer ${MINE}`, "It was revoked.");
    expect([other.state.get().kind, other.storage.getItem(TYPED)]).toEqual(["in", "Ginkgo"]);
    expect(openTab().token()).toBeUndefined();
    other.expire(`Bearer ${MINE}`, "It was revoked.");
    tab.signOut();
    expect([modules.isGone(other.state.get()), other.storage.items.size]).toEqual([true, 0]);
  });
});

describe("a tab that Firefox reopens with what it held seconds before it was closed", () => {
  const held = new Map([
    [KEY, MINE],
    [TYPED, "Acer"],
  ]);

  it("has nobody signed in after a sign-out, for which only the checksum of the token is kept", () => {
    const { device, openTab } = openBrowser();
    const tab = openTab();
    tab.signIn(MINE, WHO);
    tab.signOut();
    expect([...device.items]).toEqual([[`plant-store-/-out-${MINE.slice(-6)}`, ""]]);
    const again = tab.reload(held);
    expect([again.token(), again.storage.items.size]).toEqual([undefined, 0]);
  });

  it("has somebody signed in who came back with the same token, unless they stayed signed in and signed out of that", () => {
    const { openTab } = openBrowser();
    const tab = openTab();
    tab.signIn(MINE, WHO);
    tab.signOut();
    tab.signIn(MINE, WHO);
    expect(tab.reload(held).token()).toBe(MINE);
    tab.signOut();
    tab.signIn(MINE, WHO, true);
    tab.signOut();
    expect(tab.reload(held).token()).toBeUndefined();
  });

  it("keeps no mark for a word that is no token, such as a password that was pasted by mistake", () => {
    const { device, openTab } = openBrowser();
    const tab = openTab();
    tab.signIn("hunter2", WHO);
    tab.signOut();
    expect(device.items.size).toBe(0);
  });
});

describe("a page that the back button brings back as it was", () => {
  for (const { what, meanwhile, isReloaded } of [
    { what: "is loaded again when its user has signed out meanwhile", meanwhile: undefined, isReloaded: true },
    { what: "is loaded again when somebody else has signed in meanwhile", meanwhile: THEIRS, isReloaded: true },
    { what: "stays as it was when nobody did", meanwhile: MINE, isReloaded: false },
  ])
    it(what, async () => {
      const tab = openBrowser().openTab();
      tab.signIn(MINE, WHO);
      if (meanwhile === undefined) tab.storage.items.clear();
      else tab.storage.items.set(KEY, meanwhile);
      let reloads = 0;
      Object.assign(LOCATION, { reload: () => (reloads += 1) });
      tab.hear("pageshow", { persisted: true });
      expect(modules.isGone(tab.state.get())).toBe(isReloaded);
      await Bun.sleep(5);
      expect(reloads).toBe(isReloaded ? 1 : 0);
    });
});

describe("where a browser keeps nothing for pages", () => {
  const deny = { get: () => expect.unreachable("denied"), configurable: true };
  const damaged = {
    getItem() {
      throw new DOMException("", "NS_ERROR_FILE_CORRUPTED");
    },
  };
  for (const [what, property] of [
    ["denies its storages", { get: () => deny.get(), configurable: true }],
    ["has damaged ones", { value: damaged, configurable: true, writable: true }],
  ] as const)
    it(`as it ${what}, a sign-in lasts as long as the page, and none that stays is offered`, () => {
      for (const name of ["localStorage", "sessionStorage"]) Object.defineProperty(globalThis, name, property);
      const tab = modules.createSession(modules.tabStorage(), undefined);
      expect([tab.canRemember, modules.deviceStorage()]).toEqual([false, undefined]);
      tab.signIn(MINE, WHO);
      expect(tab.state.get()).toMatchObject({ kind: "in", token: MINE });
      expect(modules.createSession(modules.tabStorage()).state.get()).toMatchObject({ kind: "in", token: MINE });
      tab.signOut();
      for (const name of ["localStorage", "sessionStorage"])
        Object.defineProperty(globalThis, name, { value: undefined, writable: true, configurable: true });
    });

  it("as it has no room, a sign-in that should stay lasts as long as the page", () => {
    const full = { ...createStorage(), setItem: () => expect.unreachable("full") };
    const tab = modules.createSession(full, full);
    tab.signIn(MINE, WHO, true);
    expect(tab.state.get()).toMatchObject({ kind: "in", token: MINE });
  });
});
