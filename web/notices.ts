import { nameLabel, tagLabel } from "./plants/label.ts";
import { State } from "./state.ts";

export type Notice = Readonly<{
  key: number;
  kind: "done" | "problem";
  /** What is read out. */
  text: string;
  /** What is seen instead, where the text would change all the time. */
  seen?: string;
  /** What changes all the time, and is not read out. */
  detail?: string;
  action?: Readonly<{ label: string; run: () => void; isFocused?: boolean }>;
  /** Whether people can close it though it has an action. */
  isClosable?: boolean;
  onClose?: () => void;
}>;

type NewNotice = Omit<Notice, "key"> &
  Readonly<{
    /** Without it, it stays until it is closed. */
    lastsMs?: number;
  }>;

/** More would take too much of the page. */
const NOTICES_MAX = 3;

export class Notices {
  readonly state = new State<readonly Notice[]>([]);
  #last = 0;

  add({ lastsMs, ...notice }: NewNotice): number {
    const key = (this.#last += 1);
    const others = this.state.get();
    // What asks for something stays.
    const dropped = others.length >= NOTICES_MAX ? others.find(({ action }) => action === undefined) : undefined;
    this.state.set([...others.filter((other) => other !== dropped), { ...notice, key }]);
    if (lastsMs !== undefined) setTimeout(() => this.close(key), lastsMs);
    return key;
  }

  /** Changes a message in its place. */
  update(key: number, changes: Partial<Omit<Notice, "key">>): void {
    this.state.set(this.state.get().map((notice) => (notice.key === key ? { ...notice, ...changes } : notice)));
  }

  close(key: number): void {
    this.state.set(this.state.get().filter((notice) => notice.key !== key));
  }

  /** Takes the buttons away, because a signed-out user can do none of it. What was said goes soon after: it is for no one who comes next. */
  withdrawActions(): void {
    for (const { key } of this.state.get()) setTimeout(() => this.close(key), PROBLEM_MS);
    this.state.set(this.state.get().map(({ action: _action, isClosable: _isClosable, ...said }) => said));
  }
}

const LETTERS_MAX = 60;

export function quote(name: string): string {
  return quoteText(nameLabel(name));
}

export function quoteTag(tag: string): string {
  return quoteText(tagLabel(tag));
}

/** A plant may have a name of many thousand letters: only its beginning, so that what can be done is not pushed out of sight. */
function quoteText(text: string): string {
  // Quotes within quotes are single ones. Else a name could end its own, and speak for the page.
  const inner = text.replaceAll("“", "‘").replaceAll("”", "’");
  const letters = Array.from(inner.replaceAll(DIRECTIONS, ""));
  const shown = letters.length <= LETTERS_MAX ? letters.join("") : `${letters.slice(0, LETTERS_MAX).join("")}…`;
  // What is read from the right would take the words beside it along.
  return RIGHT_TO_LEFT.test(shown) ? `“\u2068${shown}\u2069”` : `“${shown}”`;
}

/** Marks that turn the letters behind them around: also those of the message. */
const DIRECTIONS = /[\u202a-\u202e\u2066-\u2069]/g;

/** Hebrew, Arabic and their neighbours. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/;

/** How long what was done is told, and what went wrong. */
export const DONE_MS = 5_000;
export const PROBLEM_MS = 15_000;

/** What is said when the dialog of a plant was closed before it could not be saved. */
export function failedText(name: string, reason: string): string {
  return `Saving ${quote(name)} failed, and what you typed is kept. ${reason}`;
}
