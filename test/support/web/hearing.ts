import type { Page } from "playwright-core";

/**
 * Listens to a page as a screen reader does. A status is heard when its text changes, the whole of it unless it says that it is not atomic; one
 * that comes together with its text is heard by few, and counts as silence. An alert is heard when it comes, too. Nothing is heard that is
 * behind a dialog, or hidden from screen readers.
 */
export async function listenTo(page: Page): Promise<() => Promise<readonly string[]>> {
  // The browser itself evaluates it, so the page's policy does not block it.
  await page.evaluate(LISTEN);
  return () => page.evaluate<string[]>("heard.splice(0)");
}

const LISTEN = `(() => {
  const LIVE = "[role=status], [role=alert]";
  window.heard = [];
  function textOf(element) {
    const copy = element.cloneNode(true);
    for (const silent of copy.querySelectorAll("[aria-hidden=true], button")) silent.remove();
    return copy.textContent.trim().replace(/\\s+/g, " ");
  }
  function isHeard(element) {
    return element.closest("[aria-hidden=true]") === null && (document.querySelector("dialog:modal") === null || element.closest("dialog") !== null);
  }
  new MutationObserver((changes) => {
    const said = new Map();
    const changed = changes.flatMap(({ target, addedNodes }) => (addedNodes.length > 0 ? [...addedNodes] : target.nodeType === Node.TEXT_NODE ? [target] : []));
    for (const node of changed.filter(({ isConnected }) => isConnected)) {
      const element = node instanceof Element ? node : node.parentElement;
      const region = element.closest(LIVE);
      for (const alert of element.querySelectorAll("[role=alert]")) said.set(alert, textOf(alert));
      if (!region || !isHeard(element)) continue;
      const isNew = changed.some((other) => other instanceof Element && other.contains(region));
      if (isNew && region.role !== "alert") continue;
      if (region.ariaAtomic === "false") said.set(element, textOf(element));
      else said.set(region, textOf(region));
    }
    heard.push(...[...said.values()].filter((text) => text !== ""));
  }).observe(document, { childList: true, subtree: true, characterData: true });
})()`;
