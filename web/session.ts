import type { Session as Who } from "../src/client/client.ts";
import { createState } from "./state.ts";
import type { State } from "./state.ts";

/** Who is signed in: undefined until the service has told. `reason`: why nobody is any more. */
type SignedIn = Readonly<{ kind: "in"; token: string; who: Who | undefined }> | Readonly<{ kind: "out"; reason: string | undefined }>;

export type Session = Readonly<{
  state: State<SignedIn>;
  signIn: (token: string, who?: Who) => void;
  signOut: (reason?: string) => void;
}>;

const KEY = "plant-store-token";

/** Keeps the token as long as the tab is open, and nowhere else. */
export function createSession(storage: Storage): Session {
  const kept = storage.getItem(KEY);
  const state = createState<SignedIn>(kept === null ? { kind: "out", reason: undefined } : { kind: "in", token: kept, who: undefined });
  return {
    state,
    signIn(token, who) {
      storage.setItem(KEY, token);
      state.set({ kind: "in", token, who });
    },
    signOut(reason) {
      storage.removeItem(KEY);
      state.set({ kind: "out", reason });
    },
  };
}

/** What a token looks like in a header: one word of ASCII. */
export function isTokenText(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}
