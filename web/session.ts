import type { Session } from "../src/client/client.ts";
import { forgetAllKept, KEPT_PREFIX } from "./kept.ts";
import { deviceStorage, keepItem } from "./storage.ts";
import { createState } from "./state.ts";
import type { State } from "./state.ts";

/** A token, and whose it is: undefined until the service has told. */
type SignedIn = Readonly<{ token: string; who: Session | undefined }>;

/** `reason`: why nobody is signed in any more; `before`: who was, and waits behind the new sign-in. */
type SessionState =
  | (SignedIn & Readonly<{ kind: "in" }>)
  | Readonly<{ kind: "out"; reason: string | undefined; before: SignedIn | undefined }>;

export type PageSession = Readonly<{
  state: State<SessionState>;
  /** Whether a token can be kept after the tab is closed. */
  canRemember: boolean;
  /** `isRemembered`: also after the tab is closed. */
  signIn: (token: string, who?: Session, isRemembered?: boolean) => void;
  /** Forgets the token, and all that is typed. */
  signOut: () => void;
  /** The service no longer accepts the token of this header: all that is open stays as it is. */
  expire: (authorization: string | null, reason: string) => void;
}>;

const KEY = `${KEPT_PREFIX}token`;

/** In the tab, in the place of a token that the device keeps: a sign-out in another tab counts here too, though this one was away or frozen. */
const ON_DEVICE = "";

/** On the device, in the place of a token that the service no longer accepts. */
const ENDED = "";

/**
 * On the device after a sign-out with a token of the tab alone, because Firefox reopens a tab with what it held up to
 * 15 s before it was closed. The end of a token is the checksum of the rest, and lets nobody in.
 */
const outOf = (token: string) => `${KEPT_PREFIX}out-${token.slice(-6)}`;

/** What a token looks like: the reference also takes other words, such as a password pasted by mistake, of which nothing may be kept. */
const FORM = /^plant_\w{38}$/;

/** Whether somebody has signed out, and nothing waits for them to come back. */
export function isGone(state: SessionState): boolean {
  return state.kind === "out" && state.before === undefined;
}

/** Keeps the token as long as the tab is open; in `device` too if people ask for it, until somebody signs out. */
export function createSession(tab: Storage, device?: Storage): PageSession {
  const marks = deviceStorage();
  const kept = findKept();
  const state = createState<SessionState>(
    kept === null ? { kind: "out", reason: undefined, before: undefined } : { kind: "in", token: kept, who: undefined },
  );
  /** Whether it is of this tab too what the device holds, or held. */
  function isOurs(held: string | null): boolean {
    if (held === ENDED) return tab.getItem(KEY) === ON_DEVICE;
    const now = state.get();
    return held !== null && held === (now.kind === "in" ? now : now.before)?.token;
  }
  function findKept(): string | null {
    const own = tab.getItem(KEY);
    const shared = device?.getItem(KEY) ?? null;
    if (own && marks?.getItem(outOf(own)) !== "") return own;
    // The user has signed out, of this tab or of the device. A page without the device cannot tell.
    if (own || (own === ON_DEVICE && device && shared === null)) forgetAllKept(tab);
    return shared || null;
  }
  function signOut(): void {
    const own = tab.getItem(KEY);
    if (own && FORM.test(own) && marks) keepItem(marks, outOf(own), "");
    if (device && isOurs(device.getItem(KEY))) device.removeItem(KEY);
    forgetAllKept(tab);
    state.set({ kind: "out", reason: undefined, before: undefined });
  }
  addEventListener("storage", ({ storageArea, key, oldValue, newValue }) => {
    // Another tab signed out what this one holds, or remembers, too.
    const own = tab.getItem(KEY);
    const isHeld = own && storageArea === marks && key === outOf(own) && newValue !== null;
    const isRemembered = device !== undefined && storageArea === device && key === KEY && newValue === null && isOurs(oldValue);
    if (isHeld || isRemembered) signOut();
  });
  addEventListener("pageshow", ({ persisted }) => {
    const now = state.get();
    // The back button brings a page back as it was, and it heard nothing meanwhile: its user may have signed out.
    if (!persisted || findKept() === (now.kind === "in" ? now.token : null)) return;
    state.set({ kind: "out", reason: undefined, before: undefined });
    // Once nothing that is shown could hold it.
    setTimeout(() => location.reload());
  });
  return {
    state,
    canRemember: device !== undefined,
    signIn(token, who, isRemembered) {
      // Without room for it, it lives as long as the page.
      const isShared = device?.getItem(KEY) === token || (isRemembered === true && device && keepItem(device, KEY, token));
      keepItem(tab, KEY, isShared ? ON_DEVICE : token);
      // Of a token that the device keeps, it stays: the sign-out from the device leaves none.
      if (!isShared) marks?.removeItem(outOf(token));
      state.set({ kind: "in", token, who });
    },
    signOut,
    expire(authorization, reason) {
      const now = state.get();
      // A late response may refuse the token before this one.
      if (now.kind === "out" || authorization !== `Bearer ${now.token}`) return;
      // To remove it would sign out the other tabs, which would forget what is typed there: they will be refused too.
      if (device?.getItem(KEY) === now.token) keepItem(device, KEY, ENDED);
      if (tab.getItem(KEY) !== ON_DEVICE) tab.removeItem(KEY);
      state.set({ kind: "out", reason, before: now });
    },
  };
}
