import type { Plant } from "../../src/client/client.ts";
import { isSame, PLANT_ID_MIN } from "../../src/domain/plant.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { isUnderWay, ROWS_AT_ONCE_MAX } from "../catalogue/listing.ts";
import { NewsDesk } from "./news.ts";
import type { Sight } from "./news.ts";
import type { Heard } from "./shared-stream.ts";

/** How often the page takes over what it heard, at most; less often where that takes long. */
const TAKE_MS = 200;
const TAKE_SHARE = 10;

/** How long after its last change the page takes nothing over: what it changed itself is then in the list, and no news. */
const OWN_MS = 300;

/** How often tags are counted while others change them: less and less often. */
const COUNT_MS = 1_000;
const COUNT_MS_MAX = 8_000;

/** More changed plants are not remembered while they wait: what the service has is looked up instead. */
const WAITING_MAX = 20_000;

/** More plants that a list misses are not looked up one by one. */
const MISSING_MAX = 20;

/** The pause after a look that failed. */
const RETRY_MS = 3_000;

type Waiting = Readonly<{ plant: Plant | undefined; at: number }>;

type Taken = Pick<Catalogue, "changedAt" | "client" | "heard" | "listing" | "news" | "tagCounts" | "ticks">;
type Plants = ReadonlyMap<bigint, Plant | undefined>;

/** Takes over what is heard, a while's changes at once: not in the middle of a change of this page, or while a list is on its way. */
export function openTaking(catalogue: Taken, sight: Sight) {
  const { listing, ticks, news, tagCounts } = catalogue;
  const desk = new NewsDesk({ listing, ticks, news, ...sight });
  let waiting = new Map<bigint, Waiting>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** When something may have been missed. */
  let gapAt = -Infinity;
  let isLooking = false;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  let notBefore = 0;
  const count = lessAndLess(() => void tagCounts.load());

  const isChanging = (now: number) => now - catalogue.changedAt() < OWN_MS;

  function isFree(now: number): boolean {
    return !isLooking && !isChanging(now) && !isUnderWay(listing.state.get().phase);
  }

  function take(): void {
    timer = undefined;
    const startedAt = performance.now();
    if (!isFree(startedAt)) return takeSoon();
    const all = [...waiting];
    waiting = new Map();
    if (all.length > 0) catalogue.heard.set(toPlants(all));
    // The list has what was heard before it was asked for.
    if (desk.take(toPlants(all.filter(([, { at }]) => at >= listing.readAt)))) count.run();
    // Where the list did not come, people ask for it themselves.
    if (gapAt > listing.readAt && listing.state.get().phase !== "failed") void look();
    gapAt = -Infinity;
    const endedAt = performance.now();
    notBefore = endedAt + Math.max(TAKE_MS, TAKE_SHARE * (endedAt - startedAt));
  }

  /** Finds out what was missed, and takes it over as if it had been heard: no row moves for it. */
  async function look(): Promise<void> {
    const askedAt = performance.now();
    isLooking = true;
    count.run();
    const missed = await findMissed(catalogue).catch(() => undefined);
    isLooking = false;
    if (isOver || listing.readAt > askedAt) return;
    // It may not know what was changed here meanwhile, and is older than a list that is on its way.
    if (catalogue.changedAt() > askedAt || isUnderWay(listing.state.get().phase)) return askAgain();
    clearTimeout(retry);
    if (!missed) return void (retry = setTimeout(askAgain, RETRY_MS));
    catalogue.heard.set(missed.plants);
    desk.take(missed.plants);
    if (missed.isCut) desk.lose();
  }

  function takeSoon(): void {
    // What is on its way, or was sent just now, is looked for again a moment later.
    const waitMs = timer === undefined && !isFree(performance.now()) ? TAKE_MS : 0;
    timer ??= setTimeout(take, Math.max(waitMs, notBefore - performance.now()));
  }

  function askAgain(): void {
    gapAt = performance.now();
    takeSoon();
  }

  function end(): void {
    isOver = true;
    clearTimeout(timer);
    clearTimeout(retry);
  }

  return {
    hear({ changes }: Heard): void {
      const at = performance.now();
      for (const { id, plant } of changes) waiting.set(id, { plant, at });
      if (waiting.size > WAITING_MAX) {
        waiting = new Map();
        if (isChanging(at)) gapAt = at;
        else desk.lose();
        count.run();
      }
      takeSoon();
    },
    /** Looks at the list again, as something may have been missed. */
    askAgain,
    ends: [desk.keep(), count.end, end],
  };
}

type Missed = Readonly<{ plants: Plants; /** Whether there is more. */ isCut: boolean }>;

/** What plants of the list are now that are not as it shows them, and those that it lacks. Of a list that is too long to be asked for at once, none. */
async function findMissed({ client, listing, news }: Taken): Promise<Missed> {
  const { plants, phase } = listing.state.get();
  if (plants.length > ROWS_AT_ONCE_MAX) return { plants: new Map(), isCut: false };
  const page = await listing.look();
  const here = new Map(plants.map((plant) => [plant.id, plant]));
  // What is behind the end of the list is no news.
  const end = phase === "whole" ? page.plants.length : page.plants.findLastIndex(({ id }) => here.has(id)) + 1;
  const found = page.plants.slice(0, end);
  const there = new Set(found.map(({ id }) => id));
  const missing = plants.filter(({ id }) => !there.has(id));
  const gone = news.get()?.gone;
  const changed = found.filter((plant) => gone?.has(plant.id) === true || !isSame(here.get(plant.id), plant));
  const now = new Map<bigint, Plant | undefined>(changed.map((plant) => [plant.id, plant]));
  for (const { id } of missing.slice(0, MISSING_MAX)) {
    // Not by its id: a browser writes into its console that one is not there.
    const next = await client.page({ ...(id === PLANT_ID_MIN ? {} : { after: id - 1n }), limit: 1 });
    now.set(
      id,
      next.plants.find((plant) => plant.id === id),
    );
  }
  return { plants: now, isCut: missing.length > MISSING_MAX || (phase === "whole" && page.next !== undefined) };
}

function toPlants(some: ReadonlyArray<readonly [bigint, Waiting]>): Plants {
  return new Map(some.map(([id, { plant }]) => [id, plant]));
}

/** Runs it at once, and then after longer and longer pauses as long as it is asked for. */
function lessAndLess(run: () => void) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let pauseMs = COUNT_MS;
  let isAsked = false;
  function again(): void {
    timer = undefined;
    pauseMs = isAsked ? Math.min(2 * pauseMs, COUNT_MS_MAX) : COUNT_MS;
    if (isAsked) begin();
  }
  function begin(): void {
    isAsked = false;
    run();
    timer = setTimeout(again, pauseMs);
  }
  return {
    run: () => (timer === undefined ? begin() : (isAsked = true)),
    end: () => clearTimeout(timer),
  };
}
