import type { Page } from "playwright-core";

/**
 * Lets the page take over what has come, and draw it. It waits here, with a limit: bun does not end a test that waits in
 * a page for what never comes, such as a frame of one whose clock stands still.
 */
export async function settle(page: Page): Promise<void> {
  await page.waitForFunction(
    "new Promise((resolve) => requestAnimationFrame(() => setTimeout(() => requestAnimationFrame(() => resolve(true)))))",
  );
}
