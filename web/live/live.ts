import type { Catalogue } from "../catalogue/catalogue.ts";
import { keepFresh } from "../catalogue/freshness.ts";
import { rowsDownTo } from "../catalogue/visible-rows.ts";
import { listen } from "../listen.ts";
import { NewsButton } from "./news-button.tsx";
import { SharedStream } from "./shared-stream.ts";
import { openTaking } from "./taking.ts";

/** Lets the page follow what others change, as long as it is in sight. Returns what ends that. */
export function keepLive(catalogue: Catalogue, token: string): () => void {
  const { client, context } = catalogue;
  const taking = openTaking(catalogue, { rowsInSight, focused: focusedPlant });
  const stream = new SharedStream({ client, base: context.base, token, onHeard: taking.hear, onGap: taking.askAgain });
  let inSight: AbortController | undefined;
  function follow(): void {
    const isInSight = document.visibilityState === "visible";
    if (!isInSight) inSight?.abort();
    if (isInSight && inSight?.signal.aborted !== false) {
      inSight = new AbortController();
      void stream.run(inSight.signal);
    }
  }
  follow();
  catalogue.newsView.set({ View: NewsButton });
  const ends = [
    listen({ visibilitychange: follow }),
    keepFresh(catalogue, { isLive: () => stream.isLive, look: taking.askAgain }),
    ...taking.ends,
    () => inSight?.abort(),
  ];
  return () => {
    for (const end of ends) end();
  };
}

function rowsInSight(): number {
  const rows = document.querySelector(".plant-table-rows")?.getBoundingClientRect();
  return rows ? rowsDownTo(-rows.top) : 0;
}

function focusedPlant(): bigint | undefined {
  const id = document.activeElement?.closest("tr")?.querySelector(".plant-row-id")?.textContent;
  return id ? BigInt(id) : undefined;
}
