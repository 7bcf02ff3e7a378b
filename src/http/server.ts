import type { PlantStoreError } from "../domain/errors.ts";
import type { Log } from "../runtime/log.ts";
import type { HttpResponse } from "./wire/response.ts";
import { Connection } from "./wire/connection.ts";
import type { HttpRequest } from "./wire/request.ts";
import { createHeadParser } from "./wire/head.ts";
import { createTaskQueue } from "../runtime/event-loop.ts";
import { openFilesMax } from "../runtime/file-system.ts";
import { codeOf } from "../runtime/system-failure.ts";

// The only file that names the runtime.

type ServerOptions = Readonly<{
  host: string;
  port: number;
  /** A socket that listens already, which the process was given; undefined to make one. */
  socketFd?: number | undefined;
  /** The flag that sets the port, for messages. */
  portFlag: "--port" | "--metrics";
  /** How many connections there may be, as far as the system allows that many open files. */
  connectionsMax: number;
  /** Never throws or rejects. It returns a promise only when it has to wait. */
  answer: (request: HttpRequest) => HttpResponse | Promise<HttpResponse>;
  /** The response to input that is not a request. */
  refuse: (error: PlantStoreError) => HttpResponse;
  log: Log;
}>;

/** How often to look for silent connections and at the clock, in milliseconds. */
const SWEEP_MS = 500;

/** What a longer pause between two looks counts as, in milliseconds. */
const PAUSE_MS_MAX = 2 * SWEEP_MS;

/**
 * After how long without a byte the system asks whether the peer is still there, in milliseconds. Networks forget a
 * connection of which they see nothing for some minutes.
 */
const PROBE_MS = 60_000;

/** A connection that was idle for so long is closed for a new one without a warning, in milliseconds. */
const SPARE_MS = 10_000;

/** How often the log may say that there are too many connections, in milliseconds. */
const WARNING_MS = 10_000;

/** Open files that are not connections: of the store, the threads, the runtime. */
const FILES_KEPT = 128;

/** How many connections there can be, with the limit of the process on open files. */
export function toConnectionsMax(wanted: number): number {
  return Math.max(1, Math.min(wanted, openFilesMax() - FILES_KEPT));
}

export class HttpServer {
  /** Where it listens, without a trailing slash. */
  readonly url: string;
  readonly #options: ServerOptions;
  readonly #connectionsMax: number;
  readonly #parseHead = createHeadParser();
  readonly #tasks = createTaskQueue();
  readonly #connections = new Set<Connection>();
  /** Connections that owe no response, the longest idle first, and since when. */
  readonly #idle = new Map<Connection, number>();
  readonly #listener: Bun.TCPSocketListener<Connection | undefined>;
  readonly #sweeper: ReturnType<typeof setInterval>;
  // Both are read for every request, so they advance only now and then.
  #time = 0;
  #date = new Date().toUTCString();
  #sweptAt = performance.now();
  #turnedAway = 0;
  #turnedAwayBefore = 0;
  #warnedAt = -Infinity;
  #isStopping = false;
  #onEmpty: (() => void) | undefined;

  /** Throws when it cannot listen on the address. */
  constructor(options: ServerOptions) {
    const { host, port, connectionsMax } = options;
    this.#options = options;
    this.#connectionsMax = toConnectionsMax(connectionsMax);
    this.#listener = bind(options, {
      open: (socket) => this.#open(socket),
      close: (socket) => this.#close(socket),
      data: ({ data }, bytes) => data?.receive(bytes),
      drain: ({ data }) => data?.drain(),
      end: ({ data }) => data?.receiveEnd(),
      // `close` follows.
      error: () => {},
    });
    this.url = `http://${host.includes(":") ? `[${host}]` : host}:${this.#listener.port ?? port}`;
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS);
  }

  /** How many connections there are, and how many others were closed or refused to keep within the limit. */
  connections(): Readonly<{ open: number; idle: number; max: number; turnedAway: number }> {
    return { open: this.#connections.size, idle: this.#idle.size, max: this.#connectionsMax, turnedAway: this.#turnedAway };
  }

  /** Takes no new connections. Resolves when the requests under way have their responses, at the latest after `drainMs`. */
  async stop(drainMs: number): Promise<void> {
    if (this.#isStopping) return;
    this.#isStopping = true;
    this.#listener.stop();
    for (const connection of this.#connections) connection.retire();
    const cut = setTimeout(() => {
      for (const connection of this.#connections) connection.terminate();
    }, drainMs);
    if (this.#connections.size > 0) await new Promise<void>((resolve) => (this.#onEmpty = resolve));
    clearTimeout(cut);
    clearInterval(this.#sweeper);
  }

  #open(socket: Socket): void {
    const address = socket.remoteAddress as string | undefined;
    // A client that has reset the connection already has no address any more.
    const isAccepted = address !== undefined && (this.#connections.size < this.#connectionsMax || this.#makeRoom());
    if (!isAccepted) return socket.terminate();
    const { answer, refuse, log } = this.#options;
    const connection = new Connection({
      wire: socket,
      address,
      parseHead: this.#parseHead,
      answer,
      refuse,
      tasks: this.#tasks,
      now: () => this.#time,
      date: () => this.#date,
      onIdle: (isIdle) => (isIdle ? this.#idle.set(connection, this.#time) : this.#idle.delete(connection)),
      onBug: (error) => log.error("unexpected_error", { error }),
    });
    socket.data = connection;
    socket.setKeepAlive(true, PROBE_MS);
    this.#connections.add(connection);
    this.#idle.set(connection, this.#time);
  }

  /** Closes the connection that has been idle for longest. A client that comes back opens another one. */
  #makeRoom(): boolean {
    const [longest] = this.#idle;
    // A connection that no one has used for long is kept only while there is room.
    if (!longest || this.#time - longest[1] < SPARE_MS) this.#countTurnedAway();
    longest?.[0].terminate();
    return longest !== undefined;
  }

  #countTurnedAway(): void {
    this.#turnedAway += 1;
    if (this.#time - this.#warnedAt < WARNING_MS) return;
    this.#options.log.warn("connections_full", {
      connections: this.#connections.size,
      connectionsMax: this.#connectionsMax,
      turnedAway: this.#turnedAway - this.#turnedAwayBefore,
    });
    [this.#warnedAt, this.#turnedAwayBefore] = [this.#time, this.#turnedAway];
  }

  #close({ data }: Socket): void {
    // A socket that was turned away has no connection.
    if (!data) return;
    data.close();
    this.#idle.delete(data);
    this.#connections.delete(data);
    if (this.#connections.size === 0) this.#onEmpty?.();
  }

  #sweep(): void {
    // Before the time advances: what came since the last look has been read only by the next one.
    for (const connection of this.#connections) connection.expire(this.#time);
    const now = performance.now();
    // While this process stood still, as on a paused machine, clients were not silent: it did not read what they sent.
    this.#time += Math.min(now - this.#sweptAt, PAUSE_MS_MAX);
    this.#sweptAt = now;
    this.#date = new Date().toUTCString();
  }
}

type Socket = Bun.Socket<Connection | undefined>;

function bind(
  { host, port, socketFd, portFlag }: ServerOptions,
  socket: Bun.SocketHandler<Connection | undefined>,
): Bun.TCPSocketListener<Connection | undefined> {
  try {
    return Bun.listen<Connection | undefined>({
      hostname: host,
      port,
      // Before the other two, which its types do not say: a test shows it.
      ...(socketFd === undefined ? {} : { fd: socketFd }),
      // Otherwise a second service could listen on the same port and get half of the connections.
      exclusive: true,
      // A client may close its side when it has sent its request.
      allowHalfOpen: true,
      data: undefined,
      socket,
    });
  } catch (cause) {
    throw new Error(`Cannot listen on ${host}, port ${port}: ${adviseOnBind(cause, portFlag)}.`, { cause });
  }
}

/** What is wrong, and which flag to change. The runtime gives no code for a name that it cannot look up. */
function adviseOnBind(cause: unknown, portFlag: ServerOptions["portFlag"]): string {
  const code = codeOf(cause);
  if (code === "EADDRINUSE") return `another program uses it: choose another port with ${portFlag}`;
  if (code === "EACCES") return `this user may not use that port: choose one above 1023 with ${portFlag}`;
  return `this machine does not have that address: name one of its own with ${portFlag === "--port" ? "--host" : portFlag}`;
}
