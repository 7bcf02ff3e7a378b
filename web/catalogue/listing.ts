import type { Client, ListQuery, Page, Plant } from "../../src/client/client.ts";
import { isSame } from "../../src/domain/plant.ts";
import { isFound, tokenize, withoutImplied } from "../../src/domain/terms.ts";
import { isAbort } from "../failure-text.ts";
import { createState } from "../state.ts";
import type { State } from "../state.ts";
import { filterOf } from "../view.ts";
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

/** A plant before and after a change; undefined is no plant. */
export type NotedChange = Readonly<{ before: Plant | undefined; after: Plant | undefined }>;

export type Listing = Readonly<{
  state: State<Listed>;
  /** Loads a view from its beginning, if given with so many rows, and drops what is on its way for another. */
  show: (view: View, rows?: number) => Promise<void>;
  /** Asks again for what is here, unless it is more than ROWS_AT_ONCE_MAX. Without an answer, it stays as it is. */
  refresh: () => Promise<void>;
  /** Loads the next page, if there is one and none is on its way. */
  loadMore: () => Promise<void>;
  /** Takes over a change that was made or met here, also into what is on its way. */
  note: (before: Plant | undefined, after: Plant | undefined) => void;
  /** Takes over many changes at once. */
  noteAll: (changes: readonly NotedChange[]) => void;
  /** Leaves out plants that are about to be deleted. */
  hide: (ids: readonly bigint[]) => void;
  unhide: (ids: readonly bigint[]) => void;
  isHidden: (id: bigint) => boolean;
}>;

/** A page cannot scroll further in all browsers. */
export const ROWS_MAX = 500_000;

const FIRST_PAGE = 100;
const NEXT_PAGE = 500;
const PAGE_MAX = 1000;

/** More are not asked for at once. */
export const ROWS_AT_ONCE_MAX = 10_000;

/** More plants that appear, or changes that a list on its way may not know, are asked for again instead. */
const NOTED_MAX = 200;

type Change = NotedChange & Readonly<{ at: number }>;

/** Where to load from. */
type Start = Readonly<{ after?: bigint; cursor?: string }>;
const TOP: Start = {};

type LoadOptions = Readonly<{ rows: number; /** Whether what is here is asked for again: it stays if that fails. */ isAgain?: boolean }>;

export function createListing(client: Client, view: View): Listing {
  const state = createState<Listed>({ view, plants: [], phase: "searching", failure: undefined });
  /** With the plants that are hidden. */
  let all = state.get();
  /** What was asked for last. Until it is here, `all` is of the view before. */
  let wanted = { view, rows: FIRST_PAGE };
  const hidden = new Set<bigint>();
  let running = new AbortController();
  let changes: Change[] = [];
  /** Where the next page begins, in an order other than by id. */
  let cursor: string | undefined;

  function set(next: Listed): void {
    all = next;
    state.set(hidden.size === 0 ? all : { ...all, plants: all.plants.filter(({ id }) => !hidden.has(id)) });
  }

  /** What was asked for at `askedAt`, with what it cannot know. */
  function withChanges(listed: Listed, askedAt: number): Listed {
    changes = changes.filter(({ at }) => at > askedAt);
    return changes.reduce(withChange, listed);
  }

  async function load(asked: View, start: Start, { rows, isAgain = false }: LoadOptions): Promise<void> {
    running.abort();
    wanted = { view: asked, rows };
    const mine = new AbortController();
    running = mine;
    const askedAt = performance.now();
    const { phase: phaseBefore, failure: failureBefore } = all;
    set({ ...all, phase: start === TOP ? "searching" : "loading", failure: undefined });
    try {
      const sort = asked.sort === "id" ? {} : { sort: asked.sort };
      const query = { ...filterOf(asked), ...sort, limit: Math.min(rows, PAGE_MAX), ...start };
      const page = await findRows(client, query, rows, mine.signal);
      if (running !== mine) return;
      cursor = page.next?.cursor;
      const found = new Set(page.plants.map(({ id }) => id));
      const { after } = start;
      const isBehind = (id: bigint) => after !== undefined && (asked.sort === "-id" ? id < after : id > after);
      const before = start === TOP ? [] : all.plants.filter(({ id }) => !found.has(id) && !isBehind(id));
      const phase = page.next === undefined ? "whole" : "partial";
      set(withChanges({ view: asked, plants: [...before, ...page.plants], phase, failure: undefined }, askedAt));
    } catch (failure) {
      if (running !== mine || isAbort(failure)) return;
      if (isAgain && !isUnderWay(phaseBefore)) return set({ ...all, phase: phaseBefore, failure: failureBefore });
      set({ ...all, view: asked, plants: start === TOP && !isAgain ? [] : all.plants, phase: "failed", failure });
    }
  }

  /** How many rows of the wanted view are here, as far as they can be asked for at once. */
  function rowsHere(): number {
    return wanted.view === all.view ? Math.min(all.plants.length, ROWS_AT_ONCE_MAX) : 0;
  }

  async function refresh(): Promise<void> {
    if (all.plants.length > ROWS_AT_ONCE_MAX) return;
    await load(wanted.view, TOP, { rows: Math.max(wanted.rows, rowsHere()), isAgain: wanted.view === all.view });
  }

  return {
    state,
    refresh,
    show: (asked, rows = FIRST_PAGE) => load(asked, TOP, { rows: Math.max(FIRST_PAGE, Math.min(rows, ROWS_AT_ONCE_MAX)) }),
    async loadMore() {
      const { phase, plants, view: asked } = all;
      if (plants.length >= ROWS_MAX) return;
      const last = plants.at(-1);
      if (last === undefined || (phase !== "partial" && phase !== "failed")) return;
      const next = asked.sort === "id" || asked.sort === "-id" ? { after: last.id } : cursor === undefined ? TOP : { cursor };
      await load(asked, next, { rows: NEXT_PAGE });
    },
    note(before, after) {
      const here = all.plants.find(({ id }) => id === after?.id);
      // The answer was late, and a list has come since: somebody else has changed the plant after this.
      if (before && here && !isSame(here, before)) return;
      const change = { at: performance.now(), before, after };
      changes.push(change);
      set(withChange(all, change));
    },
    noteAll(told) {
      const at = performance.now();
      const here = new Map(all.plants.map((plant) => [plant.id, plant]));
      // What is neither as before nor as after was told late, or is old here: the list is asked for again, unless it is too long.
      const noted = told.filter(({ before, after }) => {
        const plant = here.get((before ?? after)!.id);
        return !plant || isSame(plant, before) || isSame(plant, after) || here.size > ROWS_AT_ONCE_MAX;
      });
      const afters = new Map(noted.map(({ before, after }) => [(before ?? after)!.id, after]));
      const appearing = noted.filter(({ after }) => after && !here.has(after.id));
      const plants = all.plants.flatMap((plant) => (afters.has(plant.id) ? (inView(all.view, afters.get(plant.id)) ?? []) : [plant]));
      if (noted.length <= NOTED_MAX) changes.push(...noted.map((change) => ({ at, ...change })));
      if (appearing.length > NOTED_MAX) void load(wanted.view, TOP, { rows: Math.max(wanted.rows, rowsHere()) });
      else {
        set(appearing.reduce(withChange, { ...all, plants }));
        // What is on its way may have been read before.
        if (noted.length < told.length || (noted.length > NOTED_MAX && isUnderWay(all.phase))) void refresh();
      }
    },
    hide(ids) {
      for (const id of ids) hidden.add(id);
      set(all);
    },
    unhide(ids) {
      for (const id of ids) hidden.delete(id);
      set(all);
    },
    isHidden: (id) => hidden.has(id),
  };
}

/** Takes changes over into plants that are kept elsewhere. */
export function takeOver(plants: Map<bigint, Plant>, changes: readonly NotedChange[]): void {
  for (const { before, after } of changes) {
    const { id } = (before ?? after)!;
    if (!plants.has(id)) continue;
    if (after) plants.set(id, after);
    else plants.delete(id);
  }
}

function isUnderWay(phase: Listed["phase"]): boolean {
  return phase === "searching" || phase === "loading";
}

/** The plant, if the view shows it. */
export function inView(view: View, plant: Plant | undefined): Plant | undefined {
  return plant && isFound(plant, { words: withoutImplied(tokenize(view.q)), tag: view.tag }) ? plant : undefined;
}

/** At least so many rows, if there are, and where the next page begins. */
async function findRows(client: Client, query: ListQuery, rows: number, signal: AbortSignal): Promise<Page> {
  const first = await client.page({ ...query, signal });
  const plants = [...first.plants];
  let { next } = first;
  while (next !== undefined && plants.length < rows) {
    const page: Page = await client.page({ ...next, signal });
    plants.push(...page.plants);
    next = page.next;
  }
  return next === undefined ? { plants } : { plants, next };
}

/** The plants with one of them changed, in their order; without it when it does not match the view, or belongs where nothing is loaded yet. */
function withChange(listed: Listed, { before, after }: NotedChange): Listed {
  const { view, phase, plants } = listed;
  const id = after?.id ?? before?.id;
  const others = plants.filter((plant) => plant.id !== id);
  if (!after || !inView(view, after)) return { ...listed, plants: others };
  const at = placeOf(after, listed, others) ?? (phase === "whole" || plants.at(-1)?.id === id ? others.length : undefined);
  return { ...listed, plants: at === undefined ? others : others.toSpliced(at, 0, after) };
}

/** Where the plant belongs among the others; undefined when it is behind them. */
function placeOf(plant: Plant, { view: { sort }, plants }: Listed, others: readonly Plant[]): number | undefined {
  if (sort === "newest" || sort === "oldest") {
    // A change keeps its place, and what is not here yet is new.
    const at = plants.findIndex(({ id }) => id === plant.id);
    return at !== -1 ? at : sort === "newest" ? 0 : undefined;
  }
  const isBefore = sort === "name" || sort === "-name" ? isBeforeByName : isBeforeById;
  const ascending = sort === "id" || sort === "name";
  const found = others.findIndex((other) => (ascending ? isBefore(plant, other) : isBefore(other, plant)));
  return found === -1 ? undefined : found;
}

/** English has the root collation, by which the service orders names; only rare signs and scripts are elsewhere until the list is asked for again. */
const NAMES = new Intl.Collator("en", { sensitivity: "base" });

function isBeforeByName(left: Plant, right: Plant): boolean {
  const order = NAMES.compare(left.name, right.name);
  return order === 0 ? isBeforeById(left, right) : order < 0;
}

function isBeforeById(left: Plant, right: Plant): boolean {
  return left.id < right.id;
}
