import { listen } from "../listen.ts";
import type { Catalogue } from "./catalogue.ts";

/** Changes that come together are one. */
const TOGETHER_MS = 300;

type Live = Readonly<{
  /** Whether the page hears of changes by itself. */
  isLive: () => boolean;
  /** Finds out what was missed, and moves no row. */
  look: () => void;
}>;

/**
 * Asks again when what is shown may be old: the page comes into sight again, another tab has changed something, unless the page hears of
 * changes by itself, or the service is reached again. Returns what ends that.
 */
export function keepFresh(catalogue: Catalogue, { isLive, look }: Live): () => void {
  const { tabs, reaching } = catalogue.context;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStale = false;
  function ask(): void {
    isStale = true;
    // A page that no one sees waits until someone does.
    if (document.visibilityState === "visible") timer ??= setTimeout(() => void refresh(), TOGETHER_MS);
  }
  /** One after the other: the next one would end what is on its way, and nothing would come as long as something changes. */
  async function refresh(): Promise<void> {
    isStale = false;
    await catalogue.refresh();
    timer = undefined;
    if (isStale) ask();
  }
  function reach(): void {
    if (reaching.state.get() !== "reached") return;
    // Someone may point at a row.
    if (document.visibilityState === "visible" && catalogue.listing.state.get().phase !== "failed") look();
    else ask();
  }
  const ends = [listen({ visibilitychange: ask }), tabs.watch(() => isLive() || ask()), reaching.state.watch(reach)];
  return () => {
    // Nor after what is on its way.
    isStale = false;
    clearTimeout(timer);
    for (const end of ends) end();
  };
}
