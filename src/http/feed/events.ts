import type { Change, LogCursor } from "../../store/history.ts";
import { toChangeText } from "../change-json.ts";
import { toBlock } from "../wire/response.ts";
import type { Block } from "../wire/response.ts";

// Server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html

/** One change, and how readers get it: made when the first of them does, because most changes may concern no one. */
export type FeedEvent = Readonly<{ change: Change; text: () => string }>;

/** How long to wait before the next connection, in milliseconds. */
const RETRY_MS = 1000;

/** Those who must all come back do so within this time, in milliseconds, and not all at once. */
const RETURN_MS = 4000;

/**
 * A block ends with the event that brings it to this length. One that does not read holds one block.
 */
const BLOCK_LENGTH = 64 * 1024;

/** Says nothing. A peer that is gone refuses it. */
export const SILENT = toBlock(":\n\n");

export function toEvent(change: Change): FeedEvent {
  let text: string | undefined;
  return { change, text: () => (text ??= `id: ${change.cursor}\ndata: ${toChangeText(change)}\n\n`) };
}

/** Only moves the cursor of the reader on. */
export function toBookmark(cursor: LogCursor): Block {
  return toBlock(`id: ${cursor}\n\n`);
}

export function toStart(cursor: LogCursor): Block {
  return toBlock(`retry: ${RETRY_MS}\nid: ${cursor}\n\n`);
}

/** The last thing that a reader is told: when to come back. */
export function toFarewell(): Block {
  return toBlock(`retry: ${RETRY_MS + Math.floor(Math.random() * RETURN_MS)}\n\n`);
}

/** Some events as they are sent. `cursor`: behind them. */
export type EventBlock = Readonly<{ block: Block; cursor: LogCursor; events: number }>;

/** Lazily: a reader that takes no more costs no more. */
export function* toBlocks(events: Iterable<FeedEvent>): Generator<EventBlock, void, void> {
  let text = "";
  let count = 0;
  let cursor: LogCursor = "";
  const block = () => ({ block: toBlock(text), cursor, events: count });
  for (const event of events) {
    text += event.text();
    count += 1;
    cursor = event.change.cursor;
    if (text.length < BLOCK_LENGTH) continue;
    yield block();
    [text, count] = ["", 0];
  }
  if (count > 0) yield block();
}
