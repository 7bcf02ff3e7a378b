import { setTimeout as sleep } from "node:timers/promises";
import { PlantStoreError } from "../../domain/errors.ts";
import type { Log } from "../../runtime/log.ts";
import { LIST_INDEXES } from "./check-statements.ts";
import { isMisplaced } from "./engine/failure.ts";
import { createHealth } from "./engine/health.ts";
import type { Health } from "./engine/health.ts";
import type { Hosts } from "./engine/hosts.ts";
import { openPool } from "./engine/pool.ts";
import type { Database, Statement } from "./engine/pool.ts";
import { watchOthers } from "./engine/promotion.ts";
import { INDEX_NAMES, SCHEMA } from "./engine/schema.ts";
import { checkSettings, FIND_LOCK, FIND_READER, FIND_TIME, INSPECT } from "./engine/requirements.ts";
import type { Settings } from "./engine/requirements.ts";
import { withRetries } from "./engine/retry.ts";
import type { Execute } from "./engine/retry.ts";

type Kind = "writes" | "reads" | "lists" | "imports" | "probes";

/** A server of the database: its pools of connections, which open when they are needed, and what is known of its health. */
export type Server = Readonly<{
  pools: Readonly<Record<Kind | "snapshots", Database>>;
  /** Each has connections of its own. */
  execute: Readonly<Record<Kind, Execute>>;
  health: Health;
  /** Looks at the server from now on. `statement` shows whether it takes writes. */
  watch(statement: Statement, how: WatchOptions): void;
  close(): Promise<void>;
}>;

type WatchOptions = Readonly<{
  /** Goes with each look. */
  follow?: () => Promise<void>;
  /** Goes before it is said that the table of plants is gone: the server may be used no more. */
  onMissing?: () => Promise<void>;
}>;

/** `behind`: the health of servers that this one asks. */
type ServerOptions = Readonly<{ hosts: Hosts; queueWaitMs: number; log: Log; behind?: Health }>;

/**
 * Connections of each pool. Reads have their own: a write may wait for a standby. Lists, counts and exports, which are
 * slow, never keep single plants and tokens waiting, nor do imports, and under any load the health is known.
 *
 * @limit PostgreSQL: connections of one process for writes
 */
const WRITES_MAX = 6;
/** @limit PostgreSQL: connections for reads of single plants and tokens */
const READS_MAX = 3;
/** @limit PostgreSQL: connections for lists, searches and counts */
const LISTS_MAX = 6;
/** @limit PostgreSQL: connections for imports */
const IMPORTS_MAX = 2;
/** @limit PostgreSQL: connections for probes */
const PROBES_MAX = 1;

/** A snapshot keeps a connection for itself: one for each export that may run. */
const SNAPSHOTS_MAX = 8;

/** The server cancels a statement after this, in milliseconds: if this process dies, its statement would hold locks. */
const QUICK_STATEMENT_MS = 5000;
const SLOW_STATEMENT_MS = 30_000;

/**
 * How long a list or an export waits for the database, so that a short restart breaks off no export. In milliseconds.
 * A caller that waits for a count of tags gives up a little later, and learns why there is none.
 *
 * @limit PostgreSQL: least time for the attempts of a list, search, count or page of an export
 */
const LIST_RETRY_MS = 4500;

/**
 * How long an import waits for the database, so that a failover breaks off no file. In milliseconds.
 *
 * @limit PostgreSQL: least time for the attempts of an import
 */
const IMPORT_RETRY_MS = 15_000;

/** How long closing waits for a hung server, in milliseconds. */
const CLOSE_MS_MAX = 1000;

export function openServer({ hosts, queueWaitMs, log, behind }: ServerOptions): Server {
  const quick = { hosts, serverMs: QUICK_STATEMENT_MS };
  const slow = { hosts, serverMs: SLOW_STATEMENT_MS };
  const pools = {
    writes: openPool({ ...quick, connectionsMax: WRITES_MAX }),
    reads: openPool({ ...quick, connectionsMax: READS_MAX }),
    lists: openPool({ ...slow, connectionsMax: LISTS_MAX }),
    imports: openPool({ ...slow, connectionsMax: IMPORTS_MAX }),
    snapshots: openPool({ ...slow, connectionsMax: SNAPSHOTS_MAX }),
    probes: openPool({ ...quick, connectionsMax: PROBES_MAX }),
  };
  const health = createHealth(log);
  /** Connections that are open were checked when they were opened, and settings may have changed since then. */
  function whileFit(execute: Execute): Execute {
    return async (...args) => {
      health.checkFit();
      return execute(...args);
    };
  }

  const write = withRetries({ database: pools.writes, health, retryMs: queueWaitMs });
  const read = withRetries({ database: pools.reads, health, retryMs: queueWaitMs });
  const execute = {
    writes: whileFit(write),
    reads: read,
    lists: withRetries({ database: pools.lists, health, behind, retryMs: Math.max(queueWaitMs, LIST_RETRY_MS) }),
    imports: whileFit(withRetries({ database: pools.imports, health, retryMs: IMPORT_RETRY_MS })),
    probes: withRetries({ database: pools.probes, health, retryMs: queueWaitMs }),
  };
  return {
    pools,
    execute,
    health,
    watch(statement, { follow, onMissing }) {
      const checkLocks = watchLocks(execute.probes, log);
      const checkIndexes = watchIndexes(execute.probes, log);
      const checkClock = watchClock({ execute: execute.probes, now: Date.now, log });
      const checkOthers = watchOthers(hosts, log);
      health.watch(async ({ isWrite, isUnsent }) => {
        // Not waited for: one of them may be away. What they say ends connections to this one.
        if (isWrite) void checkOthers();
        const refusal = (await findRefusal(execute.probes)) ?? (await findMissingRight(execute.probes, onMissing));
        // They only tell: whatever comes of it is no trouble.
        if (isWrite) {
          void checkLocks().catch(() => {});
          void checkClock().catch(() => {});
          if (!refusal) await checkIndexes().catch(() => {});
        }
        // A look has a connection of its own, also while there is none for changes, or for the token of each request.
        if (isUnsent && !refusal) await read(FIND_READER, [], { isRepeatable: true });
        const tryWrite = isUnsent ? write : execute.probes;
        if (isWrite && !refusal) await tryWrite(statement, [], { isRepeatable: true });
        await follow?.();
        return refusal;
      });
    },
    async close() {
      health.close();
      const closed = Object.values(pools).map((pool) => pool.close());
      await Promise.race([Promise.all(closed), sleep(CLOSE_MS_MAX, undefined, { ref: false })]);
    },
  };
}

/** Why the server is unfit, if it is: its settings may have changed while connections were open. */
async function findRefusal(execute: Execute): Promise<PlantStoreError | undefined> {
  const [settings] = await execute<Settings>(INSPECT, [], { isRepeatable: true });
  try {
    checkSettings(settings!);
    // `checkSettings` accepts a read-only server, because it can still serve reads.
    const [, , , , , , , readOnly] = settings!;
    if (readOnly === "on") throw new Error("The database is read-only.");
    return undefined;
  } catch (cause) {
    return new PlantStoreError("store_unavailable", { cause });
  }
}

/** Longer than an export on Citus keeps others from writing, in milliseconds, and than most of what needs nobody. */
const BRIEF_MS = 2500;

/**
 * Tells in the log who keeps writes waiting for longer than a moment, once for each. Resolves when that is known. One look
 * at a time: the others leave it to that.
 */
export function watchLocks(execute: Execute, log: Log): () => Promise<void> {
  let told: bigint | undefined;
  let isLooking = false;

  async function find() {
    const [lock] = await execute<[pid: bigint, program: string, mode: string, table: string]>(FIND_LOCK, [], { isRepeatable: true });
    return lock;
  }

  async function look(): Promise<void> {
    const [first] = (await find()) ?? [];
    if (first === told) return;
    told = undefined;
    if (first === undefined) return;
    await sleep(BRIEF_MS, undefined, { ref: false });
    const [pid, program, mode, table] = (await find()) ?? [];
    if (pid !== first) return;
    log.warn("writes_locked", { table, mode, pid, program });
    told = pid;
  }

  return async () => {
    if (isLooking) return;
    isLooking = true;
    try {
      await look();
    } finally {
      isLooking = false;
    }
  };
}

/** How far a clock may be from that of the server, in milliseconds. */
const CLOCK_MS_MAX = 5000;

type ClockOptions = Readonly<{ execute: Execute; now: () => number; log: Log }>;

/**
 * Tells in the log that our clock differs from that of the server, once while it does: tokens would end at another time
 * than elsewhere, and new plants have another than expected.
 */
export function watchClock({ execute, now, log }: ClockOptions): () => Promise<void> {
  let isOff = false;

  return async () => {
    const before = now();
    const [row] = await execute<[ms: bigint]>(FIND_TIME, [], { isRepeatable: true });
    const [after, time] = [now(), Number(row![0])];
    const wasOff = isOff;
    // The server took its time somewhere in between.
    isOff = time < before - CLOCK_MS_MAX || time > after + CLOCK_MS_MAX;
    if (isOff && !wasOff) log.warn("clock_differs", { aheadSeconds: Math.round((after - time) / 1000) });
    if (!isOff && wasOff) log.info("clock_agrees");
  };
}

/** Tells in the log which index is gone, or not valid any more: what it was for reads the whole table from then on. */
function watchIndexes(execute: Execute, log: Log): () => Promise<void> {
  let before: readonly string[] = [];
  return async () => {
    const rows = await execute<[name: string, isValid: string]>(LIST_INDEXES, [], { isRepeatable: true });
    // The table is gone, not its indexes.
    if (rows.length === 0) return;
    const there = INDEX_NAMES.filter((index) => rows.some(([name, isValid]) => name === index && isValid === "t"));
    for (const index of before) if (!there.includes(index)) log.warn("index_missing", { index });
    before = there;
  };
}

/** Why plants cannot be read and written, if so. Rejects when their table is gone. */
async function findMissingRight(execute: Execute, onMissing: WatchOptions["onMissing"]): Promise<PlantStoreError | undefined> {
  try {
    const [row] = await execute<[isAllowed: string]>(SCHEMA.isAllowed, [], { isRepeatable: true, isExpected: isMisplaced });
    if (row![0] === "t") return undefined;
  } catch (cause) {
    if (!isMisplaced(cause)) throw cause;
    await onMissing?.();
    throw new PlantStoreError("store_unavailable", { cause });
  }
  const cause = new Error(
    "The user may not do what the service needs: grant SELECT, INSERT, UPDATE and DELETE on the tables plants, tokens and plant_store_schema.",
  );
  return new PlantStoreError("store_unavailable", { cause });
}
