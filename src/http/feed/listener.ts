import type { Owner } from "../../runtime/fair-shares.ts";
import type { ChangePage, LogCursor } from "../../store/history.ts";
import { placeText } from "../../store/log-cursor.ts";
import type { Block, LiveSource, Peer } from "../wire/response.ts";
import { SILENT, toBlocks, toBookmark, toEvent, toFarewell, toStart } from "./events.ts";
import type { EventBlock } from "./events.ts";

/** Why a stream ended. "gone": the reader left, or no one ever came for it. */
export type End = "gone" | "slow" | "memory" | "token" | "store" | "drain";

/** What all readers share. */
export type Hub = Readonly<{
  /**
   * The next block behind a cursor, of those that all readers of this tag got lately: undefined if the cursor is not among
   * those, "live" if nothing is behind it.
   */
  next(cursor: LogCursor, listener: Listener): EventBlock | "live" | undefined;
  /** From now on `deliver` is called with all that comes behind the last of those. */
  join(listener: Listener): void;
  /** Nothing more is delivered. */
  leave(listener: Listener): void;
  /** For one that has read all there is, and may be ahead of the others: they begin at its cursor, or `resume` is called when they have read on. */
  joinLater(listener: Listener, cursor: LogCursor): void;
  /** False if so many bytes more would exceed the share of the owner. */
  takeBytes(owner: Owner, bytes: number): boolean;
  giveBytes(owner: Owner, bytes: number): void;
  sent(events: number): void;
  ended(listener: Listener, end: End): void;
  /** What reads for a listener failed. */
  failed(listener: Listener, reason: unknown): void;
  now(): number;
}>;

type ListenerOptions = Readonly<{
  hub: Hub;
  owner: Owner;
  tag: string | null | undefined;
  read: (after: LogCursor) => Promise<ChangePage>;
}>;

/**
 * How long a block may wait for its reader, in milliseconds, however much of it is read meanwhile. Less than a connection
 * may be silent.
 *
 * @limit connections: time in which a stream of changes must take what is sent
 */
const UNREAD_MS = 8000;

/** A reader hears something within 15 s, in milliseconds: a look comes every half second. */
const SILENCE_MS = 14_400;

/**
 * One reader of the stream. It is behind, and reads the log by itself from its cursor on, no faster than it is read; or
 * it is live, and gets what all others get. One that is live and does not take a block is behind again.
 */
export class Listener implements LiveSource {
  readonly owner: Owner;
  readonly tag: string | null | undefined;
  readonly #hub: Hub;
  readonly #read: ListenerOptions["read"];
  #peer: Peer | undefined;
  /** Behind what was written. */
  #cursor: LogCursor = "";
  #first: ChangePage | undefined;
  /** The size of the block that waits for the reader, and since when. */
  #waitingBytes = 0;
  #waitingSince = 0;
  #wroteAt = 0;
  #isReading = false;
  #end: End | undefined;

  constructor({ hub, owner, tag, read }: ListenerOptions) {
    this.#hub = hub;
    this.owner = owner;
    this.tag = tag;
    this.#read = read;
  }

  /** Where it begins, and the first page behind that, which shows that the cursor is good. */
  begin(cursor: LogCursor, first: ChangePage): void {
    this.#cursor = cursor;
    this.#first = first;
  }

  open(peer: Peer): LiveSource {
    this.#peer = peer;
    if (this.#end) peer.end();
    else this.#write(toStart(this.#cursor));
    this.resume();
    return { drained: () => this.drained(), ended: () => this.ended(), closed: () => this.closed() };
  }

  /** Reads on, unless it does. */
  resume(): void {
    if (!this.#isReading) this.#catchUp().catch((reason: unknown) => this.#hub.failed(this, reason));
  }

  /** Takes what all get. */
  deliver(blocks: readonly EventBlock[]): void {
    if (this.#isReady()) this.#writeAll(blocks);
    if (!this.#isReady()) this.#hub.leave(this);
  }

  /** `cursor`: behind all that was delivered. What it was sent last may lie far before that. */
  moveTo(cursor: LogCursor): void {
    if (this.#isReady()) this.#cursor = cursor;
  }

  /** `cursor`: behind all that was delivered. */
  bookmark(block: Block, cursor: LogCursor): void {
    if (!this.#isReady() || this.#hub.now() - this.#wroteAt < SILENCE_MS) return;
    this.#cursor = cursor;
    this.#write(block);
    if (!this.#isReady()) this.#hub.leave(this);
  }

  /** To be called now and then. `isLive`: others care for its bookmarks. */
  look(isLive: boolean): void {
    const isOver = this.#waitingBytes > 0 && this.#hub.now() - this.#waitingSince > UNREAD_MS;
    if (isOver) this.cut("slow");
    else if (!isLive && this.#peer) this.bookmark(toBookmark(this.#cursor), this.#cursor);
  }

  drained(): void {
    this.#release();
    this.resume();
  }

  ended(): void {
    if (this.#isReady()) this.#write(SILENT);
    if (!this.#isReady()) this.#hub.leave(this);
  }

  closed(): void {
    this.#finish("gone");
  }

  /** Ends it in order: the reader comes back, and learns then what is the matter. */
  end(end: End): void {
    const peer = this.#peer;
    if (this.#end) return;
    if (!this.#isReady()) return this.cut(end);
    peer?.write(toFarewell());
    this.#finish(end);
    peer?.end();
  }

  /** Ends it for one that does not read. */
  cut(end: End): void {
    this.#finish(end);
    this.#peer?.cut();
  }

  async #catchUp(): Promise<void> {
    this.#isReading = true;
    try {
      for (let isAtEnd = false; this.#isReady();) {
        const next = this.#first ? undefined : this.#hub.next(this.#cursor, this);
        if (next === "live") return this.#hub.join(this);
        if (next) {
          this.#writeAll([next]);
        } else if (isAtEnd) {
          return this.#hub.joinLater(this, this.#cursor);
        } else {
          isAtEnd = await this.#writeNext();
        }
      }
    } finally {
      this.#isReading = false;
    }
  }

  /** Whether that was the last page for now. */
  async #writeNext(): Promise<boolean> {
    const page = this.#first ?? (await this.#read(this.#cursor));
    this.#first = undefined;
    if (this.#isReady()) this.#writePage(page);
    return page.isEnd;
  }

  #writePage({ changes, cursor }: ChangePage): void {
    this.#writeAll(toBlocks(changes.map(toEvent)));
    if (!this.#isReady() || placeText(cursor) === placeText(this.#cursor)) return;
    this.#cursor = cursor;
    if (changes.length === 0) this.#write(toBookmark(cursor));
  }

  /** Until the reader takes no more. */
  #writeAll(blocks: Iterable<EventBlock>): void {
    for (const { block, cursor, events } of blocks) {
      this.#cursor = cursor;
      this.#hub.sent(events);
      this.#write(block);
      // The next block is not even made.
      if (!this.#isReady()) return;
    }
  }

  #write(block: Block): void {
    this.#wroteAt = this.#hub.now();
    const waiting = this.#peer?.write(block) ?? 0;
    if (waiting === 0 || this.#end) return;
    this.#waitingSince = this.#wroteAt;
    // All of the block stays in memory, even if a part of it has left.
    if (!this.#hub.takeBytes(this.owner, block.chunk.length)) return this.cut("memory");
    this.#waitingBytes = block.chunk.length;
  }

  #isReady(): boolean {
    return this.#waitingBytes === 0 && this.#end === undefined;
  }

  #release(): void {
    if (this.#waitingBytes > 0) this.#hub.giveBytes(this.owner, this.#waitingBytes);
    this.#waitingBytes = 0;
  }

  #finish(end: End): void {
    if (this.#end) return;
    this.#end = end;
    this.#release();
    this.#hub.ended(this, end);
  }
}
