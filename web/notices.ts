import { nameLabel } from "./plants/label.ts";
import { createState } from "./state.ts";
import type { State } from "./state.ts";

/** A short message that goes by itself. */
export type Notice = Readonly<{
  key: number;
  kind: "done" | "problem";
  text: string;
  /** What changes all the time, and is not read out. */
  detail?: string;
  action?: Readonly<{ label: string; run: () => void; isFocused?: boolean }>;
}>;

type NewNotice = Omit<Notice, "key"> & Readonly<{ /** Without it, it stays until it is closed. */ lastsMs?: number }>;

export type Notices = Readonly<{
  state: State<readonly Notice[]>;
  add: (notice: NewNotice) => number;
  detail: (key: number, detail: string) => void;
  close: (key: number) => void;
}>;

/** More would hide the page. */
const NOTICES_MAX = 4;

export function createNotices(): Notices {
  const state = createState<readonly Notice[]>([]);
  let last = 0;
  function close(key: number): void {
    state.set(state.get().filter((notice) => notice.key !== key));
  }
  return {
    state,
    add({ lastsMs, ...notice }) {
      const key = (last += 1);
      const others = state.get();
      // What asks for something stays.
      const dropped = others.length >= NOTICES_MAX ? others.find(({ action }) => action === undefined) : undefined;
      state.set([...others.filter((other) => other !== dropped), { ...notice, key }]);
      if (lastsMs !== undefined) setTimeout(() => close(key), lastsMs);
      return key;
    },
    detail(key, detail) {
      state.set(state.get().map((notice) => (notice.key === key ? { ...notice, detail } : notice)));
    },
    close,
  };
}

const LETTERS_MAX = 60;

/** A name in a message. A plant may have one of many thousand letters: only its beginning, so that what can be done is not pushed out of sight. */
export function quote(name: string): string {
  const letters = Array.from(nameLabel(name));
  return letters.length <= LETTERS_MAX ? `“${letters.join("")}”` : `“${letters.slice(0, LETTERS_MAX).join("")}…”`;
}

/** How long what was done is told, and what went wrong. */
export const DONE_MS = 5_000;
export const PROBLEM_MS = 15_000;
