import type { PlantFilter, Sort } from "../src/client/client.ts";
import { createPositions } from "./positions.ts";
import { createState } from "./state.ts";
import { takeStep } from "./step.ts";
import type { Step } from "./step.ts";
import { tabStorage } from "./storage.ts";
import type { State } from "./state.ts";

const SORTS = ["id", "-id", "name", "-name", "newest", "oldest"] as const satisfies readonly Sort[];

/** What the catalogue shows: plants whose names hold these words, and that carry this tag, in an order; null is no tag. */
export type View = Readonly<{ q: string; tag: string | null | undefined; sort: Sort }>;

export type Views = Readonly<{
  state: State<View>;
  show: (view: View, step: Step) => void;
  /** Where the view is to be scrolled to, in pixels below its first row: to where it was if people came back to it. Undefined is its top. */
  position: () => number | undefined;
  /** Keeps how far the view is scrolled, for when the page comes again. */
  save: () => void;
}>;

/** The view that the address bar holds, both ways. */
export function createViews(window: Window): Views {
  const { history, location } = window;
  const state = createState(parseView(location.search));
  const positions = createPositions(tabStorage());
  let isBack = true;
  let leftPx = 0;
  function leave(): void {
    const rows = window.document.querySelector(".plant-table-rows")?.getBoundingClientRect();
    positions.keep(viewText(state.get()), window.scrollY > 0 && rows ? -rows.top : undefined);
  }
  // The table decides what it can scroll to.
  history.scrollRestoration = "manual";
  window.addEventListener("popstate", () => {
    const view = parseView(location.search);
    if (isSameView(view, state.get())) return;
    leave();
    isBack = true;
    state.set(view);
  });
  function save(): void {
    leave();
    positions.save();
  }
  window.addEventListener("pagehide", () => {
    save();
    leftPx = scrollY;
  });
  window.addEventListener("pageshow", ({ persisted }) => {
    // Safari brings a page back at its top, a moment after it has said so.
    if (persisted) setTimeout(() => scrollTo({ top: leftPx }));
  });
  return {
    state,
    show(view, step) {
      if (isSameView(view, state.get())) return;
      leave();
      isBack = false;
      takeStep(step, null, `${location.pathname}${viewText(view)}`);
      state.set(view);
    },
    save,
    position: () => (isBack ? positions.find(viewText(state.get())) : undefined),
  };
}

export function isSameView(left: View, right: View): boolean {
  return left.q === right.q && left.tag === right.tag && left.sort === right.sort;
}

/** Whether the view leaves no plant out. */
export function isEverything({ q, tag }: View): boolean {
  return q.trim() === "" && tag === undefined;
}

/** What a view asks the service for. */
export function filterOf({ q, tag }: View): PlantFilter {
  return { ...(tag === undefined ? {} : tag === null ? { untagged: true } : { tag }), ...(q === "" ? {} : { q }) };
}

function parseView(search: string): View {
  const query = new URLSearchParams(search);
  const tag = query.get("untagged") === "true" ? null : (query.get("tag") ?? undefined);
  return { q: query.get("q") ?? "", tag, sort: SORTS.find((sort) => sort === query.get("sort")) ?? "id" };
}

function viewText({ q, tag, sort }: View): string {
  const ofTag = tag === undefined ? {} : tag === null ? { untagged: "true" } : { tag };
  const query = new URLSearchParams({ ...(q === "" ? {} : { q }), ...ofTag, ...(sort === "id" ? {} : { sort }) }).toString();
  return query === "" ? "" : `?${query}`;
}
