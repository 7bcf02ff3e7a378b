import type { Visit } from "./visit.ts";

/** The renderer tells the browser that the page listens, some milliseconds later. Nothing shows when. */
const TOLD_MS = 250;

/** Tries to close the page. Whether the browser asked first. */
export async function asksBeforeClosing({ page }: Visit): Promise<boolean> {
  let isAsked = false;
  page.once("dialog", (dialog) => {
    isAsked = dialog.type() === "beforeunload";
    void dialog.dismiss();
  });
  await Bun.sleep(TOLD_MS);
  await page.close({ runBeforeUnload: true });
  for (let tries = 0; tries < 40 && !isAsked && !page.isClosed(); tries += 1) await Bun.sleep(50);
  return isAsked;
}
