import type { Reaching } from "../reach.ts";
import { createState } from "../state.ts";
import type { State } from "../state.ts";

/** The code of the import: a third of the page's, and most visits import nothing. */
export type ImportCode = Readonly<{
  state: State<Loading>;
  /** Loads it, unless it is there or on its way. */
  load: () => void;
}>;

type Code = typeof import("./import-dialog.tsx");

type Loading =
  | Readonly<{ kind: "unasked" }>
  | Readonly<{ kind: "loading" }>
  | Readonly<{ kind: "loaded"; code: Code }>
  | Readonly<{ kind: "failed"; cause: Cause }>;

/** "outdated": the service was updated, and no longer has the files of this page. */
type Cause = "outdated" | "unreachable" | "unknown";

/** How long to look for why it failed. */
const LOOK_MS = 5_000;

export function createImportCode(fetch: Reaching["fetch"]): ImportCode {
  const state = createState<Loading>({ kind: "unasked" });
  let address: string | undefined;
  let failures = 0;

  async function load(): Promise<void> {
    const { kind } = state.get();
    if (kind === "loading" || kind === "loaded") return;
    state.set({ kind: "loading" });
    try {
      state.set({ kind: "loaded", code: await importOnce() });
    } catch (thrown) {
      failures += 1;
      address ??= /https?:\/\/\S+\.js/.exec(String(thrown))?.[0];
      state.set({ kind: "failed", cause: await findCause(fetch) });
    }
  }

  function importOnce(): Promise<Code> {
    // Many browsers remember that an address failed, and fail again without asking (github.com/whatwg/html/issues/6768). Those name it in the error.
    if (address === undefined) return import("./import-dialog.tsx");
    return import(`${address}?${failures}`) as Promise<Code>;
  }

  return { state, load: () => void load() };
}

/** The script has another name as soon as any code of the page is another. */
async function findCause(fetch: Reaching["fetch"]): Promise<Cause> {
  try {
    const init = { method: "HEAD", cache: "no-store", signal: AbortSignal.timeout(LOOK_MS) } as const;
    const { status } = await fetch(import.meta.url, init);
    return status === 404 ? "outdated" : "unknown";
  } catch {
    return "unreachable";
  }
}
