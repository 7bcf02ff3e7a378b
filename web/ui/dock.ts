import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/**
 * For what stands at the lower edge of the window: the page ends above it, so that it covers nothing. What stands there tells its height in a
 * property of its own name, as in dock.css.
 */
export function useDock(name: "notices" | "ticks", isThere = true): RefObject<HTMLDivElement | null> {
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const docked = element.current;
    if (!isThere || !docked) return undefined;
    const { style } = document.documentElement;
    const observer = new ResizeObserver(() => style.setProperty(`--${name}-px`, `${docked.offsetHeight}px`));
    observer.observe(docked);
    return () => {
      observer.disconnect();
      style.removeProperty(`--${name}-px`);
    };
  }, [isThere]);
  return element;
}
