import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../../runtime/log.ts";
import type { ChangeLog } from "./change-log.ts";
import { DELETE_OLD, LIST_OLD } from "./change-statements.ts";
import type { Execute } from "./engine/retry.ts";

type SweepOptions = Readonly<{ changes: ChangeLog; execute: Execute; days: number; log: Log }>;

/** A row of the log, and whether it is to go: "ahead" is later than now, as when the clock was wrong. */
export type AgedRow = [xid: bigint, at: bigint, age: "old" | "kept" | "ahead"];

/** How often each process looks for what is old, in milliseconds, give or take a half, so that several take turns. */
const SWEEP_MS = 60_000;

/** A few rows at a time, with a pause in milliseconds: a reader waits for a statement that holds the mark back. */
const ROWS = 1000;
const PAUSE_MS = 20;

const HOW = { statementMs: 20_000, isRepeatable: true } as const;

/** Deletes what is older than the log keeps, from its beginning, and makes a mark now and then. */
export function sweepChanges({ changes, execute, days, log }: SweepOptions) {
  const closing = new AbortController();

  async function pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { ref: false, signal: closing.signal }).catch(() => {});
  }

  async function sweep(): Promise<void> {
    await changes.makeMark();
    for (let from: readonly bigint[] = [0n, 0n]; !closing.signal.aborted; await pause(PAUSE_MS)) {
      const rows = await execute<AgedRow>(LIST_OLD, [...from, days, ROWS], HOW);
      const last = lastOld(rows);
      if (last) await execute(DELETE_OLD, last.slice(0, 2), HOW);
      if (rows.length < ROWS || rows.some(([, , age]) => age === "kept")) return;
      from = rows.at(-1)!.slice(0, 2) as bigint[];
    }
  }

  async function run(): Promise<void> {
    for (let failed = 0; !closing.signal.aborted; await pause(SWEEP_MS * (0.5 + Math.random()))) {
      try {
        if (changes.isKept()) await sweep();
        failed = 0;
      } catch (reason) {
        // It is tried again: a lock may last.
        failed += 1;
        if (failed === 3) log.warn("changes_not_swept", { reason });
      }
    }
  }

  const done = run();
  return {
    async close(): Promise<void> {
      closing.abort();
      await Promise.race([done, sleep(300, undefined, { ref: false })]);
    },
  };
}

/**
 * The last row to delete, with all before it: the last old one before one that is kept. So a clock that was ahead keeps
 * nothing too long, and one that was behind takes nothing early.
 */
export function lastOld(rows: readonly AgedRow[]): AgedRow | undefined {
  const kept = rows.findIndex(([, , age]) => age === "kept");
  return rows.slice(0, kept === -1 ? rows.length : kept).findLast(([, , age]) => age === "old");
}
