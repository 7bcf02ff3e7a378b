import { useEffect } from "preact/hooks";
import type { AppContext } from "../app-context.ts";

/** Changes that come together are one. */
const TOGETHER_MS = 300;

/**
 * Calls `onStale` when what is shown may be old: the page comes into sight again, another tab has changed something, or the service is
 * reached again.
 */
export function useFreshness({ tabs, reaching }: Pick<AppContext, "reaching" | "tabs">, onStale: () => Promise<void>): void {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isStale = false;
    function ask(): void {
      isStale = true;
      // A page that nobody sees waits until somebody does.
      if (document.visibilityState === "visible") timer ??= setTimeout(() => void refresh(), TOGETHER_MS);
    }
    /** One after the other: the next one would end what is on its way, and nothing would come as long as something changes. */
    async function refresh(): Promise<void> {
      isStale = false;
      await onStale();
      timer = undefined;
      if (isStale) ask();
    }
    document.addEventListener("visibilitychange", ask);
    const ends = [tabs.watch(ask), reaching.state.watch(() => reaching.state.get() === "reached" && ask())];
    return () => {
      // Nor after what is on its way.
      isStale = false;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", ask);
      for (const end of ends) end();
    };
  }, [tabs, reaching, onStale]);
}
