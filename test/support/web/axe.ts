import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";

const AXE = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");

/** The dark view differs from the light one in nothing else. */
const RULES_OF_COLOUR: readonly string[] = ["color-contrast", "link-in-text-block"];

/** What axe finds wrong with the current view, in light and dark: the colours, the rule and the element. */
export async function findViolations(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const [colorScheme, rules] of [
    ["light", undefined],
    ["dark", RULES_OF_COLOUR],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    found.push(...(await runAxe(page, rules)).map((violation) => `${colorScheme}, ${violation}`));
  }
  return found;
}

/** What axe finds wrong, by all of its rules or these. */
export async function runAxe(page: Page, runOnly?: readonly string[]): Promise<string[]> {
  // The browser itself evaluates it, so the page's policy does not block it.
  if (await page.evaluate<boolean>("!globalThis.axe")) await page.evaluate(AXE);
  // Only violations are worked out and leave the page: descriptions of all that is right would take longer than the look at it.
  const options = JSON.stringify({ runOnly, resultTypes: ["violations"], selectors: false });
  return page.evaluate<string[]>(
    `axe.run(${options}).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ": " + html)))`,
  );
}
