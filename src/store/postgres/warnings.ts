import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../../runtime/log.ts";
import { LIST_INDEXES } from "./check-statements.ts";
import { FIND_CREATORS, FIND_LOCK, FIND_TIME } from "./engine/requirements.ts";
import type { Execute } from "./engine/retry.ts";
import { INDEX_NAMES, LOG_INDEX_NAMES } from "./engine/schema.ts";

type CreatorsOptions = Readonly<{ execute: Execute; searched: string; log: Log }>;

/** Warns of roles that could have the service find tables of theirs at its next start, or run triggers of theirs as its user. */
export async function warnOfCreators({ execute, searched, log }: CreatorsOptions): Promise<void> {
  // A relative of PostgreSQL may have no such lists of rights.
  const rows = await execute<[place: string, roles: string]>(FIND_CREATORS, [searched], { isRepeatable: true }).catch(() => []);
  for (const [place, roles] of rows) log.warn("others_may_create", { place, roles: roles.split(",") });
}

/** What looks for things to warn of. Whatever comes of it is no trouble. `isFit`: a server that is not has told why already. */
export function createWarnings(execute: Execute, log: Log): (server: Readonly<{ isFit: boolean }>) => Promise<void> {
  const checkLocks = watchLocks(execute, log);
  const checkClock = watchClock({ execute, now: Date.now, log });
  const checkIndexes = watchIndexes(execute, log);
  return async ({ isFit }) => {
    void checkLocks().catch(() => {});
    void checkClock().catch(() => {});
    if (isFit) await checkIndexes().catch(() => {});
  };
}

/** Longer than an export on Citus keeps others from writing, in milliseconds, and than most of what needs no one. */
const BRIEF_MS = 2500;

/** Logs who keeps writes waiting for longer than a moment, once for each. Resolves when that is known. One look at a time. */
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

/** Logs once when our clock begins to differ from that of the server: tokens would end at another time than elsewhere. */
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
    const there = [...INDEX_NAMES, ...LOG_INDEX_NAMES].filter((index) => rows.some(([name, isValid]) => name === index && isValid === "t"));
    for (const index of before) if (!there.includes(index)) log.warn("index_missing", { index });
    before = there;
  };
}
