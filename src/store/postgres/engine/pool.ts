import pg from "pg";
import type { ClientBase } from "pg";
import { PlantStoreError } from "../../../domain/errors.ts";
import { withTimeLimit } from "../../../runtime/time-limit.ts";
import { DatabaseConnection } from "./database-connection.ts";
import type { Statement } from "./database-connection.ts";
import { isReadOnly, isSound, judge, LateError, leftServer, sqlStateOf, UnsentError } from "./failure.ts";
import type { Hosts } from "./hosts.ts";
import { LeftBehind } from "./left-behind.ts";
import type { PooledConnection } from "./left-behind.ts";
import { UnfitError } from "./requirements.ts";

export type { Statement } from "./database-connection.ts";

export type Database = ReturnType<typeof openPool>;

/** In milliseconds. Past them a call rejects, and a statement that is under way is cancelled. */
type Limits = Readonly<{
  connectMs: number;
  statementMs: number;
  /** How many servers of the address to try. By default one: who tries again comes to the next. */
  serversMax?: number;
}>;

type DatabaseOptions = Readonly<{
  hosts: Hosts;
  connectionsMax: number;
  /** The server cancels a statement after this, in milliseconds. */
  serverMs: number;
}>;

/** What pg's pool says, without a code, when no connection was free in time. */
const POOL_TIMEOUT = "timeout exceeded when trying to connect";

/** @limit PostgreSQL: requests that may wait for one of a kind */
const WAITING_MAX = 256;

/**
 * How long one server has to let a connection in, and then to show that it is fit, in milliseconds.
 *
 * @limit PostgreSQL: wait for a new connection
 */
const CONNECT_MS_MAX = 2000;
const OPEN_MS_MAX = 1500;
export const SERVER_MS_MAX = CONNECT_MS_MAX + OPEN_MS_MAX;
const IDLE_MS = 5 * 60_000;

/** Behind a pooler in session mode, each idle connection keeps one to the server from others. */
const SHARED_IDLE_MS = 1000;
const POOLER_ADVICE = " If a pooler accepted the connection, raise its default_pool_size.";

/** The type BIGINT (pg_type.dat), parsed to `bigint`. Values of all other types stay text. */
const INT8 = 20;

const CONNECTION = {
  Client: DatabaseConnection,
  connectionTimeoutMillis: CONNECT_MS_MAX,
  idleTimeoutMillis: IDLE_MS,
  // Notice a silently dropped connection before it is needed.
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
  fallback_application_name: "plant-store",
  types: { getTypeParser: (type: number) => (type === INT8 ? BigInt : String) },
};

/** A pool of connections to the database. */
export function openPool({ connectionsMax, ...server }: DatabaseOptions) {
  const leftBehind = new LeftBehind(connectionsMax);

  async function open(connection: DatabaseConnection): Promise<void> {
    await connection.open();
    pool.options.idleTimeoutMillis = connection.isShared ? SHARED_IDLE_MS : IDLE_MS;
    await leftBehind.cancel(connection);
  }

  const options = {
    ...CONNECTION,
    ...server,
    max: connectionsMax,
    // pg waits for it, though its types do not say so.
    async onConnect(client: ClientBase) {
      const connection = client as DatabaseConnection;
      await inTime(open(connection), OPEN_MS_MAX, POOLER_ADVICE).catch((reason: unknown) => {
        connection.leave();
        throw reason;
      });
    },
  };
  // The types of pg allow only a class without parameters, but pg passes the options.
  const pool = new pg.Pool(options as object);
  pool.on("error", () => {});

  return {
    /** Runs one statement, which is a transaction of its own. Resolves with its rows. */
    async query<Row extends unknown[]>(statement: Statement, values: readonly unknown[], limits: Limits): Promise<Row[]> {
      const connection = await connectToAny(pool, { serversMax: limits.serversMax ?? 1, connectionsMax, limitMs: limits.connectMs });
      const running = connection.run<Row>(statement, values);
      try {
        const rows = await inTime(running, limits.statementMs);
        connection.release(connection.isOld());
        return rows;
      } catch (thrown) {
        if (isReadOnly(thrown) || thrown instanceof UnsentError) server.hosts.leave(connection.url);
        if (thrown instanceof LateError) void leftBehind.giveUp(connection, running);
        else connection.release(!isSound(thrown));
        throw thrown;
      }
    },
    /** Resolves with a connection for one caller alone, until it is closed. For transactions of several statements. */
    reserve: async (connectMs: number) => openSession(await connect(pool, { connectionsMax, limitMs: connectMs }), leftBehind),
    /** How many connections there are, and how many calls wait for one. */
    connections: () => ({ used: pool.totalCount - pool.idleCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    /** Rejects calls that still wait for a connection. Resolves when the connections in use have ended. */
    close: () => pool.end(),
  };
}

/** A connection of one caller. */
function openSession(connection: PooledConnection, leftBehind: LeftBehind) {
  let running: Promise<unknown> | undefined;

  function track<Result>(result: Promise<Result>, statementMs: number): Promise<Result> {
    const end = () => {
      if (running === mine) running = undefined;
    };
    const mine = result.then(end, end);
    running = mine;
    return inTime(result, statementMs);
  }

  return {
    begin: (how: Statement, statementMs: number) => track(connection.begin(how), statementMs),
    query: <Row extends unknown[]>(statement: Statement, values: readonly unknown[], statementMs: number) =>
      track(connection.send<Row>(statement, values), statementMs),
    /** Ends its transaction: the server rolls back what a lost connection began. */
    close: () => (running ? void leftBehind.giveUp(connection, running) : connection.release(true)),
  };
}

/** Rejects with a LateError when the time is up. */
function inTime<Result>(running: Promise<Result>, limitMs: number, advice?: string): Promise<Result> {
  return withTimeLimit(Math.ceil(limitMs), running, () => {
    throw new LateError(limitMs, advice);
  });
}

type ConnectOptions = Readonly<{ connectionsMax: number; limitMs: number }>;

/** Resolves with a connection to one of the servers. Rejects when none is free or opened in time. */
async function connectToAny(pool: pg.Pool, { serversMax, connectionsMax, limitMs }: ConnectOptions & Readonly<{ serversMax: number }>) {
  const until = performance.now() + limitMs;
  /** What a server has said, which tells more than that another one is away or a standby. */
  let said: unknown;
  for (let tries = 1; ; tries += 1) {
    try {
      return await connect(pool, { connectionsMax, limitMs: until - performance.now() });
    } catch (reason) {
      if (reason instanceof UnsentError && sqlStateOf(reason.cause) !== undefined) said ??= reason;
      if (tries >= serversMax || performance.now() >= until || !mayAnotherDo(reason)) throw said ?? reason;
    }
  }
}

/** Whether another server may let us in: this one is away, full, or a standby. */
function mayAnotherDo(thrown: unknown): boolean {
  if (!(thrown instanceof UnsentError)) return false;
  return thrown.cause instanceof UnfitError ? thrown.cause.isTransient : judge(thrown).isTransient;
}

/** The same with the server in use. */
async function connect(pool: pg.Pool, { connectionsMax, limitMs }: ConnectOptions): Promise<PooledConnection> {
  // Not an UnsentError: no one shall try again until the patience of a command ends, and keep it from ending.
  if (pool.ending) throw leftServer();
  if (pool.waitingCount >= WAITING_MAX) throw new PlantStoreError("overloaded");
  const until = performance.now() + limitMs;
  const connecting = pool.connect() as Promise<PooledConnection>;
  try {
    const connection = await inTime(connecting, limitMs);
    if (!connection.isOvertaken()) return connection;
    connection.release(true);
  } catch (reason) {
    connecting.then(
      (client) => client.release(),
      () => {},
    );
    // Not one that the server refused: others are trying in its place, so the pool is full then too.
    const isLate = reason instanceof LateError || (reason instanceof Error && reason.message === POOL_TIMEOUT);
    const isBusy = isLate && pool.totalCount >= connectionsMax && pool.idleCount === 0;
    throw isBusy ? new PlantStoreError("overloaded") : new UnsentError(reason);
  }
  return connect(pool, { connectionsMax, limitMs: until - performance.now() });
}
