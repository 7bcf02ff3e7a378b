import { State } from "./state.ts";

/** Whether the service can be reached: "offline" when the machine says that it has no network, "silent" when the service does not answer. */
export type Reach = "reached" | "silent" | "offline";

export type Reaching = Readonly<{ state: State<Reach>; fetch: (url: string, init: RequestInit) => Promise<Response> }>;

type ReachOptions = Readonly<{ window: Window; livenessUrl: string; onAnswer: (response: Response, init: RequestInit) => void }>;

/** How often a service that was silent is asked whether it is back. */
const ASK_MS = 3_000;

/** A `fetch` that notices when answers fail to come, and when they come again. */
export function watchReach({ window, livenessUrl, onAnswer }: ReachOptions): Reaching {
  const state = new State<Reach>(window.navigator.onLine ? "reached" : "offline");
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function ask(): Promise<void> {
    try {
      await fetch(livenessUrl, { cache: "no-store", signal: AbortSignal.timeout(ASK_MS) });
      state.set("reached");
    } catch {
      fall();
    }
  }

  function fall(): void {
    state.set(window.navigator.onLine ? "silent" : "offline");
    clearTimeout(timer);
    if (window.navigator.onLine) timer = setTimeout(() => void ask(), ASK_MS);
  }

  window.addEventListener("offline", () => state.set("offline"));
  window.addEventListener("online", () => void ask());

  return {
    state,
    async fetch(url, init) {
      try {
        const response = await fetch(url, init);
        state.set("reached");
        onAnswer(response, init);
        return response;
      } catch (thrown) {
        const { signal } = init;
        if (signal?.aborted !== true) fall();
        // It may be this response alone that takes long.
        else if ((signal.reason as Error).name === "TimeoutError") void ask();
        throw thrown;
      }
    },
  };
}
