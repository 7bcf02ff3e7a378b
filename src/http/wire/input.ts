import { ByteQueue } from "../../runtime/byte-queue.ts";
import { ArrivingBody, WholeBody } from "./body.ts";
import type { IncomingBody } from "./body.ts";
import type { Framing, Head, HeadParser } from "./head.ts";
import { HeadReader } from "./head-reader.ts";
import type { Timeouts } from "./timeouts.ts";

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

/** What a connection receives: the head of a request, its body, and what the client sends ahead. */
export class Input {
  readonly #options: InputOptions;
  /** Received, but not parsed yet. */
  readonly #buffer = new ByteQueue();
  readonly #heads: HeadReader;
  #body: IncomingBody | undefined;
  #isPaused = false;
  #hasEnded = false;

  constructor(options: InputOptions) {
    this.#options = options;
    this.#heads = new HeadReader(this.#buffer, options.parseHead);
  }

  receive(bytes: Uint8Array): void {
    const body = this.#body;
    if (body === undefined || body.isComplete()) return this.#buffer.put(bytes);
    this.#buffer.put(body.feed(bytes));
    if (body.isComplete()) this.#options.timeouts.suspend();
    else if (!this.#isPaused) this.#options.timeouts.received(bytes.length);
  }

  /** Stops receiving if too much is left that no one takes now. */
  holdBack(): void {
    if (this.#buffer.length() > BUFFERED_BYTES_MAX) this.#pause();
  }

  /** Whether nothing was received that is not taken yet. */
  isEmpty(): boolean {
    return this.#buffer.length() === 0;
  }

  /** Takes the head of the next request; undefined while it is incomplete. Throws as the parser does. */
  readHead(): Head | undefined {
    if (this.#heads.begins()) this.#options.timeouts.restart();
    return this.#heads.read();
  }

  /** Opens the body that follows this head. It is under way until `next`. */
  openBody({ section: { framing, isExpecting } }: Head): IncomingBody {
    if (framing.kind === "length" && framing.length <= this.#buffer.length()) {
      this.#body = new WholeBody(this.#buffer.take(framing.length));
      this.#options.timeouts.suspend();
    } else this.#body = this.#openRest(framing, isExpecting);
    return this.#body;
  }

  /** Whether the body that is under way has arrived. */
  isBodyComplete(): boolean {
    return this.#body !== undefined && this.#body.isComplete();
  }

  /** The next bytes begin the next request. */
  next(): void {
    this.#heads.reset();
    this.#body = undefined;
    this.#options.timeouts.restart();
    this.#resume();
  }

  /** Drops what was received, and what still arrives of the body. */
  discard(): void {
    this.#buffer.clear();
    this.#body?.discard();
    this.#resume();
  }

  /** The peer sends no more. */
  end(): void {
    this.#hasEnded = true;
    this.#body?.fail("incomplete_body");
  }

  hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** The connection is gone. */
  close(): void {
    this.#buffer.clear();
    this.#body?.fail("incomplete_body");
  }

  #pause(): void {
    if (!this.#isPaused) this.#options.wire.pause();
    this.#isPaused = true;
  }

  /** Receives more, unless too much is buffered already. */
  #resume(): void {
    if (!this.#isPaused || this.#buffer.length() > BUFFERED_BYTES_MAX) return;
    this.#isPaused = false;
    this.#options.wire.resume();
  }

  /** Opens a body that has not arrived completely. */
  #openRest(framing: Framing, isExpecting: boolean): IncomingBody {
    const { timeouts, onContinue } = this.#options;
    const opened = new ArrivingBody({
      framing,
      isExpecting,
      onFull: () => {
        this.#pause();
        // The reader is slow, not the client.
        timeouts.suspend();
      },
      onRoom: () => {
        this.#resume();
        if (!opened.isComplete()) timeouts.resume();
      },
      onWanted: onContinue,
    });
    const bytes = this.#buffer.take();
    // Receiving may have been paused.
    this.#resume();
    timeouts.restart();
    this.#buffer.put(opened.feed(bytes));
    if (opened.isComplete()) timeouts.suspend();
    if (this.#hasEnded) opened.fail("incomplete_body");
    return opened;
  }
}
