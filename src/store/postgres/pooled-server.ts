import { setTimeout as sleep } from "node:timers/promises";
import { PlantStoreError } from "../../domain/errors.ts";
import type { Log } from "../../runtime/log.ts";
import { isMisplaced } from "./engine/failure.ts";
import { Health } from "./engine/health.ts";
import type { Hosts } from "./engine/hosts.ts";
import { openPool } from "./engine/pool.ts";
import type { Statement } from "./engine/pool.ts";
import { watchOthers } from "./engine/promotion.ts";
import { SCHEMA } from "./engine/schema.ts";
import { checkSettings, FIND_READER, INSPECT } from "./engine/requirements.ts";
import type { Settings } from "./engine/requirements.ts";
import { withRetries } from "./engine/retry.ts";
import type { Execute } from "./engine/retry.ts";
import { createWarnings } from "./warnings.ts";

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

function openPools(hosts: Hosts) {
  const quick = { hosts, serverMs: QUICK_STATEMENT_MS };
  const slow = { hosts, serverMs: SLOW_STATEMENT_MS };
  return {
    writes: openPool({ ...quick, connectionsMax: WRITES_MAX }),
    reads: openPool({ ...quick, connectionsMax: READS_MAX }),
    lists: openPool({ ...slow, connectionsMax: LISTS_MAX }),
    imports: openPool({ ...slow, connectionsMax: IMPORTS_MAX }),
    snapshots: openPool({ ...slow, connectionsMax: SNAPSHOTS_MAX }),
    probes: openPool({ ...quick, connectionsMax: PROBES_MAX }),
  };
}

export type Server = ReturnType<typeof openServer>;

/** A server of the database: its pools of connections, which open when they are needed, and what is known of its health. */
export function openServer({ hosts, queueWaitMs, log, behind }: ServerOptions) {
  const pools = openPools(hosts);
  const health = new Health(log);
  const write = withRetries({ database: pools.writes, health, retryMs: queueWaitMs });
  const read = withRetries({ database: pools.reads, health, retryMs: queueWaitMs });
  const probe = withRetries({ database: pools.probes, health, retryMs: queueWaitMs });
  /** Connections that are open were checked when they were opened, and settings may have changed since then. */
  function whileFit(execute: Execute): Execute {
    return async (...args) => {
      health.checkFit();
      return execute(...args);
    };
  }

  return {
    pools,
    /** Each has connections of its own. */
    execute: {
      writes: whileFit(write),
      reads: read,
      lists: withRetries({ database: pools.lists, health, behind, retryMs: Math.max(queueWaitMs, LIST_RETRY_MS) }),
      imports: whileFit(withRetries({ database: pools.imports, health, retryMs: IMPORT_RETRY_MS })),
      probes: probe,
    },
    health,
    /** Looks at the server from now on. `statement` shows whether it takes writes. */
    watch(statement: Statement, { follow, onMissing }: WatchOptions): void {
      const checkOthers = watchOthers(hosts, log);
      const warn = createWarnings(probe, log);
      health.watch(async ({ isWrite, isUnsent }) => {
        // Not waited for: one of them may be away. What they say ends connections to this one.
        if (isWrite) void checkOthers();
        const refusal = (await findRefusal(probe)) ?? (await findMissingRight(probe, onMissing));
        if (isWrite) await warn({ isFit: !refusal });
        // A look has a connection of its own, also while there is none for changes, or for the token of each request.
        if (isUnsent && !refusal) await read(FIND_READER, [], { isRepeatable: true });
        if (isWrite && !refusal) await (isUnsent ? write : probe)(statement, [], { isRepeatable: true });
        await follow?.();
        return refusal;
      });
    },
    async close(): Promise<void> {
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
    "The user may not do what the service needs: grant SELECT, INSERT, UPDATE and DELETE on the tables plants, plant_changes, tokens and plant_store_schema.",
  );
  return new PlantStoreError("store_unavailable", { cause });
}
