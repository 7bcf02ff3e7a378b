import type { Plant } from "../../src/client/client.ts";
import { isSame } from "../../src/domain/plant.ts";
import { inView, ROWS_AT_ONCE_MAX } from "../catalogue/listing.ts";
import type { Listed, Listing } from "../catalogue/listing.ts";
import type { NotedChange } from "../catalogue/noted-change.ts";
import { isBefore } from "../catalogue/order.ts";
import type { Ticks } from "../catalogue/ticks.ts";
import type { State } from "../state.ts";

/** What others changed, and the list does not show, because rows would move under the pointer. */
export type News = Readonly<{
  /** How many plants have no row yet. */
  appeared: number;
  /** Plants that no longer belong to the view, with whether they were deleted. Their rows are still there. */
  gone: ReadonlyMap<bigint, boolean>;
  /** How many plants belong elsewhere now. */
  moved: number;
  /** Whether there is more that no one counts. */
  isCut: boolean;
}>;

/** How many plants without a row are told apart: they may come twice. */
const APPEARED_MAX = 10_000;

/** More rows are not put below those in sight at once. */
const PUT_MAX = 20;

export type Sight = Readonly<{
  /** The number of rows down to the lower edge of the window. */
  rowsInSight: () => number;
  /** The plant whose row has the focus. */
  focused: () => bigint | undefined;
}>;

type NewsOptions = Sight & Readonly<{ listing: Listing; ticks: Pick<Ticks, "hear">; news: State<News | undefined> }>;

/**
 * Takes over into the list what others changed, so that no row moves that someone may point at: a row in sight keeps its place, whatever its
 * plant became, until people ask for the list as it is. Below what is in sight, rows come and go.
 */
export class NewsDesk {
  readonly #parts: NewsOptions;
  readonly #appeared = new Set<bigint>();
  /** False for one that the view does not show any more; for one that was deleted its row, true while that is not known. */
  readonly #gone = new Map<bigint, Plant | boolean>();
  readonly #moved = new Set<bigint>();
  #isCut = false;

  constructor(parts: NewsOptions) {
    this.#parts = parts;
  }

  /** Forgets what the list shows since it was read again, or was changed here. Returns what ends that. */
  keep(): () => void {
    const { listing } = this.#parts;
    let before = listing.state.get();
    let { readAt } = listing;
    return listing.state.watch(() => {
      const now = listing.state.get();
      const isRead = listing.readAt !== readAt || now.view !== before.view;
      const isChanged = now.plants !== before.plants;
      before = now;
      ({ readAt } = listing);
      if (isRead) this.#clear();
      if (isRead || isChanged) this.#publish(now);
    });
  }

  /** Notes that more changed than could be taken over. */
  lose(): void {
    this.#isCut = true;
    this.#publish(this.#parts.listing.state.get());
  }

  /** Takes over what these plants are now. Returns whether the catalogue may be another than it was known here. */
  take(heard: ReadonlyMap<bigint, Plant | undefined>): boolean {
    const { listing, ticks } = this.#parts;
    const listed = listing.state.get();
    // Where nothing is, nothing moves.
    if (listed.phase === "whole" && listed.plants.length === 0) {
      if ([...heard.values()].some((plant) => inView(listed.view, plant))) void listing.refresh();
      return heard.size > 0;
    }
    const rows = new Map<bigint, Plant>();
    const apart: NotedChange[] = [];
    const left = new Set(heard.keys());
    let isChanged = false;
    listed.plants.forEach((before, at) => {
      if (!left.delete(before.id)) return;
      const after = heard.get(before.id);
      isChanged ||= !isSame(before, after);
      if (this.#isLeaving(listed, after, at)) apart.push({ before, after });
      else if (after && !isSame(before, after)) rows.set(after.id, after);
    });
    for (const id of left) {
      const after = heard.get(id);
      if (listing.isHidden(id)) {
        if (after) rows.set(id, after);
        // It may be shown again.
        else this.#gone.set(id, true);
      } else if (this.#isComing(listed, id, after, apart.length)) apart.push({ before: undefined, after });
    }
    if (rows.size > 0) listing.meet(rows);
    if (apart.length > 0) listing.noteAll(apart);
    ticks.hear(heard);
    this.#publish(listing.state.get());
    return isChanged || left.size > 0;
  }

  /** Whether the row of a plant goes at once. Notes what becomes of it otherwise. */
  #isLeaving(listed: Listed, after: Plant | undefined, at: number): boolean {
    const { rowsInSight, focused } = this.#parts;
    const { id } = listed.plants[at]!;
    const isShown = inView(listed.view, after) !== undefined;
    this.#gone.delete(id);
    this.#moved.delete(id);
    if (isShown && !isInOrder(listed, after!, at)) this.#moved.add(id);
    if (isShown) return false;
    if (at >= rowsInSight() && id !== focused() && listed.plants.length <= ROWS_AT_ONCE_MAX) return true;
    this.#gone.set(id, after === undefined);
    return false;
  }

  /** Whether a plant without a row gets one at once. Notes it if it gets one later. */
  #isComing(listed: Listed, id: bigint, after: Plant | undefined, apart: number): boolean {
    this.#appeared.delete(id);
    if (!after || !inView(listed.view, after)) return false;
    const place = placeOf(listed, after, this.#parts.rowsInSight());
    if (place === "below" && apart < PUT_MAX && listed.plants.length <= ROWS_AT_ONCE_MAX) return true;
    if (place !== "behind" && this.#appeared.size < APPEARED_MAX) this.#appeared.add(id);
    else if (place !== "behind") this.#isCut = true;
    return false;
  }

  #publish({ plants }: Listed): void {
    const { news, listing } = this.#parts;
    if (this.#appeared.size + this.#gone.size + this.#moved.size > 0) this.#forget(plants);
    const shown = [...this.#gone].filter(([id]) => !listing.isHidden(id));
    const gone = new Map(shown.map(([id, row]) => [id, row !== false]));
    const [appeared, moved] = [this.#appeared.size, this.#moved.size];
    const isCut = this.#isCut;
    news.set(isCut || appeared + gone.size + moved > 0 ? { appeared, gone, moved, isCut } : undefined);
  }

  #clear(): void {
    for (const news of [this.#appeared, this.#gone, this.#moved]) news.clear();
    this.#isCut = false;
  }

  /** What has a row, or none any more, is no news; nor is a plant that was deleted, if its row is another one since: it was restored here. */
  #forget(plants: readonly Plant[]): void {
    const here = new Set<bigint>();
    for (const plant of plants) {
      const { id } = plant;
      this.#appeared.delete(id);
      const row = this.#gone.get(id);
      if (row === true) this.#gone.set(id, plant);
      else if (row && row !== plant) this.#gone.delete(id);
      if (this.#gone.has(id) || this.#moved.has(id)) here.add(id);
    }
    for (const id of this.#gone.keys()) if (!here.has(id) && !this.#parts.listing.isHidden(id)) this.#gone.delete(id);
    for (const id of this.#moved) if (!here.has(id)) this.#moved.delete(id);
  }
}

/** Whether a row still stands between its neighbours. By age it always does. */
function isInOrder({ view: { sort }, plants }: Listed, after: Plant, at: number): boolean {
  if (sort !== "name" && sort !== "-name") return true;
  const [previous, next] = [plants[at - 1], plants[at + 1]];
  return (!previous || !isBefore(after, previous, sort)) && (!next || !isBefore(next, after, sort));
}

/** Where a plant belongs that has no row: among those down to the lower edge of the window, below it, or behind all that is loaded. */
function placeOf({ view: { sort }, phase, plants }: Listed, plant: Plant, rowsInSight: number): "behind" | "below" | "here" {
  const last = plants.at(-1);
  // It is asked for already.
  if (!last) return "behind";
  if (sort === "newest") return "here";
  const isLast = sort === "oldest" || !isBefore(plant, last, sort);
  if (isLast && phase !== "whole") return "behind";
  if (isLast) return plants.length >= rowsInSight ? "below" : "here";
  const first = plants[rowsInSight];
  return first && isBefore(first, plant, sort) ? "below" : "here";
}
