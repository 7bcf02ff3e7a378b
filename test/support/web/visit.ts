import type { Locator, Page } from "playwright-core";
import { waitMsMax } from "../until.ts";

/** A user of the page. */
export type Visit = Readonly<{
  page: Page;
  button: (name: RegExp | string) => Locator;
  field: (label: string) => Locator;
  /** The rendered rows of the table, without its head. */
  rows: Locator;
  dialog: Locator;
  /** Opens the menu in the header that offers this, and chooses it. */
  choose: (item: string) => Promise<void>;
  signIn: (token?: string) => Promise<void>;
  /** Waits until the table shows exactly these plants, by their names. */
  sees: (names: readonly string[]) => Promise<void>;
  /** Waits until this text is visible somewhere on the page. */
  reads: (text: RegExp | string) => Promise<void>;
  /** The path and query in the address bar. */
  address: () => string;
}>;

const LOOK_MS = 50;

/** The page is asked directly: a locator takes five times as much of the processor for it. */
const NAMES = `Array.from(document.querySelectorAll("table.plant-table tbody tr td.plant-row-name"), (cell) => cell.innerText).join("|")`;

export function toVisit(page: Page, firstToken: string): Visit {
  page.setDefaultTimeout(waitMsMax());
  const rows = page.locator("table.plant-table tbody tr");

  function button(name: RegExp | string): Locator {
    return page.getByRole("button", typeof name === "string" ? { name, exact: true } : { name });
  }

  return {
    page,
    button,
    field: (label) => page.getByLabel(label, { exact: true }),
    rows,
    dialog: page.getByRole("dialog"),
    async choose(item) {
      await button(item.startsWith("Export") ? "Export" : "Settings").click();
      await button(item).click();
    },
    async signIn(token = firstToken) {
      await page.getByLabel("Token").fill(token);
      await button("Sign in").click();
      await button("Settings").waitFor();
    },
    async sees(names) {
      const expected = names.join("|");
      let seen = "";
      for (const endsAt = performance.now() + waitMsMax(); performance.now() < endsAt; await Bun.sleep(LOOK_MS)) {
        seen = await page.evaluate<string>(NAMES);
        if (seen === expected) return;
      }
      throw new Error(`The table shows ${seen}, not ${expected}`);
    },
    reads: (text) => page.getByText(text).filter({ visible: true }).first().waitFor(),
    address() {
      const { pathname, search, hash } = new URL(page.url());
      return `${pathname}${search}${hash}`;
    },
  };
}
