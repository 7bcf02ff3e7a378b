import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Client, PoolClient } from "pg";
import type { DatabaseConnection } from "./database-connection.ts";
import { mendErrors } from "./error-ends.ts";
import { isMisplaced } from "./failure.ts";

export type PooledConnection = PoolClient & DatabaseConnection;

/** How long a statement may take to end once it was cancelled. */
const END_MS_MAX = 1000;

/** What pg has, and its types do not say. */
type Wire = pg.Connection &
  Readonly<{
    connect(portOrPath: number | string, host?: string): void;
    requestSsl(): void;
    cancel(processId: number, secretKey: number): void;
  }>;
type Key = Readonly<{ processID: number; secretKey: number; sslNegotiation: string }>;

const CANCEL_MS_MAX = 1000;

/** Processes of the server whose statements were given up and may still run: nothing ends a commit that waits for its standby. */
export class LeftBehind {
  readonly #max: number;
  /** When each was given up. */
  readonly #since = new Map<number, number>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Cancels what runs, waits until it has ended, and drops its connection, which the cancel may still reach. */
  async giveUp(connection: PooledConnection, running: Promise<unknown>): Promise<void> {
    const at = performance.now();
    const ended = running.then(
      () => true,
      () => true,
    );
    const isEnded = (await cancel(connection)) && (await Promise.race([ended, sleep(END_MS_MAX, false)]));
    if (!isEnded) this.#since.set(connection.backend, at);
    connection.release(true);
  }

  /** Cancels them all. Throws if as many as a pool has connections cannot be cancelled: more must not join them. */
  async cancel(connection: DatabaseConnection): Promise<void> {
    if (this.#since.size === 0) return;
    const givenUp = new Map(Array.from(this.#since, ([backend, at]) => [backend, performance.now() - at]));
    const alive = await connection.cancelOthers(givenUp).catch(noneIfForbidden);
    for (const backend of givenUp.keys()) if (!alive.includes(backend)) this.#since.delete(backend);
    if (alive.length >= this.#max) throw new Error(`${alive.length} statements that were given up are still running`);
  }
}

/**
 * A server that does not let us look for what was given up ends it alone, by its limit of time; but for commits that wait
 * for a standby, which do not count then. To let no connection in would be worse.
 */
function noneIfForbidden(thrown: unknown): number[] {
  if (isMisplaced(thrown)) return [];
  throw thrown;
}

/**
 * Asks the server to end what this connection runs: a CancelRequest, on a connection of its own that needs none of
 * those that the server allows (postgresql.org/docs/current/protocol-flow.html, "Canceling Requests in Progress").
 * Resolves with whether the server has heard it.
 */
function cancel(client: Client): Promise<boolean> {
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
