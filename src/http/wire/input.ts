import { createByteQueue } from "../../runtime/byte-queue.ts";
import { createBody, WholeBody } from "./body.ts";
import type { IncomingBody } from "./body.ts";
import type { Framing, Head, HeadParser } from "./head.ts";
import { createHeadReader } from "./head-reader.ts";
import type { Timeouts } from "./timeouts.ts";

/** What a connection receives: the head of a request, its body, and what the client sends ahead. */
export type Input = Readonly<{
  receive(bytes: Uint8Array): void;
  /** Stops receiving if too much is left that nobody takes now. */
  holdBack(): void;
  /** Whether nothing was received that is not taken yet. */
  isEmpty(): boolean;
  /** Takes the head of the next request; undefined while it is incomplete. Throws as the parser does. */
  readHead(): Head | undefined;
  /** Opens the body that follows this head. It is under way until `next`. */
  openBody(head: Head): IncomingBody;
  /** Whether the body that is under way has arrived. */
  isBodyComplete(): boolean;
  /** The next bytes begin the next request. */
  next(): void;
  /** Drops what was received, and what still arrives of the body. */
  discard(): void;
  /** The peer sends no more. */
  end(): void;
  hasEnded(): boolean;
  /** The connection is gone. */
  close(): void;
}>;

type InputOptions = Readonly<{
  wire: Readonly<{ pause(): void; resume(): void }>;
  parseHead: HeadParser;
  timeouts: Timeouts;
  /** Called when the client waits for "100 Continue". */
  onContinue: () => void;
}>;

/**
 * How many bytes a client may send ahead of the response that it waits for.
 *
 * @limit connections: requests sent ahead of a response
 */
const BUFFERED_BYTES_MAX = 65_536;

export function createInput({ wire, parseHead, timeouts, onContinue }: InputOptions): Input {
  /** Received, but not parsed yet. */
  const buffer = createByteQueue();
  const heads = createHeadReader(buffer, parseHead);
  let body: IncomingBody | undefined;
  let isPaused = false;
  let hasEnded = false;

  function pause(): void {
    if (!isPaused) wire.pause();
    isPaused = true;
  }

  /** Receives more, unless too much is buffered already. */
  function resume(): void {
    if (!isPaused || buffer.length() > BUFFERED_BYTES_MAX) return;
    isPaused = false;
    wire.resume();
  }

  /** Opens a body that has not arrived completely. */
  function openRest(framing: Framing, isExpecting: boolean): IncomingBody {
    const opened = createBody({
      framing,
      isExpecting,
      onFull() {
        pause();
        // The reader is slow, not the client.
        timeouts.suspend();
      },
      onRoom() {
        resume();
        if (!opened.isComplete()) timeouts.resume();
      },
      onWanted: onContinue,
    });
    const bytes = buffer.take();
    // Receiving may have been paused.
    resume();
    timeouts.restart();
    buffer.put(opened.feed(bytes));
    if (opened.isComplete()) timeouts.suspend();
    if (hasEnded) opened.fail("incomplete_body");
    return opened;
  }

  return {
    receive(bytes) {
      if (body === undefined || body.isComplete()) return buffer.put(bytes);
      buffer.put(body.feed(bytes));
      if (body.isComplete()) timeouts.suspend();
      else if (!isPaused) timeouts.received(bytes.length);
    },
    holdBack() {
      if (buffer.length() > BUFFERED_BYTES_MAX) pause();
    },
    isEmpty: () => buffer.length() === 0,
    readHead() {
      if (heads.begins()) timeouts.restart();
      return heads.read();
    },
    openBody({ section: { framing, isExpecting } }) {
      if (framing.kind === "length" && framing.length <= buffer.length()) {
        body = new WholeBody(buffer.take(framing.length));
        timeouts.suspend();
      } else body = openRest(framing, isExpecting);
      return body;
    },
    isBodyComplete: () => body !== undefined && body.isComplete(),
    next() {
      heads.reset();
      body = undefined;
      timeouts.restart();
      resume();
    },
    discard() {
      buffer.clear();
      body?.discard();
      resume();
    },
    end() {
      hasEnded = true;
      body?.fail("incomplete_body");
    },
    hasEnded: () => hasEnded,
    close() {
      buffer.clear();
      body?.fail("incomplete_body");
    },
  };
}
