import { setTimeout as sleep } from "node:timers/promises";
import { openPauses } from "../../runtime/event-loop.ts";
import type { History, LogCursor } from "../../store/history.ts";
import { PlantStoreError } from "../../domain/errors.ts";
import { toBlocks, toBookmark, toEvent } from "./events.ts";
import type { EventBlock, FeedEvent } from "./events.ts";
import type { FeedMeter } from "./feed-meter.ts";
import type { Listener } from "./listener.ts";
import { expectProgress } from "./progress.ts";
import { RecentEvents } from "./recent-events.ts";
import { inTurns, Work } from "./work.ts";

type FeedOptions = Readonly<{
  history: Pick<History, "read" | "watch">;
  meter: Pick<FeedMeter, "lagged">;
  /** Called when the changes cannot be read any more. */
  onFail: (listeners: readonly Listener[], reason: unknown) => void;
}>;

/** How many changes are read at a time, and how often for one turn: a read ends with a megabyte of text. */
const READ_CHANGES_MAX = 1000;
const TURN_READS_MAX = 5;

/** From one turn to the next one, in milliseconds, however much is there: a write costs much the same for any size. */
const TURN_MS = 100;

/**
 * The log is read this often even if no one said that there is more, in milliseconds: where it cannot be read, or is
 * another one since, no one may say so.
 */
const ASK_MS = 5000;

/** How often the log is read in vain before all streams end, and how long to wait in between, in milliseconds. */
const TRIES = 2;
const RETRY_MS = 1000;

/** How often to look for listeners that hear nothing, in milliseconds. */
const LOOK_MS = 500;

type Tag = Listener["tag"];

/**
 * Reads the log once for all who are live: each change is written out once, and each block of them once for all who
 * follow the same tag. It runs while there are listeners.
 */
export class Feed {
  readonly #options: FeedOptions;
  readonly #live = new Map<Tag, Set<Listener>>();
  /** Those who are ahead of what was read. */
  readonly #waiting = new Set<Listener>();
  /** Those for whom a turn had no time: they go on where they are, in turns among owners. */
  readonly #late = new Set<Listener>();
  #recent: RecentEvents | undefined;
  #isMore = false;
  #askedAt = 0;
  #lookedAt = 0;
  readonly #work = new Work();

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  next(cursor: LogCursor, { tag }: Listener): EventBlock | "live" | undefined {
    return this.#recent?.next(cursor, tag);
  }

  join(listener: Listener): void {
    const { tag } = listener;
    this.#live.set(tag, (this.#live.get(tag) ?? new Set()).add(listener));
  }

  joinLater(listener: Listener, cursor: LogCursor): void {
    if (this.#recent) {
      this.#waiting.add(listener);
      this.#isMore = true;
      return;
    }
    this.join(listener);
    void this.#run(new RecentEvents(cursor));
  }

  leave(listener: Listener): void {
    this.#waiting.delete(listener);
    this.#late.delete(listener);
    const group = this.#live.get(listener.tag);
    if (group?.delete(listener) && group.size === 0) this.#live.delete(listener.tag);
  }

  isLive(listener: Listener): boolean {
    return this.#live.get(listener.tag)?.has(listener) ?? false;
  }

  async #run(recent: RecentEvents): Promise<void> {
    this.#recent = recent;
    // What changed since that cursor.
    this.#isMore = true;
    const unwatch = this.#options.history.watch(() => (this.#isMore = true));
    let failure: unknown;
    for (let failures = 0; failures < TRIES && this.#hasListeners();) {
      const restMs = await this.#turn(recent).catch((reason: unknown) => {
        failure = reason;
        failures += isFinal(reason) ? TRIES : 1;
        this.#isMore = true;
      });
      if (restMs !== undefined) failures = 0;
      await this.#look(recent.cursor);
      await sleep(restMs ?? RETRY_MS);
    }
    unwatch();
    this.#recent = undefined;
    const left = [...this.#waiting, ...this.#late, ...[...this.#live.values()].flatMap((group) => [...group])];
    if (left.length > 0) this.#options.onFail(left, failure);
  }

  #hasListeners(): boolean {
    return this.#live.size > 0 || this.#waiting.size > 0 || this.#late.size > 0;
  }

  /** Returns for how many milliseconds to rest. */
  async #turn(recent: RecentEvents): Promise<number> {
    const began = performance.now();
    if (!this.#isMore && began - this.#askedAt < ASK_MS) return TURN_MS;
    [this.#isMore, this.#askedAt] = [false, began];
    if (!recent.isHeld()) {
      const { events, cursor, isEnd } = await this.#read(recent.cursor);
      await this.#deliver(recent, events, cursor);
      if (!isEnd) this.#isMore = true;
      const [oldest] = events;
      if (oldest) this.#options.meter.lagged((Date.now() * 1000 - oldest.change.at) / 1e6);
    }
    await this.#resume(recent);
    return Math.max(this.#work.restMs(), TURN_MS - (performance.now() - began));
  }

  async #read(after: LogCursor): Promise<Readonly<{ events: FeedEvent[]; cursor: LogCursor; isEnd: boolean }>> {
    const events: FeedEvent[] = [];
    let behind = after;
    for (let reads = 1; ; reads += 1) {
      const page = await this.#options.history.read({ after: behind, limit: READ_CHANGES_MAX, tag: undefined });
      const { changes, cursor, isEnd } = expectProgress(page, behind);
      for (const change of changes) events.push(toEvent(change));
      if (isEnd || reads === TURN_READS_MAX) return { events, cursor, isEnd };
      behind = cursor;
    }
  }

  /** Those who are ahead, and those who are late, as far as there is time. */
  async #resume(recent: RecentEvents): Promise<void> {
    const all = inTurns([...this.#waiting, ...this.#late], ({ owner }) => owner);
    await this.#work.round(all, (listener) => {
      this.#waiting.delete(listener);
      this.#late.delete(listener);
      listener.resume();
    });
    if (this.#late.size === 0) recent.release();
    if (this.#late.size + this.#waiting.size > 0) this.#isMore = true;
  }

  /** Who joins meanwhile has read these events elsewhere. */
  async #deliver(recent: RecentEvents, events: readonly FeedEvent[], cursor: LogCursor): Promise<void> {
    const before = recent.cursor;
    recent.push(events, cursor);
    const deliveries = inTurns(this.#route(events), ({ listener }) => listener.owner);
    const left = await this.#work.round(deliveries, ({ listener, blocks }) => listener.deliver(blocks));
    for (const { listener } of left) {
      if (!this.isLive(listener)) continue;
      this.leave(listener);
      listener.moveTo(before);
      this.#late.add(listener);
    }
    if (this.#late.size > 0) recent.hold();
  }

  /** Who gets what. */
  #route(events: readonly FeedEvent[]): Array<Readonly<{ listener: Listener; blocks: readonly EventBlock[] }>> {
    const byTag = new Map<Tag, FeedEvent[]>();
    for (const event of events)
      for (const tag of this.#tagsOf(event)) {
        const some = byTag.get(tag);
        if (some) some.push(event);
        else byTag.set(tag, [event]);
      }
    return [...byTag].flatMap(([tag, some]) => {
      const blocks = [...toBlocks(some)];
      return [...(this.#live.get(tag) ?? [])].map((listener) => ({ listener, blocks }));
    });
  }

  /** The tags that someone follows, and whose listeners this concerns. */
  #tagsOf({ change }: FeedEvent): Iterable<Tag> {
    if (change.isForgotten) return this.#live.keys();
    const tags = new Set<Tag>([undefined]);
    if (change.plant) tags.add(change.plant.tag ?? null);
    tags.add(change.tagBefore);
    return [...tags].filter((tag) => this.#live.has(tag));
  }

  /** Moves the cursors of those on who hear nothing. After a delivery: all have what lies before it. */
  async #look(cursor: LogCursor): Promise<void> {
    const now = performance.now();
    if (now - this.#lookedAt < LOOK_MS) return;
    this.#lookedAt = now;
    const block = toBookmark(cursor);
    const pause = openPauses();
    for (const group of this.#live.values())
      for (const listener of group) {
        listener.bookmark(block, cursor);
        await pause();
      }
  }
}

/** What is gone does not come back, and a bug stays one. */
function isFinal(reason: unknown): boolean {
  return !(reason instanceof PlantStoreError) || reason.code === "changes_gone";
}
