import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { startBrowser } from "../test/support/browser.ts";
import { buildWeb } from "../web/build.ts";
import { startService } from "./contenders.ts";
import type { Target } from "./contenders.ts";
import { withFolder } from "./scratch.ts";
import { BOTH_CORES, leaveProgramCore, takeBothCores } from "./machine.ts";
import { quantile } from "./quantile.ts";
import type { Bench } from "./trade-offs.ts";
import { COMMON_WORD, makeLargeStore, RARE_WORD } from "./stock.ts";
import { toSpread, toTable, toText } from "./text-table.ts";

const PLANTS = 1_000_000;
const ROWS = 10_000;
const LOADS = 10;
const SEARCHES = 5;

/** Matches one plant, all plants, all plants by a prefix, and plants by two prefixes. */
const WORDS = [RARE_WORD, COMMON_WORD, "p", "g77 s1"];

/** How far the page scrolls per frame: while reading, while looking for something, and in a hard swipe on a phone. */
const STEPS_PX = [100, 400, 1500];

const WEB = join(import.meta.dirname, "../dist/web");

/** What people wait for on the page: its first load, the results of what they type, and the frames while they scroll. */
export async function page(bench: Bench): Promise<string> {
  await buildWeb(WEB);
  return withFolder(async (data) => {
    await makeLargeStore(data, { plants: PLANTS, step: 1n, bench });
    // The service, all browser processes and this one share the machine, as they do at home.
    await takeBothCores();
    const target = await startService({ data, cores: BOTH_CORES, signal: bench.signal });
    const browser = await startBrowser();
    try {
      return [await measureLoads(browser, target, bench), await measureUse(browser, target, bench)].join("\n\n");
    } finally {
      await browser.close();
      await target.program.stop();
      await leaveProgramCore();
    }
  });
}

type Load = Readonly<{ bytes: number; requests: number; readyMs: number; paintMs: number }>;

/** Loads with empty caches. The script renders at once when it runs, so the page is usable from the end of DOMContentLoaded. */
const LOAD = `(() => {
  const [page] = performance.getEntriesByType("navigation");
  const files = [page, ...performance.getEntriesByType("resource")];
  const [paint] = performance.getEntriesByName("first-contentful-paint");
  const bytes = files.reduce((sum, { transferSize }) => sum + transferSize, 0);
  return paint && { bytes, requests: files.length, readyMs: page.domContentLoadedEventEnd, paintMs: paint.startTime };
})()`;

async function measureLoads(browser: Browser, { program }: Target, { note }: Bench): Promise<string> {
  const loads: Load[] = [];
  for (let number = 0; number <= LOADS; number += 1) {
    const load = await withPage(browser, async (tab) => {
      await tab.goto(program.url);
      await tab.getByLabel("Token").waitFor();
      return waitFor<Load>(tab, LOAD);
    });
    // The first load meets a browser and a service that have just started.
    if (number > 0) loads.push(load);
  }
  note(`page: loaded ${LOADS} times`);
  const [{ bytes, requests } = { bytes: 0, requests: 0 }] = loads;
  return `First load, ${toText(bytes)} bytes with headers in ${requests} requests: median [min-max] of ${LOADS}
can be used after ${toSpread(loads.map(({ readyMs }) => readyMs))} ms, first paint after ${toSpread(loads.map(({ paintMs }) => paintMs))} ms`;
}

async function measureUse(browser: Browser, { program, token }: Target, bench: Bench): Promise<string> {
  return withPage(browser, async (tab) => {
    await tab.goto(program.url);
    await tab.getByLabel("Token").fill(token);
    await tab.getByRole("button", { name: "Sign in" }).click();
    await tab.locator("table.plant-table tbody tr").first().waitFor();
    const searches = await measureSearches(tab, bench);
    return [searches, await measureFrames(tab, bench)].join("\n\n");
  });
}

/** From the key press to the frame that shows the results, including the page's pause for another key. */
const SEARCH = (text: string) => `new Promise((done) => {
  const input = document.querySelector("input[type=search]");
  const list = document.querySelector("#plants");
  const begun = performance.now();
  let wasBusy = false;
  const watch = new MutationObserver(() => {
    const isBusy = list.getAttribute("aria-busy") === "true";
    if (wasBusy && !isBusy) {
      watch.disconnect();
      requestAnimationFrame(() => setTimeout(() => done(performance.now() - begun)));
    }
    wasBusy ||= isBusy;
  });
  watch.observe(list, { subtree: true, childList: true, attributes: true, characterData: true });
  input.value = ${JSON.stringify(text)};
  input.dispatchEvent(new Event("input", { bubbles: true }));
})`;

async function measureSearches(tab: Page, { note }: Bench): Promise<string> {
  const times = new Map<string, number[]>(WORDS.map((word) => [word, []]));
  for (let round = 0; round < SEARCHES; round += 1) {
    for (const word of WORDS) {
      times.get(word)!.push(await tab.evaluate<number>(SEARCH(word)));
      await tab.evaluate(SEARCH(""));
    }
  }
  note("page: searched");
  const rows = [...times].map(([word, ms]) => [word, toSpread(ms)]);
  return `From a key to the frame with the answer, ${toText(PLANTS)} plants, in ms: median [min-max] of ${SEARCHES}

${toTable([["what is typed", "ms"], ...rows])}`;
}

type Frames = Readonly<{ step: number; ms: readonly number[] }>;

/** Scrolls this far per frame until ROWS rows have gone by, and returns the times between frames. */
const SCROLL = (stepPx: number) => `new Promise((done) => {
  const times = [];
  let last;
  function draw(now) {
    if (last !== undefined) times.push(now - last);
    last = now;
    const top = Number(document.querySelector("table.plant-table tbody tr")?.getAttribute("aria-rowindex"));
    if (top > ${ROWS}) return done(times);
    scrollBy(0, ${stepPx});
    requestAnimationFrame(draw);
  }
  scrollTo(0, 0);
  requestAnimationFrame(draw);
})`;

async function measureFrames(tab: Page, { note }: Bench): Promise<string> {
  // The first pass loads the rows as it goes.
  const ways: Frames[] = [];
  for (const step of [...STEPS_PX.slice(-1), ...STEPS_PX]) {
    ways.push({ step, ms: await tab.evaluate<number[]>(SCROLL(step)) });
    note(`page: scrolled through ${toText(ROWS)} rows`);
  }
  const rows = ways.map(({ step, ms }, number) => {
    const at = (share: number) => toText(quantile(ms, share), 1);
    const late = ms.filter((value) => value > 50).length;
    return [`${step} px a frame${number === 0 ? ", loading" : ""}`, toText(ms.length), at(0.5), at(0.99), at(1), String(late)];
  });
  return `Frames while one scrolls through ${toText(ROWS)} rows, in ms

${toTable([["speed", "frames", "p50", "p99", "longest", "over 50"], ...rows])}`;
}

async function withPage<Result>(browser: Browser, work: (tab: Page) => Promise<Result>): Promise<Result> {
  const context: BrowserContext = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  try {
    return await work(await context.newPage());
  } finally {
    await context.close();
  }
}

/** Evaluates until the result is truthy. */
async function waitFor<Value>(tab: Page, expression: string): Promise<Value> {
  const found = await tab.waitForFunction(expression);
  return (await found.jsonValue()) as Value;
}
