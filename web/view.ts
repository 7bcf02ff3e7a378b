import { createState } from "./state.ts";
import type { State } from "./state.ts";

/** What the catalogue shows: plants whose names hold these words, and that carry this tag. */
export type View = Readonly<{ q: string; tag: string | undefined }>;

/** How the address bar takes a new view: as a step that the back button undoes, or in the place of the one before. */
type Step = "push" | "replace";

export type Views = Readonly<{ state: State<View>; show: (view: View, step: Step) => void }>;

/** The view that the address bar holds, both ways. */
export function createViews(window: Window): Views {
  const { history, location } = window;
  const state = createState(parseView(location.search));
  // The table decides what it can scroll to.
  history.scrollRestoration = "manual";
  window.addEventListener("popstate", () => {
    const view = parseView(location.search);
    if (!isSameView(view, state.get())) state.set(view);
  });
  return {
    state,
    show(view, step) {
      if (isSameView(view, state.get())) return;
      const url = `${location.pathname}${viewText(view)}`;
      if (step === "push") history.pushState(null, "", url);
      else history.replaceState(null, "", url);
      state.set(view);
    },
  };
}

export function isSameView(left: View, right: View): boolean {
  return left.q === right.q && left.tag === right.tag;
}

/** Whether the view leaves no plant out. */
export function isEverything({ q, tag }: View): boolean {
  return q.trim() === "" && tag === undefined;
}

function parseView(search: string): View {
  const query = new URLSearchParams(search);
  return { q: query.get("q") ?? "", tag: query.get("tag") ?? undefined };
}

function viewText({ q, tag }: View): string {
  const query = new URLSearchParams({ ...(q === "" ? {} : { q }), ...(tag === undefined ? {} : { tag }) }).toString();
  return query === "" ? "" : `?${query}`;
}
