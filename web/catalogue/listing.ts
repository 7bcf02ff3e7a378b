import type { Client, ListQuery, Page, Plant } from "../../src/client/client.ts";
import { isSame } from "../../src/domain/plant.ts";
import { isFound, wordsOfSearch } from "../../src/domain/terms.ts";
import { isAbort } from "../failure-text.ts";
import { State } from "../state.ts";
import { filterOf } from "../view.ts";
import type { View } from "../view.ts";
import { aftersOf } from "./noted-change.ts";
import type { NotedChange } from "./noted-change.ts";
import { isBefore } from "./order.ts";

/** The plants of a view, as far as they are here. */
export type Listed = Readonly<{
  /** What these plants were asked for by. While another view is on its way, they are still those of the one before. */
  view: View;
  plants: readonly Plant[];
  /** "partial": there are more to load; "whole": these are all; "failed": what was asked for last did not come. */
  phase: "searching" | "loading" | "partial" | "whole" | "failed";
  failure: unknown;
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

type Start = Readonly<{ after?: bigint; cursor?: string }>;
const TOP: Start = {};

type LoadOptions = Readonly<{ rows: number; /** Whether what is here is asked for again: it stays if that fails. */ isAgain?: boolean }>;

export class Listing {
  readonly state: State<Listed>;
  readonly #client: Client;
  /** With the plants that are hidden. */
  #all: Listed;
  /** What was asked for last. Until it is here, `all` is of the view before. */
  #wanted: Readonly<{ view: View; rows: number }>;
  readonly #hidden = new Set<bigint>();
  #running = new AbortController();
  #changes: Change[] = [];
  /** When what is here was asked for, by performance.now(). */
  #readAt = 0;
  /** Where the next page begins, in an order other than by id. */
  #cursor: string | undefined;

  constructor(client: Client, view: View) {
    this.#client = client;
    this.#all = { view, plants: [], phase: "searching", failure: undefined };
    this.#wanted = { view, rows: FIRST_PAGE };
    this.state = new State(this.#all);
  }

  /** Loads a view from its beginning, if given with so many rows, and drops what is on its way for another. */
  show(view: View, rows = FIRST_PAGE): Promise<void> {
    return this.#load(view, TOP, { rows: Math.max(FIRST_PAGE, Math.min(rows, ROWS_AT_ONCE_MAX)) });
  }

  /** Asks again for what is here, unless it is more than ROWS_AT_ONCE_MAX. Without an answer, it stays as it is. */
  async refresh(): Promise<void> {
    if (this.#all.plants.length <= ROWS_AT_ONCE_MAX) await this.#loadWanted(this.#wanted.view === this.#all.view);
  }

  /** What the service has where this list stands, and some more. The list stays as it is. */
  look(): Promise<Page> {
    const { view, plants } = this.#all;
    return this.#find(view, TOP, plants.length + FIRST_PAGE);
  }

  /** Loads the next page, if there is one and none is on its way. */
  async loadMore(): Promise<void> {
    const { phase, plants, view } = this.#all;
    const last = plants.at(-1);
    if (plants.length >= ROWS_MAX || last === undefined || (phase !== "partial" && phase !== "failed")) return;
    const isById = view.sort === "id" || view.sort === "-id";
    const next = isById ? { after: last.id } : this.#cursor === undefined ? TOP : { cursor: this.#cursor };
    await this.#load(view, next, { rows: NEXT_PAGE });
  }

  /** Takes over a change that was made or met here, also into what is on its way. */
  note(before: Plant | undefined, after: Plant | undefined): void {
    const here = this.#all.plants.find(({ id }) => id === after?.id);
    // The answer was late, and a list has come since: someone else has changed the plant after this.
    if (before && here && !isSame(here, before)) return;
    const change = { at: performance.now(), before, after };
    this.#changes.push(change);
    this.#set(withChange(this.#all, change));
  }

  noteAll(told: readonly NotedChange[]): void {
    const all = this.#all;
    const at = performance.now();
    const here = new Map(all.plants.map((plant) => [plant.id, plant]));
    // What is neither as before nor as after was told late, or is old here: the list is asked for again, unless it is too long.
    const noted = told.filter(({ before, after }) => {
      const plant = here.get((before ?? after)!.id);
      return !plant || isSame(plant, before) || isSame(plant, after) || here.size > ROWS_AT_ONCE_MAX;
    });
    const afters = aftersOf(noted);
    const appearing = noted.filter(({ after }) => after && !here.has(after.id));
    const plants = all.plants.flatMap((plant) => (afters.has(plant.id) ? (inView(all.view, afters.get(plant.id)) ?? []) : [plant]));
    if (noted.length <= NOTED_MAX) this.#changes.push(...noted.map((change) => ({ at, ...change })));
    if (appearing.length > NOTED_MAX) return void this.#loadWanted(false);
    this.#set(appearing.reduce(withChange, { ...all, plants }));
    // What is on its way may have been read before.
    if (noted.length < told.length || (noted.length > NOTED_MAX && isUnderWay(all.phase))) void this.refresh();
  }

  get readAt(): number {
    return this.#readAt;
  }

  /** Takes over what others made of plants that are here. Each keeps its place, also where it belongs elsewhere now. */
  meet(plants: ReadonlyMap<bigint, Plant>): void {
    this.#set({ ...this.#all, plants: this.#all.plants.map((plant) => plants.get(plant.id) ?? plant) });
  }

  /** Leaves out plants that are about to be deleted. */
  hide(ids: readonly bigint[]): void {
    for (const id of ids) this.#hidden.add(id);
    this.#set(this.#all);
  }

  unhide(ids: readonly bigint[]): void {
    for (const id of ids) this.#hidden.delete(id);
    this.#set(this.#all);
  }

  isHidden(id: bigint): boolean {
    return this.#hidden.has(id);
  }

  #set(next: Listed): void {
    this.#all = next;
    this.state.set(this.#hidden.size === 0 ? next : { ...next, plants: next.plants.filter(({ id }) => !this.#hidden.has(id)) });
  }

  /** As many rows as were asked for, and as are here, as far as they can be asked for at once. */
  #loadWanted(isAgain: boolean): Promise<void> {
    const { view, rows } = this.#wanted;
    const here = view === this.#all.view ? Math.min(this.#all.plants.length, ROWS_AT_ONCE_MAX) : 0;
    return this.#load(view, TOP, { rows: Math.max(rows, here), isAgain });
  }

  async #load(view: View, start: Start, { rows, isAgain = false }: LoadOptions): Promise<void> {
    this.#running.abort();
    this.#wanted = { view, rows };
    const mine = new AbortController();
    this.#running = mine;
    const askedAt = performance.now();
    const { phase, failure } = this.#all;
    this.#set({ ...this.#all, phase: start === TOP ? "searching" : "loading", failure: undefined });
    try {
      const page = await this.#find(view, start, rows, mine.signal);
      if (this.#running !== mine) return;
      this.#cursor = page.next?.cursor;
      if (start === TOP) this.#readAt = askedAt;
      const listed = { view, plants: [...this.#before(view, start, page), ...page.plants], failure: undefined };
      this.#set(this.#withChanges({ ...listed, phase: page.next === undefined ? "whole" : "partial" }, askedAt));
    } catch (thrown) {
      if (this.#running !== mine || isAbort(thrown)) return;
      if (isAgain && !isUnderWay(phase)) return this.#set({ ...this.#all, phase, failure });
      const plants = start === TOP && !isAgain ? [] : this.#all.plants;
      this.#set({ ...this.#all, view, plants, phase: "failed", failure: thrown });
    }
  }

  #find(view: View, start: Start, rows: number, signal?: AbortSignal): Promise<Page> {
    const sort = view.sort === "id" ? {} : { sort: view.sort };
    return findRows(this.#client, { ...filterOf(view), ...sort, ...start }, rows, signal);
  }

  /** What is here in front of a page. */
  #before(view: View, start: Start, page: Page): readonly Plant[] {
    if (start === TOP) return [];
    const { after } = start;
    const found = new Set(page.plants.map(({ id }) => id));
    const isBehind = (id: bigint) => after !== undefined && (view.sort === "-id" ? id < after : id > after);
    return this.#all.plants.filter(({ id }) => !found.has(id) && !isBehind(id));
  }

  /** What was asked for at `askedAt`, with what it cannot know. */
  #withChanges(listed: Listed, askedAt: number): Listed {
    this.#changes = this.#changes.filter(({ at }) => at > askedAt);
    return this.#changes.reduce(withChange, listed);
  }
}

export function isUnderWay(phase: Listed["phase"]): boolean {
  return phase === "searching" || phase === "loading";
}

/** The plant, if the view shows it. */
export function inView(view: View, plant: Plant | undefined): Plant | undefined {
  return plant && isFound(plant, { words: wordsOfSearch(view.q), tag: view.tag }) ? plant : undefined;
}

/** At least so many rows, if there are, and where the next page begins. */
async function findRows(client: Client, query: ListQuery, rows: number, signal?: AbortSignal): Promise<Page> {
  const first = await client.page({ ...query, limit: Math.min(rows, PAGE_MAX), signal });
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
  const found = others.findIndex((other) => isBefore(plant, other, sort));
  return found === -1 ? undefined : found;
}
