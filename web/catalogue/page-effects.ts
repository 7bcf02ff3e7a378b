import { useEffect, useLayoutEffect } from "preact/hooks";
import type { Session } from "../../src/client/client.ts";
import { listen } from "../listen.ts";
import { WITHOUT_TAG } from "../plants/label.ts";
import { useValue } from "../state.ts";
import { keepFocus } from "../ui/focus.ts";
import { isSameView } from "../view.ts";
import type { Catalogue } from "./catalogue.ts";
import { rowsDownTo } from "./visible-rows.ts";

/** Keeps the page as its view says: what is listed and counted, its title, and what must be in front. */
export function usePageEffects(catalogue: Catalogue, who: Session): void {
  const { listing, tagCounts, bulkChanges, ticks, renaming, access, context } = catalogue;
  const { views, opening } = context;
  const view = useValue(views.state);
  const listed = useValue(listing.state).view;
  const opened = useValue(opening.state);
  const newSecret = useValue(catalogue.newSecret);
  useEffect(() => void (access.read && listing.show(view, rowsDownTo(views.position()))), [listing, view, access.read]);
  useLive(catalogue);
  useLayoutEffect(keepFocus, []);
  useEffect(() => {
    function save(): void {
      const { plants, view: shown } = listing.state.get();
      // Rows that are on their way have no position yet.
      if (plants.length > 0 && isSameView(shown, views.state.get())) views.save();
    }
    // A phone that needs the memory discards a page that is out of sight, which hears no more than this.
    return listen({ visibilitychange: save });
  }, [listing]);
  // No one should change what is out of sight; another order shows the same plants. Until the plants of another view are
  // here, those of the one before are in sight. Another token may see none.
  useLayoutEffect(() => ticks.clear(), [ticks, listed.q, listed.tag, access.read]);
  useEffect(() => {
    if (!access.read || !access.write) return;
    bulkChanges.offer();
    renaming.offer();
  }, [renaming, access.read, access.write]);
  useEffect(() => void (access.read && tagCounts.load()), [tagCounts, view, access.read]);
  // What came to nothing while no one was signed in.
  useEffect(() => void (listing.state.get().phase !== "searching" && catalogue.refresh()), [who]);
  useEffect(() => {
    document.title = [view.q, view.tag === null ? WITHOUT_TAG : (view.tag ?? ""), "Plant Store"].filter((part) => part !== "").join(" – ");
  }, [view]);
  // There is nothing else to be done.
  useEffect(() => void (access.admin && !access.read && !access.write && opening.open({ kind: "tokens" })), []);
  // Back does not take it away either, nor closing the dialog before the service has made it.
  useEffect(() => void (newSecret !== undefined && opened.kind !== "tokens" && opening.open({ kind: "tokens" })), [newSecret, opened]);
}

/** Follows what others change, for as long as the token may see it. Its code comes after the first view. */
function useLive(catalogue: Catalogue): void {
  const session = useValue(catalogue.context.session.state);
  const token = session.kind === "in" && catalogue.access.read ? session.token : undefined;
  useEffect(() => {
    if (token === undefined) return undefined;
    let end: (() => void) | undefined;
    let isOver = false;
    // Without it the page is one that is read again when people ask for it.
    import("../live/live.ts").then(
      ({ keepLive }) => isOver || (end = keepLive(catalogue, token)),
      () => undefined,
    );
    return () => {
      isOver = true;
      end?.();
    };
  }, [catalogue, token]);
}
