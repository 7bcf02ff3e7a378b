import { readFileSync } from "node:fs";
import type { PlantStoreError } from "../errors.ts";
import type { Log } from "../log.ts";
import type { HttpResponse } from "./wire/response.ts";
import { createConnection } from "./wire/connection.ts";
import type { Connection, HttpRequest } from "./wire/connection.ts";
import { createHeadParser } from "./wire/head.ts";
import { createTaskQueue } from "../event-loop.ts";

// The only file that names the runtime.

export type HttpServer = Readonly<{
  /** Where it listens, without a trailing slash. */
  url: string;
  /**
   * Takes no new connections. Resolves when the requests under way have their responses, at the latest after `drainMs`.
   */
  stop(drainMs: number): Promise<void>;
}>;

type ServerOptions = Readonly<{
  host: string;
  port: number;
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

/** How often the log may say that there are too many connections, in milliseconds. */
const WARNING_MS = 10_000;

/** Open files that are not connections: of the store, the threads, the runtime. */
const FILES_KEPT = 128;

/** Serves HTTP/1.1. Throws when it cannot listen on the address. */
export function startServer(options: ServerOptions): HttpServer {
  const { log, answer, refuse } = options;
  const connectionsMax = Math.max(1, Math.min(options.connectionsMax, filesMax() - FILES_KEPT));
  const parseHead = createHeadParser();
  const tasks = createTaskQueue();
  const connections = new Set<Connection>();
  /** Connections that owe no response, the longest idle first. */
  const idle = new Set<Connection>();
  // Both are read for every request, so they are looked up only now and then.
  let time = performance.now();
  let date = new Date().toUTCString();
  let turnedAway = 0;
  let warnedAt = -Infinity;
  let isStopping = false;
  let empty: (() => void) | undefined;

  function open(socket: Socket): void {
    if (connections.size >= connectionsMax && !makeRoom()) return socket.terminate();
    const connection = createConnection({
      wire: socket,
      address: socket.remoteAddress,
      parseHead,
      answer,
      refuse,
      tasks,
      now: () => time,
      date: () => date,
      onIdle: (isIdle) => (isIdle ? idle.add(connection) : idle.delete(connection)),
      onBug: (error) => log.error("unexpected_error", { error }),
    });
    socket.data = connection;
    connections.add(connection);
    idle.add(connection);
  }

  /** Closes the connection that has been idle for longest. A client that comes back opens another one. */
  function makeRoom(): boolean {
    turnedAway += 1;
    if (time - warnedAt >= WARNING_MS) {
      log.warn("connections_full", { connections: connections.size, connectionsMax, turnedAway });
      [warnedAt, turnedAway] = [time, 0];
    }
    const [oldest] = idle;
    oldest?.terminate();
    return oldest !== undefined;
  }

  function close({ data }: Socket): void {
    // A socket that was turned away has no connection.
    if (!data) return;
    data.close();
    idle.delete(data);
    connections.delete(data);
    if (connections.size === 0) empty?.();
  }

  function sweep(): void {
    time = performance.now();
    date = new Date().toUTCString();
    for (const connection of connections) connection.expire(time);
  }

  const server = bind(options, {
    open,
    close,
    data: ({ data }, bytes) => data?.receive(bytes),
    drain: ({ data }) => data?.drain(),
    end: ({ data }) => data?.receiveEnd(),
    // `close` follows.
    error: () => {},
  });
  const timer = setInterval(sweep, SWEEP_MS);

  return {
    url: `http://${options.host.includes(":") ? `[${options.host}]` : options.host}:${server.port}`,
    async stop(drainMs) {
      if (isStopping) return;
      isStopping = true;
      server.stop();
      for (const connection of connections) connection.retire();
      const cut = setTimeout(() => {
        for (const connection of connections) connection.terminate();
      }, drainMs);
      if (connections.size > 0) await new Promise<void>((resolve) => (empty = resolve));
      clearTimeout(cut);
      clearInterval(timer);
    },
  };
}

type Socket = Bun.Socket<Connection | undefined>;

function bind(
  { host, port }: ServerOptions,
  socket: Bun.SocketHandler<Connection | undefined>,
): Bun.TCPSocketListener<Connection | undefined> {
  try {
    return Bun.listen<Connection | undefined>({
      hostname: host,
      port,
      // Otherwise a second service could listen on the same port and get half of the connections.
      exclusive: true,
      // A client may close its side when it has sent its request.
      allowHalfOpen: true,
      data: undefined,
      socket,
    });
  } catch (cause) {
    throw new Error(`Cannot listen on ${host}, port ${port}: if another program uses it, choose another one with --port.`, { cause });
  }
}

/** How many files the process may open. The runtime has raised this to what the system allows. */
function filesMax(): number {
  try {
    return Number(/^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1] ?? Infinity);
  } catch {
    return Infinity;
  }
}
