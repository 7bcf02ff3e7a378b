import type { Client, Plant } from "../../src/client/client.ts";
import { failureText, isAbort } from "../failure-text.ts";
import { PROBLEM_MS } from "../notices.ts";
import type { Notices } from "../notices.ts";
import { createState } from "../state.ts";
import type { State } from "../state.ts";
import { filterOf } from "../view.ts";
import { ROWS_MAX, takeOver } from "./listing.ts";
import type { Listing, NotedChange } from "./listing.ts";

/** The plants that were selected, each as it was last seen. */
export type Ticks = Readonly<{
  state: State<Ticked>;
  /** Selects the plant at this place of the list, or no longer; with `isRange` all from the one before to it. */
  toggle: (at: number, isRange: boolean) => void;
  /** Selects all plants that are loaded; none, if all were. */
  toggleLoaded: () => void;
  /** Selects all that is found, also what is not loaded yet. */
  tickFound: () => Promise<void>;
  clear: () => void;
  /** The selected plants as they are seen now: those in the list may have been read again since. */
  seen: () => readonly Plant[];
  /** Takes over what was changed here. */
  note: (changes: readonly NotedChange[]) => void;
}>;

/** A new object with each change, around the same map: it may have half a million plants. */
export type Ticked = Readonly<{
  plants: ReadonlyMap<bigint, Plant>;
  isGathering: boolean;
  /** Whether more was found than can be selected. */
  isCut: boolean;
}>;

const PAGE = 1000;
const DETAIL_MS = 250;

type TicksOptions = Readonly<{ client: Client; listing: Listing; notices: Notices }>;

export function createTicks({ client, listing, notices }: TicksOptions): Ticks {
  const plants = new Map<bigint, Plant>();
  const state = createState<Ticked>({ plants, isGathering: false, isCut: false });
  /** Where a range begins: the plant that was clicked last. */
  let anchor: bigint | undefined;
  let gathering: AbortController | undefined;
  let isCut = false;
  /** What people deselected while all was being selected. */
  const left = new Set<bigint>();

  let before = listing.state.get();
  listing.state.watch(() => {
    const now = listing.state.get();
    // What a whole list that was read again has no more, somebody else has deleted, or changed so that the view does not show it.
    if (before.phase === "searching" && now.phase === "whole") {
      const here = new Set(now.plants.map(({ id }) => id));
      for (const { id } of before.plants) if (!here.has(id)) plants.delete(id);
      publish();
    }
    before = now;
  });

  function publish(): void {
    state.set({ plants, isGathering: gathering !== undefined, isCut });
  }

  function clear(): void {
    gathering?.abort();
    plants.clear();
    anchor = undefined;
    isCut = false;
    publish();
  }

  async function gather(signal: AbortSignal, onMore: (found: number) => void): Promise<void> {
    for await (const plant of client.list({ ...filterOf(listing.state.get().view), limit: PAGE, signal })) {
      // Read to its end without a pause, a page would be there at once.
      if (signal.aborted) return;
      isCut = plants.size >= ROWS_MAX && !plants.has(plant.id);
      if (isCut) return;
      if (!left.has(plant.id) && !listing.isHidden(plant.id)) plants.set(plant.id, plant);
      onMore(plants.size);
    }
  }

  return {
    state,
    clear,
    seen() {
      const loaded = new Map(listing.state.get().plants.map((plant) => [plant.id, plant]));
      return Array.from(plants, ([id, plant]) => loaded.get(id) ?? plant);
    },
    toggle(at, isRange) {
      const loaded = listing.state.get().plants;
      const clicked = loaded[at];
      if (!clicked) return;
      const from = isRange ? loaded.findIndex(({ id }) => id === anchor) : -1;
      const range = from === -1 ? [clicked] : loaded.slice(Math.min(from, at), Math.max(from, at) + 1);
      const isTicked = !plants.has(clicked.id);
      for (const plant of range) {
        if (isTicked) plants.set(plant.id, plant);
        else plants.delete(plant.id);
        if (isTicked) left.delete(plant.id);
        else left.add(plant.id);
      }
      anchor = clicked.id;
      publish();
    },
    toggleLoaded() {
      const loaded = listing.state.get().plants;
      if (loaded.every(({ id }) => plants.has(id))) return clear();
      for (const plant of loaded) plants.set(plant.id, plant);
      publish();
    },
    async tickFound() {
      const { phase, plants: loaded } = listing.state.get();
      for (const plant of loaded) plants.set(plant.id, plant);
      if (phase === "whole" || gathering) return publish();
      const mine = new AbortController();
      gathering = mine;
      left.clear();
      publish();
      const notice = notices.add({ kind: "done", text: "Selecting…", action: { label: "Stop", run: () => mine.abort() } });
      let lastShownAt = performance.now();
      try {
        await gather(mine.signal, (found) => {
          if (performance.now() - lastShownAt < DETAIL_MS) return;
          lastShownAt = performance.now();
          notices.update(notice, { detail: found.toLocaleString() });
        });
      } catch (thrown) {
        if (!isAbort(thrown)) notices.add({ kind: "problem", text: `Not all are selected. ${failureText(thrown)}`, lastsMs: PROBLEM_MS });
      } finally {
        notices.close(notice);
        gathering = undefined;
        publish();
      }
    },
    note(changes) {
      takeOver(plants, changes);
      publish();
    },
  };
}
