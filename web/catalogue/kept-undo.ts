import type { PlantChange } from "../../src/client/client.ts";
import { KEPT_PREFIX } from "../kept.ts";
import { holdPage } from "../leaving.ts";
import { keepItem } from "../storage.ts";

/** What can be undone now: the changes that were made or may have been, and the message that offers it. */
export type Undo = Readonly<{
  kind: "done" | "problem";
  text: string;
  changes: readonly PlantChange[];
  label: "Go on undoing" | "Undo";
  /** Whether it is one plant, changed in its dialog. */
  isEdit?: true;
}>;

/** Not that of the version before, which kept one undo and no list: a tab may be older than its page. */
const KEY = `${KEPT_PREFIX}undos`;

/** Some 15,000 plants: less than half of what a browser keeps for a tab, because others need room too. */
const CHARACTERS_MAX = 2_000_000;

/** Keeps what can be undone in the tab, so that a reload does not lose it. What is too much for that holds the page. */
export class KeptUndo {
  readonly #storage: Storage;
  #release: (() => void) | undefined;
  #isAsked = false;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** What the page kept before a reload, if it was not asked for yet. */
  find(): readonly Undo[] {
    const text = this.#isAsked ? null : this.#storage.getItem(KEY);
    this.#isAsked = true;
    if (text === null) return [];
    return JSON.parse(text, (name, value: unknown) => (name === "id" ? BigInt(value as string) : value)) as Undo[];
  }

  /** Keeps these, in the place of what was before. */
  keep(undos: readonly Undo[]): void {
    this.#isAsked = true;
    this.#release?.();
    this.#release = undefined;
    this.#storage.removeItem(KEY);
    if (undos.length > 0 && !this.#write(undos)) this.#release = holdPage();
  }

  #write(undos: readonly Undo[]): boolean {
    const text = JSON.stringify(undos, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));
    return text.length <= CHARACTERS_MAX && keepItem(this.#storage, KEY, text);
  }
}
