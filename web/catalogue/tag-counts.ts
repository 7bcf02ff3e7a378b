import type { Client, Plant, PlantCount, TagCount } from "../../src/client/client.ts";
import { tokenize } from "../../src/domain/terms.ts";
import { isTransient } from "../failure-text.ts";
import { createState } from "../state.ts";
import type { State } from "../state.ts";
import { filterOf } from "../view.ts";
import type { View } from "../view.ts";
import { inView } from "./listing.ts";

/** How many plants carry each tag, the most frequent first; undefined as long as nobody knows. */
export type LiveTagCounts = Readonly<{
  state: State<readonly TagCount[] | undefined>;
  /** Of the plants that the words of the view find. */
  found: State<readonly TagCount[] | undefined>;
  /** How many plants a view shows, of the view that was counted last. */
  total: State<Total | undefined>;
  load: () => Promise<void>;
  /** Takes over a change that was made here, until the service has counted again. */
  note: (before: Plant | undefined, after: Plant | undefined) => void;
}>;

export type Total = PlantCount & Readonly<{ view: View }>;

/** Counts of a very large catalogue may be some seconds old. */
const RECOUNT_MS = 6_000;

export function createTagCounts(client: Client, views: State<View>): LiveTagCounts {
  const state = createState<readonly TagCount[] | undefined>(undefined);
  const found = createState<readonly TagCount[] | undefined>(undefined);
  const total = createState<Total | undefined>(undefined);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running = new AbortController();
  async function load(): Promise<void> {
    running.abort();
    running = new AbortController();
    const { signal } = running;
    const view = views.get();
    const isSearch = tokenize(view.q).length > 0;
    try {
      const [all, some, count] = await Promise.all([
        client.tags({ signal }),
        isSearch ? client.tags({ q: view.q, signal }) : undefined,
        client.count({ ...filterOf(view), signal }),
      ]);
      if (signal.aborted) return;
      state.set(all.tags);
      found.set((some ?? all).tags);
      total.set({ ...count, view });
    } catch (thrown) {
      // The counts are beside the point: the table says what is wrong with the service.
      if (isTransient(thrown)) loadLater();
    }
  }
  function loadLater(): void {
    clearTimeout(timer);
    timer = setTimeout(() => void load(), RECOUNT_MS);
  }
  /** Takes a plant over into what was counted. */
  function add(plant: Plant | undefined, by: number): void {
    if (!plant) return;
    const view = views.get();
    state.set(adjust(state.get() ?? [], plant.tag, by));
    if (inView({ ...view, tag: undefined }, plant)) found.set(adjust(found.get() ?? [], plant.tag, by));
    const counted = total.get();
    if (counted?.precision === "exact" && inView(counted.view, plant)) total.set({ ...counted, plants: counted.plants + by });
  }
  return {
    state,
    found,
    total,
    async load() {
      await load();
      loadLater();
    },
    note(before, after) {
      add(before, -1);
      add(after, 1);
      loadLater();
    },
  };
}

function adjust(counts: readonly TagCount[], tag: string | undefined, by: number): readonly TagCount[] {
  if (tag === undefined) return counts;
  const plants = (counts.find((count) => count.tag === tag)?.plants ?? 0) + by;
  const others = counts.filter((count) => count.tag !== tag);
  return plants <= 0 ? others : [...others, { tag, plants }].toSorted((left, right) => right.plants - left.plants);
}
