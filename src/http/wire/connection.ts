import { PlantStoreError } from "../../domain/errors.ts";
import type { HttpRequest } from "./request.ts";
import type { HttpResponse } from "./response.ts";
import type { IncomingBody } from "./body.ts";
import type { Head, HeadParser } from "./head.ts";
import { createInput } from "./input.ts";
import type { TaskQueue } from "../../runtime/event-loop.ts";
import { createOutput, drop } from "./output.ts";
import { createTimeouts } from "./timeouts.ts";
import { createTurns } from "./turns.ts";

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

/** An HTTP/1.1 connection. It answers one request at a time, in order. Pipelined requests wait. */
export type Connection = Readonly<{
  receive(bytes: Uint8Array): void;
  /** There is room to write again. */
  drain(): void;
  /** The peer sends no more. */
  receiveEnd(): void;
  /** The connection is gone. */
  close(): void;
  /** Closes it if it has been silent for too long. */
  expire(now: number): void;
  /** Closes it: at once when it waits for a request, else after the current response. */
  retire(): void;
  terminate(): void;
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

export function createConnection(options: ConnectionOptions): Connection {
  const { wire, address, parseHead, answer, refuse, tasks, now, date, onIdle, onBug } = options;
  let phase: Phase = "head";
  let isRetiring = false;
  let lingerBytes = 0;
  /** Whether the peer can be asked if it is still there. */
  let isAskable = true;
  const timeouts = createTimeouts(now);
  const output = createOutput({ wire, date, onWait: timeouts.onOutput });
  const input = createInput({ wire, parseHead, timeouts, onContinue: () => output.write(CONTINUE) });
  const turns = createTurns(tasks, () => {
    if (phase === "head") next();
  });

  function receive(bytes: Uint8Array): void {
    if (phase === "closed") return;
    if (phase === "lingering") return dropLate(bytes);
    input.receive(bytes);
    // While this connection yields, its requests wait for their turn.
    if (phase === "head" && !turns.isYielding()) next();
    else if (phase === "rest" && input.isBodyComplete()) ready();
    input.holdBack();
  }

  function dropLate(bytes: Uint8Array): void {
    lingerBytes += bytes.length;
    if (lingerBytes > LINGER_BYTES_MAX) wire.terminate();
  }

  /** Begins the next request, if its head has arrived. */
  function next(): void {
    let head: Head | undefined;
    try {
      head = input.readHead();
    } catch (thrown) {
      if (!(thrown instanceof PlantStoreError)) throw thrown;
      endWith(refuse(thrown)).catch(fail);
      return;
    }
    if (head) begin(head);
    else wait();
  }

  /** Waits for a request, if one can still arrive. */
  function wait(): void {
    if (input.hasEnded() || (isRetiring && input.isEmpty())) wire.end();
    else onIdle(true);
  }

  function begin(head: Head): void {
    phase = "request";
    onIdle(false);
    serve(head, input.openBody(head));
  }

  /** Ends a connection whose work failed in a way that it must not. */
  function fail(reason: unknown): void {
    wire.terminate();
    onBug(reason);
  }

  function serve(head: Head, incoming: IncomingBody): void {
    const { method, path, query, authority, section } = head;
    const { fields: headers, isHttp10 } = section;
    timeouts.reset();
    isAskable = !isHttp10;
    try {
      const allowSilence = timeouts.allow;
      const response = answer({ method, path, query, authority, headers, body: incoming, isHttp10, address, allowSilence, isGone });
      if (response instanceof Promise) void respondLater(head, incoming, response);
      else respond(head, incoming, response);
    } catch (reason) {
      fail(reason);
    }
  }

  async function respondLater(head: Head, incoming: IncomingBody, later: Promise<HttpResponse>): Promise<void> {
    try {
      respond(head, incoming, await later);
    } catch (reason) {
      fail(reason);
    }
  }

  function respond({ method, section }: Head, incoming: IncomingBody, response: HttpResponse): void {
    const { isHttp10, isKeepAlive: isKept } = section;
    // What follows CONNECT may be meant for the other end of a tunnel.
    const isLast = !isKept || isRetiring || response.isLast === true || method === "CONNECT" || !incoming.isDroppable();
    const isKeepAlive = !isLast;
    const sending = isClosed() ? drop(response) : output.send(response, { method, isHttp10, isKeepAlive });
    // As a rule all of it has left already. Otherwise the client has to read first.
    if (sending) sending.then(() => sent(incoming, response, isKeepAlive)).catch(fail);
    else sent(incoming, response, isKeepAlive);
  }

  function sent(incoming: IncomingBody, { onSent }: HttpResponse, isKeepAlive: boolean): void {
    onSent?.();
    if (isClosed()) return;
    if (!isKeepAlive) finish(incoming);
    else if (incoming.isComplete()) ready();
    else {
      phase = "rest";
      timeouts.reset();
      timeouts.restart();
      // The client has its response.
      onIdle(true);
      incoming.discard();
    }
  }

  function isClosed(): boolean {
    return phase === "closed";
  }

  function isGone(): boolean {
    if (isClosed() || !input.hasEnded()) return isClosed();
    if (!input.isBodyComplete()) return true;
    if (isAskable) output.write(CONTINUE);
    isAskable = false;
    return isClosed();
  }

  /** Begins the next pipelined request, or waits for one. */
  function ready(): void {
    phase = "head";
    input.next();
    if (!input.isEmpty()) return turns.take();
    turns.end();
    timeouts.idle();
    wait();
  }

  /** Responds to input that is not a request, and closes. */
  async function endWith(response: HttpResponse): Promise<void> {
    phase = "request";
    onIdle(false);
    timeouts.suspend();
    await output.send(response, { method: "GET", isHttp10: false, isKeepAlive: false });
    linger();
  }

  function finish(incoming: IncomingBody): void {
    if (incoming.isComplete() && input.isEmpty()) wire.end();
    else linger();
  }

  /**
   * Lets a client that still sends read its response: closing at once would reset the connection, and lose the
   * response.
   */
  function linger(): void {
    if (phase === "closed") return;
    if (input.hasEnded()) return wire.end();
    phase = "lingering";
    input.discard();
    timeouts.linger();
    // The client has its response.
    onIdle(true);
    wire.shutdown();
  }

  return {
    receive,
    drain: output.drain,
    close() {
      if (phase === "closed") return;
      phase = "closed";
      input.close();
      output.close();
    },
    receiveEnd() {
      input.end();
      if (phase !== "request" && !turns.isYielding()) wire.end();
    },
    expire(time) {
      if (phase === "closed" || !timeouts.isOver(time)) return;
      if (phase === "head" && input.isEmpty()) wire.end();
      else wire.terminate();
    },
    retire() {
      isRetiring = true;
      if (phase === "head" && input.isEmpty()) wire.end();
    },
    terminate: () => wire.terminate(),
  };
}
