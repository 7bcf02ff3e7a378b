import { useEffect, useState } from "preact/hooks";

/**
 * Whether the page is being printed: then all rows are drawn, and not only those in sight. They are there when the
 * browser takes the page, because it lets microtasks run before, and drawing is one.
 */
export function usePrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false);
  useEffect(() => {
    function begin(): void {
      setPrinting(true);
    }
    function end(): void {
      setPrinting(false);
    }
    addEventListener("beforeprint", begin);
    addEventListener("afterprint", end);
    return () => {
      removeEventListener("beforeprint", begin);
      removeEventListener("afterprint", end);
    };
  }, []);
  return isPrinting;
}
