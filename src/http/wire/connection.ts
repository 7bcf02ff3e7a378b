import { PlantStoreError } from "../../errors.ts";
import type { HttpRequest } from "./request.ts";
import type { HttpResponse } from "./response.ts";
import { createBody, WholeBody } from "./body.ts";
import type { IncomingBody } from "./body.ts";
import { createByteQueue } from "../../byte-queue.ts";
import type { Head, HeadParser } from "./head.ts";
import { createHeadReader } from "./head-reader.ts";
import type { TaskQueue } from "../../event-loop.ts";
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

/** How many bytes a client may send ahead of the response that it waits for. */
const BUFFERED_BYTES_MAX = 65_536;
/**
 * How many bytes a refused client may still send: they are dropped, so that it can read its response (RFC 9112, 9.6).
 */
const LINGER_BYTES_MAX = 64 * 1024 * 1024;

const CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n";

type Phase = "head" | "request" | "rest" | "lingering" | "closed";

export function createConnection(options: ConnectionOptions): Connection {
  const { wire, address, parseHead, answer, refuse, tasks, now, date, onIdle, onBug } = options;
  let phase: Phase = "head";
  /** Received, but not parsed yet. */
  const buffer = createByteQueue();
  const heads = createHeadReader(buffer, parseHead);
  const timeouts = createTimeouts(now);
  let isPaused = false;
  let isRetiring = false;
  let isHalfClosed = false;
  let body: IncomingBody | undefined;
  let lingerBytes = 0;
  const turns = createTurns(tasks, () => {
    if (phase === "head") next();
  });

  const output = createOutput({ wire, date, onWait: timeouts.onOutput });

  // --- input ---

  function receive(bytes: Uint8Array): void {
    if (phase === "lingering") {
      lingerBytes += bytes.length;
      if (lingerBytes > LINGER_BYTES_MAX) wire.terminate();
    } else if (phase === "request" || phase === "rest") receiveBody(bytes);
    else if (phase === "head") {
      buffer.put(bytes);
      // While this connection yields, its requests wait for their turn.
      if (!turns.isYielding()) next();
    }
    if (buffer.length() > BUFFERED_BYTES_MAX) pause();
  }

  function receiveBody(bytes: Uint8Array): void {
    const isDue = body !== undefined && !body.isComplete();
    buffer.put(isDue ? body!.feed(bytes) : bytes);
    if (isDue && body!.isComplete()) timeouts.suspend();
    else if (isDue && !isPaused) timeouts.received(bytes.length);
    if (phase === "rest" && body!.isComplete()) ready();
  }

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

  /** Begins the next request, if its head has arrived. */
  function next(): void {
    if (heads.begins()) timeouts.restart();
    let head: Head | undefined;
    try {
      head = heads.read();
    } catch (thrown) {
      if (!(thrown instanceof PlantStoreError)) throw thrown;
      return watch(endWith(refuse(thrown)));
    }
    if (head) begin(head);
    else wait();
  }

  /** Waits for a request, if one can still arrive. */
  function wait(): void {
    if (isHalfClosed || (isRetiring && buffer.length() === 0)) wire.end();
    else onIdle(true);
  }

  function begin(head: Head): void {
    phase = "request";
    onIdle(false);
    const { framing } = head.section;
    if (framing.kind === "length" && framing.length <= buffer.length()) {
      body = new WholeBody(buffer.take(framing.length));
      timeouts.suspend();
    } else receiveRest(head);
    serve(head, body!);
  }

  /** Receives a body that has not arrived completely. */
  function receiveRest(head: Head): void {
    const { framing, isExpecting } = head.section;
    body = createBody({
      framing,
      isExpecting,
      onFull() {
        pause();
        // The reader is slow, not the client.
        timeouts.suspend();
      },
      onRoom() {
        resume();
        if (!body!.isComplete()) timeouts.resume();
      },
      onWanted: () => output.write(CONTINUE),
    });
    const bytes = buffer.take();
    // Receiving may have been paused.
    resume();
    timeouts.restart();
    buffer.put(body.feed(bytes));
    if (body.isComplete()) timeouts.suspend();
    if (isHalfClosed) body.fail("incomplete_body");
  }

  function watch(work: Promise<void>): void {
    work.catch(fail);
  }

  /** Ends a connection whose work failed in a way that it must not. */
  function fail(reason: unknown): void {
    wire.terminate();
    onBug(reason);
  }

  // --- output ---

  function serve(head: Head, incoming: IncomingBody): void {
    const { method, path, query, authority, section } = head;
    const { fields: headers, isHttp10 } = section;
    timeouts.reset();
    try {
      const response = answer({ method, path, query, authority, headers, body: incoming, isHttp10, address, allowSilence: timeouts.allow });
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

  function respond(head: Head, incoming: IncomingBody, response: HttpResponse): void {
    const sending = send(head, incoming, response);
    if (sending) watch(sending);
  }

  /** Sends the response. Returns a promise only when the client has to read first. */
  function send(head: Head, incoming: IncomingBody, response: HttpResponse): Promise<void> | void {
    const { isHttp10, isKeepAlive: isKept } = head.section;
    // What follows CONNECT may be meant for the other end of a tunnel.
    const isLast = !isKept || isRetiring || response.isLast === true || head.method === "CONNECT" || !incoming.isDroppable();
    const isKeepAlive = !isLast;
    const sending = isClosed() ? drop(response) : output.send(response, { method: head.method, isHttp10, isKeepAlive });
    if (sending) return sending.then(() => sent(incoming, response, isKeepAlive));
    sent(incoming, response, isKeepAlive);
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

  /** Begins the next pipelined request, or waits for one. */
  function ready(): void {
    phase = "head";
    heads.reset();
    body = undefined;
    timeouts.restart();
    resume();
    if (buffer.length() > 0) return turns.take();
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
    if (incoming.isComplete() && buffer.length() === 0) wire.end();
    else linger();
  }

  /**
   * Lets a client that still sends read its response: closing at once would reset the connection, and lose the
   * response.
   */
  function linger(): void {
    if (phase === "closed") return;
    if (isHalfClosed) return wire.end();
    phase = "lingering";
    buffer.clear();
    body?.discard();
    timeouts.linger();
    // The client has its response.
    onIdle(true);
    resume();
    wire.shutdown();
  }

  function close(): void {
    if (phase === "closed") return;
    phase = "closed";
    buffer.clear();
    body?.fail("incomplete_body");
    output.close();
  }

  return {
    receive,
    drain: output.drain,
    close,
    receiveEnd() {
      isHalfClosed = true;
      if (phase === "request") body?.fail("incomplete_body");
      else if (!turns.isYielding()) wire.end();
    },
    expire(time) {
      if (phase === "closed" || !timeouts.isOver(time)) return;
      if (phase === "head" && buffer.length() === 0) wire.end();
      else wire.terminate();
    },
    retire() {
      isRetiring = true;
      if (phase === "head" && buffer.length() === 0) wire.end();
    },
    terminate: () => wire.terminate(),
  };
}
