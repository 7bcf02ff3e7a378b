import type { Reaching } from "../reach.ts";
import { State } from "../state.ts";

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

/** The code of the import: a third of the page's, and most visits import nothing. */
export class ImportCode {
  readonly state = new State<Loading>({ kind: "unasked" });
  readonly #fetch: Reaching["fetch"];
  #address: string | undefined;
  #failures = 0;

  constructor(fetch: Reaching["fetch"]) {
    this.#fetch = fetch;
  }

  /** Loads it, unless it is there or on its way. */
  async load(): Promise<void> {
    const { kind } = this.state.get();
    if (kind === "loading" || kind === "loaded") return;
    this.state.set({ kind: "loading" });
    try {
      this.state.set({ kind: "loaded", code: await this.#import() });
    } catch (thrown) {
      this.#failures += 1;
      this.#address ??= /https?:\/\/\S+\.js/.exec(String(thrown))?.[0];
      this.state.set({ kind: "failed", cause: await findCause(this.#fetch) });
    }
  }

  #import(): Promise<Code> {
    // Many browsers remember that an address failed, and fail again without asking (github.com/whatwg/html/issues/6768). Those name it in the error.
    if (this.#address === undefined) return import("./import-dialog.tsx");
    return import(`${this.#address}?${this.#failures}`) as Promise<Code>;
  }
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
