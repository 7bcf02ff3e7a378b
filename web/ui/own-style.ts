import { useLayoutEffect } from "preact/hooks";

/** The style of a view that most visits do not open: it comes with the code of the view, as long as that is there. */
export function useOwnStyle(css: string): void {
  useLayoutEffect(() => {
    const style = new CSSStyleSheet();
    style.replaceSync(css);
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, style];
    return () => void (document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== style));
  }, [css]);
}
