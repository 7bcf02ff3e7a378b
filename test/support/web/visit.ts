import { readFileSync } from "node:fs";
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
  /** The checkbox that selects a plant. */
  box: (name: string) => Locator;
  /** The one that selects all plants that are loaded. */
  boxes: Locator;
  /** Fills the fields of the open dialog by their labels. */
  enter: (values: Readonly<Record<string, string>>) => Promise<void>;
  /** Gives the selected plants this tag. */
  setTag: (tag: string) => Promise<void>;
  /** Opens the import, pastes these rows and lets the page preview them. */
  paste: (text: string) => Promise<void>;
  /** Chooses a file in the dialog of the import. */
  upload: (name: string, content: Uint8Array | string) => Promise<void>;
  /** The file that this saves. */
  saves: (act: () => Promise<void>) => Promise<Readonly<{ name: string; text: string }>>;
  /** Moves the clock, which the test has installed, past the time in which a deletion can be undone. */
  passUndo: () => Promise<void>;
  /** Another tab of the browser, at this path of the service. */
  openTab: (path?: string) => Promise<Visit>;
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

  const field = (label: string) => page.getByLabel(label, { exact: true });
  const dialog = page.getByRole("dialog");

  return {
    page,
    button,
    field,
    rows,
    dialog,
    async choose(item) {
      await button(item.startsWith("Export") ? "Export" : "Settings").click();
      await button(item).click();
    },
    async signIn(token = firstToken) {
      await page.getByLabel("Token").fill(token);
      await button("Sign in").click();
      await button("Settings").waitFor();
    },
    box: (name) => page.getByRole("checkbox", { name: `Select ${name}`, exact: true }),
    boxes: page.getByRole("checkbox", { name: "Select all plants that are loaded" }),
    async enter(values) {
      for (const [label, value] of Object.entries(values)) await field(label).fill(value);
    },
    async setTag(tag) {
      await button("Set tag").click();
      await field("Tag").fill(tag);
      await dialog.getByRole("button", { name: "Set tag" }).click();
    },
    async paste(text) {
      await button(/^Import( a file)?$/)
        .first()
        .click();
      await field("Or paste the rows").fill(text);
      await button("Preview the rows").click();
    },
    upload: (name, content) => field("File to import").setInputFiles({ name, mimeType: "", buffer: Buffer.from(content as string) }),
    async saves(act) {
      const [download] = await Promise.all([page.waitForEvent("download"), act()]);
      return { name: download.suggestedFilename(), text: readFileSync(await download.path(), "utf8") };
    },
    passUndo: () => page.clock.fastForward(9_000),
    async openTab(path = "/") {
      const tab = await page.context().newPage();
      await tab.goto(`${new URL(page.url()).origin}${path}`);
      return toVisit(tab, firstToken);
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
