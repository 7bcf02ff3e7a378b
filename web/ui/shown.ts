import { useLayoutEffect, useRef } from "preact/hooks";

/** Whether the component is still there. Work that it began may end later: then nobody reads what it says. */
export function useShown(): () => boolean {
  const isShown = useRef(true);
  useLayoutEffect(() => () => void (isShown.current = false), []);
  return () => isShown.current;
}
