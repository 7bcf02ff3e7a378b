import { setTimeout as sleep } from "node:timers/promises";
import { PlantStoreError } from "../../domain/errors.ts";
import type { Log } from "../../runtime/log.ts";
import { markOf } from "./change-mark.ts";
import type { Writing } from "./change-mark.ts";
import { DELETE_FIRST, DELETE_FOREIGN, LOOK, MAKE_MARK, OLDEST } from "./change-statements.ts";
import type { Execute } from "./engine/retry.ts";
import { LOG } from "./engine/schema.ts";
import { areDistributed } from "./engine/shards.ts";

/** `execute` has connections for reads, `probe` that of looks at the server. */
type ChangeLogOptions = Readonly<{ execute: Execute; probe: Execute; log: Log }>;

type LookRow = [upper: bigint, newestXid: bigint | null, newestAt: bigint | null, pid: bigint | null, xid: bigint | null];

/** What a look found: the mark, if one is known, and the newest row, which may be above it. */
export type Known = Readonly<{ upper: bigint; mark: bigint | undefined; newest: string; writing: readonly Writing[] }>;

const REPEATABLE = { isRepeatable: true } as const;
const ONCE = { isRepeatable: false } as const;

/** How often those who follow the log are told of more, in milliseconds. */
const POLL_MS = 100;

/** The pause between looks while someone holds the mark back, in milliseconds. */
const LOOK_MS = 5;

/** How long to wait for transactions that are under way, in milliseconds: a statement of an import may take longer. */
const WAIT_MS_MAX = 2000;

/** How many looks in a row find the mark below the newest row before that is logged. */
const HELD_LOOKS = 50;

/** How often to look at a log that is empty, or of another server, before a mark is in it. */
const LOOK_TRIES = 3;

/** How many rows are deleted at a time, where all are. */
const ROWS_AT_ONCE = 5000;

/** The log of changes in the database: whether it is kept, up to where it can be read, and when there is more. */
export class ChangeLog {
  readonly #execute: Execute;
  readonly #probe: Execute;
  readonly #log: Log;
  readonly #listeners = new Set<() => void>();
  readonly #closing = new AbortController();
  #isWritten = false;
  #isKept = false;
  /** Whether changes were not logged since the oldest row. */
  #isStale = false;
  #isEmptying = false;
  #mark: bigint | undefined;
  #isPolling = false;

  constructor({ execute, probe, log }: ChangeLogOptions) {
    this.#execute = execute;
    this.#probe = probe;
    this.#log = log;
  }

  readonly isKept = (): boolean => this.#isKept;

  /**
   * Whether what changes in the table of plants of this server goes with its row: even where the plants are on Citus as far
   * as we know. They may have come back, and another replica that has seen it tells those who follow where to go on.
   */
  readonly isWritten = (): boolean => this.#isWritten;

  /** Finds out whether the log can be kept: not where Citus has the plants elsewhere, and then only once it is empty. */
  readonly follow = async (): Promise<void> => {
    const [row] = await this.#probe<[isSupported: string, isThere: string]>(LOG.find, [], REPEATABLE);
    const isThere = row!.every((answer) => answer === "t");
    const isPossible = isThere && !(await areDistributed(this.#probe));
    if (this.#isKept && !isPossible) this.#log.warn("changes_not_logged");
    this.#isWritten = isThere;
    this.#isStale ||= isThere && !isPossible;
    this.#isKept = isPossible && !this.#isStale;
    // Not waited for: a long log takes minutes.
    if (this.#isStale && !this.#isEmptying) void this.#empty();
  };

  /** Looks at the log. What is below the mark is complete for every statement that begins after this has resolved. */
  async look(): Promise<Known> {
    for (let tries = 0; tries < LOOK_TRIES; tries += 1) {
      const rows = await this.#execute<LookRow>(LOOK, [], REPEATABLE);
      const [upper, xid, at] = rows[0]!;
      if (xid === null) await this.makeMark();
      else if (xid >= upper) await this.#beginAnew();
      else {
        const writing = rows.flatMap(([, , , pid, number]) => (pid === null ? [] : [{ pid, xid: number ?? undefined }]));
        this.#mark = markOf({ upper, writing }, this.#mark);
        return { upper, mark: this.#mark, newest: `${xid} ${at}`, writing };
      }
    }
    throw new PlantStoreError("overloaded");
  }

  /** The mark. Waits for the first one, if a transaction shows no number. */
  async mark(): Promise<bigint> {
    return (await this.#lookUntil(({ mark }) => mark !== undefined)).mark!;
  }

  /** A mark above all changes that were answered before the call; below it, if what is under way takes too long. */
  async markAboveAll(): Promise<bigint> {
    const { upper } = await this.look();
    return (await this.#lookUntil(({ mark }) => mark !== undefined && mark >= upper)).mark!;
  }

  async makeMark(): Promise<void> {
    await this.#execute(MAKE_MARK, [], ONCE);
  }

  /** Calls `onMore` when there may be more to read. Returns what ends that. All listeners share one look at a time. */
  readonly watch = (onMore: () => void): (() => void) => {
    const listener = () => onMore();
    this.#listeners.add(listener);
    if (!this.#isPolling) void this.#poll();
    return () => void this.#listeners.delete(listener);
  };

  close(): void {
    this.#listeners.clear();
    this.#closing.abort();
  }

  async #lookUntil(isEnough: (known: Known) => boolean): Promise<Known> {
    const until = performance.now() + WAIT_MS_MAX;
    for (;;) {
      const known = await this.look();
      const isLate = performance.now() > until;
      if (isEnough(known) || (isLate && known.mark !== undefined)) return known;
      if (isLate) throw new PlantStoreError("overloaded");
      await sleep(LOOK_MS);
    }
  }

  async #poll(): Promise<void> {
    this.#isPolling = true;
    let seen: string | undefined;
    let held = 0;
    while (this.#listeners.size > 0) {
      await this.#pause(POLL_MS);
      try {
        const { mark, newest, writing } = await this.look();
        const isHeld = mark === undefined || BigInt(newest.split(" ")[0]!) >= mark;
        held = isHeld ? held + 1 : 0;
        if (held === HELD_LOOKS) this.#log.warn("changes_held", { pids: writing.map(({ pid }) => Number(pid)) });
        // Rows above the mark count once it has passed them.
        const now = isHeld ? `${newest} ${mark}` : newest;
        if (now !== seen) for (const listener of this.#listeners) listener();
        seen = now;
      } catch {
        // Those who read find out themselves. After it there may be more.
        seen = undefined;
      }
    }
    this.#isPolling = false;
  }

  /** All places become unknown, so that those who follow begin with an export. */
  async #beginAnew(): Promise<void> {
    this.#log.warn("changes_begin_anew");
    while ((await this.#execute(DELETE_FOREIGN, [ROWS_AT_ONCE], ONCE)).length > 0);
    this.#mark = undefined;
  }

  /** When it is kept again, no place of before may lead past what was not logged. */
  async #empty(): Promise<void> {
    this.#isEmptying = true;
    try {
      const [row] = await this.#probe<[at: bigint]>(OLDEST, [], REPEATABLE);
      for (let isMore = row![0] !== 0n; isMore;)
        isMore = (await this.#execute<[isMore: string]>(DELETE_FIRST, [ROWS_AT_ONCE], ONCE))[0]![0] === "t";
      this.#isStale = false;
    } catch {
      // The next look tries again, as on a standby.
    }
    this.#isEmptying = false;
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { ref: false, signal: this.#closing.signal }).catch(() => {});
  }
}
