import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import type { RefObject } from "preact";
import { listen } from "../listen.ts";

/** Rows from `first` up to, not with, `end`. */
export type Range = Readonly<{ first: number; end: number }>;

/** Rows that are drawn before one sees them, on each side. */
const SPARE_ROWS = 8;

/** The rows change in steps, so that not every pixel that is scrolled draws them again. */
const STEP_ROWS = 4;

/** Which rows of a list are in sight, or nearly, while the whole page scrolls. */
export function useRange(list: RefObject<HTMLElement | null>, rowPx: number): Range {
  const [range, setRange] = useState<Range>({ first: 0, end: 0 });
  useLayoutEffect(() => {
    function measure(): void {
      if (!list.current) return;
      const top = Math.max(0, -list.current.getBoundingClientRect().top);
      const step = STEP_ROWS * rowPx;
      const first = Math.floor(top / step) * STEP_ROWS;
      const end = first + STEP_ROWS + Math.ceil(innerHeight / rowPx) + SPARE_ROWS;
      const next = { first: Math.max(0, first - SPARE_ROWS), end };
      setRange((old) => (old.first === next.first && old.end === next.end ? old : next));
    }
    measure();
    return listen({ scroll: measure, resize: measure });
  }, [rowPx]);
  return range;
}

/** How high a row is: with two lines on a phone unless it is compact, and higher where letters are larger. */
export function useRowPx(isCompact: boolean): number {
  const [rowPx, setRowPx] = useState(measureRow);
  useLayoutEffect(() => {
    const measure = () => setRowPx(measureRow());
    measure();
    return listen({ resize: measure });
  }, [isCompact]);
  return rowPx;
}

/**
 * Whether the page is being printed: then all rows are drawn, and not only those in sight. They are there when the
 * browser takes the page, because it lets microtasks run before, and drawing is one.
 */
export function usePrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false);
  useEffect(() => listen({ beforeprint: () => setPrinting(true), afterprint: () => setPrinting(false) }), []);
  return isPrinting;
}

/** How many rows a window shows that is scrolled so far below the first of them, and those above it. */
export function rowsDownTo(px: number | undefined): number {
  return px === undefined ? 0 : Math.ceil((px + innerHeight) / measureRow());
}

function measureRow(): number {
  const style = getComputedStyle(document.documentElement);
  return Number.parseFloat(style.fontSize) * Number.parseFloat(style.getPropertyValue("--row"));
}
