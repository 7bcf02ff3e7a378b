import { parseId } from "./plants/draft.ts";
import { State } from "./state.ts";
import { takeStep } from "./step.ts";

export type Opened =
  | Readonly<{ kind: "nothing" }>
  /** With a name to begin with, which a reload does not know. */
  | Readonly<{ kind: "add"; name?: string }>
  | Readonly<{ kind: "edit"; id: bigint }>
  /** What the plant was before. */
  | Readonly<{ kind: "history"; id: bigint }>
  | Readonly<{ kind: "import"; file?: File }>
  /** Of what is selected, or of all that is shown: a reload knows of nothing that was selected. */
  | Readonly<{ kind: "labels"; isOfTicked?: boolean }>
  /** With the import that is to be taken back, which a reload does not know. */
  | Readonly<{ kind: "past"; takesBack?: string }>
  | Readonly<{ kind: "same-names" }>
  /** The tag of what is selected, or another name for one: a link or a reload does not know of which. */
  | Readonly<{ kind: "tag" }>
  | Readonly<{ kind: "tokens" }>;

/** What a link or a reload opens. */
const LINKED = [
  { kind: "add" },
  { kind: "import" },
  { kind: "labels" },
  { kind: "past" },
  { kind: "same-names" },
  { kind: "tokens" },
] as const satisfies readonly Opened[];

const NOTHING: Opened = { kind: "nothing" };

/** What a step of the browser's history says when it was made here: to close is to go back. */
const MADE_HERE = "opened";

/** What is open, as the fragment of the address has it: a link, a reload and the back button know it too. */
export class Opening {
  readonly state: State<Opened>;
  readonly #window: Window;

  constructor(window: Window) {
    this.#window = window;
    this.state = new State(parseOpened(window.location.hash));
    window.addEventListener("popstate", () => {
      const opened = parseOpened(window.location.hash);
      if (openedText(opened) !== openedText(this.state.get())) this.state.set(opened);
    });
  }

  open(opened: Opened): void {
    const { history, location } = this.#window;
    const url = `${location.pathname}${location.search}${openedText(opened)}`;
    if (location.hash === "") takeStep("push", MADE_HERE, url);
    else takeStep("replace", history.state, url);
    this.state.set(opened);
  }

  close(): void {
    const { history, location } = this.#window;
    this.state.set(NOTHING);
    // A new view may have taken the place of the step already.
    if (location.hash === "") return;
    if (history.state === MADE_HERE) history.back();
    else takeStep("replace", null, `${location.pathname}${location.search}`);
  }
}

export function plantFragment(id: bigint): string {
  return `#plant=${id}`;
}

function openedText(opened: Opened): string {
  if (opened.kind === "nothing") return "";
  if (opened.kind === "edit") return plantFragment(opened.id);
  return opened.kind === "history" ? `#history=${opened.id}` : `#${opened.kind}`;
}

function parseOpened(fragment: string): Opened {
  const [, what, digits = ""] = /^#(plant|history)=(-?\d+)$/.exec(fragment) ?? [];
  const id = parseId(digits);
  if (id !== undefined) return { kind: what === "plant" ? "edit" : "history", id };
  return LINKED.find(({ kind }) => fragment === `#${kind}`) ?? NOTHING;
}
