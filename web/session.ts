import type { Session } from "../src/client/client.ts";
import { forgetAllKept, KEPT_PREFIX } from "./kept.ts";
import { deviceStorage, keepItem } from "./storage.ts";
import { State } from "./state.ts";

/** A token, and whose it is: undefined until the service has told. */
type SignedIn = Readonly<{ token: string; who: Session | undefined }>;

/** `reason`: why no one is signed in any more; `before`: who was, and waits behind the new sign-in. */
type SessionState =
  | (SignedIn & Readonly<{ kind: "in" }>)
  | Readonly<{ kind: "out"; reason: string | undefined; before: SignedIn | undefined }>;

const KEY = `${KEPT_PREFIX}token`;

/** In the tab, in the place of a token that the device keeps: a sign-out in another tab counts here too, though this one was away or frozen. */
const ON_DEVICE = "";

/** On the device, in the place of a token that the service no longer accepts. */
const ENDED = "";

/**
 * On the device after a sign-out with a token of the tab alone, because Firefox reopens a tab with what it held up to
 * 15 s before it was closed. The end of a token is the checksum of the rest, and lets no one in.
 */
const outOf = (token: string) => `${KEPT_PREFIX}out-${token.slice(-6)}`;

/** What a token looks like: the reference also takes other words, such as a password pasted by mistake, of which nothing may be kept. */
const FORM = /^plant_\w{38}$/;

/** Who is signed in, or waits behind a new sign-in. */
export function signedInOf(state: SessionState): SignedIn | undefined {
  return state.kind === "in" ? state : state.before;
}

/** What the page may do with the token that it has: it offers nothing else. */
export type Access = Readonly<{ read: boolean; write: boolean; admin: boolean }>;

export function accessOf(state: SessionState): Access {
  const scopes = signedInOf(state)?.who?.scopes ?? [];
  return { read: scopes.includes("plants:read"), write: scopes.includes("plants:write"), admin: scopes.includes("admin") };
}

/** Whether someone has signed out, and nothing waits for them to come back. */
export function isGone(state: SessionState): boolean {
  return signedInOf(state) === undefined;
}

const OUT: SessionState = { kind: "out", reason: undefined, before: undefined };

/** Keeps the token as long as the tab is open; on the device too if people ask for it, until someone signs out. */
export class PageSession {
  readonly state: State<SessionState>;
  readonly #tab: Storage;
  readonly #device: Storage | undefined;
  readonly #marks = deviceStorage();

  constructor(tab: Storage, device?: Storage) {
    this.#tab = tab;
    this.#device = device;
    const kept = this.#findKept();
    this.state = new State<SessionState>(kept === null ? OUT : { kind: "in", token: kept, who: undefined });
    addEventListener("storage", (event) => {
      // Another tab signed out what this one holds, or remembers, too.
      if (this.#isSignOut(event)) this.signOut();
    });
    addEventListener("pageshow", ({ persisted }) => {
      const now = this.state.get();
      // The back button brings a page back as it was, and it heard nothing meanwhile: its user may have signed out.
      if (!persisted || this.#findKept() === (now.kind === "in" ? now.token : null)) return;
      this.state.set(OUT);
      // Once nothing that is shown could hold it.
      setTimeout(() => location.reload());
    });
  }

  /** Whether a token can be kept after the tab is closed. */
  get canRemember(): boolean {
    return this.#device !== undefined;
  }

  /** `isRemembered`: also after the tab is closed. */
  signIn(token: string, who?: Session, isRemembered = false): void {
    const device = this.#device;
    // Without room for it, it lives as long as the page.
    const isShared = device?.getItem(KEY) === token || (isRemembered && device && keepItem(device, KEY, token));
    keepItem(this.#tab, KEY, isShared ? ON_DEVICE : token);
    // Of a token that the device keeps, it stays: the sign-out from the device leaves none.
    if (!isShared) this.#marks?.removeItem(outOf(token));
    this.state.set({ kind: "in", token, who });
  }

  /** Forgets the token, and all that is typed. */
  signOut(): void {
    const own = this.#tab.getItem(KEY);
    if (own && FORM.test(own) && this.#marks) keepItem(this.#marks, outOf(own), "");
    if (this.#device && this.#isOurs(this.#device.getItem(KEY))) this.#device.removeItem(KEY);
    forgetAllKept(this.#tab);
    this.state.set(OUT);
  }

  /** The service no longer accepts the token of this header: all that is open stays as it is. */
  expire(authorization: string | null, reason: string): void {
    const now = this.state.get();
    // A late response may refuse the token before this one.
    if (now.kind === "out" || authorization !== `Bearer ${now.token}`) return;
    // To remove it would sign out the other tabs, which would forget what is typed there: they will be refused too.
    if (this.#device?.getItem(KEY) === now.token) keepItem(this.#device, KEY, ENDED);
    if (this.#tab.getItem(KEY) !== ON_DEVICE) this.#tab.removeItem(KEY);
    this.state.set({ kind: "out", reason, before: now });
  }

  /** Whether it is of this tab too what the device holds, or held. */
  #isOurs(held: string | null): boolean {
    if (held === ENDED) return this.#tab.getItem(KEY) === ON_DEVICE;
    return held !== null && held === signedInOf(this.state.get())?.token;
  }

  #isSignOut({ storageArea, key, oldValue, newValue }: StorageEvent): boolean {
    const own = this.#tab.getItem(KEY);
    if (own && storageArea === this.#marks && key === outOf(own) && newValue !== null) return true;
    return this.#device !== undefined && storageArea === this.#device && key === KEY && newValue === null && this.#isOurs(oldValue);
  }

  #findKept(): string | null {
    const own = this.#tab.getItem(KEY);
    const shared = this.#device?.getItem(KEY) ?? null;
    if (own && this.#marks?.getItem(outOf(own)) !== "") return own;
    // The user has signed out, of this tab or of the device. A page without the device cannot tell.
    if (own || (own === ON_DEVICE && this.#device && shared === null)) forgetAllKept(this.#tab);
    return shared || null;
  }
}
