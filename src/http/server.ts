import { readFileSync } from "node:fs";
import type { PlantStoreError } from "../errors.ts";
import type { Log } from "../log.ts";
import type { HttpResponse } from "./wire/response.ts";
import { createConnection } from "./wire/connection.ts";
import type { Connection, HttpRequest } from "./wire/connection.ts";
import { createLater } from "../event-loop.ts";

// The only file that names the runtime.

export type HttpServer = Readonly<{
  /** Where it listens, without a slash at the end. */
  url: string;
  /** Takes no new connection, and resolves when the requests under way are answered, or at the latest after `drainMs`. */
  stop(drainMs: number): Promise<void>;
}>;

type ServerOptions = Readonly<{
  host: string;
  port: number;
  /** How many connections there may be, as far as the system allows so many files. */
  connectionsMax: number;
  /** Never rejects. */
  answer: (request: HttpRequest) => Promise<HttpResponse>;
  /** The answer to what is no request. */
  refuse: (error: PlantStoreError) => HttpResponse;
  log: Log;
}>;

/** How often silent connections are looked for, in milliseconds. */
const LOOK_MS = 500;

/** The log says at most once in this time that there are too many connections, in milliseconds. */
const TELL_MS = 10_000;

/** Open files that are no connections: of the store, the threads, the runtime. */
const FILES_KEPT = 128;

/** Serves HTTP/1.1. Throws when the address cannot be had. */
export function startServer(options: ServerOptions): HttpServer {
  const { log, answer, refuse } = options;
  const connectionsMax = Math.max(1, Math.min(options.connectionsMax, filesMax() - FILES_KEPT));
  const now = () => performance.now();
  const later = createLater();
  const connections = new Set<Connection>();
  /** Those that owe no answer, the one for which that is so longest first. */
  const idle = new Set<Connection>();
  let date = new Date().toUTCString();
  let turnedAway = 0;
  let toldAt = -Infinity;
  let isStopping = false;
  let empty: (() => void) | undefined;

  function open(socket: Socket): void {
    if (connections.size >= connectionsMax && !makeRoom()) return socket.terminate();
    const connection = createConnection({
      wire: socket,
      address: socket.remoteAddress,
      answer,
      refuse,
      later,
      now,
      date: () => date,
      onIdle: (isIdle) => (isIdle ? idle.add(connection) : idle.delete(connection)),
      onBug: (error) => log.error("unexpected_error", { error }),
    });
    socket.data = connection;
    connections.add(connection);
    idle.add(connection);
  }

  /** Ends the connection that has owed no answer for longest; a client that comes back opens another one. */
  function makeRoom(): boolean {
    turnedAway += 1;
    if (now() - toldAt >= TELL_MS) {
      log.warn("connections_full", { connections: connections.size, connectionsMax, turnedAway });
      [toldAt, turnedAway] = [now(), 0];
    }
    const [oldest] = idle;
    oldest?.terminate();
    return oldest !== undefined;
  }

  function close({ data }: Socket): void {
    // One that was turned away never was a connection.
    if (!data) return;
    data.close();
    idle.delete(data);
    connections.delete(data);
    if (connections.size === 0) empty?.();
  }

  function look(): void {
    date = new Date().toUTCString();
    const time = now();
    for (const connection of connections) connection.expire(time);
  }

  const server = bind(options, {
    open,
    close,
    data: ({ data }, bytes) => data?.receive(bytes),
    drain: ({ data }) => data?.drain(),
    end: ({ data }) => data?.receiveEnd(),
    // It is followed by its close.
    error: () => {},
  });
  const timer = setInterval(look, LOOK_MS);

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
      // Otherwise a second service could take the same port and half of the connections.
      exclusive: true,
      // A client may close its side when it has sent its request.
      allowHalfOpen: true,
      data: undefined,
      socket,
    });
  } catch (cause) {
    throw new Error(`Cannot listen on ${host}, port ${port}: if another program has it, choose one with --port.`, { cause });
  }
}

/** How many files the process may have open. The runtime has raised it to what the system allows. */
function filesMax(): number {
  try {
    return Number(/^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1] ?? Infinity);
  } catch {
    return Infinity;
  }
}
