import type { Client, Plant, TagCount } from "../../src/client/client.ts";
import { createState } from "../state.ts";
import type { State } from "../state.ts";

/** How many plants carry each tag, the most frequent first; undefined as long as nobody knows. */
export type TagCounts = Readonly<{
  state: State<readonly TagCount[] | undefined>;
  load: () => Promise<void>;
  /** Takes over a change that was made here, until the service has counted again. */
  note: (before: Plant | undefined, after: Plant | undefined) => void;
}>;

/** Counts of a large catalogue may be five seconds old. */
const RECOUNT_MS = 6_000;

export function createTagCounts(client: Client): TagCounts {
  const state = createState<readonly TagCount[] | undefined>(undefined);
  let timer: ReturnType<typeof setTimeout> | undefined;
  async function load(): Promise<void> {
    try {
      state.set((await client.tags()).tags);
    } catch {
      // The bars are beside the point: the table says what is wrong with the service.
    }
  }
  function loadLater(): void {
    clearTimeout(timer);
    timer = setTimeout(() => void load(), RECOUNT_MS);
  }
  return {
    state,
    async load() {
      await load();
      loadLater();
    },
    note(before, after) {
      state.set(adjust(adjust(state.get() ?? [], before?.tag, -1), after?.tag, 1));
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
