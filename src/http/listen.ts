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
  type Arrival = Request & Readonly<{ params?: Readonly<Record<string, string>> }>;

  function answer(request: Arrival, own: Bun.Server<undefined>): Promise<Response> {
    return app(request, {
      path: pathOf(request.params),
      address: own.requestIP(request)?.address ?? "",
      allowSilence: (seconds = IDLE_SECONDS) => own.timeout(request, seconds),
    });
  }

  return Bun.serve({
    hostname: host,
    port,
    idleTimeout: IDLE_SECONDS,
    // The app has limits of its own, which answer in the interface's own words.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    development: false,
    // Otherwise a second service could take the same port and half of the requests.
    reusePort: false,
    // The runtime's `url` has its dots, backslashes and slashes tidied up: only its router sees the path as it was sent.
    routes: { "/": answer, "/:a": answer, "/:a/:b": answer, "/:a/:b/:c": answer },
    fetch: answer,
  });
}

/** The path of which the router has matched each segment; undefined when it has matched none. */
function pathOf(params: Readonly<Record<string, string>> | undefined): string | undefined {
  if (!params) return undefined;
  const segments = Object.values(params);
  // An encoded slash is no slash (RFC 3986, 2.2).
  return segments.some((segment) => segment.includes("/")) ? undefined : `/${segments.join("/")}`;
}
