import { useEffect } from "preact/hooks";
import type { Tabs } from "../tabs.ts";

/** Changes that come together are one. */
const TOGETHER_MS = 300;

/** Calls `onStale` when what is shown may be old: the page comes into sight again, or another tab has changed something. */
export function useFreshness(tabs: Tabs, onStale: () => Promise<void>): void {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    function ask(): void {
      // A page that nobody sees waits until somebody does.
      if (document.visibilityState !== "visible" || timer !== undefined) return;
      timer = setTimeout(() => {
        timer = undefined;
        void onStale();
      }, TOGETHER_MS);
    }
    document.addEventListener("visibilitychange", ask);
    const end = tabs.watch(ask);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", ask);
      end();
    };
  }, [tabs, onStale]);
}
