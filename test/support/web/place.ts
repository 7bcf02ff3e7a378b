import { afterAll, afterEach, beforeAll, beforeEach, expect } from "bun:test";
import type { Browser, BrowserContext, BrowserContextOptions, Page, Route } from "playwright-core";
import { startBrowser } from "../browser.ts";
import { startTestService } from "../service.ts";
import { builtPage } from "./built-page.ts";
import { toGarden } from "./garden.ts";
import { Visit } from "./visit.ts";

/** What comes late, as on a busy machine: "answers" of the service, or the "steps" of the test. */
const LATE = process.env["TEST_LATE"];
const LATE_MS_MAX = 500;
const STEP_MS = 150;

/** `isDeaf`: the page does not hear of what others change, as where the service keeps no changes. */
type Opening = BrowserContextOptions & Readonly<{ path?: string; token?: string; isDeaf?: boolean }>;
type Place = Awaited<ReturnType<typeof openPlace>>;

/**
 * A new place for each test of a file, in a shared browser: a service that serves the page built from the source, and its
 * visitors. What it returns is always the place of the running test. Nothing moves in it, because to draw what moves is a
 * seventh of all work, unless a file is about what people meet.
 */
export function usePlace({ reducedMotion = "reduce" }: Pick<BrowserContextOptions, "reducedMotion"> = {}) {
  let browser: Browser;
  let place: Place;
  beforeAll(async () => {
    browser = await startBrowser({ slowMo: LATE === "steps" ? STEP_MS : 0 });
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    place = await openPlace(browser, { viewport: { width: 1280, height: 800 }, reducedMotion });
  });
  afterEach(() => place.close());
  const garden = toGarden(() => place.service);
  const visit = (path?: string, options?: BrowserContextOptions) => place.visit(path, options);
  return {
    ...garden,
    get service() {
      return place.service;
    },
    /** Opens the page in a browser without any stored state. */
    visit,
    /** Plants these rows, opens the page, signs in, and waits for the first plant. */
    async open(rows: readonly string[] = [], { path, token, isDeaf = false, ...options }: Opening = {}): Promise<Visit> {
      if (rows.length > 0) await garden.plant(rows);
      const visitor = await visit(path, options);
      if (isDeaf) {
        place.expectStatus(501);
        await visitor.fail(/\/plants\/changes\?/, 501);
      }
      await visitor.signIn(token);
      if (rows.length > 0) await visitor.rows.first().waitFor();
      return visitor;
    },
    /**
     * Responses with these statuses are part of the test: the browser writes a line about each to its console. 0 stands
     * for none at all.
     */
    expectStatus: (...statuses: readonly number[]) => place.expectStatus(...statuses),
  };
}

async function openPlace(browser: Browser, usual: BrowserContextOptions) {
  const service = await startTestService({}, { web: await builtPage() });
  const contexts: BrowserContext[] = [];
  const errors: string[] = [];
  const requests: string[] = [];
  const expected = new Set<number>();
  return {
    service,
    async visit(path = "/", options: BrowserContextOptions = {}) {
      const context = await browser.newContext({ ...usual, ...options });
      contexts.push(context);
      if (LATE === "answers") await context.route("**/*", comeLate);
      const page = await context.newPage();
      listen(page, { errors, requests, expected });
      await page.addInitScript(FOCUS_WATCH);
      await page.goto(`${service.url}${path}`);
      return new Visit(page, service.token);
    },
    expectStatus(...statuses: readonly number[]) {
      for (const status of statuses) expected.add(status);
    },
    /** Ends everything, and expects that no page has thrown or written an error, asked another host, or put the token into an address. */
    async close() {
      for (const context of contexts) await context.close();
      await service.stop();
      expect(errors).toEqual([]);
      expect(requests.filter((url) => !url.startsWith(`${service.url}/`) && !/^(data|blob):/.test(url))).toEqual([]);
      expect(requests.filter((url) => url.includes(service.token))).toEqual([]);
    },
  };
}

/**
 * Writes an error where an element of the catalogue goes with the focus, and nothing has it in the next task. After a sign-in
 * the page begins at its top.
 */
const FOCUS_WATCH = `{
  let last;
  const look = () => {
    if (last?.isConnected !== false || document.activeElement !== document.body) return;
    const isHere = document.querySelector("#plants")?.closest("[inert]") === null && last.closest("main.sign-in") === null;
    if (isHere) console.error("The focus is lost with " + last.outerHTML.slice(0, 200));
    last = undefined;
  };
  addEventListener("focusin", ({ target }) => (last = target));
  addEventListener("mousedown", ({ target }) => target.closest("a, button, input, label, select, textarea, [tabindex]") ?? (last = undefined), true);
  new MutationObserver(() => setTimeout(look)).observe(document, { childList: true, subtree: true });
}`;

async function comeLate(route: Route): Promise<void> {
  await Bun.sleep(Math.random() * LATE_MS_MAX);
  // The page may be gone.
  await route.fallback().catch(() => undefined);
}

type Heard = Readonly<{ errors: string[]; requests: string[]; expected: ReadonlySet<number> }>;

function listen(page: Page, { errors, requests, expected }: Heard): void {
  page.on("request", (request) => requests.push(request.url()));
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => {
    if (message.type() !== "error") return;
    const text = message.text();
    const [, status = "0"] = /^Failed to load resource: .*status of (\d+)/.exec(text) ?? [];
    if (!text.startsWith("Failed to load resource") || !expected.has(Number(status))) errors.push(text);
  });
}
