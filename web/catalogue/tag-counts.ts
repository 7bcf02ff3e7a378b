import type { Client, Plant, PlantCount, TagCount } from "../../src/client/client.ts";
import { tokenize } from "../../src/domain/terms.ts";
import { isTransient } from "../failure-text.ts";
import { State } from "../state.ts";
import { filterOf } from "../view.ts";
import type { View } from "../view.ts";
import { inView } from "./listing.ts";

export type Total = PlantCount & Readonly<{ view: View }>;

/** Counts of a very large catalogue may be some seconds old. */
const RECOUNT_MS = 6_000;

/** How many plants carry each tag, the most frequent first; undefined as long as no one knows. */
export class LiveTagCounts {
  readonly state = new State<readonly TagCount[] | undefined>(undefined);
  /** Of the plants that the words of the view find. */
  readonly found = new State<readonly TagCount[] | undefined>(undefined);
  /** How many plants a view shows, of the view that was counted last. */
  readonly total = new State<Total | undefined>(undefined);
  readonly #client: Client;
  readonly #views: State<View>;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running = new AbortController();

  constructor(client: Client, views: State<View>) {
    this.#client = client;
    this.#views = views;
  }

  async load(): Promise<void> {
    await this.#count();
    this.#countLater();
  }

  /** Takes over a change that was made here, until the service has counted again. */
  note(before: Plant | undefined, after: Plant | undefined): void {
    this.#add(before, -1);
    this.#add(after, 1);
    this.#countLater();
  }

  async #count(): Promise<void> {
    this.#running.abort();
    this.#running = new AbortController();
    const { signal } = this.#running;
    const view = this.#views.get();
    const isSearch = tokenize(view.q).length > 0;
    try {
      const [all, some, count] = await Promise.all([
        this.#client.tags({ signal }),
        isSearch ? this.#client.tags({ q: view.q, signal }) : undefined,
        this.#client.count({ ...filterOf(view), signal }),
      ]);
      if (signal.aborted) return;
      this.state.set(all.tags);
      this.found.set((some ?? all).tags);
      this.total.set({ ...count, view });
    } catch (thrown) {
      // The counts are beside the point: the table says what is wrong with the service.
      if (isTransient(thrown)) this.#countLater();
    }
  }

  #countLater(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#count(), RECOUNT_MS);
  }

  /** Takes a plant over into what was counted. */
  #add(plant: Plant | undefined, by: number): void {
    if (!plant) return;
    this.state.set(adjust(this.state.get() ?? [], plant.tag, by));
    if (inView({ ...this.#views.get(), tag: undefined }, plant)) this.found.set(adjust(this.found.get() ?? [], plant.tag, by));
    const counted = this.total.get();
    if (counted?.precision === "exact" && inView(counted.view, plant)) this.total.set({ ...counted, plants: counted.plants + by });
  }
}

function adjust(counts: readonly TagCount[], tag: string | undefined, by: number): readonly TagCount[] {
  if (tag === undefined) return counts;
  const plants = (counts.find((count) => count.tag === tag)?.plants ?? 0) + by;
  const others = counts.filter((count) => count.tag !== tag);
  return plants <= 0 ? others : [...others, { tag, plants }].toSorted((left, right) => right.plants - left.plants);
}
