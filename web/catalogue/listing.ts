import type { Client, Plant } from "../../src/client/client.ts";
import type { NewPlant } from "../../src/plant.ts";
import { isFound, tokenize } from "../../src/tokenizer.ts";
import { isAbort } from "../failure-text.ts";
import { createState } from "../state.ts";
import type { State } from "../state.ts";
import type { View } from "../view.ts";

/** The plants of a view, as far as they are here. */
export type Listed = Readonly<{
  /** What these plants were asked for by. While another view is on its way, they are still those of the one before. */
  view: View;
  plants: readonly Plant[];
  /** "partial": there are more to load; "whole": these are all; "failed": what was asked for last did not come. */
  phase: "searching" | "loading" | "partial" | "whole" | "failed";
  failure: unknown;
}>;

export type Listing = Readonly<{
  state: State<Listed>;
  /** Loads a view from its beginning, and drops what is on its way for another. */
  show: (view: View) => Promise<void>;
  /** Loads the next page, if there is one and none is on its way. */
  loadMore: () => Promise<void>;
  /** Takes over a change that was made here, as the service's search follows a moment later. */
  note: (before: Plant | undefined, after: Plant | undefined) => void;
  /** Leaves out the plants that are about to be deleted. */
  hide: (id: bigint) => void;
  unhide: (id: bigint) => void;
}>;

/** A page cannot scroll further in all browsers. */
export const ROWS_MAX = 500_000;

const FIRST_PAGE = 100;
const NEXT_PAGE = 500;

/** A search may be this much behind what was changed here. */
const LAG_MS = 3_000;

type Change = Readonly<{ at: number; before: Plant | undefined; after: Plant | undefined }>;

export function createListing(client: Client, view: View): Listing {
  const state = createState<Listed>({ view, plants: [], phase: "searching", failure: undefined });
  const hidden = new Map<bigint, Plant | undefined>();
  let running = new AbortController();
  let changes: Change[] = [];

  /** What was asked for at `askedAt`, with what it cannot know. */
  function withChanges(listed: Listed, askedAt: number): Listed {
    changes = changes.filter(({ at }) => performance.now() - at < LAG_MS);
    const unknown = listed.view.q === "" ? changes.filter(({ at }) => at > askedAt) : changes;
    return unknown.reduce(withChange, { ...listed, plants: listed.plants.filter(({ id }) => !hidden.has(id)) });
  }

  async function load(asked: View, after: bigint | undefined): Promise<void> {
    running.abort();
    const mine = new AbortController();
    running = mine;
    const shown = state.get();
    const askedAt = performance.now();
    state.set({ ...shown, phase: after === undefined ? "searching" : "loading", failure: undefined });
    try {
      const query = {
        limit: after === undefined ? FIRST_PAGE : NEXT_PAGE,
        ...(after === undefined ? {} : { after }),
        ...(asked.tag === undefined ? {} : { tag: asked.tag }),
        ...(asked.q === "" ? {} : { q: asked.q }),
      };
      const page = await client.page({ ...query, signal: mine.signal });
      if (running !== mine) return;
      const before = after === undefined ? [] : state.get().plants.filter(({ id }) => id <= after);
      const phase = page.next === undefined ? "whole" : "partial";
      state.set(withChanges({ view: asked, plants: [...before, ...page.plants], phase, failure: undefined }, askedAt));
    } catch (failure) {
      if (running !== mine || isAbort(failure)) return;
      state.set({ ...state.get(), view: asked, plants: after === undefined ? [] : state.get().plants, phase: "failed", failure });
    }
  }

  return {
    state,
    show: (asked) => load(asked, undefined),
    async loadMore() {
      const { phase, plants, view: asked } = state.get();
      if (plants.length >= ROWS_MAX) return;
      const last = plants.at(-1);
      if (phase === "partial" || (phase === "failed" && last !== undefined)) await load(asked, last?.id);
    },
    note(before, after) {
      const change = { at: performance.now(), before, after };
      changes.push(change);
      state.set(withChange(state.get(), change));
    },
    hide(id) {
      const listed = state.get();
      hidden.set(
        id,
        listed.plants.find((plant) => plant.id === id),
      );
      state.set({ ...listed, plants: listed.plants.filter((plant) => plant.id !== id) });
    },
    unhide(id) {
      const plant = hidden.get(id);
      hidden.delete(id);
      if (plant) state.set(withChange(state.get(), { at: 0, before: plant, after: plant }));
    },
  };
}

/** The plants with one of them changed, in order of id; without it when it does not match the view, or belongs where nothing is loaded yet. */
function withChange(listed: Listed, { before, after }: Change): Listed {
  const { view, phase, plants } = listed;
  const id = after?.id ?? before?.id;
  const others = plants.filter((plant) => plant.id !== id);
  const last = plants.at(-1);
  const isHere = after !== undefined && (phase === "whole" || (last !== undefined && after.id <= last.id));
  if (!isHere || !isFound(after as NewPlant, { words: tokenize(view.q), tag: view.tag })) return { ...listed, plants: others };
  const found = others.findIndex((plant) => plant.id > after.id);
  return { ...listed, plants: others.toSpliced(found === -1 ? others.length : found, 0, after) };
}
