import { readFileSync } from "node:fs";
import { expect } from "bun:test";
import type { Locator, Page, Request } from "playwright-core";
import { until, waitMsMax } from "../until.ts";

type Name = RegExp | string;

const LOOK_MS = 50;

/** The page is asked directly: a locator takes five times as much of the processor for it. */
const NAMES = `Array.from(document.querySelectorAll("table.plant-table tbody tr td.plant-row-name"), (cell) => cell.innerText).join("|")`;

/** Whether a request asks this of a path, which may have a query. */
export function asks(method: string, path: RegExp): (request: Request) => boolean {
  return (request) => request.method() === method && path.test(new URL(request.url()).pathname + new URL(request.url()).search);
}

/** What a step does with its words. */
const STEPS: Readonly<Record<string, (visit: Visit, words: string) => Promise<unknown>>> = {
  click: ({ click }, name) => click(name),
  /** A button of which this is the beginning, such as that of a tag and how many plants it has. */
  filter: ({ click }, tag) => click(new RegExp(`^${tag}`)),
  select: ({ box }, name) => box(name).click(),
  tag: ({ setTag }, tag) => setTag(tag),
  enter({ enter }, words) {
    const [label = "", ...text] = words.split(" = ");
    return enter({ [label]: text.join(" = ") });
  },
  type: ({ page }, text) => page.keyboard.type(text),
  press: ({ page }, key) => page.keyboard.press(key),
  choose: ({ choose }, item) => choose(item),
  paste: ({ paste }, rows) => paste(rows),
  back: ({ page }) => page.goBack(),
  reload: ({ page }) => page.reload(),
  /** Waits until it is there: a text, these plants alone, a field, a button, no dialog. */
  reads: ({ reads }, text) => reads(text),
  sees: ({ sees }, names) => sees(names.split(", ")),
  has: ({ field }, label) => field(label).waitFor(),
  offers: ({ button }, name) => button(name).waitFor(),
  leaves: ({ leaves }) => leaves(),
  /** Expects this text in a field, or none, or this address. */
  async holds({ typed }, words) {
    const [label = "", text = ""] = words.split(" = ");
    expect([label, await typed(label)]).toEqual([label, text]);
  },
  empty: async ({ typed }, label) => expect([label, await typed(label)]).toEqual([label, ""]),
  at: async ({ address }, path) => expect(address()).toBe(path),
};

/** A user of the page. All that it can do may be taken from it: `const { click, reads } = visit`. */
export class Visit {
  readonly page: Page;
  /** The rendered rows of the table, without its head. */
  readonly rows: Locator;
  readonly dialog: Locator;
  /** The checkbox that selects all plants that are loaded. */
  readonly boxes: Locator;
  /** Signs in, unless a test says otherwise. */
  readonly token: string;

  constructor(page: Page, token: string) {
    page.setDefaultTimeout(waitMsMax());
    this.page = page;
    this.token = token;
    this.rows = page.locator("table.plant-table tbody tr");
    this.dialog = page.getByRole("dialog");
    this.boxes = page.getByRole("checkbox", { name: "Select all plants that are loaded" });
  }

  readonly button = (name: Name): Locator => this.page.getByRole("button", typeof name === "string" ? { name, exact: true } : { name });

  /** Clicks these buttons, one after the other; of those that a pattern matches, the first. */
  readonly click = async (...names: readonly Name[]): Promise<void> => {
    for (const name of names) await (typeof name === "string" ? this.button(name) : this.button(name).first()).click();
  };

  /** Takes steps of STEPS one after the other: "click Add plant > enter Name = Acer > press Enter > reads “Acer” is saved." */
  readonly steps = async (script: string): Promise<void> => {
    for (const step of script.split(" > ")) {
      const [verb = ""] = step.split(" ", 1);
      await STEPS[verb]!(this, step.slice(verb.length + 1));
    }
  };

  readonly field = (label: string): Locator => this.page.getByLabel(label, { exact: true });

  /** Fills fields by their labels. */
  readonly enter = async (values: Readonly<Record<string, string>>): Promise<void> => {
    for (const [label, value] of Object.entries(values)) await this.field(label).fill(value);
  };

  /** The text in a field. */
  readonly typed = (label: string): Promise<string> => this.field(label).inputValue();

  /** Opens the menu in the header that offers this, and chooses it. */
  readonly choose = (item: string): Promise<void> => this.click(item.startsWith("Export") ? "Export" : "Account", item);

  readonly signIn = async (token = this.token): Promise<void> => {
    await this.page.getByLabel("Token").fill(token);
    await this.click("Sign in");
    await this.button("Account").waitFor();
  };

  /** The checkbox that selects a plant. */
  readonly box = (name: string): Locator => this.page.getByRole("checkbox", { name: `Select ${name}`, exact: true });

  /** Gives the selected plants this tag. */
  readonly setTag = async (tag: string): Promise<void> => {
    await this.click("Set tag");
    await this.field("Tag").fill(tag);
    await this.dialog.getByRole("button", { name: "Set tag" }).click();
  };

  /** Opens the import. */
  readonly openImport = (): Promise<void> => this.click(/^Import( a file)?$/);

  /** Opens the import, pastes these rows and lets the page preview them. */
  readonly paste = async (text: string): Promise<void> => {
    await this.openImport();
    await this.field("Or paste the rows").fill(text);
    await this.click("Preview the rows");
  };

  /** Chooses a file in the dialog of the import. */
  readonly upload = (name: string, content: Uint8Array | string): Promise<void> =>
    this.field("File to import").setInputFiles({ name, mimeType: "", buffer: Buffer.from(content as string) });

  /** Drops a file anywhere on the page, or drags it over it. */
  readonly drop = (name: string, text: string, { others = [] as readonly string[], kind = "drop" } = {}): Promise<void> =>
    this.page.evaluate(`{
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)}));
      for (const other of ${JSON.stringify(others)}) dataTransfer.items.add(new File([""], other));
      document.querySelector("main").dispatchEvent(new DragEvent("${kind}", { dataTransfer, bubbles: true, cancelable: true }));
    }`);

  /** The file that this saves. */
  readonly saves = async (act: () => Promise<void>): Promise<Readonly<{ name: string; text: string }>> => {
    const [download] = await Promise.all([this.page.waitForEvent("download"), act()]);
    return { name: download.suggestedFilename(), text: readFileSync(await download.path(), "utf8") };
  };

  /** Moves the clock, which the test has installed, past the time in which a deletion can be undone. */
  readonly passUndo = (): Promise<void> => this.page.clock.fastForward(9_000);

  /** Loads the page, and waits until it hears of what others change, and has looked up what it may have missed before. */
  readonly hears = async (load: () => Promise<unknown>): Promise<void> => {
    const [list, stream] = [asks("GET", /^\/plants(\?(?!.*(after|cursor)=)|$)/), asks("GET", /^\/plants\/changes\?/)];
    let hears = false;
    // One may be given up for another.
    const looks = new Set<Request>();
    let knows = false;
    this.page.on("request", (request) => {
      if (hears && list(request)) looks.add(request);
    });
    this.page.on("response", (response) => {
      hears ||= stream(response.request());
      knows ||= looks.has(response.request());
    });
    await load();
    await until("the page hears of changes", () => knows);
  };

  /** Another tab of the browser, at this path of the service. */
  readonly openTab = async (path = "/"): Promise<Visit> => {
    const tab = await this.page.context().newPage();
    await tab.goto(`${new URL(this.page.url()).origin}${path}`);
    return new Visit(tab, this.token);
  };

  /** Waits until the table shows exactly these plants, by their names. */
  readonly sees = async (names: readonly string[]): Promise<void> => {
    const expected = names.join("|");
    let seen = "";
    for (const endsAt = performance.now() + waitMsMax(); performance.now() < endsAt; await Bun.sleep(LOOK_MS)) {
      seen = await this.page.evaluate<string>(NAMES);
      if (seen === expected) return;
    }
    throw new Error(`The table shows ${seen}, not ${expected}`);
  };

  /** Waits until this text is visible somewhere on the page. */
  readonly reads = (text: Name): Promise<void> => this.page.getByText(text).filter({ visible: true }).first().waitFor();

  /** Waits until this expression is true in the page, which forbids a script what waits there to evaluate it again. */
  readonly comesTrue = (expression: string): Promise<void> => until(expression, () => this.page.evaluate<boolean>(expression));

  /** Waits until no dialog is open. */
  readonly leaves = (): Promise<void> => this.dialog.first().waitFor({ state: "detached" });

  /** The path and query in the address bar. */
  readonly address = (): string => {
    const { pathname, search, hash } = new URL(this.page.url());
    return `${pathname}${search}${hash}`;
  };

  /**
   * Holds the next request of this kind: on its way to the service, or its answer on the way back. `came` resolves when it is
   * held, and rejects if it never is; `release` lets it go on.
   */
  readonly hold = async (method: string, path: RegExp, where: "answer" | "request" = "request") => {
    const isMeant = asks(method, path);
    let hasCome = false;
    const gone = Promise.withResolvers<void>();
    let isTaken = false;
    await this.page.route("**/*", async (route) => {
      if (isTaken || !isMeant(route.request())) return route.fallback();
      isTaken = true;
      const response = where === "answer" ? await route.fetch() : undefined;
      hasCome = true;
      await gone.promise;
      // The page may want it no more.
      await (response ? route.fulfill({ response }) : route.fallback()).catch(() => undefined);
    });
    // Chromium says that it intercepts before its page does: without a round trip, a key pressed now could send past it.
    await this.page.evaluate("0");
    return {
      get came() {
        return until("the page has sent what is held", () => hasCome);
      },
      release: gone.resolve,
    };
  };

  /**
   * Lets the page take over what has come, and draw it. It waits here, with a limit: bun does not end a test that waits in
   * a page for what never comes, such as a frame of one whose clock stands still.
   */
  readonly settle = async (): Promise<void> => {
    await this.page.waitForFunction(
      "new Promise((resolve) => requestAnimationFrame(() => setTimeout(() => requestAnimationFrame(() => resolve(true)))))",
    );
  };

  /** As if another window came before the page, and went again. */
  readonly showAgain = async (): Promise<void> => {
    for (const state of ["hidden", "visible"]) {
      await this.page.evaluate(`Object.defineProperty(document, "visibilityState", { value: "${state}", configurable: true })`);
      await this.page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))");
    }
  };

  /** The element with the focus, by its kind and name. */
  readonly focused = (): Promise<string> =>
    this.page.evaluate<string>(`(() => {
      const { tagName, id, title, ariaLabel, textContent } = document.activeElement;
      return tagName === "INPUT" ? tagName : id === "plants" ? tagName + "#" + id : tagName + " " + (ariaLabel || title || textContent);
    })()`);

  /** Requests of these addresses fail from now on, with this status or without an answer, until it is undone. */
  readonly fail = async (url: RegExp | string, status?: number): Promise<() => Promise<void>> => {
    await this.page.route(url, (route) => (status === undefined ? route.abort() : route.fulfill({ status })));
    return () => this.page.unroute(url);
  };
}
