import pg from "pg";
import type { Client } from "pg";
import { mendErrors } from "./error-ends.ts";

/** What pg has, and its types do not say. */
type Wire = pg.Connection &
  Readonly<{
    connect(portOrPath: number | string, host?: string): void;
    requestSsl(): void;
    cancel(processId: number, secretKey: number): void;
  }>;
type Key = Readonly<{ processID: number; secretKey: number; sslNegotiation: string }>;

const CANCEL_MS_MAX = 1000;

/**
 * Asks the server to end what this connection runs: a CancelRequest, on a connection of its own that needs none of
 * those that the server allows (postgresql.org/docs/current/protocol-flow.html, "Canceling Requests in Progress").
 * Resolves with whether the server has heard it.
 */
export function cancel(client: Client): Promise<boolean> {
  const { host, port, ssl, processID, secretKey, sslNegotiation } = client as Client & Key;
  const wire = new pg.Connection({ ssl, sslnegotiation: sslNegotiation } as object) as Wire;
  mendErrors(wire);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => {
    resolve(false);
    wire.stream.destroy();
  }, CANCEL_MS_MAX);
  wire.on("error", () => resolve(false));
  // The server only closes it, when it has sent the signal.
  wire.on("end", () => {
    clearTimeout(timer);
    resolve(true);
  });
  wire.on("sslconnect", () => wire.cancel(processID, secretKey));
  wire.on("connect", () => {
    if (!ssl) wire.cancel(processID, secretKey);
    else if (sslNegotiation !== "direct") wire.requestSsl();
  });
  if (host.startsWith("/")) wire.connect(`${host}/.s.PGSQL.${port}`);
  else wire.connect(port, host);
  return promise;
}
