import type { Client, Plant } from "../../src/client/client.ts";
import { failureText, isAbort } from "../failure-text.ts";
import { Notices, PROBLEM_MS } from "../notices.ts";
import { State } from "../state.ts";
import { filterOf } from "../view.ts";
import { Listing, ROWS_MAX } from "./listing.ts";
import { aftersOf, takeOver } from "./noted-change.ts";
import type { NotedChange } from "./noted-change.ts";

/** A new object with each change, around the same map: it may have half a million plants. */
export type Ticked = Readonly<{
  plants: ReadonlyMap<bigint, Plant>;
  isGathering: boolean;
  /** Whether more was found than can be selected. */
  isCut: boolean;
}>;

const PAGE = 1000;
const DETAIL_MS = 250;

type TicksOptions = Readonly<{
  client: Client;
  listing: Listing;
  notices: Notices;
  /** Plants that are gone, whose rows are still there, with whether they were deleted. */
  gone?: () => ReadonlyMap<bigint, boolean> | undefined;
}>;

/** The plants that were selected, each as it was last seen. What someone has deleted is not, though its row may still be there. */
export class Ticks {
  readonly state: State<Ticked>;
  readonly #plants = new Map<bigint, Plant>();
  readonly #parts: TicksOptions;
  /** Where a range begins: the plant that was clicked last. */
  #anchor: bigint | undefined;
  #gathering: AbortController | undefined;
  #isCut = false;
  /** What people deselected while all was being selected. */
  readonly #left = new Set<bigint>();

  constructor(parts: TicksOptions) {
    this.#parts = parts;
    this.state = new State<Ticked>({ plants: this.#plants, isGathering: false, isCut: false });
    const { state } = parts.listing;
    let before = state.get();
    state.watch(() => {
      const now = state.get();
      // What a whole list that was read again has no more, someone else has deleted, or changed so that the view does not show it.
      if (before.phase === "searching" && now.phase === "whole") {
        const here = new Set(now.plants.map(({ id }) => id));
        for (const { id } of before.plants) if (!here.has(id)) this.#plants.delete(id);
        this.#publish();
      }
      before = now;
    });
  }

  /** The selected plants as they are seen now: those in the list may have been read again since. */
  seen(): readonly Plant[] {
    const loaded = new Map(this.#loaded().map((plant) => [plant.id, plant]));
    return Array.from(this.#plants, ([id, plant]) => loaded.get(id) ?? plant);
  }

  /** Selects the plant at this place of the list, or no longer; with `isRange` all from the one before to it. */
  toggle(at: number, isRange: boolean): void {
    const loaded = this.#loaded();
    const clicked = loaded[at];
    if (!clicked) return;
    const from = isRange ? loaded.findIndex(({ id }) => id === this.#anchor) : -1;
    const range = from === -1 ? [clicked] : loaded.slice(Math.min(from, at), Math.max(from, at) + 1);
    const isTicked = !this.#plants.has(clicked.id);
    for (const plant of range) {
      if (isTicked) this.#plants.set(plant.id, plant);
      else this.#plants.delete(plant.id);
      if (isTicked) this.#left.delete(plant.id);
      else this.#left.add(plant.id);
    }
    this.#anchor = clicked.id;
    this.#publish();
  }

  /** Selects all plants that are loaded; none, if all were. */
  toggleLoaded(): void {
    if (this.areAll()) this.clear();
    else this.#tickLoaded();
  }

  /** Whether all that are loaded are selected. */
  areAll(): boolean {
    const gone = this.#parts.gone?.();
    return this.#loaded().every(({ id }) => this.#plants.has(id) || gone?.get(id));
  }

  /** Selects all that is found, also what is not loaded yet. */
  async tickFound(): Promise<void> {
    const { listing, notices } = this.#parts;
    this.#tickLoaded();
    if (listing.state.get().phase === "whole" || this.#gathering) return;
    const mine = new AbortController();
    this.#gathering = mine;
    this.#left.clear();
    this.#publish();
    const notice = notices.add({ kind: "done", text: "Selecting…", action: { label: "Stop", run: () => mine.abort() } });
    let lastShownAt = performance.now();
    try {
      await this.#gather(mine.signal, () => {
        if (performance.now() - lastShownAt < DETAIL_MS) return;
        lastShownAt = performance.now();
        notices.update(notice, { detail: this.#plants.size.toLocaleString() });
      });
    } catch (thrown) {
      if (!isAbort(thrown)) notices.add({ kind: "problem", text: `Not all are selected. ${failureText(thrown)}`, lastsMs: PROBLEM_MS });
    } finally {
      notices.close(notice);
      this.#gathering = undefined;
      this.#publish();
    }
  }

  clear(): void {
    this.#gathering?.abort();
    this.#plants.clear();
    this.#anchor = undefined;
    this.#isCut = false;
    this.#publish();
  }

  /** Takes over what was changed here. */
  note(changes: readonly NotedChange[]): void {
    this.hear(aftersOf(changes));
  }

  /** Takes over what others changed. */
  hear(plants: ReadonlyMap<bigint, Plant | undefined>): void {
    if (takeOver(this.#plants, plants)) this.#publish();
  }

  #loaded(): readonly Plant[] {
    return this.#parts.listing.state.get().plants;
  }

  #tickLoaded(): void {
    for (const plant of this.#loaded()) this.#plants.set(plant.id, plant);
    this.#publish();
  }

  #publish(): void {
    this.#parts.gone?.()?.forEach((isDeleted, id) => isDeleted && this.#plants.delete(id));
    this.state.set({ plants: this.#plants, isGathering: this.#gathering !== undefined, isCut: this.#isCut });
  }

  async #gather(signal: AbortSignal, onMore: () => void): Promise<void> {
    const { client, listing } = this.#parts;
    for await (const plant of client.list({ ...filterOf(listing.state.get().view), limit: PAGE, signal })) {
      // Read to its end without a pause, a page would be there at once.
      if (signal.aborted) return;
      this.#isCut = this.#plants.size >= ROWS_MAX && !this.#plants.has(plant.id);
      if (this.#isCut) return;
      if (!this.#left.has(plant.id) && !listing.isHidden(plant.id)) this.#plants.set(plant.id, plant);
      onMore();
    }
  }
}
