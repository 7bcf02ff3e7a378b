import { PlantStoreError } from "../../domain/errors.ts";
import type { HttpRequest } from "./request.ts";
import type { HttpResponse } from "./response.ts";
import type { IncomingBody } from "./body.ts";
import type { Head, HeadParser } from "./head.ts";
import { Input } from "./input.ts";
import type { TaskQueue } from "../../runtime/event-loop.ts";
import { drop, Output } from "./output.ts";
import { createTimeouts } from "./timeouts.ts";
import type { Timeouts } from "./timeouts.ts";
import { createTurns } from "./turns.ts";
import type { Turns } from "./turns.ts";

/** A TCP socket, as the runtime has it. */
type Wire = Readonly<{
  /** Writes what there is room for. Returns how many bytes that were; less than 0 when the connection is gone. */
  write(data: Uint8Array | string): number;
  /** Closes in order: what was written still arrives. */
  end(): void;
  /** Tells the peer that no more will be sent. */
  shutdown(): void;
  /** Breaks the connection off: the peer notices. */
  terminate(): void;
  pause(): void;
  resume(): void;
}>;

type ConnectionOptions = Readonly<{
  wire: Wire;
  address: string;
  /** Parses the heads of all connections. */
  parseHead: HeadParser;
  /** Never throws or rejects. It returns a promise only when it has to wait. */
  answer: (request: HttpRequest) => HttpResponse | Promise<HttpResponse>;
  /** The response to input that is not a request. */
  refuse: (error: PlantStoreError) => HttpResponse;
  /** Runs pipelined requests of all connections in turns. */
  tasks: TaskQueue;
  /**
   * A monotonic clock, in milliseconds, that leaves out pauses of the whole process, and the time for a header. Both may
   * be late by half a second.
   */
  now: () => number;
  date: () => string;
  /**
   * Called with true when the connection owes no response and may be closed to make room for others, else with false.
   */
  onIdle: (isIdle: boolean) => void;
  /** Called for what must not happen. The connection is gone then. */
  onBug: (reason: unknown) => void;
}>;

/**
 * How many bytes a refused client may still send: they are dropped, so that it can read its response (RFC 9112, 9.6).
 *
 * @limit connections: bytes that a refused client may send in that time
 */
const LINGER_BYTES_MAX = 64 * 1024 * 1024;

const CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n";

/**
 * "head": the next request is awaited. "request": it is being answered. "rest": it was answered, and the rest of its body
 * is dropped.
 */
type Phase = "head" | "request" | "rest" | "lingering" | "closed";

/** An HTTP/1.1 connection. It answers one request at a time, in order. Pipelined requests wait. */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #timeouts: Timeouts;
  readonly #output: Output;
  readonly #input: Input;
  readonly #turns: Turns;
  readonly #isGone = () => this.#findGone();
  #phase: Phase = "head";
  #isRetiring = false;
  #lingerBytes = 0;
  /** Whether the peer can be asked if it is still there. */
  #isAskable = true;

  constructor(options: ConnectionOptions) {
    const { wire, date, parseHead, tasks, now } = options;
    this.#options = options;
    this.#timeouts = createTimeouts(now);
    const output = new Output({ wire, date, onWait: this.#timeouts.onOutput });
    this.#output = output;
    this.#input = new Input({ wire, parseHead, timeouts: this.#timeouts, onContinue: () => output.write(CONTINUE) });
    this.#turns = createTurns(tasks, () => {
      if (this.#phase === "head") this.#next();
    });
  }

  receive(bytes: Uint8Array): void {
    if (this.#phase === "closed") return;
    if (this.#phase === "lingering") return this.#dropLate(bytes);
    this.#input.receive(bytes);
    // While this connection yields, its requests wait for their turn.
    if (this.#phase === "head" && !this.#turns.isYielding()) this.#next();
    else if (this.#phase === "rest" && this.#input.isBodyComplete()) this.#ready();
    this.#input.holdBack();
  }

  drain(): void {
    this.#output.drain();
  }

  /** The peer sends no more. */
  receiveEnd(): void {
    this.#input.end();
    this.#output.peerEnded();
    if (this.#phase !== "request" && !this.#turns.isYielding()) this.#options.wire.end();
  }

  close(): void {
    if (this.#phase === "closed") return;
    this.#phase = "closed";
    this.#input.close();
    this.#output.close();
  }

  /** Closes it if it has been silent for too long. */
  expire(now: number): void {
    if (this.#phase === "closed" || !this.#timeouts.isOver(now)) return;
    if (this.#phase === "head" && this.#input.isEmpty()) this.#options.wire.end();
    else this.terminate();
  }

  /** Closes it: at once when it waits for a request, else after the current response. */
  retire(): void {
    this.#isRetiring = true;
    if (this.#phase === "head" && this.#input.isEmpty()) this.#options.wire.end();
  }

  terminate(): void {
    this.#options.wire.terminate();
  }

  #dropLate(bytes: Uint8Array): void {
    this.#lingerBytes += bytes.length;
    if (this.#lingerBytes > LINGER_BYTES_MAX) this.terminate();
  }

  /** Begins the next request, if its head has arrived. */
  #next(): void {
    let head: Head | undefined;
    try {
      head = this.#input.readHead();
    } catch (thrown) {
      if (!(thrown instanceof PlantStoreError)) throw thrown;
      this.#endWith(this.#options.refuse(thrown)).catch((reason: unknown) => this.#fail(reason));
      return;
    }
    if (head) this.#begin(head);
    else this.#wait();
  }

  /** Waits for a request, if one can still arrive. */
  #wait(): void {
    if (this.#input.hasEnded() || (this.#isRetiring && this.#input.isEmpty())) this.#options.wire.end();
    else this.#options.onIdle(true);
  }

  #begin(head: Head): void {
    this.#phase = "request";
    this.#options.onIdle(false);
    this.#serve(head, this.#input.openBody(head));
  }

  /** Ends a connection whose work failed in a way that it must not. */
  #fail(reason: unknown): void {
    this.terminate();
    this.#options.onBug(reason);
  }

  #serve(head: Head, body: IncomingBody): void {
    const { method, path, query, authority, section } = head;
    const { fields: headers, isHttp10 } = section;
    const { answer, address } = this.#options;
    this.#timeouts.reset();
    this.#isAskable = !isHttp10;
    try {
      const allowSilence = this.#timeouts.allow;
      const response = answer({ method, path, query, authority, headers, body, isHttp10, address, allowSilence, isGone: this.#isGone });
      if (response instanceof Promise) void this.#respondLater(head, body, response);
      else this.#respond(head, body, response);
    } catch (reason) {
      this.#fail(reason);
    }
  }

  async #respondLater(head: Head, incoming: IncomingBody, later: Promise<HttpResponse>): Promise<void> {
    try {
      this.#respond(head, incoming, await later);
    } catch (reason) {
      this.#fail(reason);
    }
  }

  #respond({ method, section }: Head, incoming: IncomingBody, response: HttpResponse): void {
    const { isHttp10, isKeepAlive: isKept } = section;
    // What follows CONNECT may be meant for the other end of a tunnel.
    const isLast = !isKept || this.#isRetiring || response.isLast === true || method === "CONNECT" || !incoming.isDroppable();
    const isKeepAlive = !isLast;
    const sending = this.#isClosed() ? drop(response) : this.#output.send(response, { method, isHttp10, isKeepAlive });
    // As a rule all of it has left already. Otherwise the client has to read first.
    if (sending) sending.then(() => this.#sent(incoming, response, isKeepAlive)).catch((reason: unknown) => this.#fail(reason));
    else this.#sent(incoming, response, isKeepAlive);
  }

  #sent(incoming: IncomingBody, { onSent }: HttpResponse, isKeepAlive: boolean): void {
    onSent?.();
    if (this.#isClosed()) return;
    if (!isKeepAlive) this.#finish(incoming);
    else if (incoming.isComplete()) this.#ready();
    else {
      this.#phase = "rest";
      this.#timeouts.reset();
      this.#timeouts.restart();
      // The client has its response.
      this.#options.onIdle(true);
      incoming.discard();
    }
  }

  #isClosed(): boolean {
    return this.#phase === "closed";
  }

  #findGone(): boolean {
    if (this.#isClosed() || !this.#input.hasEnded()) return this.#isClosed();
    if (!this.#input.isBodyComplete()) return true;
    if (this.#isAskable) this.#output.write(CONTINUE);
    this.#isAskable = false;
    return this.#isClosed();
  }

  /** Begins the next pipelined request, or waits for one. */
  #ready(): void {
    this.#phase = "head";
    this.#input.next();
    if (!this.#input.isEmpty()) return this.#turns.take();
    this.#turns.end();
    this.#timeouts.idle();
    this.#wait();
  }

  /** Responds to input that is not a request, and closes. */
  async #endWith(response: HttpResponse): Promise<void> {
    this.#phase = "request";
    this.#options.onIdle(false);
    this.#timeouts.suspend();
    await this.#output.send(response, { method: "GET", isHttp10: false, isKeepAlive: false });
    this.#linger();
  }

  #finish(incoming: IncomingBody): void {
    if (incoming.isComplete() && this.#input.isEmpty()) this.#options.wire.end();
    else this.#linger();
  }

  /**
   * Lets a client that still sends read its response: closing at once would reset the connection, and lose the
   * response.
   */
  #linger(): void {
    if (this.#phase === "closed") return;
    if (this.#input.hasEnded()) return this.#options.wire.end();
    this.#phase = "lingering";
    this.#input.discard();
    this.#timeouts.linger();
    // The client has its response.
    this.#options.onIdle(true);
    this.#options.wire.shutdown();
  }
}
