import { useEffect } from "preact/hooks";
import type { Tabs } from "../tabs.ts";

/** Changes that come together are one. */
const TOGETHER_MS = 300;

/** Calls `onStale` when what is shown may be old: the page comes into sight again, or another tab has changed something. */
export function useFreshness(tabs: Tabs, onStale: () => Promise<void>): void {
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
    const end = tabs.watch(ask);
    return () => {
      // Nor after what is on its way.
      isStale = false;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", ask);
      end();
    };
  }, [tabs, onStale]);
}
