import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { listen } from "../listen.ts";
import { isSameView } from "../view.ts";
import type { View } from "../view.ts";
import type { Listed } from "./listing.ts";

type ScrollOptions = Readonly<{
  listed: Listed;
  /** Where the view is to be scrolled to when it comes, in pixels below its first row. Undefined is its top. */
  position: () => number | undefined;
  revealed: bigint | undefined;
  body: RefObject<HTMLElement | null>;
  rowPx: number;
}>;

/**
 * Takes a view to its top, or to where it was, and a plant that was just added into the middle of the window. Leaves the row there that is in
 * it when all rows get another height, as when a phone is turned.
 */
export function useScroll({ listed: { view, plants }, position, revealed, body, rowPx }: ScrollOptions): void {
  const shown = useRef<View>(undefined);
  const done = useRef(revealed);
  useEffect(() => {
    if (shown.current === undefined || !isSameView(shown.current, view)) {
      const px = position();
      scrollTo(0, px === undefined ? 0 : px + body.current!.getBoundingClientRect().top + scrollY);
    }
    shown.current = view;
  }, [view]);
  useEffect(() => {
    if (revealed === done.current) return;
    const at = plants.findIndex(({ id }) => id === revealed);
    if (at === -1 || !body.current) return;
    const top = body.current.getBoundingClientRect().top + at * rowPx;
    if (top < innerHeight / 4 || top > (3 * innerHeight) / 4) scrollBy(0, top - innerHeight / 2);
    done.current = revealed;
  }, [revealed, plants]);
  useRowInMiddle(body, rowPx);
}

function useRowInMiddle(body: RefObject<HTMLElement | null>, rowPx: number): void {
  /** Which row it is, in parts of rows; undefined at the top of the page. */
  const middle = useRef<number>(undefined);
  useLayoutEffect(() => {
    const topPx = () => (body.current?.getBoundingClientRect().top ?? 0) - innerHeight / 2;
    if (middle.current !== undefined) scrollBy(0, topPx() + middle.current * rowPx);
    return listen({ scroll: () => (middle.current = scrollY === 0 ? undefined : -topPx() / rowPx) });
  }, [rowPx]);
}
