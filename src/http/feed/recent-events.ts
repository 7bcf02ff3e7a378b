import { concerns } from "../../store/history.ts";
import type { LogCursor } from "../../store/history.ts";
import { placeText } from "../../store/log-cursor.ts";
import { sizeOf } from "../../store/page.ts";
import { toBlocks } from "./events.ts";
import type { EventBlock, FeedEvent } from "./events.ts";

type Tag = string | null | undefined;

/** An event, or only a cursor that leads to where it stands. */
type Entry = Readonly<{ cursor: LogCursor; event: FeedEvent | undefined }>;

/**
 * The last events that all readers got, so that one who is a little behind needs no read of its own.
 *
 * @limit reads: changes that are kept for streams a little behind
 */
const EVENTS_MAX = 20_000;

/** @limit reads: blocks of them in memory for streams a little behind */
const BLOCKS_MAX = 64;

/** Of names and tags. */
const BYTES_MAX = 8 * 2 ** 20;

export class RecentEvents {
  readonly #entries: Entry[] = [];
  /** How many entries come before each cursor, of all that ever were. */
  readonly #places = new Map<string, number>();
  /** What `next` gave since the last push. */
  readonly #blocks = new Map<string, EventBlock | "live">();
  #dropped = 0;
  #bytes = 0;
  /** How many entries there were before the last push, and of how many bytes, of all that ever were. */
  #before = { entries: 0, bytes: 0 };
  #everBytes = 0;
  #held: Readonly<{ entries: number; bytes: number }> | undefined;
  #cursor: LogCursor;

  /** `cursor`: where it begins. */
  constructor(cursor: LogCursor) {
    this.#cursor = cursor;
    this.#places.set(placeText(cursor), 0);
  }

  /** Behind the last one. */
  get cursor(): LogCursor {
    return this.#cursor;
  }

  /** `cursor`: behind all of them. */
  push(events: readonly FeedEvent[], cursor: LogCursor): void {
    this.#blocks.clear();
    this.#before = { entries: this.#dropped + this.#entries.length, bytes: this.#everBytes };
    for (const event of events) this.#add({ cursor: event.change.cursor, event });
    if (placeText(cursor) !== placeText(this.#cursor)) this.#add({ cursor, event: undefined });
    this.#drop(events.length + 1);
  }

  /** From the last push on, all are needed until `release` is called. */
  hold(): void {
    this.#held ??= this.#before;
  }

  release(): void {
    this.#held = undefined;
  }

  /** Whether one more push could drop what is needed. */
  isHeld(): boolean {
    if (!this.#held) return false;
    const entries = this.#dropped + this.#entries.length - this.#held.entries;
    return entries > EVENTS_MAX / 2 || this.#everBytes - this.#held.bytes > BYTES_MAX / 2;
  }

  /**
   * The block that follows a cursor for those who follow this tag; "live" if there is none, undefined if the cursor is not
   * among those that are kept. Most who are cut short stop at the same place, and get the same block.
   */
  next(cursor: LogCursor, tag: Tag): EventBlock | "live" | undefined {
    const key = `${placeText(cursor)} ${tag === undefined ? "" : JSON.stringify(tag)}`;
    const known = this.#blocks.get(key);
    if (known) return known;
    const place = this.#places.get(placeText(cursor));
    if (place === undefined) return undefined;
    const [block = "live"] = toBlocks(this.#behind(place, tag));
    if (this.#blocks.size === BLOCKS_MAX) this.#blocks.clear();
    this.#blocks.set(key, block);
    return block;
  }

  /** Lazily: a block may need few of them. */
  *#behind(place: number, tag: Tag): Generator<FeedEvent, void, void> {
    for (let at = place - this.#dropped; at < this.#entries.length; at += 1) {
      const event = this.#entries[at]!.event;
      if (event && (tag === undefined || concerns(event.change, tag))) yield event;
    }
  }

  #add(entry: Entry): void {
    this.#entries.push(entry);
    this.#places.set(placeText(entry.cursor), this.#dropped + this.#entries.length);
    this.#bytes += bytesOf(entry);
    this.#everBytes += bytesOf(entry);
    this.#cursor = entry.cursor;
  }

  /** Drops the first ones, but for the last so many. The cursor of one that goes leads to the next one, and stays until that goes. */
  #drop(kept: number): void {
    let count = 0;
    const isFull = () => this.#entries.length - count > EVENTS_MAX || this.#bytes > BYTES_MAX;
    for (; this.#entries.length - count > kept && isFull(); count += 1) this.#bytes -= bytesOf(this.#entries[count]!);
    this.#entries.splice(0, count);
    this.#dropped += count;
    for (const [cursor, place] of this.#places) {
      if (place >= this.#dropped) break;
      this.#places.delete(cursor);
    }
  }
}

function bytesOf({ event }: Entry): number {
  return event?.change.plant ? sizeOf(event.change.plant) : 0;
}
