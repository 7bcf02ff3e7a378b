import type { PlantFilter, Sort } from "../src/client/client.ts";
import { Positions } from "./positions.ts";
import { State } from "./state.ts";
import { takeStep } from "./step.ts";
import type { Step } from "./step.ts";
import { tabStorage } from "./storage.ts";

const SORTS = ["id", "-id", "name", "-name", "newest", "oldest"] as const satisfies readonly Sort[];

/** What the catalogue shows: plants whose names hold these words, and that carry this tag, in an order; null is no tag. */
export type View = Readonly<{ q: string; tag: string | null | undefined; sort: Sort }>;

export class Views {
  readonly state: State<View>;
  readonly #window: Window;
  readonly #positions = new Positions(tabStorage());
  #isBack = true;

  constructor(window: Window) {
    this.#window = window;
    this.state = new State(parseView(window.location.search));
    // The table decides what it can scroll to.
    window.history.scrollRestoration = "manual";
    window.addEventListener("popstate", () => {
      const view = parseView(window.location.search);
      if (isSameView(view, this.state.get())) return;
      this.#leave();
      this.#isBack = true;
      this.state.set(view);
    });
    let leftPx = 0;
    window.addEventListener("pagehide", () => {
      this.save();
      leftPx = scrollY;
    });
    window.addEventListener("pageshow", ({ persisted }) => {
      // Safari brings a page back at its top, a moment after it has said so.
      if (persisted) setTimeout(() => scrollTo({ top: leftPx }));
    });
  }

  show(view: View, step: Step): void {
    if (isSameView(view, this.state.get())) return;
    this.#leave();
    this.#isBack = false;
    takeStep(step, null, `${this.#window.location.pathname}${viewText(view)}`);
    this.state.set(view);
  }

  /** Keeps how far the view is scrolled, for when the page comes again. */
  save(): void {
    this.#leave();
    this.#positions.save();
  }

  /** Where the view is to be scrolled to, in pixels below its first row: to where it was if people came back to it. Undefined is its top. */
  position(): number | undefined {
    return this.#isBack ? this.#positions.find(viewText(this.state.get())) : undefined;
  }

  #leave(): void {
    const { document, scrollY: scrolledPx } = this.#window;
    const rows = document.querySelector(".plant-table-rows")?.getBoundingClientRect();
    this.#positions.keep(viewText(this.state.get()), scrolledPx > 0 && rows ? -rows.top : undefined);
  }
}

export function isSameView(left: View, right: View): boolean {
  return left.q === right.q && left.tag === right.tag && left.sort === right.sort;
}

/** Whether the view leaves no plant out. */
export function isEverything({ q, tag }: View): boolean {
  return q.trim() === "" && tag === undefined;
}

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
