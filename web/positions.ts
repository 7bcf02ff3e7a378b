import { KEPT_PREFIX } from "./kept.ts";
import { keepItem } from "./storage.ts";

/** Not that of the version before, which counted from the top of the page: a tab may be older than its page. */
const KEY = `${KEPT_PREFIX}rows`;
const KEPT_MAX = 100;

/**
 * How far each view was scrolled, in pixels below the first row: what is above the rows may be higher when they come
 * again. As long as the tab is open, also after a reload. Undefined is the top of the page.
 */
export class Positions {
  readonly #storage: Storage;
  readonly #positions: Map<string, number>;

  constructor(storage: Storage) {
    this.#storage = storage;
    this.#positions = new Map(JSON.parse(storage.getItem(KEY) ?? "[]") as readonly (readonly [string, number])[]);
  }

  find(view: string): number | undefined {
    return this.#positions.get(view);
  }

  keep(view: string, px: number | undefined): void {
    // The latest is the last.
    this.#positions.delete(view);
    if (px !== undefined) this.#positions.set(view, px);
    const [oldest] = this.#positions.keys();
    if (this.#positions.size > KEPT_MAX && oldest !== undefined) this.#positions.delete(oldest);
  }

  save(): void {
    if (this.#positions.size === 0) this.#storage.removeItem(KEY);
    else keepItem(this.#storage, KEY, JSON.stringify([...this.#positions]));
  }
}
