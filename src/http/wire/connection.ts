import { PlantStoreError } from "../../errors.ts";
import type { HttpResponse } from "./response.ts";
import { createBody, wholeBody } from "./body.ts";
import type { Body, IncomingBody } from "./body.ts";
import { createByteQueue } from "../../byte-queue.ts";
import type { Head } from "./head.ts";
import { createHeadReader } from "./head-reader.ts";
import type { Later } from "../../event-loop.ts";
import { createOutput, drop, endsWithConnection } from "./output.ts";
import { createSilence } from "./silence.ts";

/** The end of a TCP connection, as the runtime has it. */
type Wire = Readonly<{
  /** Writes what there is room for, and returns how many bytes that were; less than 0 when the connection is gone. */
  write(data: Uint8Array | string): number;
  /** Closes in order: what was written still arrives. */
  end(): void;
  /** Tells the other end that nothing more comes. */
  shutdown(): void;
  /** Breaks off: the other end notices. */
  terminate(): void;
  pause(): void;
  resume(): void;
}>;

/** A request as the app gets it. */
export type HttpRequest = Pick<Head, "method" | "path" | "query" | "authority"> &
  Readonly<{
    headers: Head["fields"];
    body: Body;
    /** The IP address of whoever is at the other end. */
    address: string;
    /** Lets this request be silent for so many seconds, with 0 for ever: while its body comes, and while its answer goes. */
    allowSilence(seconds: number): void;
  }>;

type ConnectionOptions = Readonly<{
  wire: Wire;
  address: string;
  /** Never rejects. */
  answer: (request: HttpRequest) => Promise<HttpResponse>;
  /** The answer to what is no request. */
  refuse: (error: PlantStoreError) => HttpResponse;
  /** Has requests that were sent ahead wait for their turn among those of all connections. */
  later: Later;
  /** A clock that never goes back, in milliseconds, and the time as a header has it. */
  now: () => number;
  date: () => string;
  /** Told when the connection owes no answer, and may make room for others; and when it does. */
  onIdle: (isIdle: boolean) => void;
  /** Told of what must not happen; the connection is gone then. */
  onBug: (reason: unknown) => void;
}>;

/** A connection of HTTP/1.1. One request at a time is answered, in their order; those sent ahead wait. */
export type Connection = Readonly<{
  receive(bytes: Uint8Array): void;
  /** There is room to write again. */
  drain(): void;
  /** The other end sends nothing more. */
  receiveEnd(): void;
  /** The connection is gone. */
  close(): void;
  /** Ends it if it has been silent for too long. */
  expire(now: number): void;
  /** Ends it, at once when it waits for a request, else with the answer under way. */
  retire(): void;
  /** Breaks it off. */
  terminate(): void;
}>;

/** What a client may send ahead of the answer that it waits for. */
const AHEAD_BYTES_MAX = 65_536;
/** A client that is refused may still be sending: so much of what it sends is dropped, that it reads its answer (RFC 9112, 9.6). */
const LINGER_BYTES_MAX = 64 * 1024 * 1024;

/** So many requests that were sent ahead are answered at a time while nobody else waits for that. */
const IN_TURN_MAX = 8;

const CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n";

type Phase = "head" | "request" | "rest" | "lingering" | "closed";

export function createConnection({ wire, address, answer, refuse, later, now, date, onIdle, onBug }: ConnectionOptions): Connection {
  let phase: Phase = "head";
  /** What came and is not understood yet. */
  const ahead = createByteQueue();
  const heads = createHeadReader(ahead);
  const silence = createSilence(now);
  let isPaused = false;
  let isRetiring = false;
  let isHalfClosed = false;
  /** Whether the client waits for "100 Continue" and has not had it. */
  let isAwaited = false;
  let body: IncomingBody | undefined;
  let lingerBytes = 0;
  /** How many requests were answered one after the other. */
  let inTurn = 0;
  let isYielding = false;

  const output = createOutput({ wire, date, onWait: silence.onOutput });

  // --- what comes ---

  function receive(bytes: Uint8Array): void {
    if (phase === "lingering") {
      lingerBytes += bytes.length;
      if (lingerBytes > LINGER_BYTES_MAX) wire.terminate();
    } else if (phase === "request" || phase === "rest") receiveBody(bytes);
    else if (phase === "head") {
      ahead.put(bytes);
      // Those behind others that were sent ahead have their turn later.
      if (!isYielding) next();
    }
    if (waiting() > AHEAD_BYTES_MAX) pause();
  }

  /** How many bytes were sent ahead. */
  function waiting(): number {
    return ahead.bytes().length;
  }

  function receiveBody(bytes: Uint8Array): void {
    const isDue = body !== undefined && !body.isComplete();
    ahead.put(isDue ? body!.feed(bytes) : bytes);
    if (isDue && body!.isComplete()) silence.suspend();
    else if (isDue && !isPaused) silence.received(bytes.length);
    if (phase === "rest" && body!.isComplete()) ready();
  }

  function pause(): void {
    if (!isPaused) wire.pause();
    isPaused = true;
  }

  /** Takes more, unless what was sent ahead is much already. */
  function resume(): void {
    if (!isPaused || waiting() > AHEAD_BYTES_MAX) return;
    isPaused = false;
    wire.resume();
  }

  /** Takes the next request, if its head is here. */
  function next(): void {
    if (heads.begins()) silence.restart();
    try {
      const head = heads.read();
      if (head) begin(head);
      else wait();
    } catch (thrown) {
      if (!(thrown instanceof PlantStoreError)) throw thrown;
      watch(endWith(refuse(thrown)));
    }
  }

  /** Waits for a request, if any can come. */
  function wait(): void {
    if (isHalfClosed || (isRetiring && waiting() === 0)) wire.end();
    else onIdle(true);
  }

  function begin(head: Head): void {
    phase = "request";
    onIdle(false);
    const { framing } = head;
    if (framing.kind === "length" && framing.length <= waiting()) {
      body = wholeBody(ahead.bytes().subarray(0, framing.length));
      ahead.drop(framing.length);
      isAwaited = false;
      silence.suspend();
    } else receiveRest(head);
    watch(serve(head, body!));
  }

  /** Waits for what of a body is not here yet. */
  function receiveRest(head: Head): void {
    isAwaited = head.isExpecting;
    body = createBody({
      framing: head.framing,
      onFull() {
        pause();
        // It is not the client who is slow.
        silence.suspend();
      },
      onRoom() {
        resume();
        if (!body!.isComplete()) silence.resume();
      },
      onWanted: () => {
        if (!isAwaited) return;
        isAwaited = false;
        output.write(CONTINUE);
      },
    });
    const bytes = ahead.bytes();
    ahead.clear();
    // It may have been so much that no more was taken.
    resume();
    silence.restart();
    ahead.put(body.feed(bytes));
    if (body.isComplete()) silence.suspend();
    if (isHalfClosed) body.fail("incomplete_body");
  }

  function watch(work: Promise<void>): void {
    work.catch((reason: unknown) => {
      wire.terminate();
      onBug(reason);
    });
  }

  // --- what goes ---

  async function serve(head: Head, incoming: IncomingBody): Promise<void> {
    const { method, path, query, authority, fields: headers } = head;
    silence.reset();
    const response = await answer({ method, path, query, authority, headers, body: incoming, address, allowSilence: silence.allow });
    // Who was not told to send the body may send it or not: nobody could tell it from the next request.
    const isLast =
      !head.isKept ||
      isRetiring ||
      (isAwaited && !incoming.isComplete()) ||
      !incoming.isShort() ||
      response.headers?.["connection"] === "close";
    const isKept = !isLast && !endsWithConnection(response, head);
    try {
      await (isClosed() ? drop(response) : output.send(response, { method, isOld: head.isOld, isKept }));
    } finally {
      response.onSent?.();
    }
    if (isClosed()) return;
    if (!isKept) finish(incoming);
    else if (incoming.isComplete()) ready();
    else {
      phase = "rest";
      silence.reset();
      silence.restart();
      // It has its answer.
      onIdle(true);
      incoming.discard();
    }
  }

  function isClosed(): boolean {
    return phase === "closed";
  }

  /** Waits for the next request, or takes the one that was sent ahead. */
  function ready(): void {
    phase = "head";
    heads.reset();
    body = undefined;
    silence.restart();
    resume();
    inTurn = waiting() === 0 ? 0 : inTurn + 1;
    // A thousand connections that send ahead would keep the event loop for all that they sent.
    if (inTurn < IN_TURN_MAX && !(inTurn > 0 && later.isBusy())) return next();
    inTurn = 0;
    isYielding = true;
    later.do(() => {
      isYielding = false;
      if (phase === "head") next();
    });
  }

  /** Answers what is no request, and ends. */
  async function endWith(response: HttpResponse): Promise<void> {
    phase = "request";
    onIdle(false);
    silence.suspend();
    await output.send(response, { method: "GET", isOld: false, isKept: false });
    linger();
  }

  function finish(incoming: IncomingBody): void {
    if (incoming.isComplete() && waiting() === 0) wire.end();
    else linger();
  }

  /** Lets a client that still sends read its answer: to close at once would reset the connection, and the answer with it. */
  function linger(): void {
    if (phase === "closed") return;
    if (isHalfClosed) return wire.end();
    phase = "lingering";
    ahead.clear();
    body?.discard();
    silence.linger();
    // It has its answer.
    onIdle(true);
    resume();
    wire.shutdown();
  }

  function close(): void {
    if (phase === "closed") return;
    phase = "closed";
    ahead.clear();
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
      else if (!isYielding) wire.end();
    },
    expire(time) {
      if (phase === "closed" || !silence.isOver(time)) return;
      if (phase === "head" && waiting() === 0) wire.end();
      else wire.terminate();
    },
    retire() {
      isRetiring = true;
      if (phase === "head" && waiting() === 0) wire.end();
    },
    terminate: () => wire.terminate(),
  };
}
