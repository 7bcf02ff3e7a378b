import type { App } from "./app.ts";

// The only file that names the runtime.

export type Listener = Readonly<{
  /** Where it listens, without a slash at the end. */
  url: string;
  /** Takes no new connection, and resolves when the requests under way are answered, or at the latest after `drainMs`. */
  stop(drainMs: number): Promise<void>;
}>;

/** How long a connection may be silent, in seconds. */
const IDLE_SECONDS = 10;

/** Serves the app over HTTP/1.1. Throws when the address cannot be had. */
export function listen(app: App, { host, port }: { host: string; port: number }): Listener {
  const server = bind(app, host, port);
  return {
    url: server.url.origin,
    async stop(drainMs) {
      const drained = server.stop();
      const timer = setTimeout(() => void server.stop(true), drainMs);
      await drained;
      clearTimeout(timer);
    },
  };
}

function bind(app: App, host: string, port: number): Bun.Server<undefined> {
  try {
    return serve(app, host, port);
  } catch (cause) {
    throw new Error(`Cannot listen on ${host}, port ${port}: if another program has it, choose one with --port.`, { cause });
  }
}

function serve(app: App, host: string, port: number): Bun.Server<undefined> {
  return Bun.serve({
    hostname: host,
    port,
    idleTimeout: IDLE_SECONDS,
    // The app has limits of its own, which answer in the interface's own words.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    development: false,
    // Otherwise a second service could take the same port and half of the requests.
    reusePort: false,
    fetch: (request, own) => app(request, { allowSilence: (seconds = IDLE_SECONDS) => own.timeout(request, seconds) }),
  });
}
